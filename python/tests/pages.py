"""Pages of papers in tests: analysis tables as a reproduction stores them, and what every page must hold."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from ecnlab.papers.analysis import Stored, shapes
from ecnlab.papers.judge import Grid, judge_claims, judge_numbers
from ecnlab.papers.material import Material
from ecnlab.papers.paper import Drawn
from ecnlab.papers.published import Published, read_published

DEPARTURES = ("key", "profile", "profile_value", "value", "used_in", "source")


def stored(folder: Path, published: Published, samples: pl.DataFrame, grid: Grid, drawn: Drawn | None = None) -> Stored:
    """The tables that a page is made from, written into ``folder``; who made them is made up."""
    drawn = drawn or Drawn()
    points = grid.points(samples, published.metrics)
    runs = {"experiment": ["bulk"], "title": ["t"], "runs": [1], "replicates": [1], "spec": ["0"]}
    tables = {
        "points": points,
        "numbers": judge_numbers(published, points, grid),
        "claims": judge_claims(published, samples, points, grid),
        "departures": pl.DataFrame(schema=dict.fromkeys(DEPARTURES, pl.String)),
        "experiments": pl.DataFrame(runs),
        **drawn.tables,
    }
    for name, table in tables.items():
        table.write_parquet(folder / f"{name}.parquet")
    made = {"version": "0", "build": "0", "commit": None}
    about = {"ecnlab": made, "full": False, "seed": 1, "runs": 10, "simulated_s": 7200.0, "replicates": "3 to 20"}
    return Stored(folder, about | {"linux": None} | dict(drawn.facts), shapes(grid, published))


def material(
    folder: Path,
    grid: Grid,
    points: pl.DataFrame,
    numbers: pl.DataFrame | None = None,
    published: Published | None = None,
) -> Material:
    """What blocks of a page are made from, of made-up ``points`` and ``numbers``."""
    return Material(
        folder, published or read_published(folder), grid, points, pl.DataFrame() if numbers is None else numbers
    )


def assert_whole(html: str, published: Published) -> None:
    """The page has a line for all that was printed, and asks for nothing from the network."""
    for entry in (*published.numbers, *published.claims):
        assert f'<details id="{entry.id}">' in html
    assert not re.search(r"https?://", html.replace("http://www.w3.org/2000/svg", ""))
