"""Reno."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Window

LAW: Final = Window(kernel="reno", response=lambda _parameters: (1.0, 0.5))
