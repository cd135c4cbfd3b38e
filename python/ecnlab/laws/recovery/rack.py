"""RACK-TLP (RFC 8985) as Linux has it."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Recovery

LAW: Final = Recovery(label="RACK-TLP")
