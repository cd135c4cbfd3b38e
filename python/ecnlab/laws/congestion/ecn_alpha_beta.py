"""ECN(alpha, beta) (Kwon and Fahmy)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Table, Window


def _response(parameters: Table) -> tuple[float, float]:
    from ecnlab.models import ecn  # loads NumPy

    return parameters.get("alpha", ecn.ALPHA), parameters.get("beta", ecn.BETA)


LAW: Final = Window(response=_response)
