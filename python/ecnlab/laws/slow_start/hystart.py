"""HyStart, as Linux has it."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import SlowStart

LAW: Final = SlowStart(label="HyStart")
