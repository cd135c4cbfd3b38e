"""The sheet of a card: its scenarios and criteria, read from a file in ``assets``."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from ecnlab.base.errors import EcnlabError
from ecnlab.base.quantities import quantity
from ecnlab.scenario.files import read_text
from ecnlab.scoring import paths
from ecnlab.scoring.paths import PACKET, DrawnPath, Draws

Kind = Literal["aqm", "cc", "l4s"]
"""The command that makes a card: of a queue, of a sender, or of a sender for L4S."""

FILES: Final[Mapping[Kind, Path]] = {
    "aqm": Path(__file__).parent / "assets" / "rfc7928.toml",
    "cc": Path(__file__).parent / "assets" / "rfc9743.toml",
    "l4s": Path(__file__).parent / "assets" / "rfc9331.toml",
}

Size = Literal["quick", "full"]

SUBJECT: Final = "subject"
"""The arm of the subject."""

REFERENCE: Final = "reference"
ITSELF: Final = "itself"
STANDARD: Final = "standard"
"""The arm of the reference, the subject's own value, and the worst of the reference and the incumbents: values of `Criterion.against`."""

OWN: Final = ("link", "queue", "tcp", "flow", "tunnel", "box")
"""Tables of a scenario of the sheet."""

ONE_CASE: Final = ""
"""The name of the only case of a scenario without cases."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """A condition on one measure: at most or at least ``limit``."""

    name: str
    measure: str
    against: str
    """`ITSELF`: the measure; a unit of drawn paths (`judging.UNITS`): by that; an arm, or `STANDARD`: by that; else the case to divide by."""
    bound: Literal["at_most", "at_least"]
    limit: float
    reason: str
    cases: tuple[str, ...] = ()
    """The cases that it applies to, as the sheet names them; none: all."""
    worst: bool = False
    """Whether the two worst seeds or drawn paths are judged in place of the mean."""

    def applies_to(self, case: Case) -> bool:
        """Whether it applies to ``case``."""
        return not self.cases or case.of in self.cases


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One setting of a scenario: keys with the values they have, and the largest RTT."""

    name: str
    """Its name on the card; of drawn paths with that of the class."""
    of: str
    """Its name in the sheet."""
    set: Mapping[str, Any] = field(default_factory=dict)
    rtt: str = ""
    """Empty: that of the scenario."""
    buffer: float | None = None
    """The limit of queues as a multiple of rate and RTT; None: that of the scenario."""
    size: str = ""
    """The only size that has it; empty: both."""
    within: str = ""
    """The class of drawn paths; empty: the path is that of the scenario."""
    paths: Sequence[DrawnPath] = ()
    """The drawn paths, one for each replicate."""

    def labels(self) -> list[str]:
        """Labels of its points on the axis of cases: one, or one for each drawn path."""
        return [f"{self.name}, path {number}" for number in range(1, len(self.paths) + 1)] or [self.name]

    def of_class(self, within: str, drawn: Sequence[DrawnPath]) -> Case:
        """The case on the drawn paths of a class."""
        return replace(self, name=", ".join(filter(None, (self.of, within))), within=within, paths=drawn)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario of the sheet."""

    name: str
    section: str
    title: str
    weight: str
    about: str
    duration: Mapping[str, str]
    """Simulated time by size."""
    warmup: str
    tables: Mapping[str, Mapping[str, Any]]
    """Its own tables, such as ``flow`` and ``link``, by kind and name."""
    cases: Sequence[Case]
    criteria: Sequence[Criterion]
    quote: str = ""
    """The sentence of its section that it tests, word for word."""
    rate: str = "10 Mbps"
    """The highest rate of the bottleneck, for the limits of the queues."""
    rtt: str = ""
    """The largest RTT of cases that have none of their own."""
    buffer: float | None = None
    """The limit of queues as a multiple of rate and RTT; None: 1, or that of a drawn path."""
    drawn: bool = False
    """Whether rate, RTT, number of flows, their start, and the buffer if there is none, are drawn anew for each replicate."""
    ranges: Mapping[str, Any] = field(default_factory=dict)
    """Ranges of drawn quantities in place of those of the sheet."""
    needs: str = ""
    """"ecn": the scenario applies only to a queue that marks, or a sender that uses ECN."""
    scheduler: Mapping[str, Any] = field(default_factory=dict)
    """Flow queues that the subject is the inner queue of; empty: it is the queue of the link."""
    probes: Sequence[str] = ()
    """Flows of datagrams that are there to be measured only. An engine without datagrams measures the delay of all packets instead."""
    kept: Sequence[str] = ()
    """Other groups whose share of packets that leave the queue is a measure, as that of `probes` is."""
    stands: Sequence[str] = ()
    """Traffic that stands for another."""
    equal_delay: str = ""
    """The law of one more arm, a FIFO with the subject's mean delay (`equal_delay`); empty: there is none."""
    jain: Sequence[str] = ()
    """Groups whose flows the fairness index compares."""
    metrics: Mapping[str, Any] = field(default_factory=dict)

    @property
    def groups(self) -> list[str]:
        """Names of the groups of flows, without `probes`."""
        flows = {name: flow for name, flow in self.tables["flow"].items() if name not in self.probes}
        return list(dict.fromkeys(flow.get("group", name) for name, flow in flows.items()))

    def limit(self, case: Case, path: DrawnPath | None = None) -> int:
        """The limit of the bottleneck's queue in packets, on ``path`` if it is drawn."""
        buffer = self.buffer if case.buffer is None else case.buffer
        if path:
            return path.limit(buffer)
        return limit_packets(self.rate, case.rtt or self.rtt, 1.0 if buffer is None else buffer)

    def limits(self, case: Case) -> list[int]:
        """The limits of the bottleneck's queue in packets: one, or one for each drawn path."""
        return [self.limit(case, path) for path in case.paths or (None,)]

    def case_like(self, case: Case, of: str) -> str:
        """The name of the case ``of`` of the sheet in the class of ``case``."""
        return next(one.name for one in self.cases if (one.of, one.within) == (of, case.within))

    def without_probes(self) -> Scenario:
        """The scenario without `probes`, in whose place all packets of their link are measured."""
        flows = {name: flow for name, flow in self.tables["flow"].items() if name not in self.probes}
        measures = {name: self._of_all(one) for name, one in self.metrics.items()}
        return replace(self, tables={**self.tables, "flow": flows}, metrics=measures)

    def _of_all(self, metric: Mapping[str, Any]) -> Mapping[str, Any]:
        where = metric.get("where", {})
        if where.get("group") not in self.probes:
            return metric
        return {**metric, "table": "links", "where": {"link": where["link"]}}

    def replicates(self, number: int) -> int:
        """Replicates of each point, of which drawn paths have one each and the others ``number``."""
        return 1 if self.drawn else number

    def on(self, drawn: Mapping[str, Sequence[DrawnPath]]) -> Scenario:
        """The scenario with its cases on each class of drawn paths."""
        return replace(self, cases=[case.of_class(*one) for case in self.cases for one in drawn.items()])


@dataclass(frozen=True, slots=True)
class Sheet:
    """The scenarios of a card, and what they share."""

    source: str
    kind: Kind
    against: str
    """The reference: the queue discipline or window law that the subject is compared with."""
    incumbents: Sequence[str]
    """Further window laws that are scored next to the subject; names of their arms."""
    replicates: Mapping[str, int]
    congestion: Mapping[str, float]
    base: Mapping[str, Any]
    scenarios: Sequence[Scenario]
    python_base: str
    """The window law whose TCP a Python class gets."""
    draws: Draws | None = None
    """What the paths of drawn scenarios are drawn from."""
    seed: int = 1
    """Seed of the drawn paths and of all runs."""
    not_covered: Mapping[str, str] = field(default_factory=dict)
    """What no scenario tests, by section of the RFC."""

    @property
    def arms(self) -> tuple[str, ...]:
        """The subject, the reference and the incumbents: arms of each experiment."""
        return (SUBJECT, REFERENCE, *self.incumbents)

    def only(self, names: Sequence[str]) -> Sheet:
        """The sheet with the scenarios ``names``; with none, all. Raises EcnlabError for an unknown name."""
        known = [one.name for one in self.scenarios]
        for name in names:
            if name not in known:
                raise EcnlabError(f"--scenario: there is no {name!r}; {_nearest(name, known)}")
        return replace(self, scenarios=[one for one in self.scenarios if one.name in names]) if names else self

    def of_size(self, size: Size, seed: int = 1) -> Sheet:
        """The sheet with the cases of ``size`` only, and with the paths that ``seed`` gives."""
        kept = [replace(one, cases=[case for case in one.cases if case.size in ("", size)]) for one in self.scenarios]
        return replace(self, scenarios=[self._drawn(one, size, seed) for one in kept], seed=seed)

    def _drawn(self, scenario: Scenario, size: Size, seed: int) -> Scenario:
        if not (scenario.drawn and self.draws) or scenario.cases[0].paths:
            return scenario
        return scenario.on(self.draws.within(scenario.ranges).paths(f"{seed} {self.source} {scenario.name}", size))

    def with_limits(self, limits: Mapping[str, Mapping[str, float]]) -> Sheet:
        """The sheet with other limits of criteria, as `read_limits` returns them."""
        return replace(self, scenarios=[_limited(one, limits) for one in self.scenarios])


def limit_packets(rate: str, rtt: str, buffer: float = 1.0) -> int:
    """The limit of a queue: the product of ``rate`` and ``rtt``, in full packets (RFC 7928 §3.2), ``buffer`` times."""
    return round(buffer * quantity(rate) * quantity(rtt) / (8 * PACKET))


def flows(level: str, congestion: Mapping[str, float], packets: int) -> int:
    """The number of flows for a ``level`` of congestion, or for the difference "LEVEL - LEVEL" of two.

    RFC 7928 §8.2.2: N = round(factor S), where S is the BDP and the buffer in packets; the buffer has ``packets``, one BDP.
    """
    first, _, less = level.partition(" - ")
    count = round(congestion[first] * 2 * packets)
    return count - flows(less, congestion, packets) if less else count


@cache
def built_in(kind: Kind = "aqm") -> Sheet:
    """The scenarios of RFC 7928 for queues, of RFC 9743 for senders, or of RFC 9331 for senders for L4S."""
    return _sheet(tomllib.loads(FILES[kind].read_text(encoding="utf-8")))


def _sheet(text: Mapping[str, Any]) -> Sheet:
    criteria = {name: _criterion(name, one) for name, one in text["criterion"].items()}
    shared = {key: text[key] for key in ("rate", "rtt") if key in text}
    scenarios = [_scenario(name, {**shared, **one}, criteria) for name, one in text["scenario"].items()]
    return Sheet(
        text["source"],
        text["kind"],
        text["against"],
        text.get("incumbents", []),
        text["replicates"],
        text.get("congestion", {}),
        text["base"],
        scenarios,
        text.get("python_base", text["against"]),
        paths.read(text["paths"]) if "paths" in text else None,
        not_covered=text["not-covered"],
    )


def _criterion(name: str, text: Mapping[str, Any]) -> Criterion:
    bound: Literal["at_most", "at_least"] = "at_most" if "at_most" in text else "at_least"
    limit = float(text[bound])
    cases = (text["case"],) if "case" in text else ()
    return Criterion(
        name, text["measure"], text["against"], bound, limit, text["reason"], cases, text.get("worst", False)
    )


def _scenario(name: str, text: Mapping[str, Any], criteria: Mapping[str, Criterion]) -> Scenario:
    cases = [Case(case, case, **settings) for case, settings in text.get("case", {ONE_CASE: {}}).items()]
    tables = {kind: text.get(kind, {}) for kind in OWN}
    rest = {key: value for key, value in text.items() if key not in ("case", "criteria", "applies", *OWN)}
    only = {one: tuple(names) for one, names in text.get("applies", {}).items()}
    chosen = [replace(criteria[one], cases=only.get(one, criteria[one].cases)) for one in text["criteria"]]
    return Scenario(name, **rest, tables=tables, cases=cases, criteria=chosen)


def read_limits(path: Path, sheet: Sheet | None = None) -> dict[str, dict[str, float]]:
    """Limits of criteria of ``sheet`` (default: that of RFC 7928) in a file of tables such as ``[criterion.delay]`` with ``at_most = 0.7``.

    Raises EcnlabError, with file, key and remedy, for another key, bound or value; OSError.
    """
    known = {criterion.name: criterion for one in (sheet or built_in()).scenarios for criterion in one.criteria}
    try:
        text = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise EcnlabError(f"{path}: not TOML: {error}") from error
    for key in text:
        if key != "criterion":
            raise EcnlabError(f"{path}: unknown key `{key}`: write tables [criterion.NAME]")
    found: dict[str, dict[str, float]] = {}
    tables = text.get("criterion", {})
    if not isinstance(tables, dict):
        raise EcnlabError(f"{path}: `criterion` is no table: write [criterion.NAME]")
    for name, table in tables.items():
        if name not in known:
            raise EcnlabError(f"{path}: unknown key `criterion.{name}`; {_nearest(name, list(known))}")
        found[name] = _bounds(path, name, table, known[name].bound)
    return found


def _bounds(path: Path, name: str, table: Any, bound: str) -> dict[str, float]:
    if not isinstance(table, dict) or not table:
        raise EcnlabError(f"{path}: `criterion.{name}` has no limit: write `{bound} = NUMBER`")
    for key, value in table.items():
        if key != bound:
            raise EcnlabError(f"{path}: unknown key `criterion.{name}.{key}`: the limit of this criterion is `{bound}`")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise EcnlabError(f"{path}: `criterion.{name}.{key}` is {value!r}: write a number of at least 0")
    return {bound: float(table[bound])}


def _limited(scenario: Scenario, limits: Mapping[str, Mapping[str, float]]) -> Scenario:
    criteria = [
        replace(one, limit=limits[one.name][one.bound], reason="limit of the file given with --criteria")
        if one.name in limits
        else one
        for one in scenario.criteria
    ]
    return replace(scenario, criteria=criteria)


def _nearest(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean `{near[0]}`?" if near else f"there are {', '.join(known)}"
