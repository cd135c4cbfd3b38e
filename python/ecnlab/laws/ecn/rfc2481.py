"""RFC 2481's ECN: on Linux, RFC 3168's is used instead."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Feedback

LAW: Final = Feedback(tcp_ecn=1, kernel="rfc3168", accepted_by={"off": 2}, halves_on_mark=True)
