"""The runs of a card: each scenario is an experiment, stored as any sweep is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from ecnlab._core import Experiment, SpecError
from ecnlab._core import Scenario as ScenarioFile
from ecnlab.api.sweep import Sweep
from ecnlab.base.types import Engine
from ecnlab.engines.protocol import PACKETS, refuse_on_cluster, refuse_unless_random
from ecnlab.report.words import listed
from ecnlab.runs.cluster import Cluster
from ecnlab.runs.sweep import sweep
from ecnlab.runs.sweep_doing import Progress
from ecnlab.runs.sweep_runs import one_of_each
from ecnlab.scoring import building, card, engines, equal_delay, judging
from ecnlab.scoring.card import Card
from ecnlab.scoring.sheet import SUBJECT, Kind, Scenario, Sheet, Size, read_limits
from ecnlab.scoring.subject import Subject, marks, uses_ecn

SENDS_NO_ECN: Final = 'the sender does not use ECN: its `ecn` is "off" or false'
NO_ECN: Final[Mapping[Kind, str]] = {
    "aqm": "the queue does not mark: its discipline has no ECN, or `ecn` is false",
    "cc": SENDS_NO_ECN,
    "l4s": SENDS_NO_ECN,
}

OF_TCP: Final = ("bytes_marked", "rtt_mean_s")
"""Columns of flows in which flows over QUIC have no values."""


def score(
    subjects: Mapping[str, Subject],
    folder: Path,
    sheet: Sheet,
    *,
    size: Size = "quick",
    seed: int = 1,
    only: Sequence[str] = (),
    criteria: Path | None = None,
    workers: int | None = None,
    engine: Engine = PACKETS,
    progress: Callable[[str], Progress],
    cluster: Cluster | None = None,
) -> Card:
    """Run the scenarios of ``sheet`` with ``subjects``, by arm, and return the card; runs that ``folder`` has are not repeated.

    ``seed`` is that of the drawn paths and of all runs. ``only`` names scenarios; none: all. ``criteria`` is a file with other limits, as `read_limits` reads. ``progress`` is
    called with the name of a scenario, and returns a function that is called after each of its runs. Scenarios with a key that
    ``engine`` does not support are not applicable. The workers of ``cluster`` do the runs, if it is given.

    Raises SpecError if a queue cannot be used in a scenario, FolderError if ``folder`` has the runs of another queue or
    engine, EcnlabError if no Linux kernel has been built or one is to run on a cluster, and as `sweep` does.
    """
    limits = {} if criteria is None else read_limits(criteria, sheet)
    chosen = sheet.with_limits(limits).only(only).of_size(size, seed)
    if engine != PACKETS:
        chosen = replace(chosen, scenarios=[one.without_probes() for one in chosen.scenarios])
    refuse_unless_random(engine, "a card")
    if cluster is not None:
        refuse_on_cluster(engine)
    engines.refuse_other(folder, engine)
    card.refuse_other(folder, sheet.kind, subjects)
    used = engines.Used(engine)
    runs = runs_folder(folder, size, seed)
    questions = [_question(runs, chosen, one, subjects, size) for one in chosen.scenarios]
    do = partial(sweep, workers=workers, engine=engine, cluster=cluster)
    fifo = partial(equal_delay.with_fifo, size=size, threads=workers)
    resolved = [
        {}
        if isinstance(question, str)
        else building.laws_of(_of_subject(question).resolved, chosen, scenario, subjects)
        for scenario, question in zip(chosen.scenarios, questions, strict=True)
    ]
    entries = [
        card.not_applicable(scenario, question)
        if isinstance(question, str)
        else _entry(
            chosen, scenario, question, _why_not(chosen, scenario, subjects, tables), runs, used, do, fifo, progress
        )
        for scenario, question, tables in zip(chosen.scenarios, questions, resolved, strict=True)
    ]
    return card.card(
        chosen,
        size,
        subjects,
        next(filter(None, resolved), {arm: one.parameters for arm, one in subjects.items()}),
        entries,
        len(sheet.scenarios) - len(entries),
        None if criteria is None else str(criteria),
        engine=used.as_json,
        instead=used.instead,
    )


def _question(
    folder: Path, sheet: Sheet, scenario: Scenario, subjects: Mapping[str, Subject], size: Size
) -> Experiment | str:
    """The experiment of ``scenario``; why it does not apply if a value of the subject is out of place on a drawn path."""
    try:
        return building.write(folder, sheet, scenario, subjects, size)
    except SpecError as error:
        if not scenario.drawn:
            raise
        return str(error.diagnostics[0]["message"])


def _of_subject(question: Experiment) -> ScenarioFile:
    """The scenario of the subject's first run: the tables of the other arms may replace its own."""
    return next(run.scenario for run in one_of_each(question) if run.arm == SUBJECT)


def runs_folder(folder: Path, size: Size, seed: int) -> Path:
    """The folder of the sweeps of the card in ``folder``, with the files of their experiments."""
    return folder / (f"{engines.RUNS}-{size}" if seed == 1 else f"{engines.RUNS}-{size}-seed-{seed}")


def _why_not(
    sheet: Sheet, scenario: Scenario, subjects: Mapping[str, Subject], tables: Mapping[str, Mapping[str, Any]]
) -> str:
    """Why the subject cannot be in ``scenario``; "" if it can. ``tables`` are those of all arms with all defaults."""
    if scenario.needs == "ecn" and not (marks if sheet.kind == "aqm" else uses_ecn)(tables[SUBJECT]):
        return NO_ECN[sheet.kind]
    read = {one.get("column") for one in scenario.metrics.values()}
    missing = [f"`{column}`" for column in OF_TCP if column in read]
    return f"flows over QUIC have no {listed(missing)}" if subjects[SUBJECT].quic and missing else ""


def _entry(
    sheet: Sheet,
    scenario: Scenario,
    question: Experiment,
    unfit: str,
    folder: Path,
    used: engines.Used,
    do: Callable[..., Sweep],
    fifo: Callable[..., tuple[Scenario, judging.Samples]],
    progress: Callable[[str], Progress],
) -> dict[str, Any]:
    if why := unfit or used.why_not(question) or equal_delay.why_not(scenario, used.engine):
        return card.not_applicable(scenario, why)
    result = do(question, folder / scenario.name, progress=progress(scenario.name))
    used.add(result.manifest.get("instead", []))
    values = judging.samples(result.metrics, scenario)
    if scenario.equal_delay:
        scenario, values = fifo(sheet, scenario, question, values)
    return card.scored(sheet, scenario, values)
