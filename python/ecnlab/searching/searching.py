"""A search from a space to its folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ecnlab._core import LawError
from ecnlab.base.errors import FolderError
from ecnlab.base.provenance import build, maker
from ecnlab.folder.outputs import write_named
from ecnlab.runs.cluster import Cluster
from ecnlab.runs.run import run
from ecnlab.runs.sweep_doing import Progress
from ecnlab.scenario.files import read_scenario
from ecnlab.scoring.sheet import Kind
from ecnlab.searching import archive, exploring, finds, law_space, shrinking
from ecnlab.searching.archive import Archive
from ecnlab.searching.choices import Choices
from ecnlab.searching.evaluator import Evaluator
from ecnlab.searching.exploring import SIZE
from ecnlab.searching.harm import Harm
from ecnlab.searching.isolated import LawFails
from ecnlab.searching.law_space import LawSpace
from ecnlab.searching.queue_space import QueueSpace
from ecnlab.searching.search_file import ERROR
from ecnlab.searching.sender_space import SenderSpace
from ecnlab.searching.space import Space

EVALUATIONS: Final = 2048
"""Points of a search, if no other number is given."""

RECORD: Final = "search.json"

FORMAT: Final = 2

TRIES: Final = 3
"""Points of a kind of harm that are tried until new seeds show one."""

FRESH: Final = 1 << 50
"""Seeds from here on are those of smaller scenarios; the experiments of finds have their own."""

CAPTURE: Final = "bottleneck"
"""Name of the capture of these runs."""

SAMPLE: Final = "50 ms"
"""Interval of the series of the runs of a find."""


@dataclass(slots=True)
class Search:
    """A search and what it has found."""

    space: Space
    question: Mapping[str, Any]
    """That of its space."""
    seed: int
    archive: Archive
    finds: dict[str, dict[str, Any]]
    """The record of each find, by kind of harm."""

    def as_json(self) -> dict[str, Any]:
        """All of it: the content of ``search.json``."""
        return {
            "format": FORMAT,
            "kind": f"search {self.space.kind}",
            "ecnlab": maker(),
            **self.question,
            "seed": self.seed,
            **self.archive.as_json(self.space.columns, self.space.rows),
            "finds": self.finds,
        }


def of_law(kind: Kind, argument: str) -> LawSpace:
    """The default space of ``kind``, ``"aqm"`` or ``"cc"``, with the law that ``argument`` names. Raises as `subject` does."""
    laws = law_space.laws(kind, argument)
    return QueueSpace(laws) if kind == "aqm" else SenderSpace(laws)


def search(
    space: Space,
    folder: Path,
    *,
    evaluations: int = EVALUATIONS,
    seed: int = 1,
    workers: int | None = None,
    cluster: Cluster | None = None,
    progress: Callable[[str], Progress],
) -> Search:
    """Look for points of ``space`` at which its law is worse than the others, and write what is found into ``folder``.

    Generations that the folder has are not done again; more ``evaluations`` continue it. ``progress`` is called with the name of each
    part, and returns a function that is called with (done, all).

    Raises FolderError if ``folder`` has another search, or one of another build; SpecError and EcnlabError for a law that fits no path;
    LawError for a user-defined law that fails, and ``folder`` has the path; RunError, OSError.
    """
    found = Search(space, space.question(), seed, Archive(), {})
    _continue(found, folder)
    with Evaluator(space, workers, cluster) as runs:
        try:
            _explore(found, runs, folder, evaluations, progress("search"))
            _look(found, runs, folder, workers, progress("finds"))
        except LawFails as error:
            where = folder / "find" / ERROR
            about = f"{space.labels[error.arm]} fails with the seed {error.seed}."
            finds.write_scenario(where, space, error.at, about, error.arm)
            raise LawError(f"{error}: `ecnlab run {where / finds.SCENARIO} --seed {error.seed}` shows it") from error
    _store(found, folder)
    return found


def _explore(found: Search, runs: Evaluator, folder: Path, evaluations: int, report: Progress) -> None:
    """Do the generations that are missing, and store the maps after each."""
    wanted = -(-evaluations // SIZE) * SIZE  # whole generations

    def after(archive: Archive) -> None:
        report(archive.evaluations, wanted)
        _store(found, folder)

    if found.archive.evaluations < wanted:
        found.finds = {}
        exploring.explore(found.space, runs, found.archive, evaluations=wanted, seed=found.seed, after=after)


def _look(found: Search, runs: Evaluator, folder: Path, workers: int | None, report: Progress) -> None:
    """Write the finds that are missing."""
    kinds = found.space.harms
    for number, one in enumerate(kinds):
        report(number, len(kinds))
        if one.name not in found.finds and (record := _find(found, runs, one, folder, workers)):
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
        own = {"kind": f"search {found.space.kind}", **found.question, "seed": found.seed}
        same = all(text[key] == value for key, value in _plain(own).items())
        there, finds_there = (
            archive.read(text, found.space.columns, found.space.rows) if same else Archive(),
            text["finds"],
        )
        of = text["ecnlab"]["build"]
    except (ValueError, KeyError, TypeError) as error:
        raise FolderError(f"{path}: not the record of a search ({error}): choose another folder with --out") from error
    if not same:
        raise FolderError(
            f"{folder} has a search of another law, of another state of its files, or with another seed: choose another folder with --out"
        )
    if of != build():
        raise FolderError(
            f"{folder} has a search by another build of ecnlab ({of}; this one is {build()}), whose runs may differ: choose another "
            f"folder with --out, or remove {folder}"
        )
    found.archive, found.finds = there, finds_there


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _find(found: Search, runs: Evaluator, kind: Harm, folder: Path, workers: int | None) -> dict[str, Any] | None:
    """Write the worst point of ``kind`` that new seeds confirm, made smaller, and return its record; None if there is none."""
    space, where = found.space, folder / "find" / kind.name
    for (_, column, row), elite in found.archive.worst(kind.name)[:TRIES]:
        if (where / finds.EXPERIMENT).is_file():
            shutil.rmtree(where)
        one = shrinking.shrink(space, runs, space.candidate(Choices(elite.genes)), kind.name, FRESH + found.seed)
        if one is None:
            continue
        finds.write(where, space, one, kind, found.seed)
        record = finds.confirm(where, space, one, kind, workers)
        if record is None:
            continue
        place = {"column": space.columns.labels[column], "row": space.rows.labels[row]}
        record["from"] = {**place, "times": elite.harm, "path": elite.words}
        finds.store(where, record)
        _record_runs(where, space, (space.subject, record["best"]), found.seed)
        return record
    if where.is_dir():
        shutil.rmtree(where)
    return None


def _record_runs(folder: Path, space: Space, arms: Sequence[str], seed: int) -> None:
    """Store a run of the find in ``folder`` for each of ``arms``, with series and a capture."""
    scenario, sets = read_scenario(folder / finds.SCENARIO), space.sets(folder)
    recorded = {"sample": SAMPLE, f"capture.{CAPTURE}": {"link": space.link}}
    for arm in arms:
        run(scenario.with_overrides(dict(sets[arm])).with_overrides(recorded), seed, out=folder / "runs" / arm)
