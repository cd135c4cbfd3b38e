"""Token bucket filter, or virtual clock: ``sch_tbf`` on Linux around a FIFO in bytes."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue, Table
from ecnlab.linux.findings import Findings
from ecnlab.linux.quantity import number, split
from ecnlab.linux.tc import bucket, only_tail

LEAST_BURST: Final = 1514
"""Bytes of an Ethernet frame: the kernel drops what is longer than the bucket."""


def _says(queue: Table) -> list[str]:
    burst = number(queue["burst"])
    return [f"rate {queue['rate']}", f"burst {queue['burst']}" if burst else "virtual clock"]


def _qdisc(queue: Table, path: str, _rate_bps: int | None, found: Findings) -> str:
    only_tail(queue, path, found)
    limit, unit = split(queue["limit"])
    if "class" in queue:
        found.refuse(f"{path}.class", f"`{path}`: the Linux engine has a FIFO in `tbf`", "leave `class.inner` out")
    if unit == "packets":
        found.refuse(
            f"{path}.limit", f"`{path}.limit`: the kernel's FIFO in `tbf` is in bytes", 'write such as "90 kB"'
        )
    if number(queue["burst"]) < LEAST_BURST:
        help_ = f'write at least "{LEAST_BURST} B"'
        found.refuse(f"{path}.burst", f"`{path}.burst`: the kernel drops packets longer than the bucket", help_)
    if found.any():
        return ""
    rate = number(queue["rate"])
    words = ["tbf rate", f"{rate}bit", "burst", bucket(number(queue["burst"]), rate), "limit", limit]
    if "peakrate" in queue:
        peak = number(queue["peakrate"])
        words += ["peakrate", f"{peak}bit", "mtu", bucket(number(queue["mtu"]), peak)]
    return " ".join(str(word) for word in words)


LAW: Final = Queue(label="token bucket", says=_says, qdisc=_qdisc)
