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


def queues(asked: str) -> list[str]:
    """The disciplines of ``queues=A,B``. Raises EcnlabError with a remedy for anything else."""
    axis, _, listed = asked.partition("=")
    names = [name.strip() for name in listed.split(",") if name.strip()]
    if axis.strip() != AXIS or len(names) < 2 or len(set(names)) < len(names):
        raise EcnlabError(f"--sweep is {asked!r}: write each queue discipline once, such as queues=fq_codel,cake")
    for name in names:
        known_queue("--sweep", name)
        if "copy" in sketched("queue", name):
            raise EcnlabError(f"--sweep: {name!r} has no keys to compare: name built-in disciplines")
    return names


def experiment(sketch: Sketch, scenario: str, names: Sequence[str], seeds: int) -> str:
    """The experiment as TOML: an arm for each discipline of ``names``, and metrics for each sender."""
    return "\n".join([*_head(scenario, names, seeds), *_arms(sketch, names), *_metrics(sketch)]) + "\n"


def _head(scenario: str, names: Sequence[str], seeds: int) -> Iterator[str]:
    yield f"# The queues {', '.join(names)} in front of the same senders: {len(names)} arms, {seeds} runs of each."
    yield "format = 1"
    yield f"scenario = {json.dumps(scenario)}"
    yield f"replicates = {seeds}"
    yield ""
    yield "[set]"
    yield '"queue.bottleneck.quantiles" = true # of the time in the queue'
    yield ""


def _arms(sketch: Sketch, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        queue = tomllib.loads(text(replace(sketch, queue=name)))["queue"]["bottleneck"]
        yield f"[arm.{name}]"
        yield f'set = {{ "queue.bottleneck" = {_inline(queue)} }}'
        yield ""


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{json.dumps(key)} = {_inline(one)}' for key, one in value.items())} }}"
    return json.dumps(value)


def _metrics(sketch: Sketch) -> Iterator[str]:
    yield "[metrics]"
    for sender in sketch.senders:
        where = f"{{ group = {json.dumps(sender)} }}"
        yield f'goodput_{sender} = {{ table = "flows", column = "goodput_bps", aggregate = "sum", where = {where} }}'
    if len(sketch.senders) > 1:
        yield 'fairness = { table = "flows", column = "goodput_bps", aggregate = "jain" }'
    for name, column in (("sojourn_p50", "sojourn_p50_s"), ("sojourn_p99", "sojourn_p99_s")):
        yield f'{name} = {{ table = "links", column = "{column}", where = {{ link = "bottleneck" }} }}'
        for sender in sketch.senders if len(sketch.senders) > 1 else ():
            where = f'{{ link = "bottleneck", group = {json.dumps(sender)} }}'
            yield f'{name}_{sender} = {{ table = "sojourns", column = "{column}", where = {where} }}'
    for name, column in (("marks", "marks"), ("drops", "dropped")):
        yield f'{name} = {{ table = "queues", column = "{column}", where = {{ link = "bottleneck", group = "all" }} }}'
    yield ""
    yield "[report]"
    yield 'primary = "sojourn_p99"'
