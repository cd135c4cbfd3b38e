"""The machine's own kernel in real time, as one of the engines."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

import polars as pl

from ecnlab._core import Cancel, Router, Scenario
from ecnlab.base.errors import Cancelled, RunError
from ecnlab.base.types import Engine, Instead
from ecnlab.engines.frames import frames
from ecnlab.engines.protocol import LINUX_WALL
from ecnlab.linux import tables
from ecnlab.linux.engine import refuse_events
from ecnlab.linux.plan import Plan, plan
from ecnlab.linux.wall import evidence
from ecnlab.linux.wall.capabilities import check_congestion, check_machine
from ecnlab.linux.wall.container import Container, contained
from ecnlab.linux.wall.guest import Guest, prepare
from ecnlab.linux.wall.network import DEVICE, RouterLinks

FIRST_PORT: Final = 10_000
"""Port of the listener of flow 0 (FIRST_PORT in guest/flows.c)."""

PRIORITY: Final = 10
"""Real-time priority of the router, if permitted."""


class LinuxWall:
    """Hosts are namespaces of the machine's kernel, links a router in user space. One run at a time."""

    engine: Engine = LINUX_WALL

    def __init__(self) -> None:
        self._cancel, self._stopped = Cancel(), Event()

    @cached_property
    def _guest(self) -> Guest:
        """The programs of the hosts. Raises EcnlabError with a remedy for every missing capability of the machine."""
        guest = prepare()
        check_machine(guest)
        return guest

    @property
    def build(self) -> str:
        """The folder of the hosts' programs. Raises EcnlabError as ``check`` does."""
        return self._guest.folder.name

    @property
    def made(self) -> dict[str, Any]:
        """Version of the machine's kernel, and build. Raises EcnlabError as ``check`` does."""
        return {"linux": {"kernel": os.uname().release, "build": self.build}}

    def check(self, scenario: Scenario) -> None:
        """Raise SpecError for features that the hosts or the router do not support, EcnlabError for what the machine lacks."""
        refuse_events(False, scenario)
        requested = plan(scenario, 0, RouterLinks())
        _ = self._guest  # a process without capabilities may select fewer window laws than the machine has
        check_congestion(scenario, requested)

    def tables(
        self, scenario: Scenario, seed: int, /, *, events: bool, captures: Path | None = None
    ) -> dict[str, pl.DataFrame]:
        """Return the tables of a run, and in addition ``timing``.

        Raises SpecError for unsupported features, with file, line and key; RunError for hosts that failed; Cancelled.
        """
        refuse_events(events, scenario)
        requested = plan(scenario, seed, RouterLinks())
        check_congestion(scenario, requested)
        with contained(self._guest, requested.files) as hosts:
            router = Router(scenario, seed, FIRST_PORT)
            if captures is not None:
                router.capture(scenario, captures)
            linked = self._carry(hosts, router, requested)
            found = {**tables.of_hosts(hosts.out, requested, scenario.resolved), **linked}
            _refuse_drops(pl.read_csv(hosts.out / "devices.csv"))
            return tables.in_order(found)

    def instead(self, scenario: Scenario, /) -> list[Instead]:
        """Return where the kernel deviates from the scenario, and how."""
        return plan(scenario, 0, RouterLinks()).instead

    def evidence(self, scenario: Scenario, found: dict[str, pl.DataFrame], /) -> dict[str, Any]:
        """Return whether the run kept real time well enough: the manifest's ``evidence``."""
        return evidence.judge(found["timing"], plan(scenario, 0, RouterLinks()))

    def stop(self) -> None:
        """End the run."""
        self._stopped.set()
        self._cancel.cancel()

    def _cancel_behind(self, hosts: Container) -> None:
        """Cancel the router if hosts end early, because waiting for them would never end."""
        hosts.wait()
        self._cancel.cancel()

    def _carry(self, hosts: Container, router: Router, requested: Plan) -> dict[str, pl.DataFrame]:
        """The tables of the links between ``hosts``, whose packets ``router`` carries meanwhile."""
        hosts.receive("hosts")
        for home in requested.homes:
            router.attach(hosts.namespace(home.name), DEVICE, home.node, home.address(4))
        hosts.answer()
        start = int(hosts.receive("start"))
        Thread(target=self._cancel_behind, args=(hosts,), daemon=True).start()
        _hurry()
        try:
            linked = frames(router.run(start, self._cancel))
        except Cancelled:
            if self._stopped.is_set():
                raise
            hosts.finish()
            raise RunError("the hosts ended before the run did") from None
        finally:
            _relax()
        hosts.receive("over")
        hosts.answer()
        hosts.finish()
        return linked


def _hurry() -> None:
    """Run before ordinary processes, where we may: it makes packets less late, and no result other."""
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))


def _relax() -> None:
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def _refuse_drops(devices: pl.DataFrame) -> None:
    """Raise RunError if a host's device threw packets away that no link has seen."""
    lost = devices.filter(pl.col("dropped") > 0)
    if lost.height:
        raise RunError(
            f"the router was so late that devices of hosts overflowed: {lost['dropped'].sum()} packets of "
            f"{', '.join(lost['host'])} are missing; run it on a less loaded machine"
        )
