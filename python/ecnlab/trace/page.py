"""A capture as a page: connections with their violations, and graphs of those that break most rules or are largest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.base.readable import cell
from ecnlab.folder.few_samples import remark
from ecnlab.report import Finding, Page, Section, Table, Tally, render
from ecnlab.report.page import Cell
from ecnlab.report.tone import Tone
from ecnlab.report.words import heading
from ecnlab.trace import Trace
from ecnlab.trace.graphs import Violation, graphs
from ecnlab.trace.sums import facts, gap_note
from ecnlab.trace.verdicts import sentence_of

DRAWN: Final = 6
"""Connections that are drawn, if none is named."""

LISTED: Final = 100
"""Rows of the table of connections."""

BROKEN: Final = 200
"""Rows of the table of violations."""

MAX_PACKETS: Final = 2_000
"""Packets of a kind that a graph has."""

TONES: Final[dict[str, Tone]] = {"accepted": "yes", "AccECN": "yes", "refused": "partly", "fell back": "partly"}
"""Tones of the results of negotiation."""

SEVERITIES: Final[dict[str, Tone]] = {"ok": "yes", "warning": "partly", "problem": "no", "none": "open"}
"""Tones of the severities of verdicts."""

EVIDENCE: Final = ("new_data_packets", "not_ect", "ect", "ce", "ece", "cwr", "marks_told", "lost")
"""Columns of `Trace.verdicts` below each verdict."""

CONNECTIONS: Final = {
    "violations": "rule breaks", "packets": "packets", "start_s": "start, s", "duration_s": "duration, s", "ecn": "ECN",
    "opener": "opener", "responder": "responder", "closed": "closed",
}  # fmt: skip
"""Columns of the table of connections, with their heads."""

NUMBERS: Final = (
    "data_packets", "bytes", "goodput_bps", "retransmits", "timeouts", "rtt_mean_s", "rtt_p99_s", "ce", "ece_sent", "cwr_sent",
    "congestion_episodes", "alpha", "dropped",
)  # fmt: skip
"""Columns of the table of a direction."""


DATAGRAMS: Final = ("packets", "numbering", "lost", "loss_share", "jitter_s", "ce", "not_ect", "ect0", "ect1")
"""Columns of the table of UDP flows."""


def capture_page(capture: Trace, connection: int | None = None) -> str:
    """Return the page of a capture as HTML text, which makes no request.

    It draws the one ``connection``, or the `DRAWN` with most violations and most packets. Raises EcnlabError for standard
    input, which cannot be read twice.
    """
    chosen = capture if connection is None else capture.only(connection)
    glimpse = chosen.glimpse(LISTED)
    connections, count = glimpse["connections"]
    violations, broken = glimpse["violations"]
    drawn = connections.head(DRAWN)["connection"].to_list()
    return render(
        Page(
            title=capture.path.name,
            kicker=f"ecnlab trace · rules of {capture.standard.replace('rfc', 'RFC ')}",
            answer=_answer(capture, count, broken),
            lede="",
            tallies=[*_verdict_tally(chosen), _tally(chosen.negotiations)],
            findings=[*_verdicts(chosen), *_rules(glimpse.get("rules"))],
            facts=[] if capture.absence else facts(chosen),
            sections=[
                Section("connections", "Connections", _listed(connections.height, count), [_connections(connections)]),
                *_violations(violations, broken),
                *_datagrams(capture.datagrams),
                *(_section(capture, number, folds=i > 0) for i, number in enumerate(drawn)),
            ],
            footer="Made by ecnlab trace. The page is one file and needs no network. Times are relative to the first packet.",
        )
    )


def _answer(capture: Trace, connections: int, broken: int) -> str:
    packets = capture.totals["packets"]
    found = f"{broken:,} packets break" if broken != 1 else "1 packet breaks"
    rule = f"a rule of {capture.standard.replace('rfc', 'RFC ')}" if broken else ""
    outcome = f"{found} {rule}" if broken else f"no packet breaks a rule of {capture.standard.replace('rfc', 'RFC ')}"
    damage = f" The capture is damaged: {capture.damage}." if capture.damage else ""
    damage += "".join(f" {warning[0].upper()}{warning[1:]}." for warning in capture.warnings)
    if capture.absence:
        return f"{capture.absence[0].upper()}{capture.absence[1:]}.{damage}"
    return f"{connections:,} TCP connections in {packets:,} packets; {outcome}.{damage}"


def _tally(negotiations: Mapping[str, int]) -> Tally:
    """Return all connections by their use of ECN."""
    kinds = [(use, TONES.get(use, "open"), count) for use, count in negotiations.items()]
    return Tally(f"{sum(negotiations.values()):,} connections, ECN:", kinds)


def _verdict_tally(capture: Trace) -> list[Tally]:
    """Return the directions of all connections by their verdict on ECN."""
    counts = capture.verdicts.group_by("verdict", "severity", maintain_order=True).agg(pl.col("directions").sum())
    kinds = [(name, SEVERITIES[severity], count) for name, severity, count in counts.iter_rows()]
    total = sum(count for _, _, count in kinds)
    return [Tally(f"{total:,} directions with data, verdict on ECN:", kinds)] if total else []


def _verdicts(capture: Trace) -> list[Finding]:
    """Return a sentence for each verdict on ECN, red and amber first, with the step that would decide more."""
    found = []
    for row in capture.verdicts.iter_rows(named=True):
        head, text = sentence_of(row)
        evidence = ", ".join(f"{name} {row[name]:,}" for name in EVIDENCE)
        found.append(
            Finding(
                head.removesuffix(":"), SEVERITIES[row["severity"]], f"{text[0].upper()}{text[1:]}.", f"{evidence}."
            )
        )
    return found


def _rules(rules: tuple[pl.DataFrame, int] | None) -> list[Finding]:
    """Return a sentence for each rule that is broken."""
    if rules is None:
        return []
    return [
        Finding(
            f"{row['packets']:,} packets",
            "no",
            row["says"],
            f"In {row['connections']:,} connection{'' if row['connections'] == 1 else 's'} ({row['rule']}).",
        )
        for row in rules[0].iter_rows(named=True)
    ]


def _listed(rows: int, count: int) -> str:
    return "Those that break most rules first." + ("" if rows == count else f" {rows} of {count:,}.")


def _connections(connections: pl.DataFrame) -> Table:
    rows = [
        [Cell(str(row["connection"]), link=f"#connection-{row['connection']}" if i < DRAWN else ""),
         *(Cell(number(row[name]), not isinstance(row[name], str)) for name in CONNECTIONS)]
        for i, row in enumerate(connections.iter_rows(named=True))
    ]  # fmt: skip
    return Table("Connections", ["connection", *CONNECTIONS.values()], rows, folded=len(rows) > 20)


def _violations(violations: pl.DataFrame, count: int) -> list[Section]:
    if not count:
        return []
    first = violations.head(BROKEN)[
        "packet"
    ].is_first_distinct()  # links to a packet lead to the first rule that it breaks
    rows: list[list[Cell | str]] = [
        [
            Cell(str(row["packet"]), anchor=f"packet-{row['packet']}" if leads else ""),
            Cell(number(row["time_s"]), True),
            Cell(str(row["connection"]), True),
            row["by"],
            row["says"],
            row["section"],
        ]
        for leads, row in zip(first, violations.head(BROKEN).iter_rows(named=True), strict=True)
    ]
    intro = "Numbers of packets are those of Wireshark." + (
        "" if len(rows) == count else f" The first {len(rows)} of {count:,}."
    )
    columns = ["packet", "time, s", "connection", "by", "rule", "section"]
    return [
        Section(
            "violations", "Packets that break a rule", intro, [Table("Packets", columns, rows, folded=len(rows) > 20)]
        )
    ]


def _section(capture: Trace, number_: int, *, folds: bool) -> Section:
    only = capture.only(number_)
    (about,), directions = only.connections.to_dicts(), only.directions.to_dicts()
    # A series begins with its connection; the graphs of all connections share the time of the capture.
    rows = capture.series(number_, most=MAX_PACKETS).with_columns(pl.col("time_s") + (about["start_s"] or 0.0))
    violations = only.violations
    intro = (
        f"{about['opener']} to {about['responder']}: {about['packets']:,} packets in {number(about['duration_s'])} s, "
        f"ECN {about['ecn']}."
    )
    blocks: list[Any] = []
    senders = sum(direction["data_packets"] > 0 for direction in directions)
    for direction in directions:
        if direction["data_packets"]:
            own = rows.filter(pl.col("from_opener") == direction["from_opener"])
            blocks += [
                f"{direction['from']} → {direction['to']}",
                *([note] if (note := gap_note(direction)) else []),
                *graphs(own, _marked(violations, direction, other_sends=senders > 1)),
                _numbers(direction),
            ]
    return Section(f"connection-{number_}", f"Connection {number_}", intro, blocks, folded=folds)


def _datagrams(flows: pl.DataFrame) -> list[Section]:
    """Return the flows of UDP with loss and jitter, if there are any."""
    if flows.is_empty():
        return []
    rows: list[list[Cell | str]] = [
        [f"{row['from']} → {row['to']}", *(Cell(cell(name, row[name]), True) for name in DATAGRAMS)]
        for row in flows.head(LISTED).iter_rows(named=True)
    ]
    intro = "Loss and jitter are those at this place; flows without sequence numbers have none." + (
        f" The first {LISTED} of {flows.height:,}." if flows.height > LISTED else ""
    )
    columns = ["flow", *map(heading, DATAGRAMS)]
    return [Section("datagrams", "Datagrams", intro, [Table("UDP flows", columns, rows, folded=len(rows) > 20)])]


def _marked(violations: pl.DataFrame, direction: Mapping[str, Any], *, other_sends: bool) -> list[Violation]:
    """Return the violations of the direction's sender, and those of its receiver if that sends no data of its own."""
    ends = [direction["from"], *([] if other_sends else [direction["to"]])]
    own = violations.filter(pl.col("by").is_in(ends)).head(BROKEN)
    return [Violation(*row) for row in own.select("packet", "time_s", "says").iter_rows()]


def _numbers(direction: dict[str, Any]) -> Table:
    first = [name for name in NUMBERS if direction.get(name) is not None]
    others = [name for name, value in direction.items() if name not in first and value is not None]
    rows: list[list[Cell | str]] = [
        [name, Cell(number(direction[name]) + remark(name, direction["rtt_samples"]), True)]
        for name in (*first, *others)
    ]
    return Table(f"All numbers of {direction['from']}", ["column", "value"], rows, folded=True)


def number(value: object) -> str:
    """Return a value of a table as a reader writes it; a dash for none."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
