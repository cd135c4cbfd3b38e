"""Hierarchical token bucket: ``sch_htb`` on Linux, whose filters the Linux engine does not use."""

from __future__ import annotations

from typing import Final

from ecnlab.base.quantities import number
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.tc import TICK_NS, only_tail
from ecnlab.laws.kernel.twin import DEVICE, OWN, Inner, Twin, child, classless, in_order, one_mtu, whole_limit
from ecnlab.laws.kinds import Queue, Table


def _twin(queue: Table, path: str, inner: Inner, found: Findings) -> Twin:
    only_tail(queue, path, found)
    classes, sharing = in_order(queue["class"]), queue["sharing"]
    whole_limit(queue, [table for _, table in classes], path, found)
    leaves = [name for name, _ in classes]
    names = [*leaves, *(name for name in sorted(sharing) if name not in leaves)]
    for name in names:
        _substitute_buckets(sharing[name], f"{path}.sharing.{name}", found)
    below = [_class_line(name, names, sharing) for name in sorted(names, key=lambda name: _depth(name, sharing))]
    twins = []
    for i, (name, table) in enumerate(classes):
        at = f"{path}.class.{name}"
        twins.append(classless(inner(table, at), at, found))
        below += child(f"{OWN:x}:{i + 1:x}", i, twins[-1])
    return Twin("htb", tuple(below), OWN, one_mtu(twins, path, found))


def _substitute_buckets(share: Table, path: str, found: Findings) -> None:
    """Report a bucket depth that tc changes: it rounds down to whole us, then to units of 64 ns (tc_calc_xmittime)."""
    for key, of in (("burst", "rate"), ("cburst", "ceil")):
        rate = number(share.get(of, share["rate"]))
        us = int(1e6 * (number(share[key]) / (rate // 8)))
        ticks = us * 1000 // TICK_NS
        exact = ticks * TICK_NS * rate == number(share[key]) * 8_000_000_000
        found.substitute(path, key, share[key], share[key] if exact else f"{ticks * TICK_NS * rate / 8e9:.2f} B")


def _depth(name: str, sharing: Table) -> int:
    parent = sharing[name].get("parent")
    return 1 + _depth(parent, sharing) if parent else 0


def _class_line(name: str, names: list[str], sharing: Table) -> str:
    share = sharing[name]
    parent = f"{OWN:x}:{names.index(share['parent']) + 1:x}" if "parent" in share else f"{OWN:x}:"
    rate, burst, cburst = (number(share[key]) for key in ("rate", "burst", "cburst"))
    quantum = number(share["quantum"]) if "quantum" in share else min(max(rate // 80, 1_000), 200_000)
    return (
        f"class add dev {DEVICE} parent {parent} classid {OWN:x}:{names.index(name) + 1:x} htb rate {rate}bit "
        f"ceil {number(share.get('ceil', share['rate']))}bit burst {burst} cburst {cburst} prio {share['priority']} "
        f"quantum {quantum}"
    )


LAW: Final = Queue(kernel_options=("NET_SCH_HTB",), twin=_twin, twins={"": "`htb`"})
