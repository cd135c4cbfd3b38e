"""References: a text names a measured value by metric and place, and the value is filled in from the runs.

A reference stands in braces. The text keeps no measured number of its own, so that none can outlive its runs::

    {bulk_gain congestion=high maxp=0.1}            60% (53% to 66%)
    {bulk_gain congestion=high maxp=0.1 : mean}     60%
    {range search_gain maxp=0.1}                    12% to 64%
    {count gain_over_ecn settings=nearest more=0}   13
    {number R27.1 : printed}                        23%
    {"hardly" hardly retransmits_ecn maxp=0.1}      hardly; an error where the rule does not hold
    {engines share queue=codel}                     2 / 4 / 0: cells by verdict in simulator and kernel

``docs/papers.md`` has the whole grammar and the rules of the words.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from ecnlab.base.errors import EcnlabError
from ecnlab.papers import engine_rows
from ecnlab.papers.grid import Grid
from ecnlab.papers.published import Metric, Published
from ecnlab.papers.samples import at
from ecnlab.papers.words import OF_SEVERAL, RULES
from ecnlab.papers.written import as_printed, in_words, parts, quantity, with_interval

REFERENCE: Final = re.compile(r"\{([^{}]+)\}")
PICKS: Final = ("min", "max", "nearest")
VERDICTS: Final = ("verdict", "answer", "upto", "metric", "statement", "test")
"""Columns of numbers and claims that are quoted as they are."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Data for references: tables of points by name, printed numbers, claims, and facts about the whole.

    ``seen`` collects the quoted rows, by table.
    """

    published: Published
    grid: Grid
    tables: Mapping[str, pl.DataFrame]
    about: Mapping[str, Any] = field(default_factory=dict)
    seen: dict[str, dict[tuple[Any, ...], Row]] = field(default_factory=dict)

    def rows(self, table: str, chosen: pl.DataFrame) -> list[Row]:
        """The rows of ``chosen``, a part of ``table``; they count as quoted."""
        found: list[Row] = list(chosen.iter_rows(named=True))
        noted = self.seen.setdefault(table, {})
        for row in found:
            noted[tuple(str(value) for value in row.values())] = row
        return found


@dataclass(frozen=True, slots=True)
class Asked:
    """A parsed reference: the words before the place, the place, the options and the form."""

    words: list[str]
    where: dict[str, str | list[str]]
    options: dict[str, str]
    form: list[str]


def fill(text: str, evidence: Evidence, facts: Mapping[str, Callable[[str], str]] | None = None) -> str:
    """``text`` with its references filled in; those that name one of ``facts`` (``{name.part}``) by that.

    Raises EcnlabError for the first reference that is wrong, quoting it.
    """
    known = facts or {}

    def filled(match: re.Match[str]) -> str:
        inner = " ".join(match[1].split())
        name, _, part = inner.partition(".")
        try:
            return known[name](part) if name in known else resolve(inner, evidence)
        except (EcnlabError, ValueError, KeyError) as error:
            raise EcnlabError(f"the reference {{{inner}}}: {error}") from error

    return REFERENCE.sub(filled, text)


def resolve(reference: str, evidence: Evidence) -> str:
    """Return the text for ``reference``, given without its braces. Raises EcnlabError if it is wrong."""
    if reference.startswith("given "):
        return reference.removeprefix("given ")
    if reference.startswith('"'):
        return _word(reference, evidence)
    asked = _parse(reference, evidence.grid)
    kind = asked.words[0] if asked.words else ""
    special = {
        "range": _range,
        "count": _count,
        "number": _printed,
        "claim": _printed,
        "tally": _tally,
        "runs": _runs,
        "engines": _engines,
    }
    return special[kind](asked, evidence) if kind in special else _point(asked, evidence)


def _parse(reference: str, grid: Grid) -> Asked:
    body, _, form = reference.partition(" : ")
    asked = Asked([], {}, {}, form.split())
    for token in shlex.split(body):
        key, equals, value = token.partition("=")
        if not equals:
            asked.words.append(token)
        elif key in grid.keys:
            labels = value.split("|")
            asked.where[key] = labels if len(labels) > 1 else value
        else:
            asked.options[key] = value
    return asked


def _found(name: str, asked: Asked, evidence: Evidence) -> tuple[list[Row], Metric]:
    """Return the points of the metric ``name`` (``TABLE/METRIC`` for other tables than ``points``) at the place."""
    table, _, metric = name.rpartition("/")
    if metric not in evidence.published.metrics:
        raise EcnlabError(f"no metric is called {metric!r}")
    points = evidence.tables.get(table or "points")
    if points is None:
        raise EcnlabError(f"there is no table {table!r}; there are {', '.join(evidence.tables)}")
    chosen = at(points, metric, {**evidence.published.where, **asked.where})
    if chosen.is_empty():
        raise EcnlabError("nothing was measured there")
    return evidence.rows(table or "points", chosen), evidence.published.metrics[metric]


def _point(asked: Asked, evidence: Evidence) -> str:
    if len(asked.words) != 1:
        raise EcnlabError("needs one metric")
    rows, metric = _found(asked.words[0], asked, evidence)
    row = _picked(rows, asked.options)
    return _formed(row, metric, asked.form, evidence.grid)


def _picked(rows: Sequence[Row], options: Mapping[str, str]) -> Row:
    if unknown := options.keys() - {"pick", "to"}:
        raise EcnlabError(f"{min(unknown)!r} is neither a key of the grid nor an option")
    match options.get("pick"):
        case None:
            if len(rows) != 1:
                raise EcnlabError(f"{len(rows)} measured points, need 1")
            return rows[0]
        case "min":
            return min(rows, key=lambda row: float(row["mean"]))
        case "max":
            return max(rows, key=lambda row: float(row["mean"]))
        case "nearest":
            target = float(options["to"])
            return min(rows, key=lambda row: abs(float(row["mean"]) - target))
        case other:
            raise EcnlabError(f"pick {other!r} is none of {', '.join(PICKS)}")


def _formed(row: Row, metric: Metric, form: Sequence[str], grid: Grid) -> str:
    """Format a point according to ``form``: a list of words such as ``size mean +1``."""
    more = sum(int(word) for word in form if re.fullmatch(r"\+\d", word))
    words_ = [word for word in form if not re.fullmatch(r"\+\d", word)]
    shown = {**row}
    if "size" in words_:
        shown |= _size(row)
        words_.remove("size")
    bare = "bare" in words_
    if bare:
        words_.remove("bare")
    what = words_[0] if words_ else "full"
    text = _shown(what, shown, metric, more, grid)
    return text.replace("%", "").replace("−", "-") if bare else text


def _size(row: Row) -> dict[str, float]:
    """Return mean and interval of the absolute value of a negative value: for texts that contain "less"."""
    if row["mean"] >= 0:
        raise EcnlabError("the absolute value needs a value below zero")
    return {"mean": -row["mean"], "low": -row["high"], "high": -row["low"]}


def _shown(what: str, row: Row, metric: Metric, more: int, grid: Grid) -> str:
    match what:
        case "full":
            return with_interval(row, metric)
        case "interval":
            return parts(row, metric)[1]
        case "printed":
            return as_printed(row[what], metric)
        case "mean" | "low" | "high":
            return quantity(row[what], metric, more=more)
        case "n":
            return str(row["n"])
        case _ if what in grid.keys:
            return grid.named(row[what])
        case _ if what in VERDICTS and what in row:
            return str(row[what])
        case "values":
            return ", ".join(quantity(value, metric, more=more) for value in row["values"])
    raise EcnlabError(f"there is no form {what!r}")


def _range(asked: Asked, evidence: Evidence) -> str:
    """The least and the largest mean of several points."""
    rows, metric = _found(asked.words[1], asked, evidence)
    if len(rows) < 2:
        raise EcnlabError("a range needs two points at least")
    least, most = (
        _formed(_picked(rows, {"pick": pick}), metric, ["mean", *asked.form], evidence.grid) for pick in PICKS[:2]
    )
    return f"{least} to {most}"


def _count(asked: Asked, evidence: Evidence) -> str:
    """How many points meet the rules, all of them: one at least where none is given."""
    rows, metric = _found(asked.words[1], asked, evidence)
    rules = [_rule(name, value) for name, value in asked.options.items()] + [
        _rule(name, "") for name in asked.words[2:]
    ]
    return str(sum(all(rule([row], metric, than) for rule, than in rules) for row in rows))


def _word(reference: str, evidence: Evidence) -> str:
    """Return a word subject to a rule: ``"WORD" RULE METRIC place``; ``"WORD" plain`` refers to no measurement."""
    asked = _parse(reference, evidence.grid)
    word, *rest = asked.words
    if rest == ["plain"]:
        return word
    named = [(name, value) for name, value in asked.options.items() if name in RULES]
    named += [(name, "") for name in rest[:-1]]
    if len(named) != 1 or len(rest) not in (1, 2):
        raise EcnlabError(f"a word needs one rule ({', '.join(RULES)}) and one metric")
    (name, value) = named[0]
    rule, than = _rule(name, value)
    rows, metric = _found(rest[-1], asked, evidence)
    if name in OF_SEVERAL and len(rows) < 2:
        raise EcnlabError(f"{name} compares two points at least")
    if not rule(rows, metric, than):
        shown = "; ".join(with_interval(row, metric) for row in rows)
        raise EcnlabError(f"the rule {name!r} of the word {word!r} does not hold: {shown}")
    return word


def _rule(name: str, value: str) -> tuple[Callable[[Sequence[Row], Metric, float | None], bool], float | None]:
    if name not in RULES:
        raise EcnlabError(f"{name!r} is neither a key of the grid nor a rule ({', '.join(RULES)})")
    return RULES[name], float(value) if value else None


def _printed(asked: Asked, evidence: Evidence) -> str:
    """Return a printed number or a claim with its measurement."""
    kind, name = asked.words
    table = f"{kind}s"
    chosen = evidence.tables[table].filter(pl.col("id") == name)
    if "place" in asked.options:
        chosen = chosen.filter(pl.col("place") == asked.options["place"])
    if chosen.is_empty():
        raise EcnlabError(f"there is no {kind} {name!r} there")
    rows = evidence.rows(table, chosen)
    if asked.form == ["answer"] and len(rows) > 1:
        return in_words(chosen)
    if len(rows) != 1 and asked.form != ["statement"]:
        raise EcnlabError(f"{name} has {len(rows)} tests: name one (place=...)")
    return _formed(rows[0], evidence.published.metrics[rows[0]["metric"]], asked.form, evidence.grid)


def _tally(asked: Asked, evidence: Evidence) -> str:
    """How many numbers or claims there are, or have a verdict or answer; numbers of one metric (``of``) or without it (``but``)."""
    _, table, *wanted = asked.words
    counts: Mapping[str, int] = evidence.about["tally"][table]
    if not asked.options:
        return str(_counted(counts, wanted))
    ((how, metric),) = asked.options.items()
    if how not in ("of", "but") or table != "numbers":
        raise EcnlabError("`of` and `but` of a tally of numbers name a metric")
    rows = evidence.tables[table].filter(pl.col("metric") == metric)
    if rows.is_empty():
        raise EcnlabError(f"no number has the metric {metric!r}")
    these = _counted(Counter(row["verdict"] for row in evidence.rows(table, rows)), wanted)
    return str(these if how == "of" else _counted(counts, wanted) - these)


def _counted(counts: Mapping[str, int], wanted: Sequence[str]) -> int:
    return counts.get(" ".join(wanted), 0) if wanted else sum(counts.values())


def _runs(asked: Asked, evidence: Evidence) -> str:
    """How many runs there are, of all experiments or of the one that is named."""
    experiments = evidence.about["experiments"]
    if len(asked.words) == 1:
        return f"{evidence.about['runs']:,}"
    found = experiments.get(asked.words[1])
    if found is None:
        raise EcnlabError(f"there is no experiment {asked.words[1]!r}")
    return str(found["replicates"] if asked.form == ["seeds"] else found["runs"])


def _engines(asked: Asked, evidence: Evidence) -> str:
    """Comparisons of the simulator and the kernel at the place, or a fact about their runs."""
    if engine_rows.CELLS not in evidence.tables:
        raise EcnlabError("no run on the Linux kernel is quoted")
    cells = evidence.tables[engine_rows.CELLS]
    for key, label in asked.where.items():
        cells = cells.filter(pl.col(key).is_in([label] if isinstance(label, str) else label))
    if cells.is_empty():
        raise EcnlabError("nothing was compared there")
    evidence.rows(engine_rows.CELLS, cells)
    return engine_rows.resolve(asked, cells, evidence)
