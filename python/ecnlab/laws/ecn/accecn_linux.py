"""More accurate ECN feedback as Linux 7 has it (include/net/tcp_ecn.h)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Feedback

LAW: Final = Feedback(tcp_ecn=3, kernel="accecn-linux")
