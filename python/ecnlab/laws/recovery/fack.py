"""Forward acknowledgement (Mathis and Mahdavi 1996)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Recovery

LAW: Final = Recovery(label="FACK")
