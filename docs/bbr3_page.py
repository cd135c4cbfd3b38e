"""Writes the tables and the picture of docs/bbr3.md from sweeps and cards in results: ``make bbr3``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import polars as pl
from page_parts import draw_shares, replace, table

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
    found = shares(name)
    arms = found["arm"].unique(maintain_order=True).to_list()

    def rows() -> Iterator[list[str]]:
        for (queue, rate), cells in found.group_by("queue", "rate", maintain_order=True):
            means = (cells.row(by_predicate=pl.col("arm") == arm, named=True) for arm in arms)
            intervals = (f"{mean['mean']:.3f} ({mean['low']:.3f} to {mean['high']:.3f})" for mean in means)
            yield [str(queue), str(rate).replace("bps", "b/s"), *intervals]

    return table(("queue", "rate", *(ARMS[arm] for arm in arms)), rows())


def atlas() -> pl.DataFrame:
    """Return the mean share of the first of each pair behind each queue over the paths, and the least and greatest of the paths' means."""
    by_path = shares("atlas").group_by("pair", "queue", maintain_order=True)
    return by_path.agg(pl.col("mean").mean(), pl.col("mean").min().alias("low"), pl.col("mean").max().alias("high"))


def pairs(means: pl.DataFrame) -> Iterator[str]:
    """Yield the rows of the atlas: a pair each."""
    shown = "{mean:.2f} ({low:.2f} to {high:.2f})"
    rows = (
        [str(pair), *(shown.format(**row) for row in cells.iter_rows(named=True))]
        for (pair,), cells in means.group_by("pair", maintain_order=True)
    )
    return table(("pair", *means["queue"].unique(maintain_order=True)), rows)


def cards() -> Iterator[str]:
    """Yield the summaries of the cards."""
    for name in CARDS:
        card: dict[str, Any] = json.loads((RESULTS / name / "card.json").read_text(encoding="utf-8"))
        yield from (f"- {sentence}." for sentence in card["summary"])
        yield ""


def main() -> None:
    """Replace the generated parts of the page."""
    means = atlas()
    draw_shares(means, "Share of the goodput of the first of two flows, mean of four paths", PICTURE)
    parts = {"ecn": with_ecn("bbr3-ecn"), "fast": with_ecn("bbr3-fast"), "atlas": pairs(means), "cards": cards()}
    replace(PAGE, "bbr3", parts)


if __name__ == "__main__":
    main()
