"""Flow queues: flows hashed over inner queues with the same settings."""

from __future__ import annotations

from typing import Final

from ecnlab.base.quantities import number
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.tc import only_tail
from ecnlab.laws.kernel.twin import Inner, Twin, classless, drr, whole_limit
from ecnlab.laws.kinds import Queue, Table

MAX_FLOWS: Final = 256
"""Maximum number of kernel classes used as flow queues: each takes several lines of ``tc``."""


def _twin(queue: Table, path: str, inner: Inner, found: Findings) -> Twin:
    only_tail(queue, path, found)
    if queue["rounds"] != "drr":
        found.refuse_value(f"{path}.rounds", queue["rounds"], 'write rounds = "drr", or discipline = "fq_codel"')
    flows = queue["flows"]
    if flows > MAX_FLOWS:
        help_ = f"write at most {MAX_FLOWS}"
        found.refuse(
            f"{path}.flows",
            f"`{path}.flows`: {flows} classes are too many for the kernel's drr in the Linux engine",
            help_,
        )
        return Twin("")
    each = queue["class"]["each"]
    whole_limit(queue, [each] * flows, path, found)
    twin = classless(inner(each, f"{path}.class.each"), f"{path}.class.each", found)
    return drr([(twin, number(queue["quantum"]))] * flows, path, found)


LAW: Final = Queue(
    # sch_fq differs from this law, because it paces; its options are compiled in for manual comparisons.
    kernel_options=("NET_SCH_DRR", "NET_SCH_FQ"),
    twin=_twin,
    twins={'`rounds = "drr"`': "`drr`"},
)
