"""Accurate ECN feedback as in Linux 7 (include/net/tcp_ecn.h)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Feedback

LAW: Final = Feedback(tcp_ecn=3, kernel="accecn-linux", accepted_by={"off": 5, "rfc3168": 4})
