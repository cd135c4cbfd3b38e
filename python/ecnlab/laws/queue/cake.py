"""CAKE (Linux's ``sch_cake``). Quanta are rounded by chance in the kernel, so that no packets are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ecnlab.laws.kinds import Drops, Queue, Table
from ecnlab.linux.findings import Findings
from ecnlab.linux.quantity import number
from ecnlab.linux.twin import microseconds

ETHERNET: Final = 14
"""Bytes that the kernel takes off a packet for which ``overhead`` is given; the table of sizes has taken them off before."""

TARGETS_PER_RTT: Final = 20
"""Targets in an `rtt`, where no `target` is given (tc)."""

MOST_OVERHEAD: Final = 256
"""The most that tc takes."""

FRAMING: Final = {"plain": "noatm", "atm": "atm", "ptm": "ptm"}


def _qdisc(queue: Table, path: str, _rate_bps: int | None, found: Findings) -> str:
    for key, only in {"full": "fattest", "ecn": True}.items():
        if queue[key] != only:
            found.refuse_value(f"{path}.{key}", queue[key], "its CAKE leaves no choice: leave it out")
    if "target" in queue and 20 * number(queue["target"]) != number(queue["rtt"]):
        found.refuse_value(f"{path}.target", queue["target"], "tc sets a twentieth of `rtt`: leave it out")
    overhead = queue["overhead"] + ETHERNET
    if overhead > MOST_OVERHEAD:
        found.refuse_value(f"{path}.overhead", queue["overhead"], f"write at most {MOST_OVERHEAD - ETHERNET}")
    found.tell(path, "mtu", queue["mtu"], "1514 B")
    found.tell(path, "limit", queue["limit"], "1000000 packets")
    found.tell(path, "salt", queue.get("salt"), None)
    rate = f"bandwidth {number(queue['rate'])}bit" if "rate" in queue else "unlimited"
    words = [f"cake {rate} {queue['diffserv']} {queue['isolation']} rtt {microseconds(queue, 'rtt', path, found)}"]
    words += [f"overhead {overhead} mpu {queue['mpu']} {FRAMING[queue['framing']]} nowash no-ack-filter"]
    if "memory" in queue:
        words.append(f"memlimit {number(queue['memory'])}")
    return " ".join([*words, "ingress" if queue["ingress"] else "egress"])


def _drops(_counters: Mapping[str, int]) -> Drops:
    """sch_cake counts drops of all causes in one."""
    return Drops(None, None, None)


def _acts_above(queue: Table) -> dict[str, str]:
    """COBALT's target; with a rate of its own CAKE raises it above the time of a packet."""
    if "rate" in queue:
        return {}
    target = f"{number(queue['rtt']) / TARGETS_PER_RTT / 1e6:g} ms"
    return {"target": queue.get("target", target)}


LAW: Final = Queue(qdisc=_qdisc, drops=_drops, acts_above=_acts_above)
