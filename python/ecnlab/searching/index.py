"""The page of the searches of many laws: ``index.html``, with their worst finds and maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ecnlab import _core
from ecnlab.folder.outputs import PAGE, write_named
from ecnlab.report import Page, Section, Table, render
from ecnlab.report.heat import Map, Maps
from ecnlab.report.page import Cell
from ecnlab.report.words import counted
from ecnlab.searching import finds
from ecnlab.searching.page import SHADES, field, maps, on_kernel
from ecnlab.searching.searching import Search

FILE: Final = "index.html"


def write_index(searches: Mapping[str, Search], folder: Path) -> Path:
    """Write the page of ``searches``, by the names of their folders in ``folder``, and return its path. Raises OSError."""
    path = folder / FILE
    write_named(path, render(index(searches, folder)).encode("utf-8", "surrogatepass"), PAGE, own=folder)
    return path


def index(searches: Mapping[str, Search], folder: Path) -> Page:
    """The page of at least one search; all have one seed and the same kinds of harm."""
    one = next(iter(searches.values()))
    what = "queue" if one.space.kind == "aqm" else "sender"
    points = sum(found.archive.evaluations for found in searches.values())
    runs = sum(found.archive.runs for found in searches.values())
    finds_of_all = sum(len(found.finds) for found in searches.values())
    return Page(
        title=f"Where {what}s fail",
        kicker=f"ecnlab {_core.__version__}, search all {one.space.kind}, seed {one.seed}",
        answer=f"{counted(finds_of_all, 'find')} for {counted(len(searches), what)}, each with at least 19 of 20 new seeds.",
        lede=f"{points:,} points of {one.space.about}, {runs:,} runs.",
        tallies=(),
        findings=(),
        sections=[
            Section(
                "worst",
                "The worst finds",
                "Harm in times of the best other law. An empty cell has no find.",
                [_worst(searches)],
            ),
            *_sections(searches, folder),
        ],
        footer="Scenarios, experiments and captures of finds are in the folder of each law (`ecnlab docs search`).",
    )


def _worst(searches: Mapping[str, Search]) -> Maps:
    kinds = [kind.name for kind in next(iter(searches.values())).space.harms]
    fields = [
        field(kinds.index(kind), row, record["confirmed"]["times"], record["sentence"], f"#{name}")
        for row, (name, found) in enumerate(searches.items())
        for kind, record in found.finds.items()
    ]
    labels = [found.space.labels[found.space.subject] for found in searches.values()]
    shades = [(shade, words) for _, shade, words in SHADES]
    return Maps(
        "Harm of the worst finds",
        "Means of 20 seeds.",
        [Map("all laws", fields)],
        kinds,
        labels,
        "harm",
        "times",
        shades,
    )


def _sections(searches: Mapping[str, Search], folder: Path) -> Iterator[Section]:
    for name, found in searches.items():
        label = found.space.labels[found.space.subject]
        intro = f"Beside {found.space.against}; {found.archive.evaluations:,} points, {found.archive.runs:,} runs. Folder: {name}."
        yield Section(
            name,
            label,
            intro,
            [_table(found, folder / name) if found.finds else "No find.", maps(found, details=False)],
        )


def _table(found: Search, folder: Path) -> Table:
    """The finds of a search."""
    head = ("measure", "the law", "the best other", "times (interval)", "seeds", "on the kernel", "path")
    rows = [
        [
            Cell(record["measure"]),
            *(
                Cell(finds.value(record["means"][arm], record["unit"]), numeric=True)
                for arm in (record["arm"], record["best"])
            ),
            Cell(_times(record)),
            Cell(f"{record['confirmed']['harmful']} of {record['confirmed']['seeds']}"),
            Cell(_times(again) if (again := on_kernel(folder / "find" / kind)) else "-"),
            Cell("; ".join(record["path"])),
        ]
        for kind, record in found.finds.items()
    ]
    return Table("Worst finds", head, rows)


def _times(record: Mapping[str, Any]) -> str:
    times, low, high = (record["confirmed"][name] for name in ("times", "low", "high"))
    return f"{times:.3g} ({low:.3g} to {high:.3g})"
