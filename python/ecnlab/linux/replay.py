"""Packets replayed through the kernel's queue disciplines in virtual time, each discipline with its own line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import polars as pl

from ecnlab.laws.kernel.twin import DEVICE, OWN, Twin
from ecnlab.linux.kernel import CLOCK_NS, Kernel
from ecnlab.linux.machine import boot
from ecnlab.linux.network import ATTACHED, as_files, batch_commands

HOST: Final = "line"
"""The namespace with all lines."""

OPTIONS: Final = (CLOCK_NS,)
"""Kernel options. None of them changes a queue discipline."""

MAX_LINES: Final = 250
"""Lines in one kernel, at most."""

MIN_MTU: Final = 1514

SECONDS: Final = 120.0
"""Limit of wall time for a kernel, in seconds."""

LOOK_NS: Final = 20_000_000
"""Interval between two checks for departed packets, after all have arrived."""


class Sent(NamedTuple):
    """A packet that is sent to a line."""

    at_ns: int
    length: int
    tos: int
    priority: int
    busy_ns: int
    """For how long the line is busy with it."""
    flow: int
    """Packets of one flow have the same addresses."""


class Left(NamedTuple):
    """A packet that left its queue."""

    at_ns: int
    tos: int


@dataclass(frozen=True)
class Line:
    """A queue discipline in front of a line, and its arrivals in order of time."""

    twin: Twin
    packets: Sequence[Sent]
    end_ns: int
    """When all has left that ever will."""


def replay(kernel: Kernel, lines: Sequence[Line]) -> list[dict[int, Left]]:
    """Return the departures from each of ``lines``, by the packet's index among the arrivals.

    Missing packets were dropped.

    The line polls the queue directly: it takes a packet when it is free, and is busy with it for ``busy_ns``. Raises
    RunError, with the kernel's console, if the kernel fails.
    """
    found: list[dict[int, Left]] = []
    for first in range(0, len(lines), MAX_LINES):
        found += _replay(kernel, lines[first : first + MAX_LINES])
    return found


def _replay(kernel: Kernel, lines: Sequence[Line]) -> list[dict[int, Left]]:
    with boot(kernel, _files(lines), 1, SECONDS, options=OPTIONS) as folder:
        rows = pl.read_csv(folder / "departures")
    found: list[dict[int, Left]] = [{} for _ in lines]
    for device, number, time_ns, tos in rows.iter_rows():
        found[device][number] = Left(time_ns, tos)
    return found


def _files(lines: Sequence[Line]) -> dict[str, str]:
    batches = as_files(
        {f"{HOST}.ip": _devices(lines), f"{HOST}.tc": _disciplines(lines), f"{HOST}.{ATTACHED}": _attached(lines)}
    )
    end = max(line.end_ns for line in lines)
    plan = [f"run {end} 0 0 {LOOK_NS}", f"host {HOST}", *batch_commands(batches), f"replay {HOST}"]
    return {**batches, **as_files({"plan": plan, "arrivals": _arrivals(lines)})}


def _devices(lines: Sequence[Line]) -> Iterator[str]:
    yield "link set lo up"
    yield "address add 10.0.0.1/32 dev lo"
    for i, line in enumerate(lines):
        mtu = line.twin.mtu or max(MIN_MTU, *(packet.length for packet in line.packets))
        yield f"link add l{i} type ecnlab-line"
        yield f"link set l{i} mtu {mtu} up"
        yield f"route add 10.1.{i >> 8}.{i & 255}/32 dev l{i}"


def _disciplines(lines: Sequence[Line]) -> Iterator[str]:
    """Each below a class of ``prio`` that has all packets.

    At the root the kernel may pass a packet by a discipline that is empty (TCQ_F_CAN_BYPASS), also to a line that is busy.
    """
    for i, line in enumerate(lines):
        yield f"qdisc add dev l{i} root handle 1: prio bands 2 priomap{' 0' * 16}"
        if line.twin.attached:
            continue
        own = f"qdisc add dev {DEVICE} parent 1:1 handle {OWN:x}: {line.twin.words}"
        yield from (words.replace(DEVICE, f"l{i}") for words in (own, *line.twin.below))


def _attached(lines: Sequence[Line]) -> Iterator[str]:
    """Disciplines that tc does not support, attached below the same class."""
    for i, line in enumerate(lines):
        if line.twin.attached:
            yield f"l{i} 1:1 {OWN:x}: {line.twin.words}"


def _arrivals(lines: Sequence[Line]) -> list[str]:
    rows = [
        (packet.at_ns, i, number, packet) for i, line in enumerate(lines) for number, packet in enumerate(line.packets)
    ]
    rows.sort(key=lambda row: row[:3])
    return [str(len(rows))] + [
        f"{at_ns} {i} {number} {packet.length} {packet.tos} {packet.priority} {packet.busy_ns} {packet.flow}"
        for at_ns, i, number, packet in rows
    ]
