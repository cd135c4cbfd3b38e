"""The Linux kernel in virtual time, as one of the engines."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from threading import Event
from typing import Any, Final

import polars as pl

from ecnlab._core import Scenario
from ecnlab.base.errors import Cancelled, EcnlabError
from ecnlab.base.types import Engine, Instead
from ecnlab.engines.protocol import LINUX
from ecnlab.linux import sojourns, tables
from ecnlab.linux.kernel import IPV6, TBF_LINE, Kernel, find
from ecnlab.linux.machine import boot
from ecnlab.linux.network import KernelLinks
from ecnlab.linux.plan import plan

BOOT_SECONDS: Final = 30.0
"""Minimum limit of wall time for a run, in seconds."""

WALL_PER_VIRTUAL: Final = 1.0
"""Limit of wall seconds per virtual second; a kernel slower than real time has stopped making progress."""

OPTIONS: Final = (TBF_LINE,)
"""Kernel options of every run: a link is a tbf that polls its queue like a driver."""


class Linux:
    """The kernel that was built last. One boots for every run, and ends with it."""

    engine: Engine = LINUX

    def __init__(self) -> None:
        self._stopped = Event()

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel. Raises EcnlabError with a remedy if none has been built."""
        return find()

    @property
    def build(self) -> str:
        """The kernel's folder and a hash of its guest. Raises as ``kernel`` does."""
        return f"{self.kernel.folder.name}-{self.kernel.about['guest']}"

    @property
    def made(self) -> dict[str, Any]:
        """Version, build and hash of the kernel. Raises as ``kernel`` does."""
        about = self.kernel.about
        return {"linux": {"kernel": about["version"], "build": self.build, "binary": about["binary"]}}

    def check(self, scenario: Scenario) -> None:
        """Raise SpecError for features that the kernel does not support, also where none has been built; then as ``kernel`` does."""
        refuse_events(False, scenario)
        plan(scenario, 0)
        _ = self.kernel

    def tables(
        self, scenario: Scenario, seed: int, /, *, events: bool, captures: Path | None = None
    ) -> dict[str, pl.DataFrame]:
        """Return the tables of a run: identical for the same scenario, seed and kernel.

        Raises SpecError for features that the kernel does not support, with file, line and key; RunError, with its
        console, for a kernel that failed; Cancelled.
        """
        refuse_events(events, scenario)
        requested = plan(scenario, seed, KernelLinks(scenario.taps if captures else []))
        limit = BOOT_SECONDS + WALL_PER_VIRTUAL * requested.duration_ns / 1e9
        options = (*OPTIONS, IPV6) if any(flow.ip == 6 for flow in requested.flows) else OPTIONS
        with boot(self.kernel, requested.files, seed, limit, self._check, options=options) as folder:
            if captures:
                scenario.write_captures(folder / sojourns.PACKETS, captures)
            return tables.read(folder, requested, scenario.resolved)

    def instead(self, scenario: Scenario, /) -> list[Instead]:
        """Return where the kernel deviates from the scenario, and how."""
        return plan(scenario, 0).instead

    def stop(self) -> None:
        """End every kernel that runs."""
        self._stopped.set()

    def _check(self) -> None:
        if self._stopped.is_set():
            raise Cancelled("the run was asked to stop")


def refuse_events(events: bool, scenario: Scenario) -> None:
    """Raise EcnlabError for requested packet events, SpecError with file, line and key if the scenario has them."""
    if events:
        raise EcnlabError("the Linux engine records no packet events: leave out `events` (`--events`)")
    if scenario.resolved["packets"]:
        message = "`packets`: the Linux engine records no packet events"
        raise scenario.refusal([("packets", message, "leave it out, or run the scenario in the simulator")])
