"""From the runs of a paper's sweeps to its analysis tables: quantities of runs as ``metrics.toml`` defines them, samples, verdicts.

A quantity is one number a run. ``[quantity.NAME]``, and ``measure`` of a metric, is its `Recipe`::

    table = "queues"                              # rows of a table of the run,
    where = { link = "pipe", group = "able" }     # with these values,
    value = "100 * dropped / arrived"             # of the one row that is left

    of = "utilisation"                            # another quantity,
    beside = "ecn"                                # compared with that of another run of the seed, by `[beside.ecn]`
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Final

import polars as pl
import polars.selectors as cs

from ecnlab import laws
from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import unknown
from ecnlab.papers.engine_rows import KERNEL, SIMULATOR
from ecnlab.papers.judge import FULL, LOOKED, QUICK, VALUES, Grid, judged, verdicts
from ecnlab.papers.looking import Settled
from ecnlab.papers.paper import Own, Paper, Step, Tables
from ecnlab.papers.published import Beside, Published, Recipe
from ecnlab.papers.readings import TABLE, judged_again

BLOCK: Final = 10
"""Seeds whose time series are in memory at once."""

NONE: Final[Mapping[str, Tables]] = {}


def analysis_tables(
    paper: Paper, published: Published, sweeps: Mapping[str, Tables], settled: Settled | None = None, *, full: bool
) -> dict[str, pl.DataFrame]:
    """The samples, points and verdicts of ``paper`` by the names of their tables. ``sweeps`` is by the name of the step.

    ``settled`` is the quick size of a paper with a budget.
    """
    if settled and not full:
        measured = quick = _with_further(paper, published, [settled.samples])
    else:
        measured, quick = samples_of_steps(paper, published, sweeps)
    of_quick = settled.judged(published) if settled else judged(paper.grid, published, quick, QUICK)
    numbers, claims = judged(paper.grid, published, measured, FULL) if full else of_quick
    again = {}
    if published.readings:
        seen, rules = (measured, FULL) if full else (quick, LOOKED if settled else QUICK)
        as_claimed = dict(verdicts(numbers, claims).iter_rows())
        again = {TABLE: judged_again(paper.grid, published, published.readings, seen, as_claimed, rules)}
    return {
        "samples": measured,
        "points": paper.grid.points(measured, published.metrics),
        "numbers": numbers,
        "claims": claims,
        "quick": verdicts(*of_quick),
        **again,
    }


def tables_of_engines(
    paper: Paper, published: Published, simulator: Mapping[str, Tables], kernel: Mapping[str, Tables]
) -> dict[str, pl.DataFrame]:
    """Return samples and points of the steps that both engines ran; the variant identifies the engine."""
    parts = [
        samples(paper, published, step, sweeps[step.name]).with_columns(variant=pl.lit(engine))
        for step in paper.on_linux
        for engine, sweeps in ((SIMULATOR, simulator), (KERNEL, kernel))
    ]
    measured = paper.grid.ordered(pl.concat(parts))
    return {"linux_samples": measured, "linux": paper.grid.points(measured, published.metrics)}


def samples_of_steps(
    paper: Paper, published: Published, sweeps: Mapping[str, Tables]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The samples of all steps of ``paper``, and those of them that the quick size has. ``sweeps`` is by the name of the step."""
    steps = [step for step in paper.steps if not step.drawn]
    parts = [samples(paper, published, step, sweeps[step.name], sweeps) for step in steps]
    quick = [_quick(paper, published, step, part) for step, part in zip(steps, parts, strict=True)]
    return _with_further(paper, published, parts), paper.grid.ordered(pl.concat(quick))


def _with_further(paper: Paper, published: Published, parts: list[pl.DataFrame]) -> pl.DataFrame:
    """The samples of all steps, and those that are computed from them."""
    further = [paper.of_samples(published, pl.concat(parts))] if paper.of_samples else []
    return paper.grid.ordered(pl.concat([*parts, *further]))


class Measured:
    """The samples of a quick size that grows: a quantity that a run has by itself is computed once, for the runs that are added."""

    def __init__(self, paper: Paper, published: Published) -> None:
        self._paper, self._published = paper, published
        self._of_runs = _of_runs(paper, published)
        self._kept: dict[str, dict[str, pl.DataFrame]] = {name: {} for name in self._of_runs}
        self._grown: dict[str, _Grown] = {}
        self._parts: dict[tuple[str, str], pl.DataFrame] = {}
        self._samples: dict[str, pl.DataFrame] = {}

    def add(self, step: str, rows: Tables) -> None:
        """Add runs of ``step``, with their tables."""
        new, kept = Quantities(self._paper.grid, self._published, self._paper.own, rows), self._kept[step]
        for name in self._of_runs[step]:
            found = new.of_runs(name).collect()
            kept[name] = pl.concat([kept[name], found]) if name in kept else found
        self._grown.clear()
        for key in [key for key in self._parts if step in (key[0], *_compared_steps(self._published, key[1]))]:
            del self._parts[key]
            self._samples.pop(key[1], None)

    def samples(self, metrics: Collection[str]) -> dict[str, pl.DataFrame]:
        """The samples of each of ``metrics`` that have all their runs; the same object while no runs are added."""
        for name in metrics:
            if name not in self._samples:
                steps = [step for step in self._paper.steps if step.name in self._published.metrics[name].steps]
                parts = [self._part(name, step) for step in steps if not step.drawn]
                self._samples[name] = pl.concat(parts or [self._paper.grid.samples(name, pl.DataFrame(schema=VALUES))])
        return {name: self._samples[name] for name in metrics}

    def _part(self, name: str, step: Step) -> pl.DataFrame:
        """The samples of the metric ``name`` in ``step``."""
        if (step.name, name) not in self._parts:
            if step.name not in self._grown:
                self._grown[step.name] = _Grown(self._paper, self._published, step.name, self._kept)
            whole = self._paper.grid.samples(name, self._grown[step.name][name])
            both = ["value"] if self._published.metrics[name].kind == "mean" else ["value", "other"]
            self._parts[step.name, name] = _placed(whole.drop_nulls(both), step)
        return self._parts[step.name, name]


def _of_runs(paper: Paper, published: Published) -> dict[str, dict[str, None]]:
    """By step the quantities that a run has by itself, from which those of all metrics are computed."""
    found: dict[str, dict[str, None]] = {step.name: {} for step in paper.steps if not step.drawn}

    def add(name: str, step: str) -> None:
        recipe = Recipe() if name in paper.own else published.recipe(name)
        if not recipe.of:
            found[step][name] = None
        for part in recipe.parts:
            add(part, step)
        if recipe.other:
            add(recipe.other, recipe.in_step or step)

    for name, metric in published.metrics.items():
        for step in metric.steps:
            if step in found:
                add(name, step)
    return found


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
        return _placed(pl.concat([paper.grid.samples(name, found[name]) for name in here]), step)

    return by_blocks(measure, sweep) if step.blocks else measure(sweep)


def _placed(samples_: pl.DataFrame, step: Step) -> pl.DataFrame:
    return samples_.with_columns(pl.lit(label).alias(key) for key, label in step.place.items())


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
        self._in: dict[str, Callable[[], Quantities]] = {
            name: lambda t=t: Quantities(grid, published, own, t, others)  # type: ignore[misc]
            for name, t in others.items()
        }
        self._published = published
        self._found: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.LazyFrame:
        """The keys of each run with ``value`` and, where it is a pair, ``other``."""
        if name not in self._found:
            self._found[name] = self._made(name).collect()
        return self._found[name].lazy()

    def of_runs(self, name: str) -> pl.LazyFrame:
        """The quantity that each run has by itself: computed in Python, or from rows of its tables."""
        if name in self._own:
            return self._own[name](self._sweep)
        recipe = self._published.recipe(name)
        if recipe == Recipe():
            raise EcnlabError(f"metrics.toml: `{name}` has no definition: add [quantity.{name}]")
        return self._of_rows(name, recipe)

    def _made(self, name: str) -> pl.LazyFrame:
        recipe = Recipe() if name in self._own else self._published.recipe(name)
        found = self._of_others(recipe) if recipe.of else self.of_runs(name)
        if recipe.in_step:
            return self._across(name, found, recipe)
        if recipe.other:
            return pair(self._grid, found, pl.col("value"), self[recipe.other], pl.col("value"))
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
        for kind, statistic in STATISTICS.items():
            if expression := getattr(recipe, kind):
                return statistic(self._grid, rows, expression)
        raise EcnlabError(f"metrics.toml: {name}: has neither `value` nor `over` nor {', '.join(STATISTICS)}")

    def _valued(self, rows: pl.LazyFrame, value: str, by: Sequence[str] = ()) -> pl.LazyFrame:
        return rows.select(*by, *self._grid.run_keys(rows), _sql(value).cast(pl.Float64).alias("value"))

    def _over(self, rows: pl.LazyFrame, recipe: Recipe) -> pl.LazyFrame:
        keys = [*recipe.by, *self._grid.run_keys(rows)]
        value = _sql(recipe.over).cast(pl.Float64).alias("value")
        aggregated = over_time if recipe.table.endswith("_series") else grouped
        if not recipe.each:
            return aggregated(rows, keys, value)
        columns = [recipe.each] if isinstance(recipe.each, str) else recipe.each
        each = aggregated(rows, [*keys, *columns], value)
        return each.group_by(keys, maintain_order=True).agg(pl.col("value").mean())

    def _compared(self, values: pl.LazyFrame, how: Beside) -> pl.LazyFrame:
        key, parts = how.key, []
        for left, right in how.compared(values.select(pl.col(key).unique().sort()).collect()[key]):
            place = {"of": {key: left}, "to": {key: right}, "both": {key: left, "against": right}, "": {}}[how.at]
            both = beside(self._grid, values, key, left, right)
            parts.append(both.with_columns(pl.lit(label).alias(name) for name, label in place.items()))
        return pl.concat(parts)

    def _comparison(self, name: str) -> Beside:
        if name not in self._published.beside:
            raise EcnlabError(
                f"metrics.toml: {unknown('comparison', f'beside.{name}', map('beside.{}'.format, self._published.beside))}"
            )
        return self._published.beside[name]


class _Grown(Quantities):
    """The quantities of a step of which those that a run has by itself are there, by step: as ``kept``."""

    def __init__(
        self, paper: Paper, published: Published, step: str, kept: Mapping[str, Mapping[str, pl.DataFrame]]
    ) -> None:
        super().__init__(paper.grid, published, paper.own, _NoTables())
        self._kept = kept[step]
        self._in = {name: partial(_Grown, paper, published, name, kept) for name in kept}

    def of_runs(self, name: str) -> pl.LazyFrame:
        """As that of `Quantities`."""
        return self._kept[name].lazy()


class _NoTables:
    """Tables that nothing reads."""

    def table(self, name: str) -> pl.LazyFrame:
        raise AssertionError(name)


def _sql(text: str) -> pl.Expr:
    try:
        return pl.sql_expr(text)
    except pl.exceptions.PolarsError as error:
        raise EcnlabError(f"metrics.toml: `{text}` is not SQL: {error}") from error


# --------------------------------------------------------------- rows to one value a run
# Groups keep their order: a sum of floats gives identical bytes only in one order.


def by_blocks(measure: Callable[[Tables], pl.DataFrame], sweep: Tables) -> pl.DataFrame:
    """Return the result of ``measure`` on ``sweep``, a few seeds at a time: it must treat each seed separately."""
    seeds = sweep.table("links").select(pl.col("replicate").unique().sort()).collect()["replicate"].to_list()
    blocks = [seeds[i : i + BLOCK] for i in range(0, len(seeds), BLOCK)]
    return pl.concat([measure(_Block(sweep, block)) for block in blocks])


class _Block:
    """The tables of some seeds of a sweep."""

    def __init__(self, sweep: Tables, seeds: Sequence[int]) -> None:
        self._sweep, self._seeds = sweep, seeds

    def table(self, name: str) -> pl.LazyFrame:
        return self._sweep.table(name).filter(pl.col("replicate").is_in(self._seeds))


def pair(grid: Grid, left: pl.LazyFrame, value: pl.Expr, right: pl.LazyFrame, other: pl.Expr) -> pl.LazyFrame:
    """``value`` of ``left`` and, as ``other``, that of ``right`` of the same run."""
    keys = grid.run_keys(left)
    first = left.select(*keys, value.cast(pl.Float64).alias("value"))
    second = right.select(*keys, other.cast(pl.Float64).alias("other"))
    return first.join(second, on=keys, maintain_order="left")


def beside(grid: Grid, values: pl.LazyFrame, key: str, left: str, right: str) -> pl.LazyFrame:
    """``value`` of the runs where ``key`` is ``left`` and, as ``other``, of those of the same seed where it is ``right``.

    ``values`` has one row a run. The result lacks ``key``.
    """
    on = [name for name in grid.run_keys(values) if name != key]
    here = values.filter(pl.col(key) == left).select(*on, pl.col("value").cast(pl.Float64))
    there = values.filter(pl.col(key) == right).select(*on, pl.col("value").cast(pl.Float64).alias("other"))
    return here.join(there, on=on, maintain_order="left")


def mean_of(grid: Grid, rows: pl.LazyFrame, value: str) -> pl.LazyFrame:
    """The mean of ``value``, SQL, over the many rows of each run, rounded once.

    A group that is summed in several threads has another last digit from one time to the next.
    """
    keys = grid.run_keys(rows)
    each = pl.sql_expr(value).alias("value").drop_nulls()
    listed = rows.group_by(keys, maintain_order=True).agg(each).collect()
    means = pl.Series("value", [math.fsum(values) / len(values) for values in listed["value"]], pl.Float64)
    return listed.select(*keys, means).lazy()


def grouped(rows: pl.LazyFrame, keys: Sequence[str], value: pl.Expr) -> pl.LazyFrame:
    """``value``, an aggregate, for each label of ``keys``."""
    return rows.group_by(keys, maintain_order=True).agg(value)


def over_time(rows: pl.LazyFrame, keys: Sequence[str], value: pl.Expr) -> pl.LazyFrame:
    """As `grouped`, for groups of many rows: each is computed by itself, in one thread, for the same reason as in `mean_of`."""
    needed = rows.select(*dict.fromkeys([*keys, *value.meta.root_names()])).collect()
    parts = needed.partition_by(keys, maintain_order=True) if len(needed) else []
    found = [part.select(pl.col(keys).first(), value) for part in parts]
    return pl.concat(found).lazy() if found else grouped(needed.lazy(), keys, value)


def jain(grid: Grid, rows: pl.LazyFrame, column: str = "goodput_bps") -> pl.LazyFrame:
    """Jain's index of ``column``: 1 when all rows of a run have the same, 1/n when one has everything."""
    x = pl.col(column)
    index = (x.sum() ** 2 / (pl.len() * (x**2).sum())).alias("value")
    return rows.group_by(grid.run_keys(rows), maintain_order=True).agg(index)


def mean_correlation(grid: Grid, series: pl.LazyFrame, column: str = "x") -> pl.LazyFrame:
    """Mean correlation over all pairs of flows of ``column``, given for each ``flow`` at the same times ``time_s``.

    With z the values in standard deviations, the sum of n of them has the variance n + n (n - 1) times it. A flow whose
    value never changes has no correlation and is left out.
    """
    keys, x = grid.run_keys(series), pl.col(column).cast(pl.Float64)
    z = ((x - x.mean()) / x.std()).over([*keys, "flow"]).alias("z")
    total = (
        series.with_columns(z)
        .filter(pl.col("z").is_finite())
        .group_by([*keys, "time_s"], maintain_order=True)
        .agg(pl.col("z").sum(), pl.len().alias("n"))
    )
    n = pl.col("n").first()
    return total.group_by(keys, maintain_order=True).agg(((pl.col("z").var() - n) / (n * (n - 1.0))).alias("value"))


STATISTICS: Final[Mapping[str, Callable[[Grid, pl.LazyFrame, str], pl.LazyFrame]]] = {
    "mean": mean_of,
    "jain": jain,
    "correlation": mean_correlation,
}
"""Functions besides expressions that ``metrics.toml`` may use on the rows of a run."""
