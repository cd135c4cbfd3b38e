"""Links that change during a run: lines of the plan for the guest, which changes the kernel's disciplines."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ecnlab.base.types import DrawnChanges
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.tc import bucket
from ecnlab.linux.disciplines import qdisc
from ecnlab.linux.topology import MAX_IN_FLIGHT, PACKET, WIRE, Link, host

ALL: Final = 2**32 - 1
"""The kernel's share of lost packets that means all."""


class State(NamedTuple):
    """The wire of a link from a time on."""

    at_ns: int
    rate: int
    """In B/s, 0 for a link without a rate. The least rate is 1 B/s, also in an outage that holds packets."""
    delay_ns: int
    loss: int
    """Share of lost packets, of `ALL`."""


def states(link: Link) -> Iterator[State]:
    """Return the states of a link that changes, in order of time; the first at time 0."""
    changes: DrawnChanges = link.changes or {}
    own = round(link.table["loss"] * ALL)
    state = State(0, bytes_per_second(link.rate_bps) if link.rate_bps else 0, round(link.delay_ps / 1000), own)
    steps: list[tuple[int, dict[str, int]]] = [
        *((at, {"rate": bytes_per_second(bps)}) for at, bps in changes.get("rate", ())),
        *((at, {"delay_ns": round(ps / 1000)}) for at, ps in changes.get("delay", ())),
        *((at, {"loss": ALL}) for at, _ in changes.get("lost", ())),
        *((to, {"loss": own}) for _, to in changes.get("lost", ())),
    ]
    last: State | None = None
    # Of an outage that ends when another begins the end comes first.
    for at, change in sorted(steps, key=lambda step: (step[0], step[1].get("loss", 0))):
        following = state._replace(at_ns=at // 1000, **change)
        if following.at_ns > state.at_ns and state != last:
            yield state
            last = state
        state = following
    yield state


def bytes_per_second(bps: int) -> int:
    """``bps`` in the kernel's unit: at least 1, at which a packet waits for minutes."""
    return max(round(bps / 8), 1)


def statements(links: Sequence[Link], spec: Mapping[str, Any]) -> Iterator[str]:
    """Lines of the plan for all changes."""
    changing = [link for link in links if link.changes]
    for link in changing:
        i, burst = link.index, bucket(PACKET, link.rate_bps or 0)
        limit = _fifo_limit(link, spec) or burst
        yield f"line {host(link.origin)} o{i} {WIRE} b{i} {limit} {burst} {MAX_IN_FLIGHT}"
    for state, line in heapq.merge(*([(one, n) for one in states(link)] for n, link in enumerate(changing))):
        yield f"change {state.at_ns} {line} {state.rate} {state.delay_ns} {state.loss}"


def _fifo_limit(link: Link, spec: Mapping[str, Any]) -> int | None:
    """The limit of a link's queue, if it is a FIFO of the kernel: each change of tbf sets it."""
    name = link.table["queue"]
    kind, *words = qdisc(spec["queue"][name], name, link.drain_bps, Findings()).split()
    return int(words[words.index("limit") + 1]) if kind[1:].startswith("fifo") else None


def mean_rate_bps(link: Link, from_ns: int, to_ns: int) -> float | None:
    """Mean rate at which the queue drains, between two times of the run; None for a link without a rate."""
    steps = (link.changes or {}).get("rate")
    if not steps or to_ns <= from_ns:
        return link.drain_bps
    ends = [*(at / 1000 for at, _ in steps[1:]), float("inf")]
    spans = ((max(at / 1000, from_ns), min(end, to_ns), bps) for (at, bps), end in zip(steps, ends, strict=True))
    return sum(max(end - start, 0.0) * bps for start, end, bps in spans) / (to_ns - from_ns)
