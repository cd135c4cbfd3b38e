"""``ecnlab trace``: the connections of a capture."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from ecnlab.base.errors import EcnlabError
from ecnlab.base.lazy_imports import pl
from ecnlab.base.threads import interruptible
from ecnlab.base.types import Standard
from ecnlab.base.user_files import refuse_special
from ecnlab.cli import console
from ecnlab.cli.codes import BAD_INPUT, NO
from ecnlab.cli.glance import ALL
from ecnlab.cli.options import File, Memory, Rows, as_json, examples
from ecnlab.folder.few_samples import with_remarks
from ecnlab.folder.outputs import PAGE, TABLE, refuse_output, write_named
from ecnlab.trace import SAVED, TABLES, Trace, compared
from ecnlab.trace import trace as analyse
from ecnlab.trace.sums import GAP, facts, with_gaps
from ecnlab.trace.verdicts import SIGNALS, sentence_of
from ecnlab.trace.verdicts import between as verdicts_between

TRACE_BRIEF: Final = {
    "connections": ["connection", "opener", "ecn", "violations", "packets", "duration_s", "start_s", "responder"],
    "data": ["goodput_bps", "data_packets", "unique_bytes", "bytes", "outstanding_max", "window_max"],
    "retransmissions": [
        "retransmits", "timeouts", "duplicate_acks", "out_of_order", "retransmits_fast", "retransmits_sack",
        "retransmits_partial", "retransmits_timeout", "retransmits_tail", "retransmits_spurious", "probes", "keep_alives",
    ],
    "round trips": ["rtt_mean_s", "rtt_min_s", "rtt_p95_s", "rtt_max_s", "rtt_samples", "rtt_p50_s", "rtt_p99_s"],
    "ecn": [
        "ce", "ece_received", "cwr_sent", "ecn_reductions", "marks_told", "marks_per_rtt", "alpha", "ect0", "ect1",
        "not_ect", "congestion_episodes", "ce_to_ece_mean_s", "ece_to_cwr_mean_s", "ece_to_reduction_mean_s",
    ],
}  # fmt: skip
"""Columns in the summary of a capture; ``--json`` and ``--parquet`` have all."""


BETWEEN: Final = {
    "changes": "changes on the path",
    "paths": "packets found at both places, or only at one",
    "lost": "packets found only at one place",
}
"""Titles of the tables of ``--against``."""

DATAGRAMS: Final = [
    "from", "to", "packets", "numbering", "lost", "loss_share", "jitter_s", "ce", "not_ect", "ect0", "ect1", "bytes", "duration_s",
]  # fmt: skip
"""Columns of the summary of UDP flows."""

MORE: Final = "--all shows them"

GAP_NOTE: Final = "gap: bytes that were acknowledged and that the capture lacks; the other numbers of that row are those of the captured packets"

LISTED: Final = 10
"""Violations listed before the connections; with ``--all`` all are."""

KINDS: Final = {
    "tcp": "TCP",
    "udp": "UDP",
    "icmp": "ICMP",
    "other_ip": "other IP",
    "other": "not IP",
    "tunnelled": "in tunnels",
    "fragments": "fragments",
    "cut": "truncated within their headers",
    "malformed": "malformed",
    "unknown_link": "of an unknown link type",
    "untimed": "without a time",
    "back_in_time": "with an earlier timestamp than a packet before them",
}
"""Names in the summary of the packet counts in ``Trace.totals``."""


@click.command()
@click.argument("file", type=File)
@click.option("--filter", "filter_", help="Read only packets that match, such as 'host 10.0.0.1 and not port 22'.")
@click.option(
    "--decapsulate",
    metavar="TUNNELS",
    help="Open tunnels over UDP: 'vxlan', 'geneve' or both with a comma; ':PORT' for another port. Others are always opened.",
)
@click.option("--connection", type=click.IntRange(0, 2**32 - 1), help="Show only the connection with this number.")
@click.option(
    "--standard",
    type=click.Choice(["rfc3168", "rfc2481", "rfc8257", "rfc9331"]),
    help="RFC whose rules of ECN are checked; rfc8257 is DCTCP's feedback, rfc9331 L4S. [default: as the capture shows]",
)
@click.option(
    "--against", type=File, help="A second capture of the same packets; show what changed between FILE and it."
)
@click.option("--parquet", type=File, help="Folder to write the tables to, as Parquet.")
@click.option(
    "--html",
    type=File,
    help="File to write a page to: connections, violations, and graphs of the connection, or of those that break most rules.",
)
@click.option("--rows", type=Rows, default=20, show_default=True, help="Number of rows to show of each table.")
@click.option("--all", "every", is_flag=True, help="Show all rows, in the capture's order.")
@click.option(
    "--memory",
    type=Memory(),
    help='Memory limit for connections, such as "4 GB". [default: 3/4 of the available memory]',
)
@as_json
@examples("""
      ecnlab trace x.pcapng
      tcpdump -w - | ecnlab trace -
      ecnlab trace x.pcapng --connection 3 --html x.html
      ecnlab trace before.pcapng --against after.pcapng
""")
def trace(
    file: Path,
    filter_: str | None,
    decapsulate: str | None,
    connection: int | None,
    standard: Standard | None,
    against: Path | None,
    parquet: Path | None,
    html: Path | None,
    rows: int,
    every: bool,
    memory: int | None,
    as_json: bool,
) -> None:
    """Analyse the capture FILE (pcap or pcapng; "-" is standard input): its TCP connections and their use of ECN."""
    rows = ALL if every else rows
    if against:
        refuse_special(file, "a capture that --against can read again", twice=True)
        refuse_special(against, "a capture for --against")
    _spare_inputs([file, *([against] if against else [])], html, parquet)
    whole = interruptible(
        lambda: analyse(file, filter=filter_, standard=standard, memory=memory, decapsulate=decapsulate)
    )
    result = whole if connection is None or whole.absence else whole.only(connection)
    between = interruptible(lambda: compared(file, against)) if against else {}
    if parquet:
        result.save(parquet)
    if html:
        from ecnlab.trace.page import capture_page  # loads Jinja

        write_named(html, capture_page(whole, connection).encode(), PAGE)
    if as_json:
        tables = [(name, result.json_rows(name)) for name in TABLES]
        more = [(name, table.to_dicts()) for name, table in between.items()]
        warnings = [*result.warnings, *([result.absence] if result.absence else [])]
        head = [("totals", result.totals), ("sums", result.sums), ("damage", result.damage), ("warnings", warnings)]
        verdicts = [("verdicts", result.verdicts.to_dicts())]
        if between:
            verdicts.append(("verdicts_between", verdicts_between(between).to_dicts()))
        console.write_json_parts([*head, *verdicts, *tables, *more])
    else:
        if between:
            _show_between(verdicts_between(between))
        _show_trace(result, rows)
        for name, table in between.items():
            console.write_frame(table, BETWEEN[name], rows)
    console.warn(result.warnings)
    if result.absence:
        console.complain(f"{file}: {result.absence}")
    if result.damage:
        console.complain(result.damage)
        raise SystemExit(BAD_INPUT)
    if result.absence and result.totals["packets"]:
        raise SystemExit(NO)


def _spare_inputs(inputs: list[Path], html: Path | None, parquet: Path | None) -> None:
    """Raise EcnlabError if the output would overwrite its own input or a stored result."""
    outputs = [html] if html else []
    outputs += [parquet / f"{name}.parquet" for name in SAVED] if parquet else []
    for output in outputs:
        if any(source.exists() and output.exists() and source.samefile(output) for source in inputs):
            raise EcnlabError(f"{output} is the capture itself, which would be overwritten: choose another file")
        refuse_output(output, TABLE if output != html else PAGE)


def _show_verdicts(result: Trace) -> None:
    """Print a line for each verdict on ECN."""
    for row in result.verdicts.iter_rows(named=True):
        console.say_verdict(*sentence_of(row), row["severity"])


def _show_between(verdicts: pl.DataFrame) -> None:
    """Print a line for each kind of change between the two captures."""
    for row in verdicts.iter_rows(named=True):
        word = SIGNALS.get(row["severity"], row["verdict"])
        console.say_verdict(f"ECN {word}:", f"between the two captures: {row['says']}", row["severity"])
    if verdicts.is_empty():
        console.say("ECN unchanged: no packet that both captures have differs in its ECN bits")


def _show_datagrams(result: Trace, rows: int) -> None:
    """Print the flows of UDP, if there are any."""
    found = result.datagrams
    if found.height:
        console.say("")
        console.write_frame(found.select(DATAGRAMS), "datagrams", rows, more=MORE)


def _show_trace(result: Trace, rows: int) -> None:
    _show_verdicts(result)
    totals = result.totals
    kinds = [f"{totals[kind]} {name}" for kind, name in KINDS.items() if totals[kind]]
    console.say_filled(f"{result.path}: {totals['packets']} packets: {', '.join(kinds) or 'none'}")
    _show_datagrams(result, rows)
    if result.absence:
        return
    if result.standard_reason:
        name = result.standard.replace("rfc", "RFC ")
        console.say_filled(
            f"rules of {name} ({result.standard_reason}): --standard chooses others, rfc8257 for DCTCP, rfc9331 for L4S"
        )
    glimpse = result.glimpse(rows)
    all_, count = glimpse["connections"]
    sent, ends = glimpse["directions"]
    found, broken = glimpse["violations"]
    console.say_filled(f"{count} connections, {ends} directions with data, {broken} packets listed that break a rule")
    console.say_filled("all connections: " + "; ".join(f"{name} {value}" for name, value in facts(result)))
    console.say("")
    if "rules" in glimpse and broken:
        console.write_frame(glimpse["rules"][0], "rules broken", rows)
    if broken:
        shown = found.select("packet", "connection", "rule", "by", "section", "says")
        console.write_frame(
            shown, "packets that break a rule", rows if rows == ALL else min(rows, LISTED), broken, MORE
        )
    console.write_frame(all_.select(TRACE_BRIEF["connections"]), "connections", rows, count, MORE)
    sent = with_gaps(with_remarks(sent, sent["rtt_samples"]))
    gap = [GAP] if GAP in sent.columns else []
    for name in ("data", "retransmissions", "round trips", "ecn"):
        console.write_frame(sent.select("connection", "from", *gap, *TRACE_BRIEF[name]), name, rows, ends, MORE)
    if gap:
        console.say_filled(GAP_NOTE)
