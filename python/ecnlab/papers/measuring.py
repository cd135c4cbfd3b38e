"""Measurements defined in a paper's ``metrics.toml``: quantities of runs, and the metrics of which they are samples.

A quantity is one number a run. ``[quantity.NAME]``, and ``measure`` of a metric, is its `Recipe`::

    table = "queues"                              # rows of a table of the run,
    where = { link = "pipe", group = "able" }     # with these values,
    value = "100 * dropped / arrived"             # of the one row that is left

    of = "utilisation"                            # another quantity,
    beside = "ecn"                                # compared with that of another run of the seed, by `[beside.ecn]`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl
import polars.selectors as cs

from ecnlab import laws
from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import unknown
from ecnlab.papers import measures
from ecnlab.papers.judge import Grid
from ecnlab.papers.paper import Own, Paper, Step, Tables
from ecnlab.papers.published import Beside, Published, Recipe

NONE: Final[Mapping[str, Tables]] = {}


def analyse(paper: Paper, published: Published, sweeps: Mapping[str, Tables]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The samples of all steps of ``paper``, and those of them that the quick size has. ``sweeps`` is by the name of the step."""
    steps = [step for step in paper.steps if not step.drawn]
    parts = [samples(paper, published, step, sweeps[step.name], sweeps) for step in steps]
    quick = [_quick(paper, published, step, part) for step, part in zip(steps, parts, strict=True)]
    further = [paper.of_samples(published, pl.concat(parts))] if paper.of_samples else []
    return paper.grid.ordered(pl.concat([*parts, *further])), paper.grid.ordered(pl.concat(quick))


def _quick(paper: Paper, published: Published, step: Step, samples_: pl.DataFrame) -> pl.DataFrame:
    """The samples of a step that the quick size has: of the seeds that all steps have which a metric compares."""
    there = {one.name: one.quick for one in paper.steps}
    names = samples_["metric"].unique().to_list()
    seeds = {name: min([step.quick, *(there[other] for other in _compared_steps(published, name))]) for name in names}
    limit = pl.col("metric").replace_strict(seeds, return_dtype=pl.Int64)
    return samples_.filter(pl.col("replicate") < limit)


def _compared_steps(published: Published, name: str) -> set[str]:
    """Return the other steps from which a metric or quantity takes values."""
    recipe = published.recipe(name)
    found = {recipe.in_step} if recipe.in_step else set()
    for part in recipe.parts:
        found |= _compared_steps(published, part) if part != name else set()
    return found


def samples(
    paper: Paper, published: Published, step: Step, sweep: Tables, others: Mapping[str, Tables] = NONE
) -> pl.DataFrame:
    """The samples of every metric that is measured in ``step``, from its ``sweep`` and those of ``others`` by their steps."""

    def measure(part: Tables) -> pl.DataFrame:
        found = Quantities(paper.grid, published, paper.own, part, others)
        here = [name for name, metric in published.metrics.items() if step.name in metric.steps]
        whole = pl.concat([paper.grid.samples(name, found[name]) for name in here])
        return whole.with_columns(pl.lit(label).alias(key) for key, label in step.place.items())

    return measures.by_blocks(measure, sweep) if step.blocks else measure(sweep)


class Quantities:
    """The quantities of a sweep by their names, each computed once."""

    def __init__(
        self,
        grid: Grid,
        published: Published,
        own: Mapping[str, Own],
        sweep: Tables,
        others: Mapping[str, Tables] = NONE,
    ) -> None:
        self._grid, self._sweep, self._own = grid, sweep, own
        self._in = {name: lambda t=t: Quantities(grid, published, own, t, others) for name, t in others.items()}
        self._published = published
        self._found: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.LazyFrame:
        """The keys of each run with ``value`` and, where it is a pair, ``other``."""
        if name not in self._found:
            if name in self._own:
                frame = self._own[name](self._sweep)
            else:
                frame = self._made(name, self._published.recipe(name))
            self._found[name] = frame.collect()
        return self._found[name].lazy()

    def _made(self, name: str, recipe: Recipe) -> pl.LazyFrame:
        if recipe == Recipe():
            raise EcnlabError(f"metrics.toml: `{name}` has no definition: add [quantity.{name}]")
        found = self._of_others(recipe) if recipe.of else self._of_rows(name, recipe)
        if recipe.in_step:
            return self._across(name, found, recipe)
        if recipe.other:
            return measures.pair(self._grid, found, pl.col("value"), self[recipe.other], pl.col("value"))
        return found

    def _across(self, name: str, found: pl.LazyFrame, recipe: Recipe) -> pl.LazyFrame:
        """Return ``found`` with a quantity of another step: for the same seed and the same place on common axes."""
        if recipe.in_step not in self._in:
            raise EcnlabError(f"metrics.toml: {name}: {unknown('other step', recipe.in_step, self._in)}")
        there = self._in[recipe.in_step]()[recipe.other].rename({"value": "other"})
        keys = [key for key in self._grid.run_keys(there) if key in self._grid.run_keys(found)]
        return found.join(there, on=keys, maintain_order="left").select(*keys, "value", "other")

    def _of_others(self, recipe: Recipe) -> pl.LazyFrame:
        if isinstance(recipe.of, str):
            found = self[recipe.of]
            if recipe.beside:
                found = self._compared(found, self._comparison(recipe.beside))
        else:
            first, *rest = (self[name].rename({"value": name}) for name in recipe.of)
            found = first
            for other in rest:
                found = found.join(other, on=self._grid.run_keys(first), maintain_order="left")
        found = found.filter(_sql(recipe.filter)) if recipe.filter else found
        return self._valued(found, recipe.value) if recipe.value else found

    def _of_rows(self, name: str, recipe: Recipe) -> pl.LazyFrame:
        rows = self._sweep.table(recipe.table)
        there = rows.collect_schema().names()
        # A sweep has columns for its own laws.
        others = (key for key in laws.columns(recipe.table.removesuffix("_run")) if key not in there)
        rows = rows.with_columns(pl.lit(None, pl.Float64).alias(key) for key in others)
        rows = rows.with_columns(pl.lit(x).alias(key) for key, x in recipe.place.items() if key not in there)
        for column, wanted in recipe.where.items():
            rows = rows.filter(pl.col(column).is_in(wanted) if isinstance(wanted, list) else pl.col(column) == wanted)
        # SQL divides whole numbers by a decimal such as 180.0 as decimals, of six digits.
        rows = rows.with_columns((cs.integer() - cs.by_name(self._grid.run_keys(rows))).cast(pl.Float64))
        if recipe.filter:
            rows = rows.filter(_sql(recipe.filter))
        if recipe.value:
            return self._valued(rows, recipe.value, recipe.by)
        if recipe.over:
            return self._over(rows, recipe)
        for kind, statistic in measures.STATISTICS.items():
            if expression := getattr(recipe, kind):
                return statistic(self._grid, rows, expression)
        raise EcnlabError(f"metrics.toml: {name}: has neither `value` nor `over` nor {', '.join(measures.STATISTICS)}")

    def _valued(self, rows: pl.LazyFrame, value: str, by: Sequence[str] = ()) -> pl.LazyFrame:
        return rows.select(*by, *self._grid.run_keys(rows), _sql(value).cast(pl.Float64).alias("value"))

    def _over(self, rows: pl.LazyFrame, recipe: Recipe) -> pl.LazyFrame:
        keys = [*recipe.by, *self._grid.run_keys(rows)]
        value = _sql(recipe.over).cast(pl.Float64).alias("value")
        grouped = measures.over_time if recipe.table.endswith("_series") else measures.grouped
        if not recipe.each:
            return grouped(rows, keys, value)
        columns = [recipe.each] if isinstance(recipe.each, str) else recipe.each
        each = grouped(rows, [*keys, *columns], value)
        return each.group_by(keys, maintain_order=True).agg(pl.col("value").mean())

    def _compared(self, values: pl.LazyFrame, how: Beside) -> pl.LazyFrame:
        key, parts = how.key, []
        for left, right in how.compared(values.select(pl.col(key).unique().sort()).collect()[key]):
            place = {"of": {key: left}, "to": {key: right}, "both": {key: left, "against": right}, "": {}}[how.at]
            both = measures.beside(self._grid, values, key, left, right)
            parts.append(both.with_columns(pl.lit(label).alias(name) for name, label in place.items()))
        return pl.concat(parts)

    def _comparison(self, name: str) -> Beside:
        if name not in self._published.beside:
            raise EcnlabError(
                f"metrics.toml: {unknown('comparison', f'beside.{name}', map('beside.{}'.format, self._published.beside))}"
            )
        return self._published.beside[name]


def _sql(text: str) -> pl.Expr:
    try:
        return pl.sql_expr(text)
    except pl.exceptions.PolarsError as error:
        raise EcnlabError(f"metrics.toml: `{text}` is not SQL: {error}") from error
