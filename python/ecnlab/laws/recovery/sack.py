"""Recovery with SACK and an estimate of the data in flight (RFC 6675)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Recovery

LAW: Final = Recovery(label="SACK")
