"""DCTCP (RFC 8257)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Column, Window

KERNEL_HAS: Final[dict[str, object]] = {"profile": "linux", "g": 0.0625, "alpha": 1.0, "codepoint": "ect0"}

COLUMNS: Final = {
    "alpha": Column("ratio", "DCTCP's estimate of the marked part of its data; missing if the window law is another"),
}

LAW: Final = Window(
    label="DCTCP",
    kernel="dctcp",
    kernel_options=("TCP_CONG_DCTCP",),
    kernel_has=KERNEL_HAS,
    kernel_note="its alpha is an integer",
    profile="rfc8257",
    kernel_ecn="dctcp",
    columns=COLUMNS,
)
