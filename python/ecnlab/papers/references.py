"""Texts of papers as Jinja templates, and the written forms of values. References are functions: a text names a measured value and it is filled in.

A text keeps no measured number of its own, so that none can outlive its runs::

    {{ point("bulk_gain", congestion="high", maxp=0.1) }}         60% (53% to 66%)
    {{ point("bulk_gain", congestion="high", maxp=0.1).mean }}    60%
    {{ extent("search_gain", maxp=0.1) }}                         12% to 64%
    {{ count("gain_over_ecn", settings="nearest", more=0) }}      13
    {{ number("R27.1").printed }}                                 23%
    {{ given("1.5", "testbed.toml:link.pipe.rate") }}             1.5; an error where the file has another number
    {{ word("hardly", "retransmits_ecn", hardly=true, maxp=0.1) }}  hardly; an error where the rule does not hold
    {{ agreement("share", queue="codel") }}                       2 / 4 / 0: cells by verdict in simulator and kernel

``docs/papers.md`` lists all functions and the rules of the words.
"""

from __future__ import annotations

import math
import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import jinja2
import polars as pl

from ecnlab.agreement.means import TONES
from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import known, unknown
from ecnlab.papers import engine_rows
from ecnlab.papers.claim_places import Tests
from ecnlab.papers.engine_rows import Forms
from ecnlab.papers.judge import Grid
from ecnlab.papers.published import Metric
from ecnlab.papers.quoted import Evidence, Row
from ecnlab.papers.readings import TABLE as READINGS
from ecnlab.papers.readings import Again
from ecnlab.papers.size_words import OF_SEVERAL, RULES
from ecnlab.papers.sources import require_source

REFERENCE: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
"""References and statements in a template."""

_UNDEFINED: Final = re.compile(r"'(\w+)' is undefined")

PICKS: Final = ("min", "max", "nearest")


# --------------------------------------------------------------- values as texts have them

VERDICTS: Final = ("verdict", "answer", "upto", "metric", "statement", "test")
"""Columns of numbers and claims that are quoted as they are."""

MOST_DIGITS: Final = 8
"""Digits after which two values that differ are written alike all the same."""


def quantity(value: float, metric: Metric, unit: str = "", more: int = 0) -> str:
    """A value: percent, or as many significant digits as the metric has, and ``more``."""
    if not math.isfinite(value):
        return "unbounded"
    if metric.percent:
        text = _percent(100 * value, more)
    elif abs(value) >= 1000:
        text = f"{value / 1000:.{metric.digits + more}g} k"
    else:
        text = f"{value:#.{metric.digits + more}g}".removesuffix(".") if value else "0"
    text = text.replace("-", "−")
    return f"{text} {unit}" if unit else text


def with_interval(row: Mapping[str, Any], metric: Metric) -> str:
    """A point as its mean with the interval behind it, or with the word that nothing varied."""
    mean, interval = parts(row, metric)
    return f"{mean} ({interval})"


def parts(row: Mapping[str, Any], metric: Metric) -> tuple[str, str]:
    """Return mean and interval of a point.

    If all replicates gave one value there is no interval, and the text states that; nor is there one of a single replicate. An
    interval whose ends would be formatted alike gets more digits.
    """
    if math.isinf(row["low"]) and math.isinf(row["high"]):
        return quantity(row["mean"], metric), "no interval"
    if row["low"] == row["high"]:
        return quantity(row["mean"], metric), "nothing varied"
    for more in range(MOST_DIGITS):
        mean, low, high = (quantity(row[key], metric, more=more) for key in ("mean", "low", "high"))
        if low != high or not math.isfinite(row["low"] + row["high"]):
            break
    return mean, f"{low} to {high}"


def as_printed(value: float, metric: Metric) -> str:
    """A printed value with the digits it was printed with."""
    return quantity(value, metric) if metric.percent else f"{value:.10g}".replace("-", "−")


def confidence(level: float) -> str:
    """A level of confidence, with enough digits to differ from 100%."""
    return f"{level:.0%}" if level <= 0.99 else f"{100 * level:.6f}".rstrip("0") + "%"


def _percent(points: float, more: int) -> str:
    if points == 0 or abs(points) >= 10:
        return f"{points:.{more}f}%"
    if abs(points) >= 0.1:
        return f"{points:.{1 + more}f}%"
    return f"{points:.{1 + more}g}%" if abs(points) >= 0.001 else "0%"


# --------------------------------------------------------------- quoted values


@dataclass(frozen=True)
class Quoted(Forms):
    """A point, a printed number or a claim with its measurement. Printed, it is the mean with its interval."""

    _row: Row
    _metric: Metric
    _grid: Grid
    _more: int = 0
    _bare: bool = False

    @property
    def mean(self) -> str:
        """The mean."""
        return self._quantity(self._row["mean"])

    @property
    def low(self) -> str:
        """The lower end of the interval."""
        return self._quantity(self._row["low"])

    @property
    def high(self) -> str:
        """The upper end of the interval."""
        return self._quantity(self._row["high"])

    @property
    def n(self) -> str:
        """The number of seeds."""
        return str(self._row["n"])

    @property
    def interval(self) -> str:
        """The interval alone: "low to high"."""
        return self._text(parts(self._row, self._metric)[1])

    @property
    def printed(self) -> str:
        """The number that the paper prints."""
        return self._text(as_printed(self._row["printed"], self._metric))

    @property
    def values(self) -> str:
        """The means of a claim's points, in order."""
        return ", ".join(self._quantity(value) for value in self._row["values"])

    @property
    def magnitude(self) -> Quoted:
        """The absolute value of a value below zero, for texts with "less" or "fewer"."""
        row = self._row
        if row["mean"] >= 0:
            raise EcnlabError("the magnitude needs a value below zero")
        return replace(self, _row={**row, "mean": -row["mean"], "low": -row["high"], "high": -row["low"]})

    @property
    def bare(self) -> Quoted:
        """The same without percent signs, with "-" as the minus sign."""
        return replace(self, _bare=True)

    def digits(self, more: int) -> Quoted:
        """The same with so many more digits in ``mean``, ``low``, ``high`` and ``values``."""
        return replace(self, _more=more)

    def __str__(self) -> str:
        return self._text(with_interval(self._row, self._metric))

    def __getattr__(self, name: str) -> str:
        """A label of the place by its key, or a column of a number or claim."""
        if name in self._grid.keys:
            return self._grid.named(self._row[name])
        if name in VERDICTS and name in self._row:
            return str(self._row[name])
        return super().__getattr__(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._grid.keys, *(name for name in VERDICTS if name in self._row)]

    def _quantity(self, value: float) -> str:
        return self._text(quantity(value, self._metric, more=self._more))

    def _text(self, text: str) -> str:
        return text.replace("%", "").replace("−", "-") if self._bare else text


@dataclass(frozen=True)
class Extent(Forms):
    """The least and the largest of several points. Printed, it is "least to largest", of the means."""

    least: Quoted
    largest: Quoted

    @property
    def bare(self) -> Extent:
        """The same without percent signs."""
        return Extent(self.least.bare, self.largest.bare)

    def digits(self, more: int) -> Extent:
        """The same with so many more digits."""
        return Extent(self.least.digits(more), self.largest.digits(more))

    def __str__(self) -> str:
        return f"{self.least.mean} to {self.largest.mean}"


# --------------------------------------------------------------- functions


@dataclass(frozen=True)
class References:
    """The functions of a text, by name; their values are of ``evidence``, and their sources of the paper's ``folder``."""

    evidence: Evidence
    folder: Path

    def functions(self) -> dict[str, Callable[..., Any]]:
        """The functions by the names that a text calls them by."""
        measured = (self.point, self.extent, self.count, self.word, self.number, self.claim)
        whole = (
            self.tally,
            self.readings,
            self.runs,
            self.seeds,
            self.engines,
            self.agreement,
            self.kernel,
            self.given,
        )
        return {function.__name__: function for function in (*measured, *whole)}

    def point(self, metric: str, pick: str | None = None, to: float = 0.0, **place: Any) -> Quoted:
        """The point of a metric at a place; of several the one that ``pick`` names, ``nearest`` to ``to``."""
        rows, found = self._points(metric, place, ("pick", "to"))
        return Quoted(_picked(rows, pick, to), found, self.evidence.grid)

    def extent(self, metric: str, **place: Any) -> Extent:
        """The smallest and the largest mean of several points."""
        rows, found = self._points(metric, place)
        if len(rows) < 2:
            raise EcnlabError("an extent needs two points at least")
        least, largest = (Quoted(_picked(rows, pick), found, self.evidence.grid) for pick in PICKS[:2])
        return Extent(least, largest)

    def count(self, metric: str, **place_and_rules: Any) -> int:
        """The number of points that meet all rules."""
        place, rules = self._split(place_and_rules)
        rows, found = self._points(metric, place, RULES)
        return sum(all(_holds(name, than, [row], found) for name, than in rules.items()) for row in rows)

    def word(self, word: str, metric: str, **place_and_rule: Any) -> str:
        """``word``, if its rule holds for the points of the metric at the place."""
        place, rules = self._split(place_and_rule)
        rows, found = self._points(metric, place, RULES)
        if len(rules) != 1:
            raise EcnlabError(f"the word {word!r} needs one rule ({', '.join(RULES)})")
        ((name, than),) = rules.items()
        if name in OF_SEVERAL and len(rows) < 2:
            raise EcnlabError(f"{name} compares two points at least")
        if not _holds(name, than, rows, found):
            shown = "; ".join(with_interval(row, found) for row in rows)
            raise EcnlabError(f"the rule {name!r} of the word {word!r} does not hold: {shown}")
        return word

    def given(self, text: str, source: str) -> str:
        """``text``: a number that describes no measurement of the paper, checked against its ``source``."""
        require_source(text, source, self.folder)
        return text

    def number(self, name: str) -> Quoted:
        """A printed number with its measurement."""
        (row,) = self._judged("number", name).iter_rows(named=True)
        return self._quoted(row)

    def claim(self, name: str, place: str | None = None) -> Quoted | Tests:
        """A claim with its measurement; with all its tests if there are several and ``place`` names none."""
        rows = self._judged("claim", name, place)
        if rows.height == 1:
            return self._quoted(rows.row(0, named=True))
        return Tests(rows, self.evidence.published.claim(name), self.evidence.grid, self._quoted)

    def tally(self, table: str, verdict: str | None = None, of: str | None = None, but: str | None = None) -> int:
        """The number of ``numbers`` or ``claims``, or of those with a verdict; numbers of a metric or without it."""
        counts: Mapping[str, int] = known("tally", table, self.evidence.about["tally"])
        metric = of or but
        if metric is None:
            return _counted(counts, verdict)
        if table != "numbers" or (of and but):
            raise EcnlabError("a tally of numbers has `of` or `but`, a metric")
        numbers = self.evidence.tables[table]
        these = self.evidence.rows(table, numbers.filter(pl.col("metric") == metric))
        if not these:
            raise unknown("metric of a number", metric, numbers["metric"].unique())
        of_metric = _counted(Counter(row["verdict"] for row in these), verdict)
        return of_metric if of else _counted(counts, verdict) - of_metric

    def readings(self, table: str) -> Again:
        """The verdicts on the ``numbers`` or ``claims`` under other readings of the paper."""
        if READINGS not in self.evidence.tables:
            raise EcnlabError("published.toml has no [readings]")
        entries = known(
            "table", table, {name: getattr(self.evidence.published, name) for name in ("numbers", "claims")}
        )
        rows = self.evidence.tables[READINGS]
        rows = rows.filter(pl.col("id").is_in([entry.id for entry in entries]))
        self.evidence.rows(READINGS, rows)
        return Again(rows, self.evidence.published)

    def runs(self, experiment: str | None = None) -> str:
        """The number of runs of all experiments, or of one."""
        if experiment is None:
            return f"{self.evidence.about['runs']:,}"
        return str(self._experiment(experiment)["runs"])

    def seeds(self, experiment: str) -> str:
        """The number of seeds of an experiment."""
        return str(self._experiment(experiment)["replicates"])

    def engines(self, verdict: str | None = None, **place: Any) -> engine_rows.Cells:
        """The comparisons of the simulator and the kernel at the place, or those with a verdict."""
        cells = self._cells(place)
        if verdict is not None:
            known("verdict", verdict, TONES)
            cells = cells.filter(verdict=verdict)
        return engine_rows.Cells(cells, self._cell_in_words)

    def _cell_in_words(self, cell: Row) -> str:
        """The place of a comparison with both means."""
        metric = self.evidence.metric(cell["metric"])
        ours, theirs = (quantity(cell[who], metric) for who in (engine_rows.SIMULATOR, engine_rows.KERNEL))
        return f"{metric.name}: {self.evidence.grid.place(cell)} ({ours}, {theirs})"

    def agreement(self, metric: str, **place: Any) -> str:
        """The number of comparisons of a metric that agree / are inconclusive / differ."""
        self.evidence.metric(metric)
        verdicts = self._cells(place).filter(metric=metric)["verdict"]
        return " / ".join(str((verdicts == one).sum()) for one in ("agrees", "open", "differs"))

    def kernel(self) -> engine_rows.KernelRuns:
        """The runs on the Linux kernel."""
        self._cells({})
        return engine_rows.KernelRuns(self.evidence.about["kernel"])

    # ----------------------------------------------------------- places and rows

    def _split(self, options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the place and the rules of ``options``."""
        rules = {name: than for name, than in options.items() if name in RULES}
        return {name: label for name, label in options.items() if name not in RULES}, rules

    def _points(self, metric: str, place: Mapping[str, Any], options: Iterable[str] = ()) -> tuple[list[Row], Metric]:
        """Return the points at the place and their metric; ``options`` are the other names that could stand there."""
        where = self._labels(place, options)
        return self.evidence.points(metric, where), self.evidence.metric(metric.rpartition("/")[2])

    def _labels(self, place: Mapping[str, Any], options: Iterable[str] = ()) -> dict[str, str | list[str]]:
        """Return the labels of ``place`` as texts: a label may be given as a number."""
        keys = self.evidence.grid.keys
        for key in place:
            if key not in keys:
                raise unknown("key of the grid" + " or option" * bool(options), key, [*keys, *options])
        return {
            key: [str(one) for one in label] if isinstance(label, list) else str(label) for key, label in place.items()
        }

    def _judged(self, kind: str, name: str, place: str | None = None) -> pl.DataFrame:
        """Return the rows of a printed number or claim; they count as quoted."""
        table = self.evidence.tables[f"{kind}s"]
        chosen = table.filter(pl.col("id") == name)
        if chosen.is_empty():
            raise unknown(kind, name, table["id"].unique(maintain_order=True))
        if place is not None:
            chosen = chosen.filter(pl.col("place") == place)
            if chosen.is_empty():
                raise unknown(f"place of {name}", place, table.filter(pl.col("id") == name)["place"])
        self.evidence.rows(f"{kind}s", chosen)
        return chosen

    def _quoted(self, row: Row) -> Quoted:
        return Quoted(row, self.evidence.published.metrics[row["metric"]], self.evidence.grid)

    def _experiment(self, name: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = known("experiment", name, self.evidence.about["experiments"])
        return found

    def _cells(self, place: Mapping[str, Any]) -> pl.DataFrame:
        """Return the comparisons at the place; they count as quoted."""
        if engine_rows.CELLS not in self.evidence.tables:
            raise EcnlabError("no run on the Linux kernel is quoted")
        cells = self.evidence.tables[engine_rows.CELLS]
        for key, label in self._labels(place).items():
            cells = cells.filter(pl.col(key).is_in([label] if isinstance(label, str) else label))
        if cells.is_empty():
            raise EcnlabError("nothing was compared there")
        self.evidence.rows(engine_rows.CELLS, cells)
        return cells


def _picked(rows: Sequence[Row], pick: str | None, to: float = 0.0) -> Row:
    match pick:
        case None:
            if len(rows) != 1:
                raise EcnlabError(f"{len(rows)} measured points, need 1")
            return rows[0]
        case "min":
            return min(rows, key=lambda row: float(row["mean"]))
        case "max":
            return max(rows, key=lambda row: float(row["mean"]))
        case "nearest":
            return min(rows, key=lambda row: abs(float(row["mean"]) - to))
    raise EcnlabError(f"pick {pick!r} is none of {', '.join(PICKS)}")


def _holds(rule: str, than: Any, rows: Sequence[Row], metric: Metric) -> bool:
    """Return whether a rule holds for points; ``than`` is its number, or true for a rule without one."""
    return RULES[rule](rows, metric, None if than is True else float(than))


def _counted(counts: Mapping[str, int], verdict: str | None) -> int:
    return sum(counts.values()) if verdict is None else counts.get(verdict, 0)


# --------------------------------------------------------------- templates


def fill(text: str, evidence: Evidence, file: Path, *, start: int = 1, names: Mapping[str, Any] | None = None) -> str:
    """Return ``text`` with its references filled in. ``names`` are those that it has besides the functions of all texts.

    Raises EcnlabError for the first reference that is wrong, with its line in ``file``, in which the text starts at the
    line ``start``.
    """
    there = {**References(evidence, file.parent).functions(), **(names or {})}
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    environment.globals = there
    try:
        return environment.from_string(text).render()
    except (EcnlabError, jinja2.TemplateError, ValueError, KeyError, TypeError) as error:
        line = _line(error)
        raise EcnlabError(f"{file}:{start + line - 1}: {_message(error, there)}") from error


def start_of(text: str, source: str) -> int:
    """Return the line at which a TOML string ``text`` starts in ``source``, the contents of the file that has it."""
    plain = source.replace('\\"', '"')
    return plain.count("\n", 0, max(plain.find(text), 0)) + 1


def _line(error: Exception) -> int:
    """Return the line of a template on which ``error`` was raised."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    return next(frame.lineno or 1 for frame in reversed(frames) if frame.filename == "<template>")


def _message(error: Exception, there: Mapping[str, Any]) -> str:
    if isinstance(error, jinja2.UndefinedError) and (name := _UNDEFINED.fullmatch(str(error))):
        return str(unknown("function or fact", name[1], there))
    return f"nothing is called {error}" if isinstance(error, KeyError) else str(error)
