"""BECN: source quenches, no echo."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Feedback

LAW: Final = Feedback(label="BECN")
