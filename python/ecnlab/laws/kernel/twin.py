"""The kernel's discipline that shall do the same as a queue of ours to every packet, in the words of ``tc``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ecnlab.base.quantities import number, split
from ecnlab.laws.kernel.findings import Findings

DEVICE: Final = "DEVICE"
"""Stands for the name of the device in lines for ``tc``."""

OWN: Final = 0x10
"""Handle of the outermost discipline."""

INNER: Final = 0x20
"""Handle of its first inner one; the others have those that follow."""


@dataclass(frozen=True)
class Twin:
    """The kernel's discipline."""

    words: str
    """What follows ``tc qdisc add ... handle 10:``."""
    below: tuple[str, ...] = ()
    """Further lines for ``tc -batch``: classes and their disciplines."""
    handle: int = 0
    """Handle of the discipline that reads a packet's class in its priority; 0 if none does."""
    mtu: int | None = None
    """Bytes of a full packet of its device, for a discipline that spares the last packet; None if it does not matter."""
    attached: bool = False
    """Whether ``words`` are for the guest, which asks the kernel itself: tc does not know the discipline."""

    def priority(self, place: Sequence[int]) -> int:
        """The ``skb->priority`` of a packet in the inner queues at ``place``, by our count from the outermost on.

        Classes are numbered from 1 on. Of classes within the last class of others, those of ETS in rounds, the first has
        the number that the class around them would have.
        """
        return (self.handle << 16) + sum(place) + 1 if self.handle else 0


Inner: TypeAlias = Callable[[Mapping[str, Any], str], Twin]
"""Finds the twin of an inner queue, by its table and path."""


def packets(queue: Mapping[str, Any], path: str, found: Findings) -> int:
    """The limit in packets; refuses one in bytes."""
    limit, unit = split(queue["limit"])
    if unit != "packets":
        found.refuse(f"{path}.limit", f"`{path}.limit`: the kernel counts packets here", 'write such as "100 packets"')
    return limit


def microseconds(queue: Mapping[str, Any], key: str, path: str, found: Findings) -> str:
    """The time ``key`` as ``tc`` reads it; refuses what is no whole number of microseconds."""
    ns = number(queue[key])
    if ns % 1000:
        found.refuse(f"{path}.{key}", f"`{path}.{key}`: tc reads whole microseconds", 'write such as "500 us"')
    return f"{ns // 1000}us"


def in_order(classes: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    """Classes by their ``order``, then by name: the places by which the core knows them."""
    return sorted(classes.items(), key=lambda item: (item[1]["order"], item[0]))


def whole_limit(queue: Mapping[str, Any], inner: Iterable[Mapping[str, Any]], path: str, found: Findings) -> None:
    """Refuse a limit of all classes together that ever holds: the kernel's classes have only their own."""
    limit, unit = split(queue["limit"])
    own = [split(table["limit"]) for table in inner]
    if any(other != unit for _, other in own) or sum(value for value, _ in own) > limit:
        help_ = "write at least the sum of the classes' limits, in the same unit"
        found.refuse(f"{path}.limit", f"`{path}.limit`: the kernel's classes have no limit together", help_)
    if "memory" in queue:
        found.refuse(f"{path}.memory", f"`{path}.memory`: the kernel's classes have no such limit", "leave it out")


def classless(twin: Twin, path: str, found: Findings) -> Twin:
    """``twin``, refused if packets in it have classes: their priority names one class."""
    if twin.handle or twin.below:
        help_ = "write a queue without classes there"
        found.refuse(path, f"`{path}`: a packet's priority names one class, and there would be another within", help_)
    return twin


def child(parent: str, place: int, twin: Twin) -> tuple[str, ...]:
    """Lines that put ``twin``, which has no classes, below the class ``parent``."""
    return (f"qdisc add dev {DEVICE} parent {parent} handle {INNER + place:x}: {twin.words}",)


def one_mtu(twins: Iterable[Twin], path: str, found: Findings) -> int | None:
    """The ``mtu`` of all ``twins`` that have one; refuses different ones: a device has one."""
    mtus = {twin.mtu for twin in twins if twin.mtu is not None}
    if len(mtus) > 1:
        found.refuse(
            path, f"`{path}`: a device of the kernel has one mtu, here are {len(mtus)}", "write the same in all"
        )
    return max(mtus, default=None)


def drr(classes: Sequence[tuple[Twin, int]], path: str, found: Findings) -> Twin:
    """``drr`` with these disciplines in its classes, and the quantum of each."""
    below: list[str] = []
    for i, (twin, quantum) in enumerate(classes):
        below.append(f"class add dev {DEVICE} parent {OWN:x}: classid {OWN:x}:{i + 1:x} drr quantum {quantum}")
        below += child(f"{OWN:x}:{i + 1:x}", i, twin)
    return Twin("drr", tuple(below), OWN, one_mtu([twin for twin, _ in classes], path, found))
