"""A window law in a file of Python. Linux has no such law."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Window

LAW: Final = Window(label="a law in Python")
