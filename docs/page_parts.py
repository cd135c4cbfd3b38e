"""Tables and pictures of generated parts of pages, and their places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure


def replace(page: Path, verb: str, parts: Mapping[str, Iterable[str]]) -> None:
    """Replace the parts of ``page`` that ``make VERB`` writes: the lines of each by its name."""
    text = page.read_text(encoding="utf-8")
    for name, lines in parts.items():
        begin, end = f"<!-- written by make {verb}: {name} -->\n", f"<!-- end of {name} -->"
        before, rest = text.split(begin)
        text = before + begin + "\n" + "\n".join([*lines, "", ""]) + rest[rest.index(end) :]
    page.write_text(text, encoding="utf-8")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield f"| {' | '.join(columns)} |"
    yield "| --- |" + " --- |" * (len(columns) - 1)
    yield from (f"| {' | '.join(row)} |" for row in rows)


def draw_shares(shares: pl.DataFrame, title: str, picture: Path) -> None:
    """Draw the ``mean`` share of each ``pair`` behind each ``queue``: blue where the first of the pair has more than half, red where less."""
    mpl.rcParams["svg.hashsalt"] = "ecnlab"
    grid = shares.pivot("queue", index="pair", values="mean")
    names, queues, values = grid["pair"].to_list(), grid.columns[1:], grid.drop("pair").to_numpy()
    figure = Figure(figsize=(9.0, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.imshow(values, cmap="RdBu", vmin=0.0, vmax=1.0, aspect="auto")
    axes.set_xticks(range(len(queues)), queues)
    axes.set_yticks(range(len(names)), names)
    axes.set_title(title, fontsize=10, loc="left")
    for (row, column), value in ((at, values[at]) for at in zip(*values.nonzero(), strict=True)):
        ink = "white" if abs(value - 0.5) > 0.3 else "black"
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", color=ink, fontsize=9)
    figure.savefig(picture, metadata={"Date": None})
