"""Blocks of a report that any paper needs: rows of numbers and claims, figures from points."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import polars as pl

from ecnlab.base.stats import LEVEL
from ecnlab.papers.claim_places import in_words, median, worst
from ecnlab.papers.judge import Grid
from ecnlab.papers.published import Metric, Published
from ecnlab.papers.references import as_printed, confidence, parts, quantity, with_interval
from ecnlab.report import (
    Axis,
    Chart,
    Distance,
    Figure,
    Finding,
    Forest,
    Line,
    Multiples,
    Point,
    Row,
    Rows,
    Rug,
    Series,
    Table,
    Tally,
)
from ecnlab.report.page import Cell
from ecnlab.report.tone import Tone
from ecnlab.report.words import counted as number_of

VERDICTS: Final[dict[str, Tone]] = {
    "agrees": "yes",
    "same direction": "partly",
    "differs": "no",
    "inconclusive": "open",
}
ANSWERS: Final[dict[str, Tone]] = {"yes": "yes", "partly": "partly", "no": "no", "undecided": "open"}
CHIPS: Final = VERDICTS | ANSWERS
NONE: Final[Mapping[str, str]] = {}
NO_EVENTS: Final[Mapping[str, Sequence[Rug]]] = {}
SMALL: Final = 170
"""Height of a small chart."""

OF_NUMBERS: Final = ("within the margin", "not met", "without a decision")
OF_CLAIMS: Final = ("shown", "refuted or shown in part", "without a decision")
"""Captions of the rows that agree, that do not, and the rest."""

MOST_OPEN: Final = 12
"""Most numbers or claims without a decision that are shown at once; more are folded."""

PLURAL: Final = {
    "agrees": "agree",
    "same direction": "same direction",
    "differs": "differ",
    "inconclusive": "inconclusive",
}


def verdicts(of_numbers: Iterable[str], what: str = "printed numbers") -> Tally:
    """Return the number of printed numbers per verdict; ``what`` is their name."""
    found = Counter(of_numbers)
    return Tally(f"{found.total()} {what}:", [(PLURAL[v], tone, found[v]) for v, tone in VERDICTS.items()])


def answers(of_claims: Iterable[str]) -> Tally:
    """How many claims have each answer."""
    found = Counter(of_claims)
    return Tally(f"{found.total()} claims, do they hold:", [(a, tone, found[a]) for a, tone in ANSWERS.items()])


def distances(numbers: pl.DataFrame) -> Forest | None:
    """Return the distance of each measured value from the printed one, in margins; None without numbers that have a margin."""
    rows = [
        Distance(
            row["id"],
            (row["mean"] - row["printed"]) / row["margin"],
            (row["low"] - row["printed"]) / row["margin"],
            (row["high"] - row["printed"]) / row["margin"],
            VERDICTS[row["verdict"]],
            f"#{row['id']}",
        )
        for row in numbers.iter_rows(named=True)
        if row["margin"]
    ]
    caption = (
        "A row for each printed number, with its interval: measured less printed, in margins. The band is agreement."
    )
    return Forest("Measured against printed", caption, rows) if rows else None


def chip(word: str) -> Cell:
    """A verdict or an answer as a cell in its colour."""
    return Cell(word, tone=CHIPS[word])


def marked(found: Finding, verdict: str, full: str) -> Finding:
    """A sentence of the summary, with the verdict of the ``full`` size if that is another."""
    text = found.evidence if found.evidence.endswith(".") else f"{found.evidence}."
    return found if full == verdict else replace(found, evidence=f"{text} In the full size: {full}.")


def in_full(text: str, verdict: str, full: str) -> str:
    """A verdict in words, with that of the ``full`` size if it is another."""
    return text if full == verdict else f"{text} (full size: {full})"


def numeric(*texts: str) -> list[Cell]:
    """Cells that are set as numbers."""
    return [Cell(text, True) for text in texts]


def by_claim(claims: pl.DataFrame) -> list[str]:
    """The answer to each claim; all tests of a claim carry it."""
    return claims.unique("id", maintain_order=True)["answer"].to_list()


def number_rows(
    numbers: pl.DataFrame,
    published: Published,
    reasons: Mapping[str, str],
    context: Mapping[str, str],
    grid: Grid,
    full: Mapping[str, str] = NONE,
    level: float = LEVEL,
) -> list[Rows]:
    """Return every printed number with its measurement: those that differ, those without a decision, those that agree.

    ``context`` adds the common properties of all points to a metric's name; ``full`` has the verdicts of the full size,
    by id; ``level`` is the confidence of the intervals.
    """
    rows: list[tuple[Tone, Row]] = []
    given: dict[str, str] = {}
    sources = {number.id: number.source for number in published.numbers}
    order = ("differs", "same direction", "inconclusive", "agrees")
    for row in sorted(numbers.iter_rows(named=True), key=lambda row: order.index(row["verdict"])):
        metric, verdict = published.metrics[row["metric"]], row["verdict"]
        unit, (mean, interval) = row["unit"], parts(row, metric)
        measured = f"{mean} {unit}" if unit else mean
        about = "about " if row["about"] else ""
        settings = "; ".join(part for part in (grid.place(row), context.get(row["metric"], "")) if part)
        facts = [
            ("printed in", sources[row["id"]]),
            (f"{confidence(level)} interval", interval),
            ("seeds", str(row["n"])),
            ("settings", settings),
        ]
        note = "" if verdict == "agrees" else once(reasons.get(row["id"], ""), row["id"], given)
        headline = f"{metric.name}, {settings}" if settings else metric.name
        text = f"{about}{as_printed(row['printed'], metric)} printed, {measured} measured"
        value = in_full(text, verdict, full.get(row["id"], verdict))
        rows.append((VERDICTS[verdict], Row(row["id"], headline, value, verdict, VERDICTS[verdict], facts, note)))
    return _parted(rows, "printed number", *OF_NUMBERS)


def _parted(rows: Sequence[tuple[Tone, Row]], what: str, agreeing: str, refuted: str, undecided: str) -> list[Rows]:
    """Return the ``rows`` by tone: refuted and partly true ones, those without a decision, those that agree.

    The last are folded, and those without a decision if they are more than `MOST_OPEN`. ``agreeing``, ``refuted`` and
    ``undecided`` complete the captions.
    """
    no, undecided_rows, yes = (
        [row for tone, row in rows if tone in tones] for tones in (("no", "partly"), ("open",), ("yes",))
    )
    parts = [
        (no, refuted, False),
        (undecided_rows, undecided, len(undecided_rows) > MOST_OPEN),
        (yes, agreeing, True),
    ]
    return [Rows(f"{number_of(len(part), what)} {words}", part, folds) for part, words, folds in parts if part]


def once(reason: str, name: str, seen: dict[str, str]) -> str:
    """Return ``reason``, or a reference to its first occurrence. ``seen`` records the occurrences."""
    first = seen.setdefault(reason, name) if reason else name
    return reason if first == name else f"As for {first}."


def claim_rows(
    claims: pl.DataFrame,
    published: Published,
    grid: Grid,
    reasons: Mapping[str, str],
    full: Mapping[str, str] = NONE,
    level: float = LEVEL,
) -> list[Rows]:
    """Every claim with its test, interval and answer: refuted ones, those without a decision, those that hold.

    ``full`` and ``level`` are as for `number_rows`.
    """
    rows: list[tuple[Tone, Row]] = []
    seen: dict[str, str] = {}
    by_id = {claim.id: claim for claim in published.claims}
    order = ("no", "undecided", "partly", "yes")
    for name, tests in sorted(_by_id(claims), key=lambda one: order.index(one[1]["answer"][0])):
        claim, answer = by_id[name], tests["answer"][0]
        facts = [
            ("asked by" if published.together else "printed in", claim.source),
            ("seeds", str(tests["n"].min())),
            (
                f"evidence, with {confidence(level)} intervals",
                evidence(tests, published.metrics[claim.metric], claim.test, grid),
            ),
        ]
        if published.together and tests.height > 1:
            metric, (farthest, place) = published.metrics[claim.metric], worst(tests, claim, grid)
            facts[1:1] = [
                ("median of the places", quantity(median(tests)["mean"], metric)),
                ("worst place", f"{with_interval(farthest, metric)}: {place}"),
            ]
        note = "" if answer == "yes" else once(reasons.get(claim.id, ""), claim.id, seen)
        value = in_full(in_words(tests).removeprefix(answer).strip(" ,()"), answer, full.get(claim.id, answer))
        rows.append((ANSWERS[answer], Row(name, claim.statement, value, answer, ANSWERS[answer], facts, note)))
    return _parted(rows, "claim", *OF_CLAIMS)


def _by_id(claims: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """The tests of each claim."""
    return [(str(name), tests) for (name,), tests in claims.group_by(["id"], maintain_order=True)]


def evidence(tests: pl.DataFrame, metric: Metric, test: str, grid: Grid) -> str:
    """The tested values of a claim in one line."""
    texts = []
    for row in tests.iter_rows(named=True):
        mean, interval = parts(row, metric)
        if test in ("trend", "no-trend"):
            values = " → ".join(quantity(value, metric) for value in row["values"])
            slope = f"{mean} per doubling ({interval})"
            slope = f"{mean.rstrip('%')} points per doubling ({interval.replace('%', '')})" if metric.percent else slope
            texts.append(f"{values} over {row['place']}; slope {slope}{_reach(row)}")
        else:
            place = ", ".join(map(grid.named, row["place"].split(", ")))
            texts.append(f"{place}: {mean} ({interval})" if place else f"{mean} ({interval})")
    return "; ".join(texts)


def _reach(row: Mapping[str, Any]) -> str:
    """Return up to where a partly true claim about an axis holds."""
    if row["outcome"] != "partly":
        return ""
    return f"; holds up to {row['upto']}" if row["upto"] else "; by the slope alone"


def finding(claims: pl.DataFrame, published: Published, grid: Grid, name: str, statement: str) -> Finding:
    """A claim as one sentence of the summary."""
    tests, claim = claims.filter(pl.col("id") == name), published.claim(name)
    text = evidence(tests, published.metrics[claim.metric], claim.test, grid)
    return Finding(in_words(tests).capitalize(), ANSWERS[tests["answer"][0]], statement, text)


def ranged(claims: pl.DataFrame, published: Published, name: str, statement: str, what: str) -> Finding:
    """Return a claim about many places as one sentence: the number of places where it holds, and the range of ``what``."""
    tests, metric = claims.filter(pl.col("id") == name), published.metrics[published.claim(name).metric]
    holds, answer, by_size = int((tests["outcome"] == "yes").sum()), tests["answer"][0], tests["mean"].to_list()
    least, most = (quantity(size(by_size, key=abs), metric) for size in (min, max))
    text = f"In {holds} of {tests.height} settings; {what} from {least} to {most}."
    return Finding(answer.capitalize(), ANSWERS[answer], statement, text)


def counted(holds: int, of: int, statement: str, evidence: str, least: float = 0.0) -> Finding:
    """Return a summary sentence that is true in ``holds`` of ``of`` cases, with the ``evidence``.

    It is partly true if it holds in one case; with ``least``, mostly true if it holds in at least that fraction.
    """
    if holds == of:
        return Finding("Yes", "yes", statement, evidence)
    if holds == 0 or holds < least * of:
        return Finding("No", "no", statement, evidence)
    return Finding("Mostly" if least else "Partly", "partly", statement, evidence)


def series(points: pl.DataFrame, axis: str, scale: Mapping[str, float], name: str, style: int) -> Series:
    """The points of one curve along ``axis``, whose labels ``scale`` places."""
    drawn = [
        Point(scale[row[axis]], row["mean"], row["low"], row["high"], row["n"])
        for row in points.iter_rows(named=True)
        if row[axis] in scale
    ]
    return Series(name, sorted(drawn, key=lambda p: p.x), style)


def printed(numbers: pl.DataFrame, axis: str, scale: Mapping[str, float], name: str, style: int) -> list[Series]:
    """The printed points that belong to the curve of ``style``: a series, or none where nothing is printed."""
    drawn = [Point(scale[row[axis]], row["printed"]) for row in numbers.iter_rows(named=True) if row[axis] in scale]
    return [Series(name, drawn, style)] if drawn else []


def figure(
    title: str,
    caption: str,
    axis: Axis,
    metric: Metric,
    curves: Sequence[Series],
    marks: Sequence[Series] = (),
    zero: bool = True,
    label: str = "",
    ceiling: float = math.inf,
    levels: Sequence[tuple[float, str]] = (),
    source: str = "",
    joined: bool = True,
) -> Figure:
    """Return a figure of a metric, in percent if the metric is; ``label`` replaces the metric's name if given.

    ``levels`` and ``source`` are as for `Figure`: printed values that are constant along the axis, and the paper's own
    figure. Points are not ``joined`` where the axis has no order.
    """
    drawn, name = [c for c in curves if c.points], Axis(label or metric.name)
    return Figure(title, caption, axis, name, drawn, marks, zero, metric.percent, ceiling, levels, source, joined)


def lines_over_time(
    title: str,
    caption: str,
    series: pl.DataFrame,
    names: Mapping[str, str],
    unit: str,
    levels: Sequence[tuple[float, str]] = (),
) -> Chart:
    """A line for each column of ``series`` that has one of ``names``, over ``time_s``; a value that is not there is a gap."""
    lines = [
        Line(name, series[column].fill_null(math.nan).to_list(), style)
        for style, (column, name) in enumerate(names.items())
        if column in series.columns
    ]
    return Chart(title, caption, series["time_s"].to_list(), lines, unit, levels)


def small_charts(
    title: str,
    caption: str,
    series: pl.DataFrame,
    names: Mapping[str, str],
    unit: str,
    levels: Sequence[tuple[float, str]] = (),
    events: Mapping[str, Sequence[Rug]] = NO_EVENTS,
) -> Multiples:
    """Return small charts on the same axes, one for each column of ``series`` in ``names``, over ``time_s``.

    ``events`` has the strokes of a column.
    """
    charts = [
        Chart(
            name,
            "",
            series["time_s"].to_list(),
            [Line(title, series[column].fill_null(math.nan).to_list(), 0, listed=False)],
            unit,
            levels,
            rugs=events.get(column, ()),
            height=SMALL,
        )
        for column, name in names.items()
        if column in series.columns
    ]
    return Multiples(title, caption, charts)


def queue_over_time(
    title: str,
    caption: str,
    series: pl.DataFrame,
    columns: tuple[str, str] = ("kilobytes", "average_kilobytes"),
    levels: Sequence[tuple[float, str]] = (),
    unit: str = "kilobytes",
    events: Sequence[Rug] = (),
) -> Chart:
    """A queue and RED's average of it over the ``time_s`` of ``series``, which has them in ``columns``; strokes for ``events``."""
    queue, average = (series[column].to_list() for column in columns)
    lines = [Line("queue", queue, 2, thin=True), Line("RED's average", average, 1)]
    return Chart(title, caption, series["time_s"].to_list(), lines, unit, levels, rugs=events)


EVENTS: Final = {"mark": ("marks", 3), "drop": ("drops", 4), "loss": ("losses on the wire", 1)}
"""Name and colour of the strokes of an event."""


def rugs(events: pl.DataFrame) -> list[Rug]:
    """Return the strokes of the events of `run_series.marks_and_drops`."""
    times = {event: events.filter(event=event)["time_s"].sort().to_list() for event in EVENTS}
    return [Rug(name, times[event], style) for event, (name, style) in EVENTS.items() if times[event]]


def table_of(
    points: pl.DataFrame, published: Published, caption: str, keys: Sequence[str], grid: Grid, folded: bool = True
) -> Table:
    """Points as a plain table: the named keys, then mean, interval and n."""
    rows: list[list[Cell | str]] = []
    for row in points.iter_rows(named=True):
        metric = published.metrics[row["metric"]]
        mean, interval = parts(row, metric)
        rows.append(
            [
                *(Cell(grid.named(row[key])) for key in keys),
                Cell(metric.name),
                Cell(mean, True),
                Cell(interval, True),
                Cell(str(row["n"]), True),
            ]
        )
    return Table(caption, [*keys, "quantity", "mean", "95% interval", "n"], rows, folded=folded)
