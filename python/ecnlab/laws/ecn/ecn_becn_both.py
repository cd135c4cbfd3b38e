"""ECN+BECN that also obeys the echo of a quenched mark."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Feedback

LAW: Final = Feedback(label="ECN+BECN (both)")
