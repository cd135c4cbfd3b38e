"""The page of a search: ``search.html``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ecnlab import _core
from ecnlab.base.lazy_imports import pl
from ecnlab.folder.outputs import PAGE, write_named
from ecnlab.report import Finding, Page, Section, Table, render
from ecnlab.report.chart import Chart, Line
from ecnlab.report.heat import Field, Map, Maps
from ecnlab.report.page import Block, Cell, Group
from ecnlab.searching import finds
from ecnlab.searching.harm import Harm
from ecnlab.searching.searching import Search
from ecnlab.searching.space import Space

FILE: Final = "search.html"

SHADES: Final = ((1.25, 3, "up to 1.25 times"), (2.0, 4, "up to 2"), (8.0, 5, "up to 8"), (math.inf, 6, "above 8"))
"""Ranges of harm with their shades and names."""

FLOWS: Final = 4
"""Most windows of a chart."""


def write_page(found: Search, folder: Path) -> Path:
    """Write the page of ``found`` into its ``folder`` and return its path. Raises OSError."""
    path = folder / FILE
    write_named(path, render(page(found, folder)).encode("utf-8", "surrogatepass"), PAGE, own=folder)
    return path


def page(found: Search, folder: Path) -> Page:
    """The page of the search in ``folder``."""
    space, done = found.space, found.archive
    return Page(
        title=space.title,
        kicker=f"ecnlab {_core.__version__}, search {space.kind}, seed {found.seed}",
        answer=_answer(found),
        lede=f"Beside {space.against} on the same paths with the same seeds; {done.evaluations:,} points of {space.about}, {done.runs:,} runs.",
        tallies=(),
        findings=[Finding("fails", "no", one["sentence"], "") for one in found.finds.values()],
        sections=list(_sections(found, folder)),
        footer="Maps and finds are in search.json in the folder of this page (`ecnlab docs search`).",
    )


def _answer(found: Search) -> str:
    law = found.space.labels[found.space.subject]
    if not found.finds:
        return f"No path was found on which {law} is worse than the others with 19 of 20 new seeds."
    worst = max(found.finds.values(), key=lambda one: float(one["confirmed"]["times"]))
    return f"The worst find for {law}: {worst['measure']} {worst['confirmed']['times']:.3g} times as bad as with {worst['labels'][worst['best']]}."


def _sections(found: Search, folder: Path) -> Iterator[Section]:
    intro = "The most harm found in each column and row. An empty cell was tried and has none, or was not reached."
    yield Section("maps", "Maps", intro, [maps(found)])
    for kind in found.space.harms:
        if record := found.finds.get(kind.name):
            blocks = list(_find(found.space, folder / "find" / kind.name, record, kind))
            yield Section(kind.name, f"The worst find: {kind.words}", str(record["sentence"]), blocks)


def maps(found: Search, *, details: bool = True) -> Maps:
    """The maps of ``found``, with ``details`` the path of each cell and links to the sections of finds."""
    columns, rows = found.space.columns, found.space.rows
    each = [
        Map(
            kind.words,
            [
                field(
                    column,
                    len(rows.labels) - 1 - row,
                    one.harm,
                    f"{one.harm:.3g} times: {one.words}" if details else "",
                    f"#{kind.name}" if details and kind.name in found.finds else "",
                )
                for (name, column, row), one in sorted(found.archive.cells.items())
                if name == kind.name
            ],
        )
        for kind in found.space.harms
    ]
    return Maps(
        "Harm, in times of the best other law",
        f"Rows: {rows.title}. Each cell is the worst point found, by the mean of new seeds.",
        [one for one in each if one.fields],
        columns.labels,
        rows.labels[::-1],
        columns.title,
        "times",
        [(shade, words) for _, shade, words in SHADES],
    )


def field(column: int, row: int, times: float, description: str, link: str) -> Field:
    """The cell of a map with a harm of ``times``."""
    shade = next(shade for most, shade, _ in SHADES if times <= most)
    return Field(column, row, f"{times:.2g}" if times < 100 else f"{times:.0f}", shade, description, link=link)


def _find(space: Space, folder: Path, record: Mapping[str, Any], kind: Harm) -> Iterator[Block]:
    best = str(record["best"])
    labels = {arm: str(record["labels"][arm]) for arm in (space.subject, best)}
    runs = {arm: folder / "runs" / arm for arm in labels}
    windows = [_windows(run, labels[arm]) for arm, run in runs.items() if _series(run, "flow_series").height]
    yield Group([_queues(space.link, runs, labels), *windows])
    commands = (
        f"ecnlab run find/{kind.name}/scenario.toml",
        f"ecnlab search replay find/{kind.name}",
        f"ecnlab report find/{kind.name}/runs/{space.subject}",
    )
    rows = [
        [Cell(command), Cell(what)]
        for command, what in zip(
            commands,
            (space.run_words, "the harm with 20 seeds, again", "packets, windows and queue around it"),
            strict=True,
        )
    ]
    if again := on_kernel(folder):
        yield f"On the Linux kernel: {again['sentence'].partition('. Path')[0]}."
    yield Table("In the folder of this page", ("command", "shows"), rows)


def on_kernel(folder: Path) -> dict[str, Any]:
    """What the kernel gave for the find in ``folder``; nothing if it has not replayed it."""
    path = folder / finds.REPLAYED.format(engine="linux")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def _series(run: Path, table: str) -> pl.DataFrame:
    return pl.read_parquet(run / f"{table}.parquet")


def _queues(link: str, runs: Mapping[str, Path], labels: Mapping[str, str]) -> Chart:
    lines, times = [], []
    for style, (arm, run) in enumerate(runs.items()):
        rows = _series(run, "queue_series").filter(pl.col("link") == link).sort("time_s")
        times = rows["time_s"].to_list()
        lines.append(Line(labels[arm], rows["packets"].to_list(), style))
    return Chart("Queue", f"Packets in the queue of {link}, one run of each law.", times, lines, "packets")


def _windows(run: Path, label: str) -> Chart:
    rows = _series(run, "flow_series").sort("time_s")
    times = rows["time_s"].unique().sort()
    flows = rows["flow"].unique(maintain_order=True).to_list()[:FLOWS]
    lines = []
    for style, name in enumerate(flows):
        own = rows.filter(pl.col("flow") == name).select("time_s", "cwnd_bytes")
        values = times.to_frame().join(own, on="time_s", how="left")["cwnd_bytes"].fill_null(0) / 1000
        lines.append(Line(name, values.to_list(), style, steps=True))
    caption = "Congestion windows of the first flows." if len(flows) == FLOWS else "Congestion windows."
    return Chart(f"Windows, {label}", caption, times.to_list(), lines, "kB")
