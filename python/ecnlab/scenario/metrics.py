"""The ``[metrics]`` of an experiment file: one number per run and metric.

A metric either picks from a table::

    goodput = { table = "flows", column = "goodput_bps", where = { group = "ecn" }, aggregate = "mean" }

or combines two others::

    advantage = { ratio = ["goodput_ecn", "goodput_plain"], minus_one = true }
    gap       = { difference = ["goodput_ecn", "goodput_plain"] }
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from ecnlab._core import Experiment, Scenario
from ecnlab.base.errors import MetricError
from ecnlab.base.lazy_imports import pl
from ecnlab.base.quantities import BYTES, RATES, TIMES
from ecnlab.folder.columns import TABLES, units
from ecnlab.folder.tables import pieces
from ecnlab.laws.kinds import Column, Kind

Metrics = Mapping[str, Mapping[str, Any]]
"""Name to definition, as in an experiment file."""

AGGREGATES: Final[dict[str, Callable[[pl.Expr], pl.Expr]]] = {
    "min": lambda x: x.min(),
    "max": lambda x: x.max(),
    "median": lambda x: x.median(),
    "p50": lambda x: x.quantile(0.5, "linear"),
    "p90": lambda x: x.quantile(0.9, "linear"),
    "p99": lambda x: x.quantile(0.99, "linear"),
    "count": lambda x: x.count(),
}
"""Values of ``aggregate`` that do not depend on the order of rows. Missing values are left out."""

SUMS: Final[dict[str, Callable[[int, float, float], float]]] = {
    "mean": lambda n, total, _: total / n,
    "sum": lambda _n, total, _: total,
    # Jain, Chiu and Hawe 1984: (sum x)^2 / (n sum x^2); 1 when all are equal, 1/n when one has all.
    "jain": lambda n, total, squares: total * total / (n * squares),
}
"""Other values of ``aggregate``: functions of the number of values, their sum and the sum of their squares."""

ADDED: Final = 1 << 14
"""Number of values added before each rounding."""

SEARCHED: Final = 10_000
"""Maximum number of names that are searched for the nearest to a wrong one."""

LISTED: Final = 40
"""Number of names listed if none is near."""

KINDS: Final[dict[Kind, tuple[type, ...]]] = {"number": (int, float), "text": (str,), "flag": (bool,)}
WORDS: Final[dict[Kind, str]] = {"number": "numbers", "text": "names", "flag": "true or false"}
EXAMPLES: Final[dict[Kind, str]] = {"number": "a number", "text": "a name in quotes", "flag": "true or false"}

WORDS_OF: Final = {
    "event": (
        "enqueue",
        "dequeue",
        "mark",
        "drop_early",
        "drop_forced",
        "drop_tail",
        "loss",
        "deliver",
        "drop_box",
        "drop_tunnel",
    ),
    "protocol": ("tcp", "udp", "icmp"),
}
"""Text columns with the same values in every run."""

TRAFFIC: Final = {"objects": "web", "transactions": "crr"}
"""Tables of one kind of traffic."""

UNITS: Final = {"s": TIMES, "bit/s": RATES, "bytes": BYTES}
"""Units of quantities by those of tables."""

EXAMPLE_SIZES: Final = {"s": "1 ms", "bit/s": "100 kbps", "bytes": "10 kB"}

NAMED: Final = {
    "boxes": "box",
    "classes": "class",
    "class_series": "class",
    "sojourns": "class",
    "sojourn_bins": "class",
    "tunnels": "tunnel",
    "quic": "quic",
}
"""Tables that a run has only if its scenario has something with a name in this column."""

REMEDIES: Final = {
    "box": "name a box in `boxes` of a link, or another table",
    "quic": "name a [quic.NAME] in `quic` of a flow, or another table",
    "tunnel": "name a tunnel in `tunnel` of a link, or another table",
    "class": "give a link a queue of classes or set `quantiles = true` in its queue, or name another table",
}
"""Remedies if no scenario has such a name."""


def check(metrics: Metrics) -> None:
    """Raise MetricError if a definition names a table or column that does not exist, or asks for numbers of names.

    Everything else about definitions is checked with the experiment file. `refuse` adds the line number.
    """
    for wrong in _wrong_names(metrics):
        raise MetricError(f"metric {wrong.metric}: {wrong.message}: {wrong.help()}")


def check_in(metrics: Metrics, scenarios: Sequence[Scenario]) -> None:
    """Raise MetricError as `check` does, and if a definition needs data that no run of ``scenarios`` has."""
    check(metrics)
    for wrong in [*_not_recorded(metrics, lambda: scenarios), *_wrong_values(metrics, lambda: scenarios)]:
        raise MetricError(f"metric {wrong.metric}: {wrong.message}: {wrong.help()}")


def refuse(experiment: Experiment) -> None:
    """Raise SpecError, with file, line and nearest name, if a metric of ``experiment`` needs data that no run has.

    That is a table, a column or a value in ``where`` that is nowhere, a column of names where a number is needed, and a
    table that no scenario of the experiment records. A value that only some points or arms have is in order.
    """
    metrics = experiment.metrics
    found = list(_wrong_names(metrics))
    if not found:
        scenarios = cache(lambda: experiment.scenarios)  # each access resolves every point again
        found = [*_not_recorded(metrics, scenarios), *_wrong_values(metrics, scenarios)]
    if found:
        raise experiment.refusal([(["metrics", x.metric, *x.at], x.message, x.help()) for x in found])
    if sizes := list(_wrong_sizes(experiment)):
        raise experiment.refusal(sizes)


def _wrong_sizes(experiment: Experiment) -> Iterator[tuple[list[str], str, str]]:
    """Yield place, message and remedy of each of ``[report] smallest`` that is not in the unit of its metric."""
    for name, size in experiment.report["smallest"].items():
        unit = unit_of(experiment.metrics, name)
        scales = UNITS.get(unit)
        text = size.split() if isinstance(size, str) else []
        if text and not (scales and len(text) == 2 and text[1] in scales and _positive(text[0])):
            example = f'"{EXAMPLE_SIZES[unit]}"' if scales else "0.01"
            message = f"{size!r} is not a difference of {name}, whose unit is {unit or 'none'}"
            yield ["report", "smallest", name], message, f"write one above 0 such as {example}"


def _positive(text: str) -> bool:
    try:
        return 0.0 < float(text) < math.inf
    except ValueError:
        return False


class _Wrong(NamedTuple):
    """An error in a metric: its place in the table, the message, and the unknown word with the known ones."""

    metric: str
    at: tuple[str, ...]
    message: str
    word: str
    """Without ``known`` the remedy."""
    known: Sequence[str] = ()

    def help(self) -> str:
        """The remedy."""
        if not self.known:
            return self.word
        import difflib  # for those who misspell

        near = difflib.get_close_matches(self.word, self.known[:SEARCHED], n=1)
        if near:
            return f"did you mean `{near[0]}`?"
        more = f" and {len(self.known) - LISTED} others" if len(self.known) > LISTED else ""
        return f"there are {', '.join(self.known[:LISTED])}{more}"


def _wrong_names(metrics: Metrics) -> Iterator[_Wrong]:
    for name, metric in metrics.items():
        table = metric.get("table")
        if table is None:
            continue
        if table not in TABLES:
            yield _Wrong(name, ("table",), f"no table is called {table!r}", table, list(TABLES))
            continue
        known = TABLES[table]
        for at, column in _columns(metric):
            if column not in known:
                yield _Wrong(name, at, f"no column of {table} is called {column!r}", column, list(known))
        if known.get(metric.get("column", ""), Column("", "")).kind == "text":
            remedy = (
                "leave it out: a count of rows needs none"
                if metric.get("aggregate") == "count"
                else ('name a column of numbers, or count rows with aggregate = "count"')
            )
            yield _Wrong(name, ("column",), f"{metric['column']!r} of {table} holds names, not numbers", remedy)


def _columns(metric: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every column that ``metric`` names, and where it does."""
    if "column" in metric:
        yield ("column",), metric["column"]
    for column in metric.get("where", {}):
        yield ("where", column), column


def _not_recorded(metrics: Metrics, scenarios: Callable[[], Sequence[Scenario]]) -> Iterator[_Wrong]:
    """Yield errors for tables that no run has. Packet events are recorded if a metric reads them."""
    for name, metric in metrics.items():
        table = metric.get("table", "")
        if table.endswith("_series") and not any("sample" in x.resolved for x in scenarios()):
            remedy = 'set sample = "100 ms" in the scenario, or "sample" in [set]'
            yield _Wrong(name, ("table",), f"no run records {table}", remedy)
        if table in TRAFFIC and not any(_has_traffic(x, TRAFFIC[table]) for x in scenarios()):
            message = f"no run has the table {table}, which needs traffic `{TRAFFIC[table]}`"
            yield _Wrong(name, ("table",), message, "name another table")
        of = NAMED.get(table.removesuffix("_run"))
        if of and not any(x.names(of) for x in scenarios()):
            yield _Wrong(name, ("table",), f"no run records {table}", REMEDIES[of])


def _has_traffic(scenario: Scenario, kind: str) -> bool:
    return any(flow["traffic"]["kind"] == kind for flow in scenario.resolved["flow"].values())


def _wrong_values(metrics: Metrics, scenarios: Callable[[], Sequence[Scenario]]) -> Iterator[_Wrong]:
    for name, metric in metrics.items():
        for column, wanted in metric.get("where", {}).items():
            kind = TABLES[metric["table"]][column].kind
            values: list[Any] = wanted if isinstance(wanted, list) else [wanted]
            for value in values:
                if not isinstance(value, KINDS[kind]) or (kind == "number" and isinstance(value, bool)):
                    message = f"the column holds {WORDS[kind]}, not {value!r}"
                    yield _Wrong(name, ("where", column), message, f"write {EXAMPLES[kind]}")
                elif kind == "text" and not _is_there(metric["table"], column, str(value), scenarios):
                    known = next(filter(None, (_there(metric["table"], column, x) for x in scenarios())), [])
                    yield _Wrong(
                        name,
                        ("where", column),
                        f"there is no {column} {value!r} in {metric['table']}",
                        str(value),
                        known,
                    )


def _is_there(table: str, column: str, value: str, scenarios: Callable[[], Sequence[Scenario]]) -> bool:
    """Return whether any run can have ``value`` there. The first scenario nearly always decides it."""
    if column in WORDS_OF:
        return value in WORDS_OF[column]
    return any(value in _there(table, column, scenario) for scenario in scenarios())


def _there(table: str, column: str, scenario: Scenario) -> list[str]:
    """Return the values that a text column can have in a run of ``scenario``."""
    if column in WORDS_OF:
        return list(WORDS_OF[column])
    if column in ("from", "to"):
        pools = [f"{x[0]}..{x[-1]}" for x in _pools(scenario)] if table.startswith("flows") else []
        return [*scenario.names("node"), *pools]
    extra = ["all"] if column == "group" and table.startswith(("queues", "sojourn_bins")) else []
    return [*extra, *scenario.names("flow" if column == "name" else column)]


def _pools(scenario: Scenario) -> Iterator[list[str]]:
    """Return the ends of flows that have several nodes, as with web traffic."""
    nodes = scenario.names("node")
    for flow in scenario.resolved["flow"].values():
        for end in (flow["from"], flow["to"]):
            members = [node for node in nodes if node.partition("[")[0] == end]
            if len(members) > 1:
                yield members


def unit_of(metrics: Mapping[str, Any], name: str) -> str:
    """Return the unit of a metric from its definition: that of its column, "" if it has none or it is unknown."""
    requested = metrics[name]
    if "difference" in requested:
        return unit_of(metrics, requested["difference"][0])
    if "ratio" in requested or requested.get("aggregate") == "jain":
        return "ratio"
    if requested.get("aggregate") == "count" or "column" not in requested:
        return ""
    return units(requested["table"]).get(requested["column"], "")


def needed(metrics: Metrics, names: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """The definitions of ``names``, and of the metrics of which they are made."""
    waiting, found = list(names), dict[str, Mapping[str, Any]]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = metrics[name]
            waiting += _operands(metrics[name])
    return found


def tables(metrics: Metrics) -> set[str]:
    """The tables that ``metrics`` read."""
    return {metric["table"] for metric in metrics.values() if "table" in metric}


def evaluate(metrics: Metrics, table: Callable[[str], pl.LazyFrame], ids: Iterable[str]) -> pl.DataFrame:
    """Each metric of each run: columns ``id``, ``metric`` and ``value`` (null where it is not defined).

    ``table`` gives the rows of all runs of a table, with the run's ``id``; rows come in the order of ``ids`` and of the
    definitions. Not defined are a mean of no rows and a ratio to zero; a count or a sum of no rows is 0.
    """
    return long(evaluate_wide(metrics, table, ids))


def evaluate_wide(metrics: Metrics, table: Callable[[str], pl.LazyFrame], ids: Iterable[str]) -> pl.DataFrame:
    """Like `evaluate`, with one column per metric."""
    check(metrics)
    runs = pl.DataFrame({"id": list(ids)}, schema={"id": pl.String})
    values: dict[str, pl.Series] = {}

    def value(name: str) -> pl.Series:
        if name not in values:
            metric = metrics[name]
            values[name] = _pick(name, metric, table, runs) if "table" in metric else _combine(metric, value)
        return values[name]

    return runs.with_columns([value(name).cast(pl.Float64).rename(name) for name in metrics])


def long(wide: pl.DataFrame) -> pl.DataFrame:
    """What `evaluate_wide` gives with a row for each run and metric."""
    return wide.unpivot(index="id", variable_name="metric", value_name="value").select(
        "id", "metric", pl.col("value").cast(pl.Float64)
    )


def _pick(name: str, metric: Mapping[str, Any], table: Callable[[str], pl.LazyFrame], runs: pl.DataFrame) -> pl.Series:
    rows = _with_columns(table(metric["table"]), metric)
    for column, wanted in _where(metric).items():
        rows = rows.filter(pl.col(column).is_in(wanted) if isinstance(wanted, list) else pl.col(column) == wanted)
    aggregate = metric.get("aggregate", "mean")
    try:
        if aggregate in SUMS:
            of_run = _summed(rows, metric["column"], SUMS[aggregate])
        else:
            number = (
                AGGREGATES[aggregate](pl.col(metric["column"]).cast(pl.Float64)) if "column" in metric else pl.len()
            )
            of_run = rows.group_by("id").agg(number.cast(pl.Float64).alias("value"))
        found = runs.lazy().join(of_run, on="id", how="left", maintain_order="left").collect()["value"]
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise MetricError(f"metric {name}: the values have the wrong type: {reason}") from error
    return _finite(found.fill_null(0.0) if aggregate in ("count", "sum") else found)


def _where(metric: Mapping[str, Any]) -> dict[str, Any]:
    """Return the conditions on rows; those outside of the measured window need ``measured = [true, false]``."""
    measured = {"measured": True} if metric["table"] in TRAFFIC else {}
    return {**measured, **metric.get("where", {})}


def _with_columns(rows: pl.LazyFrame, metric: Mapping[str, Any]) -> pl.LazyFrame:
    """Return ``rows`` with every column that ``metric`` names; a run has only the columns of its own laws."""
    there = rows.collect_schema()
    return rows.with_columns(pl.lit(None).alias(name) for _, name in _columns(metric) if name not in there)


def _summed(rows: pl.LazyFrame, column: str, of: Callable[[int, float, float], float]) -> pl.LazyFrame:
    """``of`` each run's values in ``column``, some rows at a time.

    Groups that are summed in several threads have another last digit from one time to the next. Here a run's values are
    added in the order of its rows, whatever stands beside it in the table.
    """
    sums: dict[str, _Sums] = {}
    chosen = rows.select("id", pl.col(column).cast(pl.Float64).alias("value")).drop_nulls("value")
    for piece in pieces(chosen):
        for run, values in piece.group_by("id", maintain_order=True).agg("value").iter_rows():
            sums.setdefault(run, _Sums()).add(values)
    found = {run: _or_none(of, *one.whole()) for run, one in sums.items()}
    return pl.LazyFrame(
        {"id": list(found), "value": list(found.values())}, schema={"id": pl.String, "value": pl.Float64}
    )


def _or_none(of: Callable[[int, float, float], float], n: int, total: float, squares: float) -> float | None:
    try:
        return of(n, total, squares)
    except (ZeroDivisionError, OverflowError):
        return None


class _Sums:
    """Return the sum of the values and of their squares, rounded after every `ADDED` values."""

    def __init__(self) -> None:
        self._n = 0
        self._waiting: list[float] = []
        self._sums: list[tuple[float, float]] = []

    def add(self, values: list[float]) -> None:
        self._n += len(values)
        self._waiting += values
        while len(self._waiting) >= ADDED:
            self._sums.append(_rounded(self._waiting[:ADDED]))
            del self._waiting[:ADDED]

    def whole(self) -> tuple[int, float, float]:
        sums = [*self._sums, _rounded(self._waiting)]
        return self._n, _sum(total for total, _ in sums), _sum(squares for _, squares in sums)


def _rounded(values: list[float]) -> tuple[float, float]:
    return _sum(values), _sum(value * value for value in values)


def _sum(values: Iterable[float]) -> float:
    """Return the sum, rounded once; NaN for infinite values or an overflow."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return math.nan


def _combine(metric: Mapping[str, Any], value: Callable[[str], pl.Series]) -> pl.Series:
    first, second = (value(name) for name in _operands(metric))
    result = first / second if "ratio" in metric else first - second
    return _finite(result - 1.0 if metric.get("minus_one", False) else result)


def _finite(values: pl.Series) -> pl.Series:
    return values.to_frame("v").select(pl.when(pl.col("v").is_finite()).then(pl.col("v")))["v"]


def _operands(metric: Mapping[str, Any]) -> list[str]:
    return list(metric.get("ratio", metric.get("difference", [])))
