"""Token bucket filter, or virtual clock: ``sch_tbf`` on Linux around a FIFO in bytes."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ecnlab.base.quantities import number, split
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.tc import bucket, only_tail
from ecnlab.laws.kernel.twin import INNER, OWN, Inner, Twin, child
from ecnlab.laws.kinds import Queue, Table

MIN_BURST: Final = 1514
"""Bytes of an Ethernet frame: the kernel drops packets longer than the bucket."""

MAX_LIMIT: Final = 1_000_000_000
"""``limit`` in bytes, which ``tc`` requires; without effect, because an inner queue replaces the default one."""


def _qdisc(queue: Table, path: str, _rate_bps: int | None, found: Findings) -> str:
    only_tail(queue, path, found)
    limit, unit = split(queue["limit"])
    if "class" in queue:
        found.refuse(f"{path}.class", f"`{path}`: the Linux engine has a FIFO in `tbf`", "leave `class.inner` out")
    if unit == "packets":
        found.refuse(
            f"{path}.limit", f"`{path}.limit`: the kernel's FIFO in `tbf` is in bytes", 'write such as "90 kB"'
        )
    if number(queue["burst"]) < MIN_BURST:
        help_ = f'write at least "{MIN_BURST} B"'
        found.refuse(f"{path}.burst", f"`{path}.burst`: the kernel drops packets longer than the bucket", help_)
    if found.any():
        return ""
    rate = number(queue["rate"])
    words = ["tbf rate", f"{rate}bit", "burst", bucket(number(queue["burst"]), rate), "limit", limit]
    if "peakrate" in queue:
        peak = number(queue["peakrate"])
        words += ["peakrate", f"{peak}bit", "mtu", bucket(number(queue["mtu"]), peak)]
    return " ".join(str(word) for word in words)


def _twin(queue: Table, path: str, inner: Inner, found: Findings) -> Twin:
    """Return the twin with exactly ``burst``, so that a comparison shows rounding that makes a packet wait for ever."""
    only_tail(queue, path, found)
    if number(queue["burst"]) < MIN_BURST:
        help_ = f'write at least "{MIN_BURST} B"'
        found.refuse(f"{path}.burst", f"`{path}.burst`: the kernel drops packets longer than the bucket", help_)
    limit, unit = split(queue["limit"])
    words = f"tbf rate {number(queue['rate'])}bit burst {number(queue['burst'])} limit {MAX_LIMIT}"
    if "peakrate" in queue:
        words += f" peakrate {number(queue['peakrate'])}bit mtu {number(queue['mtu'])}"
    within = Twin(f"{'pfifo' if unit == 'packets' else 'bfifo'} limit {limit}")
    if own := queue.get("class", {}).get("inner"):
        if split(own["limit"])[1] != unit or split(own["limit"])[0] > limit:
            help_ = "write at least the limit of class.inner, in the same unit"
            found.refuse(
                f"{path}.limit", f"`{path}.limit`: the kernel's tbf has no limit besides its inner queue's", help_
            )
        within = inner(own, f"{path}.class.inner")
        if within.below:
            found.refuse(
                f"{path}.class.inner", f"`{path}.class.inner` has classes", "write a queue without classes there"
            )
    below = child(f"{OWN:x}:1", 0, within)
    return replace(within, words=words, below=below, handle=INNER if within.handle else 0)


LAW: Final = Queue(
    qdisc=_qdisc,
    kernel=("tbf",),
    kernel_options=("NET_SCH_TBF",),
    kernel_note="around a FIFO in bytes",
    twin=_twin,
)
