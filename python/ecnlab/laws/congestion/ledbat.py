"""LEDBAT (RFC 6817)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Window

LAW: Final = Window(label="LEDBAT")
