"""BBR, version 1."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Window

MISSING: Final = "; missing if the window law is another"

LAW: Final = Window(
    kernel="bbr",
    kernel_options=("TCP_CONG_BBR",),
    kernel_gso_max_segs=1,
)
