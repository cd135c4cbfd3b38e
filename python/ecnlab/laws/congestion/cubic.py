"""CUBIC (RFC 9438)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Window

KERNEL_HAS: Final[dict[str, object]] = {
    "profile": "linux",
    "beta": 0.7,
    "beta_ecn": None,
    "c": 0.4,
    "fast_convergence": True,
}

LAW: Final = Window(
    kernel="cubic",
    kernel_options=("TCP_CONG_CUBIC",),
    kernel_has=KERNEL_HAS,
    profile="rfc9438",
    kernel_slow_start="hystart",
)
