"""The engines by name, and their common interface: the packet simulator, closed forms, the Linux kernel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol, get_args, runtime_checkable

from ecnlab._core import Scenario
from ecnlab.base.errors import EcnlabError
from ecnlab.base.lazy_imports import pl
from ecnlab.base.provenance import maker
from ecnlab.base.types import Column, Engine, Instead

PACKETS: Final = "packets"
"""The simulator of this package, which simulates every packet."""

MODEL: Final = "model"
"""The closed forms, see `ecnlab.prediction`."""

LINUX: Final = "linux"
"""The Linux kernel in virtual time, see ``docs/linux.md``."""

LINUX_WALL: Final = "linux-wall"
"""The machine's own kernel in real time, see there; ``--engine linux --clock wall`` on the command line."""

ENGINES: Final[tuple[Engine, ...]] = tuple(name for name in get_args(Engine) if name != LINUX_WALL)
"""Engines with their own name on the command line."""

CLOCKS: Final = ("virtual", "wall")
"""Kinds of time in which the Linux engine runs."""

DEFAULT_SEED: Final = 1


Blocks = Callable[[str, dict[str, Column]], None]
"""Receiver of the next rows of a table, by its name and columns."""


class Answerer(Protocol):
    """Runs scenarios. Several threads may call it at the same time; ``stop`` ends their waits."""

    engine: Engine

    @property
    def made(self) -> dict[str, Any]:
        """Description of the engine in manifests, in addition to ``ecnlab``."""

    @property
    def build(self) -> str:
        """Common properties of results of one build: made by the same code."""

    def check(self, scenario: Scenario) -> None:
        """Raise SpecError for features that the engine does not support, with file, line and key; then EcnlabError for what it lacks here."""

    def tables(
        self, scenario: Scenario, seed: int, /, *, events: bool, captures: Path | None = None
    ) -> dict[str, pl.DataFrame]:
        """Return the tables of a run, and write its captures into the folder ``captures``, if given.

        Raises RunError, Cancelled, OSError; and the errors documented on the engine's own page.
        """

    def instead(self, scenario: Scenario, /) -> list[Instead]:
        """Return where the engine deviates from the scenario, and how."""

    def stop(self) -> None:
        """Cancel every run in progress: each raises Cancelled."""


@runtime_checkable
class Judge(Protocol):
    """An answerer whose runs may turn out to be no evidence."""

    def evidence(self, scenario: Scenario, found: dict[str, pl.DataFrame], /) -> dict[str, Any]:
        """Return the manifest's ``evidence`` for a run with the tables ``found``."""


def seed_for(engine: Engine, seed: int | None, *, events: bool = False, captures: bool = False) -> int | None:
    """Return the seed of a run by ``engine`` with the options ``seed`` (None: not given), ``events`` and ``captures``.

    A model has no seed. Raises EcnlabError if a seed or packets are requested from it.
    """
    if engine != MODEL:
        return DEFAULT_SEED if seed is None else seed
    for given, option in ((seed is not None, "seed"), (events, "events"), (captures, "capture")):
        if given:
            raise EcnlabError(
                f"the engine `{MODEL}` has no random numbers and no packets: leave out `{option}` (`--{option}`), "
                f"or use the engine `{PACKETS}`"
            )
    return None


def with_clock(engine: Engine, clock: str) -> Engine:
    """Return the variant of ``engine`` for ``clock``. Raises EcnlabError if it does not support it."""
    if clock == "virtual":
        return engine
    if engine != LINUX:
        raise EcnlabError(f"the engine `{engine}` has no wall clock: leave `--clock` out, or use `--engine {LINUX}`")
    return LINUX_WALL


def refuse_unless_random(engine: Engine, what: str) -> None:
    """Raise EcnlabError if ``what``, which compares several seeds, is requested from an engine without randomness.

    It is not done in real time either, where concurrent runs would delay each other.
    """
    if engine == LINUX_WALL:
        raise EcnlabError(f"{what} is not possible in real time: `ecnlab run --engine linux --clock wall` does one run")
    if engine == MODEL:
        raise EcnlabError(
            f"{what} needs runs with several seeds, and the engine `{MODEL}` has no random numbers and writes no such tables: "
            f"`ecnlab run --engine {MODEL}` predicts one scenario"
        )


def refuse_on_cluster(engine: Engine) -> None:
    """Raise EcnlabError if ``engine`` cannot run on the workers of a cluster: only the simulator can."""
    if engine != PACKETS:
        raise EcnlabError(f"the engine `{engine}` runs on this machine only: leave `cluster` (`--cluster`) out")


def suffix(engine: Engine) -> str:
    """Return the suffix of an engine's folders, so that engines do not share one."""
    return "" if engine == PACKETS else f"-{engine}"


def signature(answerer: Answerer, title: str | None, seed: int | None) -> dict[str, Any]:
    """Return the common part of the manifests of runs and sweeps: the engine."""
    return {"engine": answerer.engine, "title": title, "ecnlab": maker(), **answerer.made, "seed": seed}
