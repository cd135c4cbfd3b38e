"""Samples of single steps of a paper, from tables made up by a test."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from ecnlab.papers.measuring import Quantities, samples, samples_of_steps
from ecnlab.papers.paper import Tables
from ecnlab.papers.published import read_published
from ecnlab.papers.registry import find


def given(**tables: pl.DataFrame | pl.LazyFrame) -> Tables:
    """Tables as those of a sweep."""

    class Given:
        def table(self, name: str) -> pl.LazyFrame:
            return tables[name].lazy()

    return Given()


def of_step(paper: str, step: str, sweep: Tables) -> pl.DataFrame:
    """What the step called ``step`` gives."""
    found, folder = find(paper)
    (chosen,) = (one for one in (*found.steps, *found.on_linux) if one.name == step)
    return samples(found, read_published(folder), chosen, sweep)


def of_all(paper: str, sweeps: Mapping[str, Tables]) -> pl.DataFrame:
    """What all steps give."""
    found, folder = find(paper)
    return samples_of_steps(found, read_published(folder), sweeps)[0]


def quantity(paper: str, name: str, sweep: Tables) -> pl.DataFrame:
    """One quantity of each run."""
    found, folder = find(paper)
    return Quantities(found.grid, read_published(folder), found.own, sweep)[name].collect()
