"""The ``tc`` lines that set a candidate up on a home router: egress on its device, ingress by an ``ifb`` device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ecnlab.advise.candidates import NONE, SHARE
from ecnlab.advise.line import LARGE, PTM, Kind, Line
from ecnlab.laws.kernel.findings import Findings
from ecnlab.linux import topology
from ecnlab.linux.disciplines import tc_words
from ecnlab.linux.tc_lines import egress, ifb, redirect

ETHERNET: Final = 14
"""Header of Ethernet in bytes, which the kernel counts before the overhead of ``stab`` (man tc-stab)."""

DEVICE: Final = "eth0"


def lines(name: str, line: Line, queues: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the commands for the candidate ``name``; none for that without a shaper. ``eth0`` stands for the line's device.

    ``queues`` are those of the resolved scenario with the candidate.
    """
    if name == NONE:
        return []
    far = ifb(DEVICE)
    return [
        *egress(DEVICE),
        *_shaper(DEVICE, queues["up"], line.kind, line.up_bps),
        *redirect(DEVICE, far),
        *_shaper(far, queues["down"], line.kind, line.down_bps),
    ]


def _shaper(device: str, queue: Mapping[str, Any], kind: Kind, rate_bps: float) -> list[str]:
    found = Findings()
    if "rate" in queue:
        # The law's words are for sizes without an Ethernet header; without a size table CAKE subtracts it itself.
        words = tc_words({**queue, "overhead": queue["overhead"] - ETHERNET}, "", None, found)
        placed = topology.placed(device, words, None, sizes="")
    else:
        rate = round(SHARE * rate_bps * (PTM[0] / PTM[1] if kind.framing == "ptm" else 1))
        words = tc_words(queue, "", rate, found)
        placed = topology.placed(device, words, rate, kind.wire(LARGE), _sizes(kind))
    return [f"tc {' '.join(line.split())}" for line in placed]


def _sizes(kind: Kind) -> str:
    """Return the size table of ``kind``. PTM, which it lacks, is in the rate of the shaper."""
    layer = "atm" if kind.framing == "atm" else "ethernet"
    return f"stab overhead {kind.overhead - ETHERNET} mpu {kind.mpu} linklayer {layer}"
