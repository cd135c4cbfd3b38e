"""Writes the tables and the picture of docs/bbr3.md from sweeps and cards in results: ``make bbr3``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure

import ecnlab

ROOT: Final = Path(__file__).parents[1]
RESULTS: Final = ROOT / "results"
PAGE: Final = ROOT / "docs" / "bbr3.md"
PICTURE: Final = ROOT / "docs" / "img" / "atlas.svg"
CARDS: Final = ("score-bbr3", "score-l4s-bbr3-l4s")


def shares(name: str) -> pl.DataFrame:
    """Return the mean share of each setting of the sweep ``name`` with its interval, in the order of the runs."""
    sweep = ecnlab.load(RESULTS / name)
    assert isinstance(sweep, ecnlab.Sweep)
    return sweep.summary().filter(metric="share").drop("metric", "n")


ARMS: Final = {"ignored": "marks ignored", "loss": "a mark is a loss", "no-ecn": "no ECN"}


def with_ecn(name: str) -> Iterator[str]:
    """Yield the share of a BBRv3 flow next to five CUBIC flows, of the sweep ``name``."""
    table = shares(name)
    arms = table["arm"].unique(maintain_order=True).to_list()
    yield f"| queue | rate | {' | '.join(ARMS[arm] for arm in arms)} |"
    yield "| --- |" + " --- |" * (1 + len(arms))
    for (queue, rate), rows in table.group_by("queue", "rate", maintain_order=True):
        cells = (rows.row(by_predicate=pl.col("arm") == arm, named=True) for arm in arms)
        intervals = (f"{cell['mean']:.3f} ({cell['low']:.3f} to {cell['high']:.3f})" for cell in cells)
        yield f"| {queue} | {str(rate).replace('bps', 'b/s')} | {' | '.join(intervals)} |"


def atlas() -> pl.DataFrame:
    """Return the mean share of the first of each pair behind each queue over the paths, and the least and greatest of the paths' means."""
    by_path = shares("atlas").group_by("pair", "queue", maintain_order=True)
    return by_path.agg(pl.col("mean").mean(), pl.col("mean").min().alias("low"), pl.col("mean").max().alias("high"))


def pairs(table: pl.DataFrame) -> Iterator[str]:
    """Yield the rows of the atlas: a pair each."""
    queues = table["queue"].unique(maintain_order=True).to_list()
    yield f"| pair | {' | '.join(queues)} |"
    yield "| --- |" + " --- |" * len(queues)
    for (pair,), rows in table.group_by("pair", maintain_order=True):
        cells = (f"{row['mean']:.2f} ({row['low']:.2f} to {row['high']:.2f})" for row in rows.iter_rows(named=True))
        yield f"| {pair} | {' | '.join(cells)} |"


def draw(table: pl.DataFrame) -> None:
    """Draw the atlas: blue where the first of the pair has more than half, red where it has less."""
    mpl.rcParams["svg.hashsalt"] = "ecnlab"
    grid = table.pivot("queue", index="pair", values="mean")
    names, queues, values = grid["pair"].to_list(), grid.columns[1:], grid.drop("pair").to_numpy()
    figure = Figure(figsize=(9.0, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.imshow(values, cmap="RdBu", vmin=0.0, vmax=1.0, aspect="auto")
    axes.set_xticks(range(len(queues)), queues)
    axes.set_yticks(range(len(names)), names)
    axes.set_title("Share of the goodput of the first of two flows, mean of four paths", fontsize=10, loc="left")
    for (row, column), value in ((at, values[at]) for at in zip(*values.nonzero(), strict=True)):
        ink = "white" if abs(value - 0.5) > 0.3 else "black"
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", color=ink, fontsize=9)
    figure.savefig(PICTURE, metadata={"Date": None})


def cards() -> Iterator[str]:
    """Yield the summaries of the cards."""
    for name in CARDS:
        card: dict[str, Any] = json.loads((RESULTS / name / "card.json").read_text(encoding="utf-8"))
        yield from (f"- {sentence}." for sentence in card["summary"])
        yield ""


def main() -> None:
    """Replace the generated parts of the page."""
    table = atlas()
    draw(table)
    text = PAGE.read_text(encoding="utf-8")
    for name, lines in {
        "ecn": with_ecn("bbr3-ecn"),
        "fast": with_ecn("bbr3-fast"),
        "atlas": pairs(table),
        "cards": cards(),
    }.items():
        begin, end = f"<!-- written by make bbr3: {name} -->\n", f"<!-- end of {name} -->"
        before, rest = text.split(begin)
        text = before + begin + "\n" + "\n".join([*lines, "", ""]) + rest[rest.index(end) :]
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
