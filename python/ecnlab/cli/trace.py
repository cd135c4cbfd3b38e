"""``ecnlab trace``: the connections of a capture."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from ecnlab import console, store
from ecnlab.cli.codes import BAD_INPUT
from ecnlab.cli.options import File, Memory, Rows, as_json, examples
from ecnlab.errors import EcnlabError
from ecnlab.threads import heard
from ecnlab.trace import TABLES, Trace, changes
from ecnlab.trace import trace as analyse
from ecnlab.types import Standard

TRACE_BRIEF: Final = {
    "connections": ["connection", "opener", "responder", "start_s", "duration_s", "packets", "ecn", "violations"],
    "data": ["data_packets", "bytes", "unique_bytes", "goodput_bps", "outstanding_max", "window_max", "missing_bytes"],
    "retransmissions": [
        "retransmits", "retransmits_fast", "retransmits_sack", "retransmits_partial", "retransmits_timeout",
        "retransmits_tail", "retransmits_spurious", "timeouts", "out_of_order", "duplicate_acks",
    ],
    "round trips": ["rtt_samples", "rtt_min_s", "rtt_mean_s", "rtt_p50_s", "rtt_p95_s", "rtt_p99_s", "rtt_max_s"],
    "ecn": [
        "not_ect", "ect0", "ect1", "ce", "ece_received", "cwr_sent", "congestion_episodes", "ecn_reductions",
        "ce_to_ece_mean_s", "ece_to_cwr_mean_s", "ece_to_reduction_mean_s", "marks_told", "marks_per_rtt", "alpha",
    ],
}  # fmt: skip
"""What to show of a capture at a glance; ``--json`` and ``--parquet`` have all."""


KINDS: Final = {
    "tcp": "TCP",
    "udp": "UDP",
    "icmp": "ICMP",
    "other_ip": "other IP",
    "other": "not IP",
    "fragments": "fragments",
    "cut": "cut before their headers end",
    "malformed": "malformed",
    "unknown_link": "of an unknown link type",
    "back_in_time": "earlier than one before them",
}
"""What the summary calls the packets that ``Trace.totals`` counts."""


@click.command()
@click.argument("file", type=File)
@click.option("--filter", "filter_", help="Read only packets that match, such as 'host 10.0.0.1 and not port 22'.")
@click.option("--connection", type=click.IntRange(0, 2**32 - 1), help="Show only the connection with this number.")
@click.option(
    "--standard",
    type=click.Choice(["rfc3168", "rfc2481", "rfc8257", "rfc9331"]),
    default="rfc3168",
    show_default=True,
    help="RFC whose rules of ECN are checked; rfc8257 is DCTCP's feedback, rfc9331 L4S.",
)
@click.option(
    "--against", type=File, help="A second capture of the same packets; show what changed between FILE and it."
)
@click.option("--parquet", type=File, help="Folder to write the tables to, as Parquet.")
@click.option(
    "--html", type=File, help="File to write a page with graphs of one connection to, by default the largest."
)
@click.option("--rows", type=Rows, default=20, show_default=True, help="Number of rows to show of each table.")
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
    connection: int | None,
    standard: Standard,
    against: Path | None,
    parquet: Path | None,
    html: Path | None,
    rows: int,
    memory: int | None,
    as_json: bool,
) -> None:
    """Analyse the capture FILE (pcap or pcapng; "-" is standard input): its TCP connections and their use of ECN."""
    _spare_inputs([file, *([against] if against else [])], html, parquet)
    whole = heard(lambda: analyse(file, filter=filter_, standard=standard, memory=memory))
    result = whole if connection is None else whole.only(connection)
    changed = heard(lambda: changes(file, against)) if against else None
    if parquet:
        result.save(parquet)
    if html:
        from ecnlab.trace.page import render  # Plotly takes a second to load

        store.write_named(html, render(whole, _largest(whole) if connection is None else connection).encode())
    if as_json:
        tables = [(name, (part.to_dicts() for part in result.parts(name))) for name in TABLES]
        more = [] if changed is None else [("changes", changed.to_dicts())]
        console.write_json_parts([("totals", result.totals), ("damage", result.damage), *tables, *more])
    else:
        _show_trace(result, rows)
        if changed is not None:
            console.write_frame(changed, "changes on the way", rows)
    if result.damage:
        console.complain(result.damage)
        raise SystemExit(BAD_INPUT)


def _spare_inputs(inputs: list[Path], html: Path | None, parquet: Path | None) -> None:
    """Raise EcnlabError if writing the results would overwrite what they are of."""
    outputs = [html] if html else []
    outputs += [parquet / f"{name}.parquet" for name in TABLES] if parquet else []
    for output in outputs:
        if any(source.exists() and output.exists() and source.samefile(output) for source in inputs):
            raise EcnlabError(f"{output} is the capture itself, which would be overwritten: choose another file")


def _largest(result: Trace) -> int:
    largest = result.largest()
    if largest is None:
        raise EcnlabError(f"{result.path}: there is no TCP connection to draw")
    return largest


def _show_trace(result: Trace, rows: int) -> None:
    totals = result.totals
    kinds = [f"{totals[kind]} {name}" for kind, name in KINDS.items() if totals[kind]]
    console.say(f"{result.path}: {totals['packets']} packets: {', '.join(kinds) or 'none'}\n")
    glimpse = result.glimpse(rows)
    all_, count = glimpse["connections"]
    console.write_frame(all_.select(TRACE_BRIEF["connections"]), "connections", rows, count)
    sent, count = glimpse["directions"]
    for name in ("data", "retransmissions", "round trips", "ecn"):
        console.write_frame(sent.select("connection", "from", *TRACE_BRIEF[name]), name, rows, count)
    found, count = glimpse["violations"]
    if count:
        shown = found.select("packet", "connection", "by", "says", "section")
        console.write_frame(shown, "rules broken", rows, count)
