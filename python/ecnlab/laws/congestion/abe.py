"""Alternative Backoff with ECN (RFC 8511)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Table, Window

BETA: Final = 0.8
"""Default factor of the window reduction on a mark (RFC 8511 section 3.1)."""


def _response(parameters: Table) -> tuple[float, float]:
    return 1.0, parameters.get("beta", BETA)


LAW: Final = Window(response=_response)
