"""The scenario of a line and a mix, and the experiment of the candidates on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from ecnlab._core import Experiment
from ecnlab.advise.candidates import ASSETS, FAST, HELD_BACK_NOWHERE, NONE, direction, framed
from ecnlab.advise.decide import MAX_COST
from ecnlab.advise.line import LARGE, Line, trace_csv
from ecnlab.advise.mix import App
from ecnlab.folder.atomic import write_bytes
from ecnlab.scenario import built

Ecn = Literal["half", "off", "on"]

WARMUP_S: Final = 5
MAX_S: Final = 30
"""Simulated seconds of a run on a slow line."""

PACKETS: Final = 4e5
"""Full packets of both directions in a run: fast lines are simulated for a shorter time."""

TRACE_S: Final = 60
"""Measured seconds of a radio line: the whole trace."""

OTHERS: Final = {"half": ("plain", "ecn"), "off": ("plain", "plain"), "on": ("ecn", "ecn")}


@dataclass(frozen=True, slots=True)
class Question:
    """What `ecnlab advise` runs."""

    line: Line
    apps: tuple[App, ...]
    queues: tuple[str, ...]
    ecn: Ecn = "half"
    seeds: int = 10
    most_cost: float = MAX_COST
    """Share of a transfer's goodput that a candidate may cost."""
    seed: int = 1

    @property
    def measured_s(self) -> int:
        """Measured seconds of a run."""
        if self.line.kind.radio:
            return TRACE_S
        seconds = PACKETS * 8 * LARGE / (self.line.down_bps + self.line.up_bps)
        return int(min(max(seconds, 8), MAX_S - WARMUP_S))


def scenario(question: Question) -> dict[str, Any]:
    """Return the tables of the scenario with the candidate `NONE`."""
    line = question.line
    flows = dict(_flows(question))
    # An outer link for each application: its device and its server.
    names = [app.name for app in question.apps]
    links: dict[str, Any] = {
        "line": {"from": "isp", "to": "router", "delay": "0 s", "queue": "isp"}
        | _wire(line, "down")
        | {"reverse": {**_wire(line, "up"), "queue": "modem"}},
        "home": {"from": "router", "to": "lan", "rate": FAST, "delay": "0 s", "queue": "down"}
        | {"reverse": {"rate": FAST, "queue": "up"}},
    }
    for name in names:
        links[f"server-{name}"] = {
            "from": f"server-{name}",
            "to": "isp",
            "rate": FAST,
            "delay": f"{line.rtt_s * 500:g} ms",
        }
        links[f"device-{name}"] = {"from": "lan", "to": f"device-{name}", "rate": FAST, "delay": "0 s"}
    duration = WARMUP_S + question.measured_s
    sender = {"congestion": ASSETS["sender"]}
    return {
        "format": 1,
        "title": f"{line.words}, {', '.join(names)}",
        "duration": f"{duration} s",
        "warmup": f"{WARMUP_S} s",
        "profile": "linux-7",
        "tcp": {"plain": {**sender, "ecn": "off"}, "ecn": {**sender, "ecn": ASSETS["feedback"]}},
        "queue": {
            "isp": _buffer(line, line.down_bps),
            "modem": _buffer(line, line.up_bps),
            "down": {**HELD_BACK_NOWHERE, "quantiles": True},
            "up": {**HELD_BACK_NOWHERE, "quantiles": True},
        },
        "link": links,
        "flow": flows,
    }


def _buffer(line: Line, rate_bps: float) -> dict[str, Any]:
    return {"discipline": NONE, "limit": f"{line.buffer_bytes(rate_bps)} B", "quantiles": True}


def _wire(line: Line, way: Literal["down", "up"]) -> dict[str, Any]:
    """Keys of the line itself in one direction."""
    if line.kind.radio:
        keys = {"rate": {"csv": f"{way}.csv", "every": f"{TRACE_S} s"}}
        return keys | ({"aggregation": dict(line.kind.aggregation)} if line.kind.aggregation else {})
    return framed(line, line.down_bps if way == "down" else line.up_bps)


def _flows(question: Question) -> Iterator[tuple[str, dict[str, Any]]]:
    for app in question.apps:
        for group, way, traffic, count in app.flows:
            server, device = f"server-{app.name}", f"device-{app.name}"
            ends = {"from": server, "to": device} if way == "down" else {"from": device, "to": server}
            common = {**ends, "traffic": traffic, "group": group, "start": {"uniform": ["0 s", "1 s"]}}
            if isinstance(traffic, Mapping) and traffic["kind"] == "cbr":
                yield group, {**common, "count": count}
                continue
            for index in range(count):
                yield f"{group}-{index}", {**common, "tcp": OTHERS[question.ecn][index % 2]}


def arms(question: Question) -> dict[str, dict[str, Any]]:
    """Return the overrides of each candidate."""
    line = question.line
    found: dict[str, dict[str, Any]] = {}
    for name in question.queues:
        if name == NONE:
            found[name] = {}
            continue
        down = direction(name, line, line.down_bps, ingress=True)
        up = direction(name, line, line.up_bps, ingress=False)
        found[name] = {f"link.home.{key}": value for key, value in down.link.items()}
        found[name] |= {"link.home.reverse": {**up.link, "queue": "up"}}
        found[name] |= {"queue.down": dict(down.queue), "queue.up": dict(up.queue)}
    return found


def metrics(question: Question) -> dict[str, dict[str, Any]]:
    """Return the metrics of a run; `ecnlab.advise.measured` makes the measures of them."""
    found: dict[str, dict[str, Any]] = {}
    for app in question.apps:
        if app.name == "web":
            rows = {"table": "transactions", "column": "latency_s", "where": {"group": "web"}}
            found |= {"web_p90": {**rows, "aggregate": "p90"}, "web_median": {**rows, "aggregate": "median"}}
        elif app.name in ("download", "upload"):
            rows = {"table": "flows", "column": "goodput_bps", "where": {"group": app.name}}
            found[f"{app.name}_rate"] = {**rows, "aggregate": "sum"}
        else:
            found |= dict(_udp(app))
    return found


def _udp(app: App) -> Iterator[tuple[str, dict[str, Any]]]:
    for way, links in WAYS.items():
        group = f"{app.name}-{way}"
        for place, link in links.items():
            where = {"link": link, "group": group}
            yield (
                f"{group} {place}",
                {"table": "sojourns", "column": "sojourn_p99_s", "where": where, "aggregate": "max"},
            )
            yield (
                f"{group} {place} dropped",
                {"table": "queues", "column": "dropped", "where": where, "aggregate": "sum"},
            )
        sent = {"table": "queues", "column": "arrived", "aggregate": "sum"}
        yield f"{group} sent", {**sent, "where": {"link": next(iter(links.values())), "group": group}}


WAYS: Final = {
    "down": {"line": "line", "router": "home"},
    "up": {"router": "home~reverse", "line": "line~reverse"},
}
"""Links by direction and place, in the order in which packets pass them."""


def prepare(question: Question, folder: Path) -> Experiment:
    """Write the scenario into ``folder`` and return the experiment of the candidates. Raises OSError, SpecError."""
    folder.mkdir(parents=True, exist_ok=True)
    if question.line.kind.radio:
        for way, trace, rate in (
            ("down", question.line.kind.down, question.line.down_bps),
            ("up", question.line.kind.up, question.line.up_bps),
        ):
            write_bytes(folder / f"{way}.csv", trace_csv(trace, rate)[0].encode())
    path = folder / "line.toml"
    write_bytes(path, toml(scenario(question)).encode())
    return built.experiment(
        path,
        metrics=metrics(question),
        arms=arms(question),
        replicates=question.seeds,
        seed=question.seed,
        title=f"Queues for {question.line.words}",
    )


def toml(tables: Mapping[str, Any]) -> str:
    """Return a scenario as TOML: keys at the top, then a table for each name of a section."""
    top = [f"{key} = {built.toml_value(value, key)}" for key, value in tables.items() if not isinstance(value, Mapping)]
    parts: Sequence[str] = [
        "\n".join([f"[{section}.{name}]", *(f"{key} = {built.toml_value(value, key)}" for key, value in table.items())])
        for section, named in tables.items()
        if isinstance(named, Mapping)
        for name, table in named.items()
    ]
    return "\n\n".join(["\n".join(top), *parts]) + "\n"
