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
from ecnlab.runs.results import Comparison, compare, load
from ecnlab.runs.run import Run
from ecnlab.runs.sweep_result import Sweep
from ecnlab.scenario.links import busiest
from ecnlab.stages.words import counted

LINKS: Final = ("utilisation", "queue_mean_packets", "sojourn_mean_s", "lost", "delivered")
FLOWS: Final = ("goodput_bps", "retransmits", "timeouts", "ecn_reductions", "rtt_mean_s")

ASKED: Final = {
    "utilisation": "utilisation",
    "mean queueing delay": "sojourn_mean_s",
    "99th percentile of it": "sojourn_p99_s",
}
"""The columns of `links` and `queues` on top of the page, with their names there."""

POINTS: Final = 2_000
"""Most samples of a queue that are drawn."""


def comparison_page(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> Page:
    """Return the page of the results in two folders: whether they are the same, and their numbers side by side.

    Raises as `ecnlab.load` does.
    """
    a, b, found = load(first), load(second), compare(first, second)
    sections = [_differences(found)] if found.tables or found.reasons else []
    if isinstance(a, Run) and isinstance(b, Run):
        sections += _runs(a, b)
    elif isinstance(a, Sweep) and isinstance(b, Sweep):
        sections += _sweeps(found)
    return Page(
        title=f"{first} and {second}",
        kicker="ecnlab, comparison",
        answer=_answer(found),
        lede="",
        tallies=_tally(a, found),
        findings=[Finding("Differs", "partly", f"The programs differ in {maker}.", "") for maker in found.makers],
        sections=sections,
        facts=_facts(a, b) if isinstance(a, Run) and isinstance(b, Run) else [],
        footer="Every number is from the tables of the two result folders (docs/run-folder.md).",
    )


def _answer(found: Comparison) -> str:
    if found.equal:
        return "The results are the same, bit for bit."
    if found.comparable:
        tables = counted(len(found.tables), "table")
        return f"Both have the same specification; {tables} {'differs' if len(found.tables) == 1 else 'differ'}."
    return f"The results answer different questions: {'; '.join(found.reasons[:3])}."


def _facts(a: Run, b: Run) -> list[tuple[str, str]]:
    """Return what a reader asks first: total goodput, and utilisation and delay at the first run's busiest link, of both."""
    found = [_both("total goodput", "goodput_bps", *(_total(one, "flows", "goodput_bps") for one in (a, b)))]
    links = busiest(a)
    if not links.is_empty():
        link = str(links["link"][0])
        found += [
            _both(f"{name} at {link}", column, *(_at(one, link, column) for one in (a, b)))
            for name, column in ASKED.items()
        ]
    return [fact for fact in found if fact is not None]


def _both(name: str, column: str, first: float | None, second: float | None) -> tuple[str, str] | None:
    if first is None or second is None:
        return None
    return name, f"{cell(column, first)} against {cell(column, second)}"


def _total(run: Run, table: str, column: str) -> float | None:
    return float(run.table(table)[column].sum()) if table in run.tables and run.table(table).height else None


def _at(run: Run, link: str, column: str) -> float | None:
    """Return a column of `links` or `queues` at ``link``, if both the link and the column are there."""
    rows = busiest(run)
    found = rows.filter(pl.col("link") == link)[column] if column in rows.columns else pl.Series()
    return None if found.is_empty() else found[0]


def _tally(a: Run | Sweep, found: Comparison) -> list[Tally]:
    if not found.comparable:
        return []
    all_ = max(len(a.tables), len(found.tables))
    return [Tally(f"{all_} tables:", [("equal", "yes", all_ - len(found.tables)), ("differ", "no", len(found.tables))])]


def _differences(found: Comparison) -> Section:
    rows = [["specification", reason] for reason in found.reasons] + [[name, how] for name, how in found.tables.items()]
    return Section("differences", "Differences", "", [Table("What differs", ("where", "how"), rows, cards=True)])


def _sweeps(found: Comparison) -> list[Section]:
    if not found.metrics:
        return []
    keys = [name for name in found.metrics[0] if name not in ("first", "second")]
    rows: list[Sequence[Cell | str]] = [
        [
            *(str(row[name] or "") for name in keys),
            Cell(cell(row["metric"], row["first"]), True),
            Cell(cell(row["metric"], row["second"]), True),
        ]
        for row in found.metrics
    ]
    table = Table("Means over replicates that differ", (*keys, "first", "second"), rows)
    return [Section("metrics", "Metrics", "", [table])]


def _runs(a: Run, b: Run) -> list[Section]:
    blocks: list[Block] = []
    for name, key, columns in (("links", "link", LINKS), ("flows", "group", FLOWS)):
        if name in a.tables and name in b.tables:
            first, second = (_means(one, columns) if name == "flows" else one.table(name) for one in (a, b))
            blocks.append(_table(first, second, key, columns, "Links" if name == "links" else "Means of flow groups"))
    found = [Section("numbers", "Numbers side by side", "First and second, in the measurement window.", blocks)]
    charts = _queues(a, b)
    return found + ([Section("queues", "Queues over time", "", charts)] if charts else [])


def _means(run: Run, columns: Sequence[str]) -> pl.DataFrame:
    return group_means(run.table("flows"), columns)


def _table(a: pl.DataFrame, b: pl.DataFrame, key: str, columns: Sequence[str], caption: str) -> Table:
    there = [name for name in columns if name in a.columns and name in b.columns]
    both = a.select(key, *there).join(b.select(key, *there), on=key, how="inner", suffix="_2", maintain_order="left")
    rows: list[Sequence[Cell | str]] = [
        [row[key] if i == 0 else "", name, Cell(cell(name, row[name]), True), Cell(cell(name, row[f"{name}_2"]), True)]
        for row in both.iter_rows(named=True)
        for i, name in enumerate(there)
    ]
    return Table(caption, (key, "column", "first", "second"), rows, folded=len(rows) > 40)


def _queues(a: Run, b: Run) -> list[Chart]:
    """The queue of the link with the longest mean queue of the first, in both."""
    if any("queue_series" not in one.tables or "links" not in one.tables for one in (a, b)):
        return []
    link = str(a.table("links").sort("queue_mean_packets", descending=True, nulls_last=True)["link"][0])
    series = [_series(one, link) for one in (a, b)]
    both = series[0].join(series[1], on="time_s", how="inner", suffix="_2", maintain_order="left")
    if both.is_empty():
        return []
    lines = [Line("first", both["packets"].to_list(), 0), Line("second", both["packets_2"].to_list(), 1)]
    return [Chart(f"Queue of {link}", "Samples of both.", both["time_s"].to_list(), lines, "packets")]


def _series(run: Run, link: str) -> pl.DataFrame:
    rows = run.scan("queue_series").filter(pl.col("link") == link).select("time_s", pl.col("packets").cast(pl.Float64))
    found = rows.collect()
    return found.gather_every(-(-found.height // POINTS) or 1)
