"""RFC 2481's ECN: Linux has RFC 3168's for it."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Feedback

LAW: Final = Feedback(tcp_ecn=1, kernel="rfc3168", halves_on_mark=True)
