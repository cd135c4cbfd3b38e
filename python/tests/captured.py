"""An experiment's run with captures at every end of its flows: what the simulator counted, and what the analysis counts."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

import ecnlab

AT_THE_SENDER = {
    "segments_sent": "packets",
    "data_segments_sent": "data_packets",
    "bytes_sent": "bytes",
    "retransmits_fast": "retransmits_fast",
    "retransmits_timeout": "retransmits_timeout",
    "timeouts": "timeouts",
    "fast_recoveries": "recoveries",
    "ecn_reductions": "ecn_reductions",
    "cwr_sent": "cwr_sent",
}
AT_THE_RECEIVER = {
    "ce_received": "ce",
    "bytes_delivered": "in_order_bytes",
    "duplicate_bytes_received": "retransmitted_bytes",
}
"""The simulator's columns of ``flows_run``, and the analysis' of ``directions``."""

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}
"""Units of times in resolved scenarios. `tests/tools/unchanged` imports this file with the ecnlab of other commits: public names only."""

LAST_START = 2.0
"""Seconds: see `started_together`."""

UDP = ("cbr", "on-off")
QUENCHED = ("becn", "ecn-becn", "ecn-becn-both")
FLAGS_THAT_COUNT = {"ecn_reductions", "cwr_sent", "ece_received"}
CAUSES = {"timeouts", "fast_recoveries", "retransmits_fast", "retransmits_timeout"}


@dataclass
class Counts:
    """The same numbers of one run, counted twice, by what they are counted of."""

    simulated: dict[str, dict[str, int]] = field(default_factory=dict)
    analysed: dict[str, dict[str, int]] = field(default_factory=dict)
    rules_broken: set[str] = field(default_factory=set)


def shortened(scenario: ecnlab.Scenario) -> ecnlab.Scenario:
    """The scenario up to 10 s behind the start of its last flow."""
    last = max(_latest(flow["start"]) for flow in scenario.resolved["flow"].values())
    return scenario.with_overrides({"duration": f"{last + 10.0} s", "warmup": "1 s"})


def started_together(scenario: ecnlab.Scenario) -> ecnlab.Scenario:
    """The scenario with all starts of flows divided by one factor, so that the last is within `LAST_START` seconds."""
    starts = {name: flow["start"] for name, flow in scenario.resolved["flow"].items()}
    factor = max(1.0, max(map(_latest, starts.values())) / LAST_START)

    def sooner(text: str) -> str:
        return f"{_latest(text) / factor} s"

    return scenario.with_overrides(
        {
            f"flow.{name}.start": sooner(start)
            if isinstance(start, str)
            else {"uniform": [sooner(text) for text in start["uniform"]]}
            for name, start in starts.items()
        }
    )


def _latest(start: Any) -> float:
    texts = [start] if isinstance(start, str) else start["uniform"]
    return max(float(number) * SECONDS[unit] for number, unit in map(str.split, texts))


def standard_response(scenario: ecnlab.Scenario) -> ecnlab.Scenario:
    """The scenario with RFC 3168's answer to ECE in place of ns-2's."""
    tables = scenario.resolved["tcp"]
    return scenario.with_overrides({f"tcp.{name}.ecn_response": "standard" for name in tables})


def tcps(scenario: ecnlab.Scenario) -> list[dict[str, Any]]:
    """The TCPs that send the data of its flows."""
    spec = scenario.resolved
    return [spec["tcp"][flow["tcp_from"]] for flow in _flows(spec).values() if flow["traffic"]["kind"] not in UDP]


def not_compared(scenario: ecnlab.Scenario) -> set[str]:
    """Counters that no capture can give: docs/trace-validation.md, "Beside the simulator"."""
    quenched = any(tcp["ecn"] in QUENCHED for tcp in tcps(scenario))
    beside_the_rfc = any(tcp["ecn"] != "off" and tcp["ecn_response"] == "ns-2" for tcp in tcps(scenario))
    found = {"ecn_reductions", "retransmits_timeout"} if beside_the_rfc else set()
    for tcp in tcps(scenario):
        if tcp["ecn"] in ("accecn", "accecn-linux"):
            found |= FLAGS_THAT_COUNT
        if tcp["ecn"] == "dctcp":
            found.add("ce_received")
        if _kind(tcp["congestion"]) in ("bbr", "prague"):
            found |= CAUSES
        if _kind(tcp["slow_start"]) == "hystart":
            found.add("fast_recoveries")
    return found | ({"ecn_reductions"} if quenched else set())


def _kind(law: Any) -> Any:
    return law["kind"] if isinstance(law, dict) else law


def departures(scenario: ecnlab.Scenario) -> set[str]:
    """Rules of ECN that the senders of the scenario do break: docs/trace-validation.md, "Beside the simulator"."""
    found = set()
    for tcp in tcps(scenario):
        if tcp["ecn"] == "becn":
            found.add("ect-not-negotiated")
        beside_the_rfc = tcp["ecn_response"] == "ns-2" or tcp["recovery"] in ("rack", "linux-newreno")
        if tcp["ecn"] == "ecn-becn" or (tcp["ecn"] != "off" and beside_the_rfc):
            found.add("cwr-twice")
        alpha_beta = isinstance(tcp["congestion"], dict) and tcp["congestion"]["kind"] == "ecn-alpha-beta"
        if tcp["ecn"] == "ecn-becn" or alpha_beta:
            found.add("no-reduction")
    return found


def _standard(scenario: ecnlab.Scenario) -> str:
    """The standard by which the senders' captures are judged; no scenario of a paper has senders of two with ECN."""
    used = {tcp["ecn"] for tcp in tcps(scenario)}
    if used & {"rfc2481", *QUENCHED}:
        return "rfc2481"
    return "rfc8257" if "dctcp" in used else "rfc3168"


def count(scenario: ecnlab.Scenario, seed: int) -> Counts:
    """Run with captures, and count. Raises AssertionError for a capture that cannot be read to its end."""
    spec = scenario.resolved
    flows = _flows(spec)
    ends = sorted({_table(flow[end]) for flow in flows.values() for end in ("from", "to")})
    tapped = scenario.with_overrides({f"capture.{node}": {"node": node} for node in ends})
    standard = _standard(scenario)
    with tempfile.TemporaryDirectory() as folder:
        run = ecnlab.run(tapped, seed, captures=folder)
        traces = {node: ecnlab.trace(Path(folder) / f"{node}.pcapng", standard=standard) for node in ends}
    assert all(trace.damage is None for trace in traces.values())
    nodes = _addresses(spec)
    result = Counts(rules_broken={rule for trace in traces.values() for rule in trace.violations["rule"]})
    for sender, to, names in _pairs(flows, UDP, carried=False):
        mine = run.table("flows_run").filter(pl.col("name").str.replace(r"\[.*", "").is_in(names))
        sent, received = (_direction(traces[node], nodes, sender, to) for node in (sender, to))
        result.analysed[f"{sender} to {to}"] = found = _analysed(sent, received)
        result.simulated[f"{sender} to {to}"] = {name: int(mine[name].sum()) for name in found}
    for sender, _, names in _pairs(flows, UDP, carried=True):
        mine = run.table("flows_run").filter(pl.col("name").str.replace(r"\[.*", "").is_in(names))
        result.simulated[f"datagrams from {sender}"] = {"sent": int(mine["segments_sent"].sum())}
        result.analysed[f"datagrams from {sender}"] = {"sent": int(traces[sender].totals["udp"] or 0)}
    for node in ends:
        mine = run.table("flows_run").filter(pl.col("from").str.replace(r"\[.*", "") == node)
        result.simulated[f"source quenches to {node}"] = {"received": int(mine["quenches_received"].sum())}
        result.analysed[f"source quenches to {node}"] = {"received": int(traces[node].totals["icmp"] or 0)}
    return result


def _flows(spec: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: flow for name, flow in spec["flow"].items() if flow.get("count") != 0}


def _table(instance: str) -> str:
    return instance.partition("[")[0]


def _pairs(
    flows: dict[str, dict[str, Any]], kinds: tuple[str, ...], *, carried: bool
) -> Iterator[tuple[str, str, list[str]]]:
    """Tables of nodes between which there are flows (not) of these kinds of traffic, and the flows."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, flow in flows.items():
        if (flow["traffic"]["kind"] in kinds) == carried:
            found.setdefault((_table(flow["from"]), _table(flow["to"])), []).append(name)
    for (sender, to), names in sorted(found.items()):
        yield sender, to, names


def _addresses(spec: dict[str, Any]) -> dict[str, str]:
    """The table of each address: docs/captures.md."""
    counts = {name: table.get("count") or 1 for name, table in spec["node"].items()}
    instances = [name for name in sorted(counts) for _ in range(counts[name])]
    return {f"10.0.{number >> 8}.{number & 255}": name for number, name in enumerate(instances, start=1)}


def _direction(trace: ecnlab.Trace, nodes: dict[str, str], sender: str, to: str) -> pl.DataFrame:
    def table(column: str) -> pl.Expr:
        return pl.col(column).str.replace(r":\d+$", "").replace_strict(nodes)

    return trace.directions.filter(table("from") == sender, table("to") == to)


def _analysed(sent: pl.DataFrame, received: pl.DataFrame) -> dict[str, int]:
    return {
        **{ours: int(sent[name].sum()) for ours, name in AT_THE_SENDER.items()},
        **{ours: int(received[name].sum()) for ours, name in AT_THE_RECEIVER.items()},
        # A host answers a segment for a closed port with an RST, which is of no endpoint.
        "segments_sent": int(sent["packets"].sum() - sent["rst"].sum()),
        "retransmits": int(sent["retransmits"].sum() + sent["control_retransmits"].sum()),
        # What comes when both ends have closed, and a FIN that comes again, is on the wire, and no endpoint takes it in.
        "ece_received": int(sent["ece_received"].sum() - sent["ece_unheard"].sum()),
    }
