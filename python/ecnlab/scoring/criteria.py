"""Rows of ``criteria`` of a card: their values in words, and their distance from the limit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Final

from ecnlab.base.readable import cell, number
from ecnlab.report.tone import Tone
from ecnlab.scoring.judging import MIN_SEEDS
from ecnlab.scoring.paths import PACKET

Row = Mapping[str, Any]
"""An entry of ``criteria`` of a scenario of a card: a criterion in one case."""

OUTCOMES: Final[Mapping[str, str]] = {"yes": "meets", "no": "fails", "undecided": "inconclusive"}
"""The word for each ``outcome``."""

TONES: Final[Mapping[str, Tone]] = {
    "meets": "yes",
    "fails": "no",
    "inconclusive": "open",
    "not applicable": "plain",
    "yes": "yes",
    "no": "no",
    "undecided": "open",
}
"""The tone of each verdict and outcome."""

BOUNDS: Final = {"at_most": "at most", "at_least": "at least"}

WORST_FIRST: Final = ("no", "undecided", "yes")


def at(row: Row) -> str:
    """The case of a criterion in brackets; "" for that of a scenario without cases."""
    return f" ({row['case']})" if row["case"] else ""


def times(row: Row) -> str:
    """The mean of a criterion's measure."""
    return "not defined" if row["mean"] is None else number(row["mean"])


def span(row: Row) -> str:
    """The interval of a criterion, or why there is none."""
    if row["mean"] is None:
        return "not defined"
    if row["low"] is None or row["high"] is None:
        return f"{number(row['mean'])} with {f'fewer than {MIN_SEEDS} seeds' if row['n'] < MIN_SEEDS else 'no bounds'}"
    return f"{number(row['low'])} to {number(row['high'])}"


def ends(row: Row) -> str:
    """The ends of its interval in brackets; "" if one is missing."""
    known = row["low"] is not None and row["high"] is not None
    return f" ({number(row['low'])} to {number(row['high'])})" if known else ""


def limit(row: Row) -> str:
    """The limit of a criterion in words."""
    return next(f"{words} {number(row[bound])}" for bound, words in BOUNDS.items() if bound in row)


def margin(row: Row, value: float) -> float:
    """The distance of ``value`` from the limit as a factor from 0 to infinity: 1 at the limit, above 1 where the criterion holds."""
    if "at_most" in row:
        return row["at_most"] / value if value > 0 else math.inf
    return max(value, 0.0) / row["at_least"] if row["at_least"] > 0 else math.inf


def mean_margin(row: Row) -> float:
    """The margin of the mean; 0 if the mean is not defined."""
    return 0.0 if row["mean"] is None else margin(row, row["mean"])


def severity(row: Row) -> tuple[int, float]:
    """A key that sorts rows from the worst: by outcome, then by margin."""
    return WORST_FIRST.index(row["outcome"]), mean_margin(row)


def worst_cases(one: Mapping[str, Any]) -> list[Row]:
    """The row of the worst case of each criterion of a scenario."""
    names = dict.fromkeys(row["name"] for row in one["criteria"])
    return [min((row for row in one["criteria"] if row["name"] == name), key=severity) for name in names]


def extremes(row: Row) -> tuple[int, float] | None:
    """The index of the worst of ``values``, and their median; None if none is defined."""
    there = [(margin(row, value), index) for index, value in enumerate(row["values"]) if value is not None]
    return (min(there)[1], median(row["values"][index] for _margin, index in there)) if there else None


def bottleneck(one: Mapping[str, Any], case: str, index: int) -> Sequence[str]:
    """Rate, RTT and buffer of a drawn path of a scenario; none if its paths are not drawn."""
    drawn = one.get("paths", {}).get(case)
    if not drawn:
        return ()
    rate, rtt = drawn[index]["rate_bps"], drawn[index]["rtt_s"]
    buffer = one["limit_packets"][case][index] * 8 * PACKET / (rate * rtt)
    return cell("rate_bps", rate), cell("rtt_s", rtt), f"{buffer:.2g} BDP"


def spread(one: Mapping[str, Any], row: Row) -> str:
    """The worst value with its path, and the median, in words; "" if no value is defined."""
    found = extremes(row)
    if found is None:
        return ""
    worst, middle = found
    where = ", ".join(bottleneck(one, row["case"], worst))
    return f"worst {number(row['values'][worst])}{' at ' if where else ''}{where}; median {number(middle)}"
