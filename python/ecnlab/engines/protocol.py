"""The engines by their names, and what each must offer: the packet simulator, closed forms, the Linux kernel."""

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
"""The simulator of this package, which sends every packet."""

MODEL: Final = "model"
"""The closed forms, see `ecnlab.prediction`."""

LINUX: Final = "linux"
"""The Linux kernel in virtual time, see ``docs/linux.md``."""

LINUX_WALL: Final = "linux-wall"
"""The machine's own kernel in real time, see there; ``--engine linux --clock wall`` on the command line."""

ENGINES: Final[tuple[Engine, ...]] = tuple(name for name in get_args(Engine) if name != LINUX_WALL)
"""Those with a name of their own on the command line."""

CLOCKS: Final = ("virtual", "wall")
"""What time the Linux engine may keep."""

DEFAULT_SEED: Final = 1


Blocks = Callable[[str, dict[str, Column]], None]
"""Takes the next rows of a table, by its name and columns."""


class Answerer(Protocol):
    """Runs scenarios. Several threads may ask at a time; ``stop`` ends what they wait for."""

    engine: Engine
    build: str
    """What results of one build have in common: the same code made them."""
    made: dict[str, Any]
    """What manifests say of the engine, where ``ecnlab`` in them does not say it."""

    def check(self, scenario: Scenario) -> None:
        """Raise SpecError for what the engine cannot do, with file, line and key."""

    def tables(
        self, scenario: Scenario, seed: int, /, *, events: bool, captures: Path | None = None
    ) -> dict[str, pl.DataFrame]:
        """The tables of a run, and its captures into the folder ``captures``, if given.

        Raises RunError, Cancelled, OSError; and what the engine's own page says.
        """

    def instead(self, scenario: Scenario, /) -> list[Instead]:
        """Where the engine does not do as the scenario says, and what it does."""

    def stop(self) -> None:
        """Make every run in progress raise."""


@runtime_checkable
class Judge(Protocol):
    """An answerer whose runs may turn out to be no evidence."""

    def evidence(self, scenario: Scenario, found: dict[str, pl.DataFrame], /) -> dict[str, Any]:
        """The manifest's ``evidence`` for a run that gave the tables ``found``."""


def seed_for(engine: Engine, seed: int | None, *, events: bool = False, captures: bool = False) -> int | None:
    """The seed of a run by ``engine`` for which ``seed`` (None: not said), ``events`` and ``captures`` were asked.

    A model has no seed. Raises EcnlabError if one, or packets, are asked of it.
    """
    if engine != MODEL:
        return DEFAULT_SEED if seed is None else seed
    for given, option in ((seed is not None, "seed"), (events, "events"), (captures, "capture")):
        if given:
            raise EcnlabError(
                f"the engine `{MODEL}` has neither chance nor packets: leave out `{option}` (`--{option}`), "
                f"or ask the engine `{PACKETS}`"
            )
    return None


def with_clock(engine: Engine, clock: str) -> Engine:
    """The engine that ``engine`` is by ``clock``. Raises EcnlabError if it keeps no such time."""
    if clock == "virtual":
        return engine
    if engine != LINUX:
        raise EcnlabError(f"the engine `{engine}` has no wall clock: leave `--clock` out, or say `--engine {LINUX}`")
    return LINUX_WALL


def refuse_unless_random(engine: Engine, what: str) -> None:
    """Raise EcnlabError if ``what``, which compares runs under several seeds, is asked of an engine without chance.

    Nor is it done in real time, where runs beside each other would make each other late.
    """
    if engine == LINUX_WALL:
        raise EcnlabError(f"{what} is not possible in real time: `ecnlab run --engine linux --clock wall` does one run")
    if engine == MODEL:
        raise EcnlabError(
            f"{what} measures runs under several seeds, and the engine `{MODEL}` has neither chance nor their tables: "
            f"`ecnlab run --engine {MODEL}` predicts one scenario"
        )


def suffix(engine: Engine) -> str:
    """What the names of an engine's folders end with, so that engines do not meet in one."""
    return "" if engine == PACKETS else f"-{engine}"


def signature(answerer: Answerer, title: str | None, seed: int | None) -> dict[str, Any]:
    """What the manifests of runs and sweeps have in common: who answered."""
    return {"engine": answerer.engine, "title": title, "ecnlab": maker(), **answerer.made, "seed": seed}
