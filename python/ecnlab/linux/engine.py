"""The Linux kernel in virtual time, as one of the engines."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any, Final

import polars as pl

from ecnlab._core import Scenario
from ecnlab.base.errors import Cancelled, EcnlabError
from ecnlab.base.types import Engine, Instead
from ecnlab.engines.protocol import LINUX
from ecnlab.linux import tables
from ecnlab.linux.kernel import TBF_LINE, find
from ecnlab.linux.machine import boot
from ecnlab.linux.network import KernelLinks
from ecnlab.linux.plan import plan

BOOT_SECONDS: Final = 30.0
"""Wall time that a run may take however short it is."""

WALL_PER_VIRTUAL: Final = 1.0
"""Wall seconds that a virtual second may take; a kernel that is slower than the real one hangs."""

OPTIONS: Final = (TBF_LINE,)
"""Of the kernel: a link is a tbf, and its queue is asked for packets as by a driver."""

PACKETS_SEEN: Final = "packets"
"""The guest's file of captured packets."""


class Linux:
    """The kernel that was built last. One boots for every run, and ends with it."""

    engine: Engine = LINUX

    def __init__(self) -> None:
        """Raises EcnlabError, saying what to do, if no kernel has been built."""
        self._kernel = find()
        self._stopped = Event()
        made = self._kernel.about
        self.build = f"{self._kernel.folder.name}-{made['guest']}"
        self.made: dict[str, Any] = {"linux": {"kernel": made["version"], "build": self.build}}

    def check(self, scenario: Scenario) -> None:
        """Raise SpecError for what the kernel cannot do: the same under every seed."""
        refuse_events(False, scenario)
        plan(scenario, 0)

    def tables(
        self, scenario: Scenario, seed: int, /, *, events: bool, captures: Path | None = None
    ) -> dict[str, pl.DataFrame]:
        """The tables of a run: the same for the same scenario, seed and kernel.

        Raises SpecError for what the kernel cannot do, with file, line and key; RunError, with its console, for a
        kernel that failed; Cancelled.
        """
        refuse_events(events, scenario)
        asked = plan(scenario, seed, KernelLinks(scenario.taps if captures else []))
        limit = BOOT_SECONDS + WALL_PER_VIRTUAL * asked.duration_ns / 1e9
        with boot(self._kernel, asked.files, seed, limit, self._check, options=OPTIONS) as folder:
            if captures:
                scenario.write_captures(folder / PACKETS_SEEN, captures)
            return tables.read(folder, asked, scenario.resolved)

    def instead(self, scenario: Scenario, /) -> list[Instead]:
        """Where the kernel does not do as the scenario says, and what it does."""
        return plan(scenario, 0).instead

    def stop(self) -> None:
        """End every kernel that runs."""
        self._stopped.set()

    def _check(self) -> None:
        if self._stopped.is_set():
            raise Cancelled("the run was asked to stop")


def refuse_events(events: bool, scenario: Scenario) -> None:
    """Raise EcnlabError if packet events are asked for, SpecError with file, line and key if the scenario does."""
    if events:
        raise EcnlabError("the Linux engine records no packet events: leave out `events` (`--events`)")
    if scenario.resolved["packets"]:
        message = "`packets`: the Linux engine records no packet events"
        raise scenario.refusal([("packets", message, "leave it out, or run the scenario in the simulator")])
