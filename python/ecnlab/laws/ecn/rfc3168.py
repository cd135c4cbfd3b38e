"""Standard ECN (RFC 3168)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Feedback

LAW: Final = Feedback(tcp_ecn=1, kernel="rfc3168", accepted_by={"off": 2}, halves_on_mark=True)
