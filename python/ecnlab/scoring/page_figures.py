"""Figures of a card: margins to the limits, goodput over delay, and maps of drawn paths over rate and RTT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, Final

from ecnlab.base.readable import number
from ecnlab.plots.cloud import MIN_POINTS, ellipse
from ecnlab.report import Cloud, Mark, Marks, Scatter, Strip, Strips
from ecnlab.report.tone import Tone
from ecnlab.scoring.card import PLANE, Card, arms, word
from ecnlab.scoring.criteria import (
    OUTCOMES,
    TONES,
    Row,
    at,
    bottleneck,
    ends,
    extremes,
    limit,
    margin,
    severity,
    times,
    worst_cases,
)

PLANES: Final = 4
"""Figures of goodput over delay that are open."""

MAPS: Final = 6
"""Maps that are open."""

WEIGHTS: Final = ("must", "recommended", "should", "report", "discuss", "may", "ours")
"""Weights of scenarios in the order of their strips."""

NUMBERS: Final = ("criterion", "measured", "limit", "verdict", "worst", "median")

ON_MAP: Final = ("rate", "RTT", "buffer", "value")


def anchor(one: Mapping[str, Any], row: Row) -> str:
    """The identifier of the row of a criterion in the table of criteria."""
    return f"{one['name']}.{one['criteria'].index(row)}"


def strips(card: Card) -> Strips:
    """A strip for each criterion in its worst case, the worst first in each weight."""
    caption = (
        "Each criterion in its worst case, as a multiple of its limit: right of the line meets. Marker: mean; bar: 95 % interval; "
        "long tick: worst seed or path; short tick: their median. An arrow is beyond the axis."
    )
    there = dict.fromkeys(one["weight"] for one in card["scenarios"] if one["criteria"])
    weights = sorted(there, key=lambda weight: WEIGHTS.index(weight) if weight in WEIGHTS else len(WEIGHTS))
    return Strips("Margins to the limits", caption, [(weight, _group(card, weight)) for weight in weights], NUMBERS)


def _group(card: Card, weight: str) -> list[Strip]:
    rows = [(one, row) for one in card["scenarios"] if one["weight"] == weight for row in worst_cases(one)]
    return [_strip(one, row) for one, row in sorted(rows, key=lambda each: severity(each[1]))]


def _strip(one: Mapping[str, Any], row: Row) -> Strip:
    found = extremes(row)
    single = (row["values"][found[0]], found[1]) if found else None
    known = row["low"] is not None and row["high"] is not None
    name, outcome = f"{one['name']}: {row['name']}{at(row)}", row["outcome"]
    return Strip(
        name,
        f"{times(row)}, {limit(row)}",
        None if row["mean"] is None else margin(row, row["mean"]),
        (margin(row, row["low"]), margin(row, row["high"])) if known else None,
        (margin(row, single[0]), margin(row, single[1])) if single else None,
        TONES[outcome],
        f"#{anchor(one, row)}",
        (
            name,
            f"{times(row)}{ends(row)}",
            limit(row),
            OUTCOMES[outcome],
            *(map(number, single) if single else ("", "")),
        ),
    )


# ---- goodput over delay


def planes(card: Card) -> list[Scatter]:
    """Goodput over delay in each scenario in which both are defined, those with drawn paths first."""
    found = (_plane(card, one) for one in sorted(card["scenarios"], key=lambda one: not one.get("paths")))
    return [one for one in found if one.clouds]


def _plane(card: Card, one: Mapping[str, Any]) -> Scatter:
    drawn = one.get("paths")
    settings = list(dict.fromkeys(_setting(one, case) for case in one["limit_packets"]))
    clouds: list[Cloud] = []
    for setting in settings:
        for arm in arms(card):
            points = [point for case in one["limit_packets"] if _setting(one, case) == setting
                      for point in _points(card, one, case, arm)]  # fmt: skip
            if points:
                name = ", ".join(filter(None, (card[arm]["label"], setting)))
                clouds.append(_cloud(name, points, len(clouds), outlined=not drawn))
    title = f"§{one['section']} {one['title']}"
    if drawn:
        caption = "A dot for each drawn path, the marker at the medians."
        return Scatter(title, caption, clouds, "mean queueing delay, RTTs", "goodput, share of the rate", log=True)
    caption = f"A dot for each seed, the marker at the medians; ellipses at one standard deviation, of {MIN_POINTS} seeds or more."
    return Scatter(title, caption, clouds, "mean queueing delay, ms", "goodput, Mbit/s")


def _setting(one: Mapping[str, Any], case: str) -> str:
    """The name of a case without the class of drawn paths."""
    return case.rpartition(", ")[0] if one.get("paths") else case


def _points(card: Card, one: Mapping[str, Any], case: str, arm: str) -> Iterator[tuple[float, float]]:
    """Delay and goodput of each run in which both are defined: in ms and Mbit/s, of drawn paths in RTTs and shares of the rate."""
    runs = [row for row in one["points"] if (row["case"], row[word(card)]) == (case, arm)]
    paths = one.get("paths", {}).get(case)
    for index, run in enumerate(runs):
        delay, goodput = (run[name] for name in PLANE)
        units = (paths[index]["rtt_s"], paths[index]["rate_bps"]) if paths else (1e-3, 1e6)
        if delay is not None and goodput is not None and (delay > 0 or not paths):
            yield delay / units[0], goodput / units[1]


def _cloud(name: str, points: Sequence[tuple[float, float]], style: int, *, outlined: bool) -> Cloud:
    middle = (median(x for x, _ in points), median(y for _, y in points))
    return Cloud(name, points, middle, ellipse(points) if outlined and len(points) >= MIN_POINTS else (), style)


# ---- maps


def maps(card: Card) -> list[Marks]:
    """Maps of the criteria of drawn scenarios that are not met, and of the worst one of each other scenario; the worst first."""
    chosen = [(one, rows) for one in card["scenarios"] if one.get("paths") for rows in _mapped(one)]
    ordered = sorted(chosen, key=lambda each: min(map(severity, each[1])))
    paths = [path for one in card["scenarios"] for drawn in one.get("paths", {}).values() for path in drawn]
    return [_map(one, rows, paths) for one, rows in ordered]


def _mapped(one: Mapping[str, Any]) -> list[list[Row]]:
    """The criteria to map, each with the rows of one setting in all classes of paths."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in one["criteria"]:
        found.setdefault((row["name"], _setting(one, row["case"])), []).append(row)
    ordered = sorted(found.values(), key=lambda rows: min(map(severity, rows)))
    return [rows for rows in ordered if any(row["outcome"] != "yes" for row in rows)] or ordered[:1]


def _map(one: Mapping[str, Any], rows: Sequence[Row], paths: Sequence[Mapping[str, float]]) -> Marks:
    setting = _setting(one, rows[0]["case"])
    verdicts = "; ".join(f"{row['case'].removeprefix(f'{setting}, ')} {OUTCOMES[row['outcome']]}" for row in rows)
    rates, rtts = ([scale * path[name] for path in paths] for name, scale in (("rate_bps", 1e-6), ("rtt_s", 1e3)))
    return Marks(
        ": ".join(filter(None, (one["name"], rows[0]["name"], setting))),
        f"A mark for each drawn path: {limit(rows[0])} meets. Classes: {verdicts}.",
        [mark for row in rows for mark in _marks(one, row)],
        "rate, Mbit/s",
        "RTT, ms",
        (min(rates), max(rates)),
        (min(rtts), max(rtts)),
        ON_MAP,
    )


def _marks(one: Mapping[str, Any], row: Row) -> Iterator[Mark]:
    for index, (path, value) in enumerate(zip(one["paths"][row["case"]], row["values"], strict=True)):
        tone: Tone = "open" if value is None else "yes" if margin(row, value) >= 1 else "no"
        where, written = bottleneck(one, row["case"], index), "not defined" if value is None else number(value)
        label = f"{written} at {', '.join(where)}"
        yield Mark(1e-6 * path["rate_bps"], 1e3 * path["rtt_s"], tone, label, (*where, written))
