"""Sojourn times of packets in the kernel's queues, from captures before and behind a queue.

A packet enters its queue at the time at which it enters the node, and leaves it when it reaches the device behind the queue. Both
captures have the first bytes of its headers, which identify it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ecnlab.base.types import Place
from ecnlab.linux.topology import Link

PACKETS: Final = "packets"
"""The guest's file of captured packets (``linux/guest/taps.c``)."""

SNAP: Final = {4: 40, 6: 72}
"""Captured bytes of each packet by its IP version: the headers of IP and TCP, with IPv6 also TCP's timestamps."""

LEAST: Final = {4: 40, 6: 60}
"""Bytes of these headers without options."""

ZERO: Final = 8
"""Bytes of the time in ns at which the run began, in front of all records."""

HEAD: Final = struct.Struct("<QIIII")
"""Time in ns, link, length, captured bytes and place of a packet, in front of its bytes."""

BEFORE: Final = 1
AFTER: Final = 2
"""Places in these records."""

SAME: Final = {4: ((4, 2), (12, 8), (20, 12)), 6: ((8, 64),)}
"""Start and length of the bytes that identify a packet, by its IP version: IPv4's identification and addresses, ports, sequence number
and ACK; IPv6, which has no identification, all from the addresses on.

The others change on the way: ECN, TTL, and their checksum."""

QUANTILES: Final[Mapping[str, float]] = {
    "sojourn_p50_s": 0.5,
    "sojourn_p95_s": 0.95,
    "sojourn_p99_s": 0.99,
    "sojourn_p999_s": 0.999,
}

Passed = Mapping[str, tuple[NDArray[np.int64], NDArray[np.int64]]]
"""By link, of each packet that left its queue: time since the start of the run, and sojourn time, in ns."""


def taps(links: Sequence[Link]) -> Iterator[tuple[int, Place]]:
    """The captures for the links whose queues keep quantiles."""
    for link in links:
        if link.quantiles:
            yield link.index, "before"
            yield link.index, "after"


def read(path: Path, links: Sequence[Link]) -> Passed:
    """The sojourn times in the guest's file ``path``, of ``links`` whose queues keep quantiles.

    Packets with the same identifying bytes, such as a repeated SYN, are left out.
    """
    seen = _seen(path.read_bytes())
    found = {}
    for link in links:
        if link.quantiles:
            before, after = (_of(seen, link.index, place) for place in (BEFORE, AFTER))
            both = before.join(after, on="key", suffix="_after").sort("time_after", maintain_order=True)
            left = both["time_after"].to_numpy()
            found[link.name] = (left, left - both["time"].to_numpy())
    return found


def _seen(log: bytes) -> pl.DataFrame:
    """The captured packets of TCP: link, place, time since the start of the run in ns, and identifying bytes."""
    (zero,) = struct.unpack_from("<Q", log)
    rows = []
    at = ZERO
    while at < len(log):
        time, link, _length, kept, place = HEAD.unpack_from(log, at)
        at += HEAD.size
        ip = log[at] >> 4
        if kept >= LEAST.get(ip, kept + 1):
            packet = log[at : at + min(kept, SNAP[ip])]
            rows.append((link, place, time - zero, b"".join(packet[i : i + n] for i, n in SAME[ip])))
        at += kept
    schema = {"link": pl.UInt32, "place": pl.UInt32, "time": pl.Int64, "key": pl.Binary}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _of(seen: pl.DataFrame, link: int, place: int) -> pl.DataFrame:
    rows = seen.filter(link=link, place=place).select("time", "key")
    return rows.filter(pl.col("key").is_unique())


def with_quantiles(links: pl.DataFrame, passed: Passed, start_ns: int) -> pl.DataFrame:
    """The table ``links`` with mean and quantiles of the sojourn times of packets that left a queue from ``start_ns`` on.

    Queues without quantiles keep their mean.
    """
    rows = [_row(*passed[row["link"]], start_ns) if row["link"] in passed else {} for row in links.to_dicts()]
    mean = [row.get("sojourn_mean_s", old) for row, old in zip(rows, links["sojourn_mean_s"], strict=True)]
    others = [
        pl.Series(name, [row.get(name) for row in rows], dtype=pl.Float64) for name in (*QUANTILES, "sojourn_max_s")
    ]
    return links.with_columns(pl.Series("sojourn_mean_s", mean, dtype=pl.Float64), *others)


def _row(left: NDArray[np.int64], sojourns: NDArray[np.int64], start_ns: int) -> dict[str, Any]:
    times = sojourns[left >= start_ns] / 1e9
    if not times.size:
        return dict.fromkeys(("sojourn_mean_s", *QUANTILES, "sojourn_max_s"))
    quantiles = np.quantile(times, list(QUANTILES.values()), method="inverted_cdf")
    return {
        "sojourn_mean_s": float(times.mean()),
        **dict(zip(QUANTILES, map(float, quantiles), strict=True)),
        "sojourn_max_s": float(times.max()),
    }
