"""CAKE (Linux's ``sch_cake``). Quanta are rounded by chance in the kernel, so that no packets are compared."""

from __future__ import annotations

import struct
from typing import Final

from ecnlab.base.quantities import number
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.twin import microseconds
from ecnlab.laws.kernel.xstats import XstatsError, attribute, attributes
from ecnlab.laws.kinds import Counts, Queue, Table

ETHERNET: Final = 14
"""Ethernet header bytes that the kernel subtracts if ``overhead`` is given; the size table (stab) has done so already."""

TARGETS_PER_RTT: Final = 20
"""Ratio of `rtt` to the default `target` (tc)."""

MAX_OVERHEAD: Final = 256
"""The most that tc takes."""

FRAMING: Final = {"plain": "noatm", "atm": "atm", "ptm": "ptm"}


def _qdisc(queue: Table, path: str, _rate_bps: int | None, found: Findings) -> str:
    for key, only in {"full": "fattest", "ecn": True}.items():
        if queue[key] != only:
            found.refuse_value(f"{path}.{key}", queue[key], "its CAKE has no such setting: leave it out")
    if "target" in queue and 20 * number(queue["target"]) != number(queue["rtt"]):
        found.refuse_value(f"{path}.target", queue["target"], "tc sets a twentieth of `rtt`: leave it out")
    overhead = queue["overhead"] + ETHERNET
    if overhead > MAX_OVERHEAD:
        found.refuse_value(f"{path}.overhead", queue["overhead"], f"write at most {MAX_OVERHEAD - ETHERNET}")
    found.substitute(path, "mtu", queue["mtu"], "1514 B")
    found.substitute(path, "limit", queue["limit"], "1000000 packets")
    found.substitute(path, "salt", queue.get("salt"), None)
    rate = f"bandwidth {number(queue['rate'])}bit" if "rate" in queue else "unlimited"
    words = [f"cake {rate} {queue['diffserv']} {queue['isolation']} rtt {microseconds(queue, 'rtt', path, found)}"]
    words += [f"overhead {overhead} mpu {queue['mpu']} {FRAMING[queue['framing']]} nowash no-ack-filter"]
    if "memory" in queue:
        words.append(f"memlimit {number(queue['memory'])}")
    return " ".join([*words, "ingress" if queue["ingress"] else "egress"])


TINS: Final = 10
"""Type of the attribute that contains one attribute per tin (TCA_CAKE_STATS_TIN_STATS)."""

MARKED: Final = 8
"""Type of a tin's attribute with its marks, a ``__u32`` (TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS)."""

MARKS: Final = struct.Struct("=I")


def _counts(_drops: int, own: bytes) -> Counts:
    """Return the marks of all tins. sch_cake counts drops of all causes together."""
    tins = list(attributes(attribute(own, TINS, "TCA_CAKE_STATS_TIN_STATS"), "TCA_CAKE_STATS_TIN_STATS"))
    if not tins:
        raise XstatsError("TCA_CAKE_STATS_TIN_STATS has one tin or more, got none")
    return Counts(sum(_marks(tin) for _, tin in tins), None, None, None)


def _marks(tin: bytes) -> int:
    marked = attribute(tin, MARKED, "TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS")
    if len(marked) != MARKS.size:
        raise XstatsError(f"TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS has {MARKS.size} bytes, got {len(marked)}")
    (marks,) = MARKS.unpack(marked)
    return int(marks)


def _acts_above(queue: Table) -> dict[str, str]:
    """Return COBALT's target. With a `rate`, CAKE raises it above the transmission time of a packet."""
    if "rate" in queue:
        return {}
    target = f"{number(queue['rtt']) / TARGETS_PER_RTT / 1e6:g} ms"
    return {"target": queue.get("target", target)}


LAW: Final = Queue(
    qdisc=_qdisc,
    kernel=("cake",),
    kernel_options=("NET_SCH_CAKE",),
    kernel_note="its hash is the kernel's",
    counts=_counts,
    uncounted=("early_drops", "forced_drops", "tail_drops"),
    acts_above=_acts_above,
)
