"""Flow queues: flows hashed over queues that are all alike."""

from __future__ import annotations

from typing import Final

from ecnlab.base.quantities import number
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.tc import only_tail
from ecnlab.laws.kernel.twin import Inner, Twin, classless, drr, whole_limit
from ecnlab.laws.kinds import Queue, Table

MOST_FLOWS: Final = 256
"""Classes of the kernel that stand for flows, at most: each is made by lines of its own."""


def _twin(queue: Table, path: str, inner: Inner, found: Findings) -> Twin:
    only_tail(queue, path, found)
    if queue["rounds"] != "drr":
        found.refuse_value(f"{path}.rounds", queue["rounds"], 'write rounds = "drr", or discipline = "fq_codel"')
    flows = queue["flows"]
    if flows > MOST_FLOWS:
        help_ = f"write at most {MOST_FLOWS}"
        found.refuse(f"{path}.flows", f"`{path}.flows`: {flows} classes are too many for the kernel's drr here", help_)
        return Twin("")
    each = queue["class"]["each"]
    whole_limit(queue, [each] * flows, path, found)
    twin = classless(inner(each, f"{path}.class.each"), f"{path}.class.each", found)
    return drr([(twin, number(queue["quantum"]))] * flows, path, found)


LAW: Final = Queue(
    # The kernel's own flow queues are not those of this law: sch_fq paces, and is there for comparisons by hand.
    kernel_options=("NET_SCH_DRR", "NET_SCH_FQ"),
    twin=_twin,
    twins={'`rounds = "drr"`': "`drr`"},
)
