"""Reno's fast recovery (RFC 2581)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Recovery

LAW: Final = Recovery(label="Reno")
