"""DCTCP's feedback (RFC 8257 section 3.2): ECE on an ACK says that what it acknowledges was marked."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Feedback

LAW: Final = Feedback(label="DCTCP's feedback")
