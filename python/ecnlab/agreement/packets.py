"""Packet-by-packet comparison of our queues with the kernel's: one list of arrivals for both, in virtual time.

Fate, codepoint, order and start of transmission are compared for each packet, to the nanosecond.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from ecnlab._core import Scenario, replay_packets
from ecnlab.agreement.arrivals import Arrival, drawn
from ecnlab.base.errors import EcnlabError
from ecnlab.base.lawcode import guarded
from ecnlab.base.quantities import changes, number
from ecnlab.base.types import Instead
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.twin import Twin
from ecnlab.linux.disciplines import twin
from ecnlab.linux.kernel import find
from ecnlab.linux.replay import Left, Line, Sent, replay
from ecnlab.scenario.files import is_experiment, read_scenario, read_text

PACKETS: Final = 400
"""Packets of a trace."""

AROUND: Final = 3
"""Packets that are shown before and behind the first that differs."""

AFTER_NS: Final = 1_000_000_000
"""Additional virtual time, beyond the transmission of all packets, for packets that the kernel holds longer."""

CODEPOINTS: Final = ("Not-ECT", "ECT(1)", "ECT(0)", "CE")


Ours: TypeAlias = tuple[int | None, int, list[int], int]
"""When a packet left our queue, in ps, its TOS octet then, places of inner queues, and ns on the line."""


@dataclass(frozen=True)
class Question:
    """A queue in front of a link, and its kernel counterpart."""

    scenario: Scenario
    index: int
    """Rate of the link."""
    link: str
    queue: str
    law: str
    rate_bps: int
    twin: Twin
    dscps: tuple[int, ...]
    """Flow groups that the queue distinguishes, and 0."""
    instead: tuple[Instead, ...]
    """Settings that the kernel does not have as the queue has them."""


class Fate(NamedTuple):
    """Fate of a packet in our queue and in the kernel's; None: dropped."""

    arrival: Arrival
    place: tuple[int, ...]
    ours: Left | None
    kernels: Left | None

    @property
    def differs(self) -> bool:
        """Return whether the fates differ."""
        return self.ours != self.kernels

    @property
    def when_ns(self) -> int:
        """Return the earlier of the departure times; the arrival time if both dropped it."""
        return min((left.at_ns for left in (self.ours, self.kernels) if left), default=self.arrival.at_ns)


@dataclass(frozen=True)
class Trace:
    """A trace and its fates in both queues."""

    question: Question
    seed: int
    fates: tuple[Fate, ...]

    @property
    def differences(self) -> int:
        """Packets that fared differently."""
        return sum(fate.differs for fate in self.fates)

    def first(self) -> str:
        """Return the first packet whose fates differ, by the earlier departure time, with the packets around it."""
        numbered = sorted(enumerate(self.fates), key=lambda item: (item[1].when_ns, item[0]))
        at = next(i for i, (_, fate) in enumerate(numbered) if fate.differs)
        shown = numbered[max(0, at - AROUND) : at + AROUND + 1]
        rows: list[tuple[str, ...]] = [("packet", "came, ns", "bytes", "codepoint", "place", "ours", "the kernel's")]
        rows += [_row(i, fate) for i, fate in shown]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def agree(file: str | os.PathLike[str], *, traces: int, seed: int = 1, packets: int = PACKETS) -> list[Trace]:
    """Compare every queue named by a link of the scenario ``file`` with the kernel's on ``traces`` random traces.

    Trace i is drawn with ``seed`` + i, as in `ecnlab.agreement.arrivals`. Raises EcnlabError if no kernel has been
    built or no link names a queue; SpecError for queues that the kernel does not have; RunError for a kernel that
    failed.
    """
    path = Path(file)
    if is_experiment(read_text(path)):
        raise EcnlabError(f"{path} is an experiment: `--packets` compares the queues of a scenario")
    scenario = read_scenario(path)
    kernel = find()
    requested = [(question, seed + i) for question in questions(scenario) for i in range(traces)]
    return ask(requested, kernel, packets)


def ask(requested: Sequence[tuple[Question, int]], kernel: Any, packets: int = PACKETS) -> list[Trace]:
    """Run each question with its own trace, drawn with the given seed."""
    found = []
    for question, seed in requested:
        groups = question.scenario.names("group")
        rows = drawn(seed, question.rate_bps, packets, groups=len(groups), dscps=question.dscps)
        with guarded():
            left = replay_packets(question.scenario, question.index, seed, rows)
        found.append((question, seed, rows, left))
    lines = [Line(question.twin, _sent(question, rows, ours), _end(rows, ours)) for question, _, rows, ours in found]
    theirs = replay(kernel, lines)
    return [
        Trace(question, seed, tuple(_fates(rows, ours, left)))
        for (question, seed, rows, ours), left in zip(found, theirs, strict=True)
    ]


def questions(scenario: Scenario) -> list[Question]:
    """Return the queues named by links of ``scenario``.

    Raises SpecError for unsupported ones, EcnlabError if there are none.
    """
    spec, found = scenario.resolved, Findings()
    requested = []
    for index, one in enumerate(scenario.drawn(1)["links"]):
        table, path = spec["link"][one["table"]], f"link.{one['table']}"
        if one["reverse"]:
            table, path = table["reverse"], f"{path}.reverse"
        if table["queue"] != "default":
            requested.append(_question(scenario, index, one["name"], table, path, found))
    found.raise_if_any(scenario)
    if not requested:
        raise EcnlabError(f'no link of {scenario.path} names a queue: write queue = "NAME" in one, and [queue.NAME]')
    return requested


def _question(
    scenario: Scenario, index: int, name: str, table: Mapping[str, Any], path: str, found: Findings
) -> Question:
    if "rate" not in table:
        found.refuse(f"{path}.queue", f"`{path}`: packets queue only in front of a link with a rate", "write `rate`")
    rate = table.get("rate", "1 bps")
    if changes(rate):
        message = f"`{path}.rate`: the kernel's queue is in front of a link of fixed rate"
        found.refuse(f"{path}.rate", message, "give it one rate")
    if "shaper" in table:
        help_ = 'leave it out, or write a queue with discipline = "tbf"'
        found.refuse(
            f"{path}.shaper", f"`{path}.shaper`: the kernel's queue is in front of a link of fixed rate", help_
        )
    queue = scenario.resolved["queue"][table["queue"]]
    substitutions = Findings()
    twins = twin(queue, f"queue.{table['queue']}", found)
    twin(queue, f"queue.{table['queue']}", substitutions)
    return Question(
        scenario,
        index,
        name,
        table["queue"],
        queue["discipline"],
        0 if changes(rate) else number(rate),
        twins,
        tuple(sorted({0, *_dscps(queue)})),
        tuple(substitutions.instead),
    )


def _dscps(queue: Mapping[str, Any]) -> Iterator[int]:
    for table in queue.get("class", {}).values():
        yield from table.get("dscp", ())
        yield from _dscps(table)


def _sent(question: Question, rows: Sequence[Arrival], ours: Sequence[Ours]) -> list[Sent]:
    return [
        Sent(row.at_ns, row.length, row.tos, question.twin.priority(place), busy_ns, row.flow)
        for row, (_, _, place, busy_ns) in zip(rows, ours, strict=True)
    ]


def _end(rows: Sequence[Arrival], ours: Sequence[Ours]) -> int:
    """A time at which the kernel's queue is empty, if it does anything like ours."""
    last = max((left_ps for left_ps, *_ in ours if left_ps is not None), default=0) // 1000
    return max(last, rows[-1].at_ns) + sum(busy_ns for *_, busy_ns in ours) + AFTER_NS


def _fates(rows: Sequence[Arrival], ours: Sequence[Ours], kernels: Mapping[int, Left]) -> Iterator[Fate]:
    for i, (row, (left_ps, tos, place, _)) in enumerate(zip(rows, ours, strict=True)):
        # A kernel timer due within a nanosecond expires at its end.
        left = None if left_ps is None else Left(-(-left_ps // 1000), tos)
        yield Fate(row, tuple(place), left, kernels.get(i))


def _row(number: int, fate: Fate) -> tuple[str, ...]:
    came = fate.arrival
    place = "/".join(map(str, fate.place)) or "-"
    return (
        f"{'>' if fate.differs else ''} {number}",
        str(came.at_ns),
        str(came.length),
        CODEPOINTS[came.tos & 3],
        place,
        _left(fate.ours, came),
        _left(fate.kernels, came),
    )


def _left(left: Left | None, came: Arrival) -> str:
    if left is None:
        return "dropped"
    changed = "" if left.tos == came.tos else f" {CODEPOINTS[left.tos & 3]}"
    return f"{left.at_ns}{changed}"
