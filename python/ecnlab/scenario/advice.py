"""Warnings about scenarios and experiments that can be run, but hardly measure what is wanted. They change no exit code."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ecnlab import laws
from ecnlab._core import Experiment, Scenario
from ecnlab.base.quantities import TIMES, highest, quantity
from ecnlab.base.types import Diagnostic
from ecnlab.scenario.metrics import NAMED, REMEDIES

Warn = tuple[str, str, str]
"""The dotted key, the message, and the remedy."""

Table = Mapping[str, Any]

OFF: Final = "off"
"""The ECN feedback of a TCP without ECN."""

CAPABLE: Final = frozenset({"ect0", "ect1", "ce"})

HEADERS: Final = 40.0
"""Bytes of IPv4 and TCP without options, which count in the MSS."""

QUANTILES: Final = "sojourn_p"
"""Prefix of the columns of ``links`` that only queues with `quantiles` have."""


class Advice:
    """Warnings, as diagnostics and as lines of text, without duplicates."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.lines: list[str] = []

    def add(self, error: Exception, diagnostics: Iterable[Diagnostic]) -> None:
        """Add the finding of ``error``, unless it is there already."""
        if str(error) not in self.lines:
            self.lines.append(str(error))
            self.diagnostics += diagnostics


def of_scenario(scenario: Scenario) -> Advice:
    """Return the warnings about ``scenario``."""
    found = Advice()
    _add(scenario, found)
    return found


def of_experiment(experiment: Experiment) -> Advice:
    """Return the warnings about ``experiment``: about the scenario of each of its cells, and about its metrics."""
    found, scenarios = Advice(), experiment.scenarios
    for scenario in scenarios:
        _add(scenario, found)
    for metric, message, remedy in _undefined(experiment, scenarios):
        error = experiment.refusal([(["metrics", metric], message, remedy)])
        found.add(error, error.diagnostics)
    return found


def _add(scenario: Scenario, found: Advice) -> None:
    passages = _passages(scenario.resolved)
    for key, message, remedy in (*_unmarked(passages), *_short(passages)):
        error = scenario.refusal([(key, message, remedy)])
        found.add(error, error.diagnostics)


@dataclass
class Passage:
    """A queue table in front of a link, with the flows whose data pass it."""

    path: str
    queue: Table
    rate_bps: float
    """Departure rate in bit/s; infinite if nothing bounds it."""
    flows: dict[str, Table] = field(default_factory=dict)
    capable: dict[str, Table] = field(default_factory=dict)
    """Those of them that are ECN-capable."""
    packet: float = 0.0
    """Bytes of the largest packet of all flows before the link."""


def _passages(spec: Table) -> list[Passage]:
    """Yield every queue in front of a link on the path of data; inner queues are selected by flow group and codepoint."""
    links = list(_links(spec))
    passed: dict[int, Passage] = {}
    for name, flow in spec["flow"].items():
        for start, end in () if flow.get("count") == 0 else _ways(flow):
            for index in _path(links, start, end):
                table = links[index][2]
                queue = table["queue"]
                at = passed.setdefault(index, Passage(f"queue.{queue}", spec["queue"][queue], _rate(table)))
                at.flows[name] = flow
                at.packet = max(at.packet, _packet(flow, spec))
                if _is_capable(flow, spec):
                    at.capable[name] = flow
    return [inner for at in passed.values() for inner in _inner(at)]


def _inner(at: Passage) -> Iterator[Passage]:
    """Yield ``at`` and the queues within it."""
    yield at
    rate = min(at.rate_bps, _rate(at.queue))
    taken: set[str] = set()
    # A packet belongs to the first class that it matches.
    for name, table in sorted(at.queue.get("class", {}).items(), key=lambda item: item[1]["order"]):
        flows, capable = (
            {flow: own for flow, own in which.items() if _may_join(own, table)} for which in (at.flows, at.capable)
        )
        codepoints = set(table.get("codepoints", CAPABLE))
        if taken >= codepoints & CAPABLE:
            capable = {}
        if "groups" not in table and "dscp" not in table:
            taken |= codepoints
        yield from _inner(Passage(f"{at.path}.class.{name}", table, rate, flows, capable, at.packet))


def _rate(table: Table) -> float:
    """The rate of a link, or of a queue that has one of its own."""
    rates = [table.get("rate", "unlimited"), table.get("shaper", {}).get("rate", "unlimited")]
    return min(highest(rate) for rate in rates)


def _packet(flow: Table, spec: Table) -> float:
    """Bytes of the flow's largest packet."""
    if "tcp_from" not in flow:
        return quantity(flow["traffic"]["packet"])
    headers = spec["tcp"][flow["tcp_from"]]["data_headers"]
    mss = min(quantity(spec["tcp"][flow[end]]["mss"]) for end in ("tcp_from", "tcp_to"))
    return mss + (HEADERS if headers == "real" else quantity(headers))


def _may_join(flow: Table, member: Table) -> bool:
    return not member.get("groups") or flow["group"] in member["groups"]


def _is_capable(flow: Table, spec: Table) -> bool:
    if "tcp_from" not in flow:
        return flow["traffic"].get("ecn") in CAPABLE
    return all(spec["tcp"][flow[end]]["ecn"] != OFF for end in ("tcp_from", "tcp_to"))


def _ways(flow: Table) -> Iterator[tuple[str, str]]:
    """Yield the ends of each data path; transactions have data in both directions."""
    start, end = (flow[key].partition("[")[0] for key in ("from", "to"))
    yield start, end
    if "response" in flow["traffic"]:
        yield end, start


def _links(spec: Table) -> Iterator[tuple[str, str, Table]]:
    """Start, end and table of every direction of a link; arrays of nodes and links count once."""
    for table in spec["link"].values():
        start, end = (table[key].partition("[")[0] for key in ("from", "to"))
        yield start, end, table
        if table["duplex"]:
            yield end, start, table["reverse"]


def _path(links: list[tuple[str, str, Table]], start: str, end: str) -> list[int]:
    """Return the indices of the links of the shortest path from ``start`` to ``end``."""
    leaving: dict[str, list[tuple[int, str]]] = {}
    for index, (origin, target, _) in enumerate(links):
        leaving.setdefault(origin, []).append((index, target))
    reached: dict[str, list[int]] = {start: []}
    frontier = [start]
    for node in frontier:
        for index, target in leaving.get(node, ()):
            if target not in reached:
                reached[target] = [*reached[node], index]
                frontier.append(target)
    return reached.get(end, [])


def _unmarked(passages: Iterable[Passage]) -> Iterator[Warn]:
    """Warn about queues that drop packets of ECN-capable flows although they could mark them."""
    for at in passages:
        law = at.queue["discipline"]
        if at.capable and laws.facts("queue", law)["uses_ecn"] and not at.queue["ecn"]:
            key = f"{at.path}.ecn"
            message = (
                f"`{key}` is false: `{law}` drops packets of ECN-capable flows ({_listed(at.capable)}), and marks none"
            )
            yield key, message, 'write ecn = true, or ecn = "off" in the TCP of the flows'


def _short(passages: Iterable[Passage]) -> Iterator[Warn]:
    """Warn about thresholds that a single packet exceeds, in transmission time or in length."""
    for at in passages:
        for key, value, consequence in laws.acts_above(at.queue) if at.flows else ():
            path = f"{at.path}.{key}"
            takes = 8.0 * at.packet / at.rate_bps
            if value.split()[1] not in TIMES:
                least, exceeds = f"{at.packet:.0f} B", quantity(value) < (1.0 if "packets" in value else at.packet)
            else:
                least, exceeds = _ms(takes), quantity(value) < takes
            if exceeds:
                message = f"`{path}` is {value}, less than a packet of {at.packet:.0f} B ({_ms(takes)} on the link)"
                yield path, f"{message}: {consequence}", f'write {key} = "{least}" or more, or a faster link'


def _ms(seconds: float) -> str:
    """A time in milliseconds, rounded up to 0.01 ms."""
    return f"{math.ceil(1e5 * seconds - 1e-6) / 100:g} ms"


def _undefined(experiment: Experiment, scenarios: list[Scenario]) -> Iterator[Warn]:
    """Warn about metrics without a value in some points or arms, because no queue there records their input."""
    for name, metric in experiment.metrics.items():
        table, column = metric.get("table", ""), metric.get("column", "")
        of = "class" if table == "links" and column.startswith(QUANTILES) else NAMED.get(table.removesuffix("_run"))
        without = sum(not scenario.names(of) for scenario in scenarios) if of else 0
        if of and without:
            message = (
                f"{without} of {len(scenarios)} scenarios of the experiment record no {column or 'row'} in {table}"
            )
            yield name, f"{message}: it has no value there", REMEDIES[of]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
