"""An experiment that compares queue disciplines in a sketched scenario, for ``ecnlab new --sweep``."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ecnlab.base.errors import EcnlabError
from ecnlab.scenario.sketched import Sketch, known_queue, sketched, text

AXIS = "queues"
"""What can be swept."""


def queues(requested: str) -> list[str]:
    """The disciplines of ``queues=A,B``. Raises EcnlabError with a remedy for anything else."""
    axis, equals, listed = requested.partition("=")
    names = [name.strip() for name in listed.split(",") if name.strip()]
    if equals and axis.strip() != AXIS:
        raise EcnlabError(
            f"--sweep compares queue disciplines, such as {AXIS}=fq_codel,cake, not {axis.strip()!r}: "
            f"write a [grid] in an experiment of your own for anything else (`ecnlab docs scenario`, Experiments)"
        )
    if not equals or len(names) < 2 or len(set(names)) < len(names):
        raise EcnlabError(f"--sweep is {requested!r}: write each queue discipline once, such as queues=fq_codel,cake")
    for name in names:
        known_queue("--sweep", name)
        if "copy" in sketched("queue", name):
            raise EcnlabError(f"--sweep: {name!r} has no keys to compare: name built-in disciplines")
    return names


def experiment(sketch: Sketch, scenario: str, names: Sequence[str], seeds: int) -> str:
    """The experiment as TOML: an arm for each discipline of ``names``, and metrics for each sender."""
    return "\n".join([*_head(sketch, scenario, names, seeds), *_arms(sketch, names), *_metrics(sketch)]) + "\n"


def _head(sketch: Sketch, scenario: str, names: Sequence[str], seeds: int) -> Iterator[str]:
    yield f"# The queues {', '.join(names)} in front of the same senders: {len(names)} arms, {seeds} runs of each."
    yield "format = 1"
    yield f"scenario = {json.dumps(scenario)}"
    yield f"replicates = {seeds}"
    yield ""
    yield "[set]"
    for table in sketch.ways:
        yield f'"queue.{table}.quantiles" = true # of the time in the queue'
    yield ""


def _arms(sketch: Sketch, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        tables = tomllib.loads(text(replace(sketch, queue=name)))["queue"]
        yield f"[arm.{name}]"
        yield f"set = {_inline({f'queue.{table}': queue for table, queue in tables.items()})}"
        yield ""


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{json.dumps(key)} = {_inline(one)}' for key, one in value.items())} }}"
    return json.dumps(value)


def _metrics(sketch: Sketch) -> Iterator[str]:
    yield "[metrics]"
    senders, upload = list(sketch.senders), ["upload"] if sketch.up else []
    for group in [*senders, *upload]:
        yield _metric(f"goodput_{group}", "flows", "goodput_bps", "sum", group=group)
    if len(senders) > 1:
        yield _metric("fairness", "flows", "goodput_bps", "jain", **({"group": senders} if upload else {}))
    yield from _of_link("", sketch.link, senders if len(senders) > 1 else [])
    if upload:
        yield from _of_link("up_", f"{sketch.link}~reverse", upload)
    yield ""
    yield "[report]"
    yield 'primary = "sojourn_p99"'


def _of_link(prefix: str, link: str, groups: Sequence[str]) -> Iterator[str]:
    """Metrics of the queue of ``link``: times in it, also of each of ``groups``, marks and drops."""
    for name, column in (("sojourn_p50", "sojourn_p50_s"), ("sojourn_p99", "sojourn_p99_s")):
        yield _metric(f"{prefix}{name}", "links", column, link=link)
        for group in groups:
            yield _metric(f"{prefix}{name}_{group}", "sojourns", column, link=link, group=group)
    for name, column in (("marks", "marks"), ("drops", "dropped")):
        yield _metric(f"{prefix}{name}", "queues", column, link=link, group="all")


def _metric(name: str, table: str, column: str, aggregate: str = "", **where: Any) -> str:
    keys: dict[str, Any] = {"table": table, "column": column}
    if aggregate:
        keys["aggregate"] = aggregate
    if where:
        keys["where"] = where
    return f"{name} = {_inline(keys)}"
