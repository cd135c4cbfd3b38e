"""One run with captures at the ends of its flows and at its bottleneck, measured.

The captures are in a temporary folder, and removed with it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, TypeAlias

import polars as pl

from ecnlab._core import Scenario, trace_behaviour
from ecnlab.api.run import Run
from ecnlab.base.quantities import highest, quantity
from ecnlab.base.types import Engine
from ecnlab.engines.frames import frame
from ecnlab.engines.protocol import PACKETS
from ecnlab.explain.measured import OF_FLOWS, OF_QUEUES, TIMEOUTS, Place
from ecnlab.runs.run import run

LONGEST_S: Final = 60.0
"""Maximum time captured after the warm-up, in seconds."""

EPOCH_NS: Final = 946_684_800 * 10**9
"""Time 0 of a run in its captures (docs/captures.md)."""

FULL_PACKET: Final = 1500
"""Bytes; segments that come at least twice as fast as the bottleneck sends packets of this size are one burst.

ACKs of packets that left the bottleneck back to back let segments out at just its rate: those are not one.
"""

UDP: Final = ("cbr", "on-off")

FIRST_CLIENT_PORT: Final = 49152
PORTS: Final = 7000
FIRST_SERVICE_PORT: Final = 5001
"""Port numbers in the simulator's captures (docs/captures.md)."""

LINUX_PORT: Final = 10_000
"""The kernel's flow ``i`` has this port + ``i`` at its ``to`` end."""

NODES: Final = {4: ("10.0.0.1", 8), 6: ("2001:db8::1", 64)}
"""By IP version, the simulator's address of the first node, and how far right the node's number is in the kernel's addresses."""

SCHEMA: Final = {
    "group": pl.String,
    "place": pl.String,
    "quantity": pl.String,
    "unit": pl.String,
    "value": pl.Float64,
    "events": pl.Float64,
}


Seen: TypeAlias = Mapping[tuple[str, str], pl.DataFrame]
"""Results of ``trace_behaviour`` for each capture, by kind and name of its place."""


def measure(scenario: Scenario, seed: int, engine: Engine) -> pl.DataFrame:
    """Return the quantities of a run, from the end of the warm-up for at most ``LONGEST_S``.

    One row per quantity and connection, with its flow group, and per quantity and bottleneck, with the link's name
    as its group. Raises as ``ecnlab.run`` does.
    """
    spec = scenario.resolved
    warmup = quantity(spec["warmup"])
    ends = sorted({_table(flow[end]) for flow in _flows(spec).values() for end in ("from", "to")})
    links = bottlenecks(spec)
    places = [*(("node", node) for node in ends), *(("link", link) for link in links)]
    names = {place: f"explain-{number}" for number, place in enumerate(places)}
    duration = min(quantity(spec["duration"]), warmup + LONGEST_S)
    captures = {f"capture.{name}": {kind: place} for (kind, place), name in names.items()}
    requested = scenario.with_overrides({"duration": f"{duration} s", **captures})
    gap = int(FULL_PACKET * 4e9 / min(highest(spec["link"][link]["rate"]) for link in links)) if links else 0
    start = EPOCH_NS + int(warmup * 1e9)
    with tempfile.TemporaryDirectory(prefix="ecnlab-") as folder:
        found = run(requested, seed, engine=engine, captures=folder)
        seen = {
            place: frame(trace_behaviour(Path(folder) / f"{name}.pcapng", start=start, gap=gap))
            for place, name in names.items()
        }
    flows = Flows(found, spec, engine)
    rows = [
        *_of_ends(seen, ends, flows),
        *_of_links(seen, links, flows),
        *_of_tables(found, flows),
        *_of_queues(found, links),
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def bottlenecks(spec: Mapping[str, Any]) -> list[str]:
    """The links with the lowest rate."""
    rates = {name: highest(link["rate"]) for name, link in spec["link"].items()}
    return sorted(name for name, rate in rates.items() if rate == min(rates.values()))


def _table(instance: str) -> str:
    return instance.partition("[")[0]


def _flows(spec: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The flows with TCP."""
    flows: dict[str, dict[str, Any]] = spec["flow"]
    return {name: flow for name, flow in flows.items() if flow.get("count") != 0 and flow["traffic"]["kind"] not in UDP}


class Flows:
    """The flow group of each connection of a run's captures."""

    def __init__(self, found: Run, spec: Mapping[str, Any], engine: Engine) -> None:
        """Where flows have several connections each, all groups are one."""
        self._engine = engine
        self._spec = spec
        counts = {name: table.get("count") or 1 for name, table in spec["node"].items()}
        self._nodes: list[str] = [name for name in sorted(counts) for _ in range(counts[name])]
        rows = found.table("flows_run")
        self._groups: dict[int, str] = dict(zip(rows["flow"], rows["group"], strict=True))
        self._order = rows.sort("start_s", "flow")["flow"].to_list()
        groups = sorted({flow["group"] for flow in _flows(spec).values()})
        several = rows["connections"].fill_null(1).max() not in (0, 1)
        self._same = " + ".join(groups) if several or len(groups) == 1 else None

    def group_of(self, flow: int) -> str:
        """The group of the flow with this number."""
        return self._groups[flow] if self._same is None else self._same

    def node(self, endpoint: str) -> str:
        """The table of the node that has the address of ``endpoint``."""
        address = ip_address(endpoint.rpartition(":")[0].strip("[]"))
        first, shift = NODES[address.version]
        number = (int(address) >> shift) & 0xFFFF if self._engine != PACKETS else int(address) - int(ip_address(first))
        return self._nodes[number]

    def group(self, sender: str, receiver: str) -> str:
        """The group of the flow whose data goes from one endpoint to the other, in either direction."""
        if self._same is not None:
            return self._same
        ports = sorted(int(endpoint.rpartition(":")[2]) for endpoint in (sender, receiver))
        if self._engine != PACKETS:
            return self._groups[ports[0] - LINUX_PORT]
        serial = (ports[0] - FIRST_SERVICE_PORT) * PORTS + ports[1] - FIRST_CLIENT_PORT
        return self._groups[self._order[serial]]


def _of_ends(seen: Seen, ends: list[str], flows: Flows) -> Iterator[tuple[Any, ...]]:
    sides: tuple[tuple[Place, str], ...] = (("sender", "from"), ("receiver", "to"))
    for node in ends:
        for row in seen["node", node].iter_rows(named=True):
            for place, side in sides:
                if flows.node(row[side]) == node:
                    yield from _of_connection(row, place, flows)


def _of_links(seen: Seen, links: list[str], flows: Flows) -> Iterator[tuple[Any, ...]]:
    for link in links:
        for row in seen["link", link].iter_rows(named=True):
            yield from _of_connection(row, "bottleneck", flows)


def _of_connection(row: Mapping[str, Any], place: Place, flows: Flows) -> Iterator[tuple[Any, ...]]:
    group = flows.group(row["from"], row["to"])
    for one in OF_FLOWS:
        if one.place == place and one.column in row:
            events = row[one.events or one.column] * one.share
            yield group, place, one.name, one.unit, row[one.column], events


def _of_tables(found: Run, flows: Flows) -> Iterator[tuple[Any, ...]]:
    for row in found.flows.filter(pl.col("connections") > 0).drop_nulls(TIMEOUTS.column).iter_rows(named=True):
        count = row[TIMEOUTS.column]
        yield flows.group_of(row["flow"]), TIMEOUTS.place, TIMEOUTS.name, TIMEOUTS.unit, count, count


def _of_queues(found: Run, links: list[str]) -> Iterator[tuple[Any, ...]]:
    queues = found.table("queues").filter(pl.col("group") == "all")
    for link in links:
        rows = [table.filter(pl.col("link") == link) for table in (queues, found.table("links"))]
        for one in OF_QUEUES:
            for table in rows:
                if one.column in table.columns and table.height == 1 and table[one.column][0] is not None:
                    value = table[one.column][0]
                    yield link, one.place, one.name, one.unit, value, value if one.is_count else None
