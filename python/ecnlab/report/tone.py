"""Tones of verdicts: each has its own sign as well as its own colour."""

from __future__ import annotations

from typing import Literal

Tone = Literal["yes", "partly", "no", "open", "plain"]
"""Meaning of a chip. Each tone has its own sign as well as its own colour."""

SIGNS: dict[Tone, str] = {"yes": "●", "partly": "◐", "no": "○", "open": "◌", "plain": "·"}
