"""More accurate ECN feedback (RFC 9768): counts of marks in three flags, and of bytes in an option."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Feedback

LAW: Final = Feedback(label="AccECN")
