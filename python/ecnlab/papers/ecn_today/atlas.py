"""The atlas: what each kind of host has next to CUBIC without ECN, in every queue, over rate and round trip."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

import polars as pl

from ecnlab.api.sweep import Sweep
from ecnlab.papers.ecn_today.grid import GRID, NEXT_TO_CUBIC, QUEUES, RATES, RTTS
from ecnlab.papers.material import Material
from ecnlab.papers.paper import Drawn
from ecnlab.papers.references import confidence
from ecnlab.report import Field, Map, Maps, Table
from ecnlab.report.page import Cell

EQUAL: Final = (0.4, 0.6)
"""Shares of two of four flows that count as equal: the rates differ by at most half."""

SHADES: Final = (0.1, 0.2, 0.4, 0.6, 0.8, 0.9)
"""Shares at which the shade changes: a ninth, a quarter and two thirds of the other's rate, and their reciprocals."""

NAMES: Final = ("below 10 %", "10 to 20 %", "20 to 40 %", "40 to 60 %", "60 to 80 %", "80 to 90 %", "above 90 %")


def draw(sweeps: Mapping[str, Sweep]) -> Drawn:
    """Return the ids of the runs of the atlas by place."""
    runs = sweeps["together"].runs.filter(pl.col("host").is_in(NEXT_TO_CUBIC))
    by = ["host", "queue", "rate", "rtt"]
    ids = runs.sort("replicate").group_by(by, maintain_order=True).agg(pl.col("id").str.join(" ").alias("runs"))
    return Drawn({"drawn_runs": ids})


def atlas(given: Material) -> list[Maps | Table]:
    """Return a row of maps for each kind of host, and a table with all cells and their runs."""
    cells = _cells(given)
    seed = tomllib.loads((given.folder / "together.toml").read_text())["seed"]
    maps = [_maps(host, cells.filter(host=host), given.rules.level, seed) for host in NEXT_TO_CUBIC]
    return [*maps, _table(cells, given)]


def _cells(given: Material) -> pl.DataFrame:
    """The share at every place, with its interval at the confidence of the page's verdicts, and the ids of its runs."""
    samples = given.tables["samples"].filter(pl.col("metric") == "share", pl.col("host").is_in(NEXT_TO_CUBIC))
    points = GRID.points(samples, given.published.metrics, given.rules.level)
    return points.join(given.tables["drawn_runs"], on=["host", "queue", "rate", "rtt"], maintain_order="left")


def _maps(host: str, cells: pl.DataFrame, level: float, seed: int) -> Maps:
    name = GRID.named(host)
    caption = (
        f"Each number is the goodput of two {name} flows divided by that of all four flows, the others of which are CUBIC "
        f"without ECN, in percent and in the measurement window: 50 is an equal share. It is the mean of {_runs(cells)}, "
        f"one for each seed, which are derived from {seed}. Hatched: the interval ({confidence(level)}) has values within "
        "40 to 60 % and others outside. Each cell leads to its share, interval, n and runs."
    )
    return Maps(
        f"{name} next to CUBIC: share of the goodput of {name} in %, mean of {_runs(cells)}",
        caption,
        [Map(GRID.named(queue), list(_fields(cells.filter(queue=queue)))) for queue in QUEUES],
        RATES,
        RTTS,
        "rate, Mb/s",
        "round trip without queueing, ms",
        list(enumerate(NAMES)),
    )


def _runs(cells: pl.DataFrame) -> str:
    """Return the number of runs in a cell, each with a seed of its own: "20 runs", or "18 to 20 runs"."""
    counts = cells["n"].to_list()
    least, most = min(counts), max(counts)
    return f"{least} runs" if least == most else f"{least} to {most} runs"


def _fields(cells: pl.DataFrame) -> Iterator[Field]:
    for row in cells.iter_rows(named=True):
        share = row["mean"]
        description = (
            f"{GRID.place(row)}: {share:.1%} of the goodput of all four flows, interval {row['low']:.1%} to "
            f"{row['high']:.1%}, n = {row['n']}, {verdict(row)}"
        )
        shade = sum(share > limit for limit in SHADES)
        column, line = RATES.index(row["rate"]), RTTS.index(row["rtt"])
        text = f"{100 * share:.0f}"
        yield Field(column, line, text, shade, description, verdict(row) == "not decided", f"#{_anchor(row)}")


def verdict(row: Mapping[str, Any]) -> str:
    """Return what the interval of a share decides."""
    low, high = EQUAL
    if row["low"] > high:
        return "more than CUBIC"
    if row["high"] < low:
        return "less than CUBIC"
    return "equal" if low <= row["low"] and row["high"] <= high else "not decided"


def _anchor(row: Mapping[str, Any]) -> str:
    return f"atlas-{row['host']}-{row['queue']}-{row['rate']}-{row['rtt']}"


def _table(cells: pl.DataFrame, given: Material) -> Table:
    rows: list[list[Cell | str]] = [
        [
            Cell(GRID.place(row), anchor=_anchor(row)),
            Cell(f"{row['mean']:.3f}", True),
            Cell(f"{row['low']:.3f} to {row['high']:.3f}", True),
            Cell(str(row["n"]), True),
            Cell(verdict(row)),
            Cell(row["runs"]),
        ]
        for row in cells.iter_rows(named=True)
    ]
    caption = "Every cell of the atlas: share of the goodput of all four flows (ratio, mean of n runs), its interval, and the runs: `ecnlab sweep papers/ecn-today/together.toml --only RUN` repeats one."
    return Table(
        caption,
        ["place", "share", f"interval, {confidence(given.rules.level)}", "n", "verdict", "runs"],
        rows,
        folded=True,
    )
