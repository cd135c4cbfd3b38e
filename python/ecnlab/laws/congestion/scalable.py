"""Scalable TCP (Kelly)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Window

LAW: Final = Window(label="Scalable TCP")
