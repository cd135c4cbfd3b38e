"""One run on the Linux kernel in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import polars as pl

from ecnlab._core import Scenario
from ecnlab.errors import EcnlabError
from ecnlab.linux import tables
from ecnlab.linux.kernel import Kernel, find
from ecnlab.linux.machine import boot
from ecnlab.linux.plan import plan

BOOT_SECONDS: Final = 20.0
"""Wall time that a run may take however short it is."""

WALL_PER_VIRTUAL: Final = 0.5
"""Wall seconds that a virtual second may take; a kernel that is slower than that hangs."""


def run(
    scenario: Scenario, seed: int, *, events: bool = False, stopped: Callable[[], bool] = lambda: False
) -> tuple[dict[str, pl.DataFrame], dict[str, Any]]:
    """The tables of ``scenario`` under ``seed``, and what the manifest says of the kernel.

    The same scenario, seed and kernel give the same tables. Raises SpecError for what the kernel cannot do, with file,
    line and key; EcnlabError if no kernel has been built; RunError, with its console, for a kernel that failed.
    """
    if events or scenario.resolved.get("packets"):
        raise EcnlabError(
            "the Linux engine records no packet events: leave out --events, and `packets` in the scenario"
        )
    asked = plan(scenario, seed)
    kernel = find()
    limit = BOOT_SECONDS + WALL_PER_VIRTUAL * asked.duration_ns / 1e9
    with boot(kernel, asked.files, seed, limit, stopped) as folder:
        frames = tables.read(folder, asked, scenario.resolved)
    return frames, about(kernel, asked.instead)


def about(kernel: Kernel, instead: Any) -> dict[str, Any]:
    """What a manifest says of a run on Linux."""
    return {"kernel": kernel.about["version"], "config": kernel.about["config"], "instead": instead}
