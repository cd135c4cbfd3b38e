"""DCTCP (RFC 8257)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Window

KERNEL_HAS: Final[dict[str, object]] = {"profile": "linux", "g": 0.0625, "alpha": 1.0, "codepoint": "ect0"}

LAW: Final = Window(
    kernel="dctcp",
    kernel_options=("TCP_CONG_DCTCP",),
    kernel_has=KERNEL_HAS,
    kernel_note="its alpha is an integer, and all its packets are ECN-capable",
    profile="rfc8257",
    kernel_ecn="dctcp",
    kernel_ecn_control=["ack", "probe", "retransmission", "fin"],
)
