"""The runs of a card: each scenario is an experiment, stored as any sweep is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from ecnlab.runs.sweep import sweep
from ecnlab.runs.sweep_doing import Progress
from ecnlab.scoring import building, card, judging
from ecnlab.scoring.card import Card
from ecnlab.scoring.sheet import Scenario, Sheet, Size
from ecnlab.scoring.subject import Subject, marks

RUNS: Final = "runs"
"""Folder of the sweeps, in that of the card; the files of their experiments are beside them."""

NO_MARKS: Final = "the queue does not mark: its discipline has no ECN, or `ecn` is false"


def score(
    subject: Subject,
    reference: Subject,
    folder: Path,
    sheet: Sheet,
    *,
    size: Size = "quick",
    only: Sequence[str] = (),
    workers: int | None = None,
    progress: Callable[[str], Progress],
) -> Card:
    """Run the scenarios of ``sheet`` and return the card; runs that ``folder`` has are not repeated.

    ``only`` names scenarios; none: all. ``progress`` is called with the name of a scenario, and returns what is told of its
    runs. Raises SpecError if a queue cannot be used in a scenario, FolderError if ``folder`` has the runs of another queue, and
    as `sweep` does.
    """
    chosen = sheet.only(only)
    entries = [
        _entry(chosen, scenario, subject, reference, folder / f"{RUNS}-{size}", size, workers, progress)
        for scenario in chosen.scenarios
    ]
    return card.card(chosen, size, subject, reference, entries, len(sheet.scenarios) - len(entries))


def _entry(
    sheet: Sheet,
    scenario: Scenario,
    subject: Subject,
    reference: Subject,
    folder: Path,
    size: Size,
    workers: int | None,
    progress: Callable[[str], Progress],
) -> dict[str, Any]:
    question = building.write(folder, sheet, scenario, subject, reference, size)
    resolved = question.run(0).scenario.resolved["queue"]
    if scenario.needs == "ecn" and not marks(resolved[building.SUBJECT]):
        return card.not_applicable(scenario, NO_MARKS)
    result = sweep(question, folder / scenario.name, workers=workers, progress=progress(scenario.name))
    return card.scored(scenario, judging.samples(result.metrics), sheet.replicates[size])
