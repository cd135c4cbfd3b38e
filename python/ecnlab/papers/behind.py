"""The runs behind a printed number or claim, by the recipe of its metric (`ecnlab.papers.measuring`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from ecnlab.papers.paper import Paper, Step
from ecnlab.papers.published import Beside, Printed, Published, Recipe, Where
from ecnlab.results.sweep_part import ARM

SHOWN: Final = 3
"""Number of run ids of a printed number that a report shows."""

TABLE: Final = "row_runs"
"""Name of the analysis table with the runs behind each number and claim."""

NOT_AXES: Final = ("replicate", "seed", "id", "spec_hash")
"""Columns of `Keys` that are neither the arm nor an axis."""

Keys = pl.DataFrame
"""Runs of an experiment: ``arm``, the axes, ``replicate``, ``seed``, ``id``, ``spec_hash``, as in `Sweep.runs`."""


@dataclass(frozen=True, slots=True)
class Behind:
    """Runs of the experiment ``step``, each once: those of the place of the number first, then those compared with it."""

    step: str
    runs: Keys


def row_runs(paper: Paper, published: Published, keys: Mapping[str, Keys]) -> pl.DataFrame:
    """Return the number of runs behind each number and claim, by experiment, with the first ids. ``keys`` is by step."""
    finder = Finder(paper, published, keys.__getitem__)
    rows = [
        (entry.id, part.step, part.runs["id"].n_unique(), _first_ids(part.runs))
        for entry in (*published.numbers, *published.claims)
        for part in finder.behind(entry)
    ]
    types = {"id": pl.String, "experiment": pl.String, "runs": pl.UInt32, "ids": pl.String}
    return pl.DataFrame(rows, schema=types, orient="row")


def _first_ids(runs: Keys) -> str:
    return ", ".join(runs["id"].unique(maintain_order=True).head(SHOWN))


def command(paper: str, row: str) -> str:
    """Return the command that captures a run behind a row."""
    return f"ecnlab reproduce {paper} --row {row}"


class Finder:
    """Finds the runs of a paper's numbers and claims. ``keys`` returns the runs of a step by its name."""

    def __init__(self, paper: Paper, published: Published, keys: Callable[[str], Keys]) -> None:
        self._paper, self._published = paper, published
        self._keys = keys
        self._steps = {step.name: step for step in paper.steps}

    def behind(self, entry: Printed) -> list[Behind]:
        """Return the runs that ``entry`` is measured in; nothing for a value that no run measures."""
        steps = [name for name in self._published.metrics[entry.metric].steps if name in self._steps]
        for strict in (True, False):  # a function in Python may add labels that the runs do not have
            parts = [part for name in steps for part in self._of(entry.metric, name, entry.where, strict=strict)]
            if found := _joined(parts):
                return found
        return []

    def _of(self, name: str, step: str, where: Where, *, strict: bool) -> Iterator[Behind]:
        """The runs of ``step`` in which the quantity ``name`` is measured at the place ``where``."""
        recipe = self._recipe(name)
        if recipe.beside:
            for place in self._compared(self._published.beside[recipe.beside], step, where):
                yield from self._of(recipe.parts[0], step, place, strict=strict)
            return
        if recipe.in_step:
            there = self._axes(recipe.in_step)
            shared = {key: labels for key, labels in where.items() if key in there}
            yield from self._of(recipe.other, recipe.in_step, shared, strict=strict)
        others = [*recipe.parts, *([recipe.other] if recipe.other and not recipe.in_step else [])]
        if others:
            for other in others:
                yield from self._of(other, step, where, strict=strict)
        else:
            yield Behind(step, self._matching(step, recipe, where, strict=strict))

    def recipes(self, name: str) -> list[Recipe]:
        """Return the recipe of the metric or quantity ``name`` and those of the quantities that it takes values from."""
        recipe = self._recipe(name)
        others = [*recipe.parts, *([recipe.other] if recipe.other else [])]
        return [recipe, *(found for other in others for found in self.recipes(other))]

    def _recipe(self, name: str) -> Recipe:
        return Recipe() if name in self._paper.own else self._published.recipe(name)

    def _axes(self, step: str) -> list[str]:
        """The labels that samples of ``step`` have: its arm and axes, and those that the paper gives it."""
        axes = [key for key in self._keys(step).columns if key not in NOT_AXES]
        return [*axes, *(key for key in self._steps[step].place if key not in axes)]

    def _labelled(self, step: str, place: Mapping[str, str]) -> Keys:
        of: Step = self._steps[step]
        return self._keys(step).with_columns(pl.lit(label).alias(key) for key, label in {**place, **of.place}.items())

    def _matching(self, step: str, recipe: Recipe, where: Where, *, strict: bool) -> Keys:
        place = {key: label for key, label in recipe.place.items() if key not in self._axes(step)}
        found = self._labelled(step, place)
        axes = [key for key in found.columns if key not in NOT_AXES]
        if strict and any(key not in axes and "" not in labels_of(labels) for key, labels in where.items()):
            return self._keys(step).clear()
        wanted = (*recipe.where.items(), *where.items())
        conditions = [pl.col(key).is_in(labels_of(labels)) for key, labels in wanted if key in axes]
        if recipe.filter:
            condition = pl.sql_expr(recipe.filter)
            conditions += [condition] if set(condition.meta.root_names()) <= set(axes) else []
        return found.filter(*conditions).select(self._keys(step).columns)

    def _compared(self, how: Beside, step: str, where: Where) -> Iterator[Where]:
        """The places that ``[beside]`` compares for the place ``where``: of each pair the place of the sample first."""
        key, at, runs = how.key, how.at, self._keys(step)
        there: Iterable[str] = runs[key].unique(maintain_order=True) if key in runs.columns else []
        rest = {name: labels for name, labels in where.items() if name not in (key, "against")}
        wanted, against = (labels_of(where[name]) if name in where else None for name in (key, "against"))
        for left, right in how.compared(there):
            label, other = {"of": (left, ""), "to": (right, ""), "both": (left, right), "": ("", "")}[at]
            if (wanted is None or label in wanted) and (against is None or other in against):
                yield {**rest, key: right if at == "to" else left}
                yield {**rest, key: left if at == "to" else right}


def labels_of(wanted: str | bool | list[str]) -> list[Any]:
    """Return one value or several as a list."""
    return wanted if isinstance(wanted, list) else [wanted]


def _joined(parts: list[Behind]) -> list[Behind]:
    """One part for each step, in the order of their first runs, without those that have none."""
    by_step: dict[str, list[Keys]] = {}
    for part in parts:
        if part.runs.height:
            by_step.setdefault(part.step, []).append(part.runs)
    return [
        Behind(step, pl.concat(runs).unique([ARM, "id"], keep="first", maintain_order=True))
        for step, runs in by_step.items()
    ]
