"""Tahoe: fast retransmit without fast recovery."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Recovery

LAW: Final = Recovery(label="Tahoe")
