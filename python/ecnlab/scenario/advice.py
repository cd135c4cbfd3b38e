"""Warnings about scenarios and experiments that can be run, but hardly measure what is wanted. They change no exit code."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Final

from ecnlab import laws
from ecnlab._core import Experiment, Scenario
from ecnlab.base.quantities import TIMES, quantity
from ecnlab.base.types import Diagnostic
from ecnlab.scenario import ended_rates
from ecnlab.scenario.metrics import NAMED, REMEDIES
from ecnlab.scenario.passages import OFF, Passage, Table, passages

Warn = tuple[str, str, str]
"""The dotted key, the message, and the remedy."""

QUANTILES: Final = "sojourn_p"
"""Prefix of the columns of ``links`` that only queues with `quantiles` have."""


ROWS: Final = {"links": "link", "queue": "link", "flow": "flow", "classes": "link", "class_series": "link"}
"""By prefixes of tables, what their rows are of."""

LISTED: Final = 4
"""Number of names in a message."""


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
    found, passed = Advice(), passages(scenario)
    _add(scenario, found, _about(scenario, passed))
    _add(scenario, found, _unused(passed))
    return found


def of_experiment(experiment: Experiment) -> Advice:
    """Return the warnings about ``experiment``: about the scenario of each of its cells, and about its metrics."""
    found, scenarios = Advice(), experiment.scenarios
    passed = [passages(scenario) for scenario in scenarios]
    for scenario, one in zip(scenarios, passed, strict=True):
        _add(scenario, found, _about(scenario, one))
    # An arm without ECN is what the others are compared with.
    if not any(at.capable for one in passed for at in one):
        for scenario, one in zip(scenarios, passed, strict=True):
            _add(scenario, found, _unused(one))
    slow = [_unfilled(one) for one in passed]
    for metric, message, remedy in (
        *_undefined(experiment, scenarios),
        *_several(experiment, scenarios),
        *_beside(experiment, slow),
        *_mixed(experiment, passed),
    ):
        error = experiment.refusal([(["metrics", metric], message, remedy)])
        found.add(error, error.diagnostics)
    return found


def _add(scenario: Scenario, found: Advice, warnings: Iterable[Warn]) -> None:
    for key, message, remedy in warnings:
        error = scenario.refusal([(key, message, remedy)])
        found.add(error, error.diagnostics)


def _about(scenario: Scenario, passed: list[Passage]) -> Iterator[Warn]:
    """Yield the warnings about a scenario that concern it alone."""
    spec = scenario.resolved
    yield from _unmarked(passed)
    yield from _short(passed)
    yield from _ignored(passed, spec)
    yield from _uncounted(passed, spec)
    for link, rates in _unfilled(passed).items():
        message = f"no queue can build up at `link.{link}`: {rates}"
        yield f"link.{link}.rate", message, "write a rate below that, or judge the queue at the slower link"
    yield from ended_rates.found(scenario)


def _unused(passed: Iterable[Passage]) -> Iterator[Warn]:
    """Warn about queues that mark where no flow of the scenario uses ECN."""
    passed = list(passed)
    if any(at.capable for at in passed):
        return
    for at in passed:
        if at.flows and at.marks:
            message = f"`{at.path}.ecn` is true, but no flow uses ECN: nothing is marked"
            yield f"{at.path}.ecn", message, 'write ecn = "rfc3168" or "accecn" in the TCP of the flows'


def _ignored(passed: Iterable[Passage], spec: Table) -> Iterator[Warn]:
    """Warn about senders with ECN that ignore marks, behind queues that mark: nothing slows them there."""
    for at in passed:
        for flow in at.capable if at.marks else ():
            table = at.senders.get(flow)
            law = _window_law(spec, table)
            if table and laws.facts("congestion", law).get("marks") == "ignored":
                message = (
                    f"`tcp.{table}` has ECN, but its window law `{law}` ignores marks: `{at.path}` marks its packets "
                    "instead of dropping them, and nothing slows it"
                )
                yield f"tcp.{table}.ecn", message, 'write ecn = "off", unless this is the question'


def _uncounted(passed: Iterable[Passage], spec: Table) -> Iterator[Warn]:
    """Warn about senders that reduce by the share of marks and get no count of them."""
    for at in passed:
        for flow, table in at.senders.items():
            law, feedback = _window_law(spec, table), spec["tcp"][table]["ecn"]
            shares = laws.facts("congestion", law).get("marks") == "share"
            if at.flows.get(flow) and shares and not laws.facts("ecn", feedback).get("counts_marks"):
                what = "without ECN there are no marks" if feedback == OFF else f"`{feedback}` does not count them"
                message = f"`tcp.{table}.congestion` is `{law}`, which reduces by the share of marked packets; {what}"
                yield f"tcp.{table}.ecn", message, 'write ecn = "dctcp", or "accecn" with dsack = true'


def _window_law(spec: Table, table: str | None) -> str:
    law = spec["tcp"][table]["congestion"] if table else ""
    return str(law if isinstance(law, str) else law.get("kind", ""))


def _unfilled(passed: Iterable[Passage]) -> dict[str, str]:
    """Return the links with an active queue that slower links keep from filling, and the rates as text."""
    found = {}
    for at in passed:
        acts = "class" in at.queue or laws.facts("queue", at.queue["discipline"])["uses_ecn"]
        supply = sum(at.supply.values())
        if at.link and acts and supply < at.rate_bps:
            slow = ", ".join(f"`link.{name}`" for name in sorted(at.supply))
            found[at.link] = (
                f"the other links of its flows ({slow}) have {_rate(supply)} together, less than its {_rate(at.rate_bps)}"
            )
    return found


def _rate(bps: float) -> str:
    unit, size = next(((u, s) for u, s in (("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3)) if bps >= s), ("b/s", 1.0))
    return f"{bps / size:.4g} {unit}"


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


def _several(experiment: Experiment, scenarios: list[Scenario]) -> Iterator[Warn]:
    """Warn about metrics that average over several links or flows without a word about it."""
    for name, metric in experiment.metrics.items():
        table = metric.get("table", "")
        of = next((of for prefix, of in ROWS.items() if table.startswith(prefix)), None)
        if of is None or "where" in metric or "aggregate" in metric:
            continue
        rows = max((scenario.names(of) for scenario in scenarios), key=len, default=[])
        if len(rows) > 1:
            message = f"the mean over {len(rows)} {of}s: {_listed(rows[:LISTED])}"
            message += f" and {len(rows) - LISTED} more" if len(rows) > LISTED else ""
            column = "name" if of == "flow" else of
            yield name, message, f'choose with where = {{ {column} = "{rows[0]}" }}, or write aggregate = "mean"'


def _beside(experiment: Experiment, slow: list[dict[str, str]]) -> Iterator[Warn]:
    """Warn about metrics of links that are not the bottleneck in any cell."""
    always = set.intersection(*map(set, slow)) if slow else set()
    for name, metric in experiment.metrics.items():
        link = metric.get("where", {}).get("link")
        if isinstance(link, str) and link in always:
            yield name, f"`{link}` is not the bottleneck: {slow[0][link]}", "name the slower link"


def _mixed(experiment: Experiment, passed: list[list[Passage]]) -> Iterator[Warn]:
    """Warn about sojourn quantiles of a link that mix groups which its queue separates, if none of a group stands beside."""
    apart = {metric.get("column") for metric in experiment.metrics.values() if metric.get("table") == "sojourns"}
    for name, metric in experiment.metrics.items():
        column, link = metric.get("column", ""), metric.get("where", {}).get("link")
        if metric.get("table") != "links" or not column.startswith(QUANTILES) or column in apart:
            continue
        for at in (at for one in passed for at in one if at.link and link in (None, at.link)):
            law, groups = at.queue["discipline"], sorted({flow["group"] for flow in at.flows.values()})
            if len(groups) > 1 and laws.facts("queue", law)["separates_flows"]:
                message = f"the quantile at `{at.link}` mixes groups that `{law}` separates: {_listed(groups[:LISTED])}"
                place = f'where = {{ link = "{at.link}", group = "{groups[0]}" }}'
                yield name, message, f"the table `sojourns` has that of each group: add a metric with {place}"
                break


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
