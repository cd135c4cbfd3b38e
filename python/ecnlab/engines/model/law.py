"""The queue of a resolved scenario as a control law of the models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ecnlab import laws
from ecnlab.laws.kinds import Place
from ecnlab.laws.model_coverage import expected
from ecnlab.models.red import ControlLaw


def control_law(name: str, queue: Mapping[str, Any], wire_bytes: float, rate_bps: float, *, ecn: bool) -> ControlLaw:
    """Return the law of ``queue``, named ``name``, in front of a link of ``rate_bps`` with packets of ``wire_bytes``.

    ``ecn`` states whether any flow is ECN-capable. Raises NotCoveredError for a law that the models do not have.
    """
    forms = {law: known.control_law for law, known in laws.queues().items() if known.control_law}
    expected(queue["discipline"], list(forms), f"queue {name} is")
    return forms[queue["discipline"]](Place(name, queue, wire_bytes, rate_bps, ecn))
