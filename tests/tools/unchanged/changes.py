"""Changes of results that were meant, each as what it may alter: the rest of the column or capture must be as before.

``digests.py`` makes a second digest of what a change is about, without what it may alter; ``unchanged.py`` accepts a
difference if the commit lies between the two trees and these digests are equal.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

NEVER_SET: Final = float(2**64 - 1)
"""What a threshold that was never set was stored as."""


@dataclass(frozen=True, slots=True)
class Change:
    """A commit that changes results, and what of them."""

    commit: str
    about: str
    """A ``table.column``, or ``capture`` for those of all nodes."""
    reason: str
    column: Callable[[pl.Series], pl.Series] | None = None
    """Makes the values of before and after equal where they differ for this reason only."""
    capture: Callable[[bytes], bytes] | None = None
    """The same of the bytes of a capture."""


def without_never_set(values: pl.Series) -> pl.Series:
    """The thresholds as numbers of one type, missing where they were never set."""
    as_floats = values.cast(pl.Float64)
    return as_floats.set(as_floats == NEVER_SET, None)


def without_echoed_times(pcapng: bytes) -> bytes:
    """A capture with TSecr zero in every TCP segment over IPv4, and the checksum that belongs to it."""
    data = bytearray(pcapng)
    for segment in _segments(data):
        for at in _timestamps(data, segment):
            _clear(data, segment, range(at + 6, at + 10))
    return bytes(data)


def _segments(data: bytearray) -> Iterator[int]:
    """Where the TCP header of each enhanced packet block (type 6) of raw IPv4 packets begins."""
    block = 0
    while block < len(data):
        kind, length = struct.unpack_from("<II", data, block)
        packet = block + 28
        if kind == 6 and data[packet] >> 4 == 4 and data[packet + 9] == 6:
            yield packet + 4 * (data[packet] & 15)
        block += length


def _timestamps(data: bytearray, segment: int) -> Iterator[int]:
    """Where the timestamps option of a segment begins, if it has one (RFC 7323 section 3.2)."""
    at, end = segment + 20, segment + 4 * (data[segment + 12] >> 4)
    while at < end and data[at] != 0:
        if data[at] == 8:
            yield at
        at += 1 if data[at] == 1 else data[at + 1]


def _clear(data: bytearray, segment: int, places: range) -> None:
    """Zeroes bytes of a segment, and takes them from its checksum (RFC 1624)."""
    (checksum,) = struct.unpack_from(">H", data, segment + 16)
    words = sum(data[at] << (0 if (at - segment) % 2 else 8) for at in places)
    struct.pack_into(">H", data, segment + 16, (checksum + words) % 0xFFFF)
    for at in places:
        data[at] = 0


CHANGES: Final = (
    Change(
        "98bbc197",
        "flow_series.ssthresh_bytes",
        "missing where it was 2^64 - 1: the threshold was never set",
        column=without_never_set,
    ),
    Change(
        "ba74f779",
        "capture",
        "TSecr behind an ACK that was overtaken (RFC 7323 section 4.3)",
        capture=without_echoed_times,
    ),
)
