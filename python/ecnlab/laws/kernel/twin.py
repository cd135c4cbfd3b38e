"""Kernel disciplines, as arguments of ``tc``, that should treat every packet as the simulator's queue does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ecnlab.base.quantities import number, split
from ecnlab.laws.kernel.findings import Findings

DEVICE: Final = "DEVICE"
"""Placeholder for the device name in lines for ``tc``."""

OWN: Final = 0x10
"""Handle of the outermost discipline."""

INNER: Final = 0x20
"""Handle of its first inner discipline; the others have the handles that follow."""


@dataclass(frozen=True)
class Twin:
    """The kernel's discipline."""

    words: str
    """Arguments after ``tc qdisc add ... handle 10:``."""
    below: tuple[str, ...] = ()
    """Further lines for ``tc -batch``: classes and their disciplines."""
    handle: int = 0
    """Handle of the discipline that reads a packet's class in its priority; 0 if none does."""
    mtu: int | None = None
    """MTU of the device in bytes, for a discipline that never drops or marks the last packet; None if it has no effect."""
    attached: bool = False
    """Whether ``words`` are for the guest program, which configures the kernel itself: tc does not know the discipline."""

    def priority(self, place: Sequence[int]) -> int:
        """Return the ``skb->priority`` of a packet in the inner queues at ``place``, counted from the outermost.

        Classes are numbered from 1 on. Of classes within the last class of others, those of ETS in rounds, the first has
        the number that the class around them would have.
        """
        return (self.handle << 16) + sum(place) + 1 if self.handle else 0


Inner: TypeAlias = Callable[[Mapping[str, Any], str], Twin]
"""Function that returns the twin of an inner queue, given its table and path."""


def packets(queue: Mapping[str, Any], path: str, found: Findings) -> int:
    """Return the limit in packets; refuse one in bytes."""
    limit, unit = split(queue["limit"])
    if unit != "packets":
        found.refuse(f"{path}.limit", f"`{path}.limit`: the kernel counts packets here", 'write such as "100 packets"')
    return limit


def microseconds(queue: Mapping[str, Any], key: str, path: str, found: Findings) -> str:
    """Return the time ``key`` in the syntax of ``tc``; refuse a value that is not a whole number of microseconds."""
    ns = number(queue[key])
    if ns % 1000:
        found.refuse(f"{path}.{key}", f"`{path}.{key}`: tc reads whole microseconds", 'write such as "500 us"')
    return f"{ns // 1000}us"


def in_order(classes: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return classes by their ``order``, then by name: the core's numbering."""
    return sorted(classes.items(), key=lambda item: (item[1]["order"], item[0]))


def whole_limit(queue: Mapping[str, Any], inner: Iterable[Mapping[str, Any]], path: str, found: Findings) -> None:
    """Refuse a common limit of all classes that can take effect: the kernel's classes have only limits of their own."""
    limit, unit = split(queue["limit"])
    own = [split(table["limit"]) for table in inner]
    if any(other != unit for _, other in own) or sum(value for value, _ in own) > limit:
        help_ = "write at least the sum of the classes' limits, in the same unit"
        found.refuse(f"{path}.limit", f"`{path}.limit`: the kernel's classes have no common limit", help_)
    if "memory" in queue:
        found.refuse(f"{path}.memory", f"`{path}.memory`: the kernel's classes have no such limit", "leave it out")


def classless(twin: Twin, path: str, found: Findings) -> Twin:
    """Return ``twin``; refuse it if it has classes itself, because a packet's priority selects only one class."""
    if twin.handle or twin.below:
        help_ = "write a queue without classes there"
        found.refuse(path, f"`{path}`: a packet's priority selects one class, so a class cannot have classes", help_)
    return twin


def child(parent: str, place: int, twin: Twin) -> tuple[str, ...]:
    """Return the lines that attach ``twin``, which has no classes, to the class ``parent``."""
    return (f"qdisc add dev {DEVICE} parent {parent} handle {INNER + place:x}: {twin.words}",)


def one_mtu(twins: Iterable[Twin], path: str, found: Findings) -> int | None:
    """Return the common ``mtu`` of all ``twins`` that have one; refuse different values: a device has one MTU."""
    mtus = {twin.mtu for twin in twins if twin.mtu is not None}
    if len(mtus) > 1:
        found.refuse(
            path, f"`{path}`: a device of the kernel has one mtu, here are {len(mtus)}", "write the same in all"
        )
    return max(mtus, default=None)


def drr(classes: Sequence[tuple[Twin, int]], path: str, found: Findings) -> Twin:
    """Return ``drr`` with these disciplines and quanta as its classes."""
    below: list[str] = []
    for i, (twin, quantum) in enumerate(classes):
        below.append(f"class add dev {DEVICE} parent {OWN:x}: classid {OWN:x}:{i + 1:x} drr quantum {quantum}")
        below += child(f"{OWN:x}:{i + 1:x}", i, twin)
    return Twin("drr", tuple(below), OWN, one_mtu([twin for twin, _ in classes], path, found))
