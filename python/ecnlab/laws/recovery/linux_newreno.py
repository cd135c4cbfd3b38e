"""Linux's loss recovery without SACK."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Recovery

LAW: Final = Recovery(kernel_without_sack="same")
