"""A search from a law to its folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ecnlab._core import LawError, Scenario
from ecnlab.base.errors import FolderError
from ecnlab.base.provenance import maker
from ecnlab.folder.outputs import write_named
from ecnlab.runs import scenario_files
from ecnlab.runs.cluster import Cluster
from ecnlab.runs.run import run
from ecnlab.runs.sweep_doing import Progress
from ecnlab.scenario.files import read_scenario
from ecnlab.scoring.sheet import SUBJECT, Kind
from ecnlab.scoring.subject import Subject, built_in, subject
from ecnlab.searching import archive, exploring, finds, shrinking
from ecnlab.searching.archive import Archive
from ecnlab.searching.choices import Choices
from ecnlab.searching.evaluator import Evaluator, Space
from ecnlab.searching.exploring import SIZE
from ecnlab.searching.harm import HARMS, Harm
from ecnlab.searching.isolated import LawFails
from ecnlab.searching.path import SPACE

EVALUATIONS: Final = 2048
"""Points of a search, if no other number is given."""

RECORD: Final = "search.json"

FORMAT: Final = 1

TRIES: Final = 3
"""Points of a kind of harm that are tried until new seeds show one."""

CAPTURE: Final = {"link": "bottleneck"}

FRESH: Final = 1 << 50
"""Seeds from here on are those of smaller scenarios; the experiments of finds have their own."""

SAMPLE: Final = "50 ms"
"""Interval of the series of the runs of a find."""


@dataclass(slots=True)
class Search:
    """A search and what it has found."""

    kind: Kind
    laws: Mapping[str, Subject]
    seed: int
    archive: Archive
    finds: dict[str, dict[str, Any]]
    """The record of each find, by kind of harm."""
    files: Mapping[str, str]
    """SHA-256 of the files of user-defined laws."""

    def as_json(self) -> dict[str, Any]:
        """All of it: the content of ``search.json``."""
        return {
            "format": FORMAT,
            "kind": f"search {self.kind}",
            "ecnlab": maker(),
            **self.question(),
            **self.archive.as_json(),
            "finds": self.finds,
        }

    def question(self) -> dict[str, Any]:
        """What was searched: the law with its parameters and files, those that it is compared with, and the seed."""
        law = self.laws[SUBJECT]
        return {
            "law": {"argument": law.argument, "label": law.label, "parameters": law.parameters, "files": self.files},
            "others": [one.label for arm, one in self.laws.items() if arm != SUBJECT],
            "seed": self.seed,
        }


def laws(kind: Kind, argument: str) -> dict[str, Subject]:
    """By arm: the law that ``argument`` names, and those that it is compared with."""
    one = subject(argument, kind)
    others = {name: built_in(name, kind) for name in SPACE["compared"][kind]}
    return {SUBJECT: one, **{name: other for name, other in others.items() if other.parameters != one.parameters}}


def search(
    kind: Kind,
    laws: Mapping[str, Subject],
    folder: Path,
    *,
    evaluations: int = EVALUATIONS,
    seed: int = 1,
    workers: int | None = None,
    cluster: Cluster | None = None,
    progress: Callable[[str], Progress],
) -> Search:
    """Look for paths on which the first of ``laws`` is worse than the others, and write what is found into ``folder``.

    Generations that the folder has are not done again; more ``evaluations`` continue it. ``progress`` is called with the name of each
    part, and returns a function that is called with (done, all).

    Raises FolderError if ``folder`` has another search; SpecError for a law that fits no path; LawError for a user-defined law that
    fails, and ``folder`` has the path; RunError, OSError.
    """
    space = Space(kind, laws)
    simplest = Scenario(f"{laws[SUBJECT].name}.toml", space.text(space.candidate(Choices({}))))
    found = Search(kind, laws, seed, Archive(), {}, scenario_files.laws(simplest))
    _continue(found, folder)
    with Evaluator(space, workers, cluster) as runs:
        try:
            _explore(found, space, runs, folder, evaluations, progress("search"))
            _look(found, space, runs, folder, workers, progress("finds"))
        except LawFails as error:
            where = folder / "find" / "error"
            finds.write_scenario(where, space, error.at, f"{laws[SUBJECT].label} fails with the seed {error.seed}.")
            raise LawError(f"{error}: `ecnlab run {where / finds.SCENARIO} --seed {error.seed}` shows it") from error
    _store(found, folder)
    return found


def _explore(found: Search, space: Space, runs: Evaluator, folder: Path, evaluations: int, report: Progress) -> None:
    """Do the generations that are missing, and store the maps after each."""
    wanted = -(-evaluations // SIZE) * SIZE  # whole generations

    def after(archive: Archive) -> None:
        report(archive.evaluations, wanted)
        _store(found, folder)

    if found.archive.evaluations < wanted:
        found.finds = {}
        exploring.explore(space, runs, found.archive, evaluations=wanted, seed=found.seed, after=after)


def _look(found: Search, space: Space, runs: Evaluator, folder: Path, workers: int | None, report: Progress) -> None:
    """Write the finds that are missing."""
    kinds = HARMS[found.kind]
    for number, one in enumerate(kinds):
        report(number, len(kinds))
        if one.name not in found.finds and (record := _find(found, space, runs, one, folder, workers)):
            found.finds[one.name] = record
            _store(found, folder)
    report(len(kinds), len(kinds))


def _store(found: Search, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found.as_json(), indent=1, ensure_ascii=False) + "\n"
    write_named(folder / RECORD, text.encode(), (".json",), own=folder)


def _continue(found: Search, folder: Path) -> None:
    """Take what ``folder`` has of the same search."""
    path = folder / RECORD
    if not path.is_file():
        return
    try:
        text = json.loads(path.read_text(encoding="utf-8"))
        same = all(text[key] == value for key, value in _plain(found.question()).items())
        there, finds_there = archive.read(text), text["finds"]
    except (ValueError, KeyError, TypeError) as error:
        raise FolderError(f"{path}: not the record of a search ({error}): choose another folder with --out") from error
    if not same:
        raise FolderError(
            f"{folder} has a search of another law, of another state of its file, or with another seed: choose another folder with --out"
        )
    found.archive, found.finds = there, finds_there


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _find(
    found: Search, space: Space, runs: Evaluator, kind: Harm, folder: Path, workers: int | None
) -> dict[str, Any] | None:
    """Write the worst point of ``kind`` that new seeds confirm, made smaller, and return its record; None if there is none."""
    where = folder / "find" / kind.name
    for place, elite in found.archive.worst(kind.name)[:TRIES]:
        if (where / finds.EXPERIMENT).is_file():
            shutil.rmtree(where)
        one = shrinking.shrink(space, runs, space.candidate(Choices(elite.genes)), kind.name, FRESH + found.seed)
        if one is None:
            continue
        finds.write(where, space, one, kind, found.seed)
        record = finds.confirm(where, space, one, kind, workers)
        if record is None:
            continue
        record["from"] = {"rtt_ms": place[1], "change": place[2], "times": elite.harm, "path": elite.words}
        finds.store(where, record)
        _record_runs(where, record["best"], found.seed)
        return record
    if where.is_dir():
        shutil.rmtree(where)
    return None


def _record_runs(folder: Path, best: str, seed: int) -> None:
    """Store a run of the find in ``folder`` with series and a capture, and one of the law that is best there."""
    scenario = read_scenario(folder / finds.SCENARIO)
    for arm in (SUBJECT, best):
        place = "link.bottleneck.queue" if arm in scenario.resolved["queue"] else f"flow.{SUBJECT}.tcp"
        changes = {place: arm, "sample": SAMPLE, "capture.bottleneck": CAPTURE}
        run(scenario.with_overrides(changes), seed, out=folder / "runs" / arm)
