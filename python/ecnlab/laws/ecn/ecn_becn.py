"""ECN+BECN: RFC 2481's ECN with source quenches."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Feedback

LAW: Final = Feedback(label="ECN+BECN")
