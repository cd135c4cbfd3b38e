"""Measurements defined in a paper's ``metrics.toml``: quantities of runs, and the metrics of which they are samples.

A quantity is one number a run. ``[quantity.NAME]``, and ``measure`` of a metric, say how it is found::

    table = "queues"                              # rows of a table of the run,
    where = { link = "pipe", group = "able" }     # with these values,
    filter = "time_s >= 20"                       # for which this holds;
    place = { setting = "testbed" }               # at these labels of axes that the table does not have;
    value = "100 * dropped / arrived"             # of the one row that is left, or
    over = "avg(goodput_bps)"                     # over all rows; with each = "flow" first over those of each flow

    mean = "delay_s"                              # in place of ``over``: `measures.mean_of`,
    jain = "goodput_bps"                          # Jain's index, and
    correlation = "cwnd_bytes"                    # the mean correlation of two flows

    of = ["delay", "square"]                      # of other quantities of the run, by their names,
    value = "power(delay, 2) / square"            # of runs for which its ``filter`` holds, if it has one

    of = "utilisation"                            # as another quantity,
    other = "arrived"                             # with another of the same run, or
    in = "bulk"                                   # of the run of the seed at that place of another step, or
    beside = "ecn"                                # with that of another run of the seed, by ``[beside.ecn]``

Expressions are SQL. ``[beside.NAME]`` says which runs are compared: ``key`` is the axis in which they differ, ``of`` the
labels (all others, if it is left out) and ``to`` the label they are set beside, or ``pairs`` lists both. The place of the
sample has the first label; with ``at = "to"`` the second, with ``at = ""`` none, with ``at = "both"`` the second as ``against``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl
import polars.selectors as cs

from ecnlab import laws
from ecnlab.base.errors import EcnlabError
from ecnlab.papers import measures
from ecnlab.papers.grid import Grid
from ecnlab.papers.paper import Own, Paper, Step, Tables
from ecnlab.papers.published import Published

Recipe = Mapping[str, Any]
NONE: Final[Mapping[str, Tables]] = {}

OF_ROWS: Final = frozenset(["table", "where", "filter", "place", "by", "value", "over", "each", *measures.STATISTICS])
OF_OTHERS: Final = frozenset(["of", "filter", "value", "other", "in", "beside"])
KEYS: Final = OF_ROWS | OF_OTHERS


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
    metric = published.metrics.get(name)
    recipe = metric.measure if metric and metric.measure else published.quantities.get(name, {})
    found = {recipe["in"]} if "in" in recipe else set()
    of = recipe.get("of", [])
    parts = [of] if isinstance(of, str) else of
    for part in parts:
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
        self._recipes = {name: metric.measure for name, metric in published.metrics.items() if metric.measure}
        self._recipes |= published.quantities
        self._beside = published.beside
        self._found: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.LazyFrame:
        """The keys of each run with ``value`` and, where it is a pair, ``other``."""
        if name not in self._found:
            if name in self._own:
                frame = self._own[name](self._sweep)
            elif name in self._recipes:
                frame = self._made(name, self._recipes[name])
            else:
                raise EcnlabError(f"metrics.toml: `{name}` has no definition: add [quantity.{name}]")
            self._found[name] = frame.collect()
        return self._found[name].lazy()

    def _made(self, name: str, recipe: Recipe) -> pl.LazyFrame:
        if unknown := set(recipe) - KEYS:
            raise EcnlabError(
                f"metrics.toml: {name}: unknown key {min(unknown)!r}; there are {', '.join(sorted(KEYS))}"
            )
        found = self._of_others(recipe) if "of" in recipe else self._of_rows(name, recipe)
        if "in" in recipe:
            return self._across(name, found, recipe)
        if "other" in recipe:
            return measures.pair(self._grid, found, pl.col("value"), self[recipe["other"]], pl.col("value"))
        return found

    def _across(self, name: str, found: pl.LazyFrame, recipe: Recipe) -> pl.LazyFrame:
        """Return ``found`` with a quantity of another step: for the same seed and the same place on common axes."""
        if recipe["in"] not in self._in:
            raise EcnlabError(
                f"metrics.toml: {name}: no step is called {recipe['in']!r}; there are {', '.join(self._in)}"
            )
        there = self._in[recipe["in"]]()[recipe["other"]].rename({"value": "other"})
        keys = [key for key in self._grid.run_keys(there) if key in self._grid.run_keys(found)]
        return found.join(there, on=keys, maintain_order="left").select(*keys, "value", "other")

    def _of_others(self, recipe: Recipe) -> pl.LazyFrame:
        if isinstance(recipe["of"], str):
            found = self[recipe["of"]]
            if "beside" in recipe:
                found = self._compared(found, self._named(recipe["beside"]))
        else:
            first, *rest = (self[name].rename({"value": name}) for name in recipe["of"])
            found = first
            for other in rest:
                found = found.join(other, on=self._grid.run_keys(first), maintain_order="left")
        found = found.filter(_sql(recipe["filter"])) if "filter" in recipe else found
        return self._valued(found, recipe["value"]) if "value" in recipe else found

    def _of_rows(self, name: str, recipe: Recipe) -> pl.LazyFrame:
        rows = self._sweep.table(recipe["table"])
        there = rows.collect_schema().names()
        # A sweep has columns for its own laws.
        others = (key for key in laws.columns(recipe["table"].removesuffix("_run")) if key not in there)
        rows = rows.with_columns(pl.lit(None, pl.Float64).alias(key) for key in others)
        rows = rows.with_columns(pl.lit(x).alias(key) for key, x in recipe.get("place", {}).items() if key not in there)
        for column, wanted in recipe.get("where", {}).items():
            rows = rows.filter(pl.col(column).is_in(wanted) if isinstance(wanted, list) else pl.col(column) == wanted)
        # SQL divides whole numbers by a decimal such as 180.0 as decimals, of six digits.
        rows = rows.with_columns((cs.integer() - cs.by_name(self._grid.run_keys(rows))).cast(pl.Float64))
        if "filter" in recipe:
            rows = rows.filter(_sql(recipe["filter"]))
        if "value" in recipe:
            return self._valued(rows, recipe["value"], recipe.get("by", ()))
        if "over" in recipe:
            return self._over(rows, recipe)
        for kind, statistic in measures.STATISTICS.items():
            if kind in recipe:
                return statistic(self._grid, rows, recipe[kind])
        raise EcnlabError(f"metrics.toml: {name}: has neither `value` nor `over` nor {', '.join(measures.STATISTICS)}")

    def _valued(self, rows: pl.LazyFrame, value: str, by: Sequence[str] = ()) -> pl.LazyFrame:
        return rows.select(*by, *self._grid.run_keys(rows), _sql(value).cast(pl.Float64).alias("value"))

    def _over(self, rows: pl.LazyFrame, recipe: Recipe) -> pl.LazyFrame:
        keys = [*recipe.get("by", ()), *self._grid.run_keys(rows)]
        value = _sql(recipe["over"]).cast(pl.Float64).alias("value")
        grouped = measures.over_time if recipe["table"].endswith("_series") else measures.grouped
        if "each" not in recipe:
            return grouped(rows, keys, value)
        columns = [recipe["each"]] if isinstance(recipe["each"], str) else recipe["each"]
        each = grouped(rows, [*keys, *columns], value)
        return each.group_by(keys, maintain_order=True).agg(pl.col("value").mean())

    def _compared(self, values: pl.LazyFrame, how: Recipe) -> pl.LazyFrame:
        key, at = how["key"], how.get("at", "of")
        parts = []
        for left, right in self._pairs(values, how):
            named = {"of": {key: left}, "to": {key: right}, "both": {key: left, "against": right}, "": {}}[at]
            both = measures.beside(self._grid, values, key, left, right)
            parts.append(both.with_columns(pl.lit(label).alias(name) for name, label in named.items()))
        return pl.concat(parts)

    def _named(self, beside: str) -> Recipe:
        if beside not in self._beside:
            raise EcnlabError(f"metrics.toml: nothing is called [beside.{beside}]; there are {', '.join(self._beside)}")
        return self._beside[beside]

    def _pairs(self, values: pl.LazyFrame, how: Recipe) -> list[tuple[str, str]]:
        if "pairs" in how:
            return [(left, right) for left, right in how["pairs"]]
        there = values.select(pl.col(how["key"]).unique().sort()).collect().to_series().to_list()
        others = [label for label in there if label != how["to"]]
        return [(left, how["to"]) for left in how.get("of", others)]


def _sql(text: str) -> pl.Expr:
    try:
        return pl.sql_expr(text)
    except pl.exceptions.PolarsError as error:
        raise EcnlabError(f"metrics.toml: `{text}` is not SQL: {error}") from error
