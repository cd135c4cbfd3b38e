"""Verdicts on ECN as lines for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ecnlab.base.lazy_imports import pl

SIGNALS: Final = {"problem": "PROBLEM", "warning": "WARNING"}
"""Words in capitals that make these severities visible without colour."""


def sentence_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the head of a row of `Trace.verdicts`, "ECN works:", and the rest of its line: direction, place, evidence, next step."""
    head = f"ECN {SIGNALS.get(row['severity'], row['verdict'])}:"
    end = "opener" if row["from_opener"] else "responder"
    which = f"data of the {end}" if row["directions"] == 1 else f"data of {row['directions']:,} {end}s"
    place = "place unknown" if row["vantage"] == "unknown" else f"captured {row['vantage']}"
    summary = row["says"].removeprefix(f"{row['verdict']}: ")
    step = f"; {row['capture']}" if row["capture"] else ""
    return head, f"{which}, {place}: {summary}{step}"


KINDS: Final = {
    "erased": ("problem", "with ECT arrive as Not-ECT: the path erases ECT"),
    "CE erased": ("problem", "with CE arrive without it: the path erases marks"),
    "flags changed": ("problem", "arrive with other flags of ECN (ECE, CWR, AE): the path changes them"),
    "set on the path": ("warning", "with Not-ECT arrive with ECT or CE: the path sets the codepoint"),
    "ECT changed": ("warning", "arrive with the other ECT codepoint: the path changes it"),
    "marked": ("ok", "with ECT arrive with CE: the path marks"),
}
"""Verdicts on the path between two captures: severity, and what happens to the packets. Problems come first."""


def between(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return a row for each kind of change in the tables of `compared`: verdict, severity, directions, packets and ``summary``.

    The delays of both directions of a connection show which capture each direction passes first.
    """
    later = _delays(tables["paths"])
    counts: dict[str, tuple[set[tuple[str, str]], int]] = {}
    for row in tables["changes"].iter_rows(named=True):
        way = row["from"], row["to"]
        codes = (row["before"], row["after"]) if later.get(way, True) else (row["after"], row["before"])
        for kind in _kinds(*codes, row["flags_changed"]):
            ways, packets = counts.get(kind, (set(), 0))
            counts[kind] = (ways | {way}, packets + row["packets"])
    rows = [
        (kind, severity, len(counts[kind][0]), counts[kind][1], f"{counts[kind][1]:,} packets {text}")
        for kind, (severity, text) in KINDS.items()
        if kind in counts
    ]
    schema = {
        "verdict": pl.String,
        "severity": pl.String,
        "directions": pl.Int64,
        "packets": pl.Int64,
        "says": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _delays(paths: pl.DataFrame) -> dict[tuple[str, str], bool]:
    """Return for each direction whether it passes the first capture first: its delay is the greater of the two directions'."""
    delays = {(way, to): delay for way, to, delay in paths.select("from", "to", "delay_mean_s").iter_rows()}
    known = {way: delay for way, delay in delays.items() if delay is not None}
    return {(way, to): delay >= known.get((to, way), 0.0) for (way, to), delay in known.items()}


def _kinds(before: str, after: str, flags: int) -> list[str]:
    """Return the kinds of change of a packet between the codepoints ``before`` and ``after``, with ``flags`` that differ."""
    found = ["flags changed"] if flags else []
    match before, after:
        case (("ECT(0)" | "ECT(1)"), "Not-ECT"):
            found.append("erased")
        case "CE", ("ECT(0)" | "ECT(1)" | "Not-ECT"):
            found.append("CE erased")
        case "Not-ECT", ("ECT(0)" | "ECT(1)" | "CE"):
            found.append("set on the path")
        case (("ECT(0)" | "ECT(1)"), "CE"):
            found.append("marked")
        case (("ECT(0)" | "ECT(1)"), ("ECT(0)" | "ECT(1)")) if before != after:
            found.append("ECT changed")
    return found
