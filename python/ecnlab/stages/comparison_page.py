"""Two results side by side as a page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from ecnlab.base.lazy_imports import pl
from ecnlab.base.readable import cell
from ecnlab.folder.congestion import group_means
from ecnlab.report import Chart, Finding, Line, Page, Section, Table, Tally
from ecnlab.report.page import Block, Cell
from ecnlab.report.words import heading
from ecnlab.results.comparison import Comparison, compare_results, names_of
from ecnlab.results.contrast import Contrast, Names
from ecnlab.results.loading import load
from ecnlab.results.run import RunResult
from ecnlab.results.sweep import SweepResult

LINKS: Final = ("utilisation", "queue_mean_packets", "sojourn_mean_s", "lost", "delivered")
FLOWS: Final = ("goodput_bps", "retransmits", "timeouts", "ecn_reductions", "rtt_mean_s")

MAX_ROWS: Final = 40
"""Maximum number of rows of an open table."""

METHOD: Final = (
    "Means over replicates. Replicates with the same seed are paired (Student's t); others are not (Welch's t). The "
    "confidence is 1 − 0.05/m for m differences (Bonferroni). Marks and drops are those of all queues in a run."
)

POINTS: Final = 2_000
"""Most samples of a queue that are drawn."""


def comparison_page(
    first: str | os.PathLike[str], second: str | os.PathLike[str], names: Names | None = None
) -> tuple[Page, Comparison]:
    """Return the page of the results in two folders, and the comparison on which it is based.

    ``names`` are those of the two sides. Raises as `ecnlab.load` does.
    """
    names = names or names_of(first, second)
    a, b = load(first), load(second)
    found = compare_results(a, b, names)
    sections = [_numbers(found)] if found.contrasts else []
    if isinstance(a, RunResult) and isinstance(b, RunResult):
        sections += _runs(a, b, names)
    sections += [_differences(found)] if found.tables or found.reasons else []
    page = Page(
        title=f"{names[0]} and {names[1]}",
        kicker="ecnlab, comparison",
        answer=found.answer,
        lede="",
        tallies=_tally(a, found),
        findings=[Finding("Differs", "partly", f"The programs differ in {maker}.", "") for maker in found.makers],
        sections=sections,
        facts=_facts(found),
        footer=f"{names[0]}: {first}. {names[1]}: {second}. Every number is from the tables of these folders (`ecnlab docs run-folder`).",
    )
    return page, found


def _facts(found: Comparison) -> list[tuple[str, str]]:
    """Return the marks and drops of both sides."""
    return [
        (one.name, f"{one.sides[0]} in {found.names[0]}, {one.sides[1]} in {found.names[1]}")
        for one in found.contrasts
        if one.signal
    ]


def _tally(a: RunResult | SweepResult, found: Comparison) -> list[Tally]:
    if not found.comparable:
        return []
    all_ = max(len(a.tables), len(found.tables))
    return [Tally(f"{all_} tables:", [("equal", "yes", all_ - len(found.tables)), ("differ", "no", len(found.tables))])]


def _differences(found: Comparison) -> Section:
    rows = [["specification", reason] for reason in found.reasons] + [[name, how] for name, how in found.tables.items()]
    table = Table("What differs", ("where", "how"), rows)
    return Section("differences", "Differences of specifications and tables", "", [table])


def _numbers(found: Comparison) -> Section:
    """Return the quantities of both sides with their differences."""
    first, second = found.names
    rows: list[Sequence[Cell | str]] = [
        [
            one.name,
            *(Cell(side, True) for side in one.sides),
            one.difference(),
            *([_verdict(one)] if found.of_sweeps else []),
        ]
        for one in found.contrasts
    ]
    columns = ("quantity", first, second, f"{second} − {first}", *(["verdict"] if found.of_sweeps else []))
    table = Table("Quantities of both sides", columns, rows, folded=len(rows) > MAX_ROWS)
    return Section("quantities", "Differences", METHOD if found.of_sweeps else "", [table])


def _verdict(one: Contrast) -> Cell:
    if one.interval is None:
        return Cell("")
    if not one.decided:
        return Cell("no difference shown", tone="open")
    return Cell("higher" if one.interval.mean > 0 else "lower", tone="plain")


def _runs(a: RunResult, b: RunResult, names: Names) -> list[Section]:
    blocks: list[Block] = []
    for name, key, columns in (("links", "link", LINKS), ("flows", "group", FLOWS)):
        if name in a.tables and name in b.tables:
            first, second = (_means(one, columns) if name == "flows" else one.table(name) for one in (a, b))
            caption = "Links" if name == "links" else "Means of flow groups"
            blocks.append(_table((first, second), key, columns, caption, names))
    found = [Section("numbers", "Numbers side by side", "In the measurement window.", blocks)]
    charts = _queues(a, b, names)
    return found + ([Section("queues", "Queues over time", "", charts)] if charts else [])


def _means(run: RunResult, columns: Sequence[str]) -> pl.DataFrame:
    return group_means(run.table("flows"), columns)


def _table(
    sides: tuple[pl.DataFrame, pl.DataFrame], key: str, columns: Sequence[str], caption: str, names: Names
) -> Table:
    a, b = sides
    there = [name for name in columns if name in a.columns and name in b.columns]
    both = a.select(key, *there).join(b.select(key, *there), on=key, how="inner", suffix="_2", maintain_order="left")
    rows: list[Sequence[Cell | str]] = [
        [f"{row[key]}: {heading(name)}", Cell(cell(name, row[name]), True), Cell(cell(name, row[f"{name}_2"]), True)]
        for row in both.iter_rows(named=True)
        for name in there
    ]
    return Table(caption, (key, *names), rows, folded=len(rows) > MAX_ROWS)


def _queues(a: RunResult, b: RunResult, names: Names) -> list[Chart]:
    """The queue of the link with the longest mean queue of the first, in both."""
    if any("queue_series" not in one.tables or "links" not in one.tables for one in (a, b)):
        return []
    link = str(a.table("links").sort("queue_mean_packets", descending=True, nulls_last=True)["link"][0])
    series = [_series(one, link) for one in (a, b)]
    both = series[0].join(series[1], on="time_s", how="inner", suffix="_2", maintain_order="left")
    if both.is_empty():
        return []
    lines = [Line(names[0], both["packets"].to_list(), 0), Line(names[1], both["packets_2"].to_list(), 1)]
    return [Chart(f"Queue of {link}", "Samples of both.", both["time_s"].to_list(), lines, "packets")]


def _series(run: RunResult, link: str) -> pl.DataFrame:
    rows = run.scan("queue_series").filter(pl.col("link") == link).select("time_s", pl.col("packets").cast(pl.Float64))
    found = rows.collect()
    return found.gather_every(-(-found.height // POINTS) or 1)
