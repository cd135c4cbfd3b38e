"""Drop-tail: ``pfifo``, ``bfifo`` or ``pfifo_head_drop`` on Linux."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ecnlab.base.quantities import length, split
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.tc import only_tail
from ecnlab.laws.kernel.twin import Inner, Twin
from ecnlab.laws.kinds import Place, Queue, Table

if TYPE_CHECKING:
    from ecnlab.models.red import ControlLaw


def _qdisc(queue: Table, path: str, _rate_bps: int | None, found: Findings) -> str:
    limit, unit = split(queue["limit"])
    if queue["full"] == "front" and unit == "packets":
        return f"pfifo_head_drop limit {limit}"
    only_tail(queue, path, found, 'write full = "tail", or a limit in packets')
    return f"{'pfifo' if unit == 'packets' else 'bfifo'} limit {limit}"


def _twin(queue: Table, path: str, _inner: Inner, found: Findings) -> Twin:
    return Twin(_qdisc(queue, path, None, found))


def _control_law(place: Place) -> ControlLaw:
    from ecnlab.models import red  # loads NumPy

    return red.drop_tail(place.packets(*length(place.settings["limit"])))


LAW: Final = Queue(
    qdisc=_qdisc,
    kernel=("pfifo", "bfifo", "pfifo_head_drop"),
    kernel_note='`bfifo` for a limit in bytes, `pfifo_head_drop` for `full = "front"`',
    twin=_twin,
    control_law=_control_law,
)
