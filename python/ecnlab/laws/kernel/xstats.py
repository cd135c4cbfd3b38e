"""What the kernel's queue disciplines count themselves (TCA_STATS_APP): structs of linux/pkt_sched.h, and attributes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from ecnlab.base.errors import EcnlabError
from ecnlab.laws.kinds import Counts

ATTRIBUTE: Final = struct.Struct("=HH")
"""Length with this header, and type (``struct nlattr``)."""

TYPE_MASK: Final = 0x3FFF
"""The bits of a type without its flags (NLA_TYPE_MASK)."""

ALIGNED: Final = 4
"""Attributes begin at multiples of so many bytes (NLA_ALIGNTO)."""


class XstatsError(EcnlabError):
    """Statistics that do not have the layout of their discipline. The message says what was expected."""


class Layout:
    """A struct of the kernel's: its name, and its fields in order, ``__u32`` if they are not said to be others."""

    def __init__(self, name: str, fields: str, others: dict[str, str] | None = None) -> None:
        """``others`` are codes of ``struct`` by field."""
        self.name, self._fields = name, fields.split()
        self._struct = struct.Struct("=" + "".join((others or {}).get(field, "I") for field in self._fields))

    def read(self, own: bytes) -> dict[str, int]:
        """The fields at the beginning of ``own``. Newer kernels may have more behind them, never others before them.

        Raises XstatsError if ``own`` is too short.
        """
        if len(own) < self._struct.size:
            raise XstatsError(f"{self.name} has {self._struct.size} bytes, here are {len(own)}")
        return dict(zip(self._fields, self._struct.unpack_from(own), strict=True))


def early_or_full(drops: int, full: int, marks: int) -> Counts:
    """The counts of a discipline that counts all drops, and of these those that found the queue full."""
    return Counts(marks, drops - full, 0, full)


def attributes(own: bytes, what: str) -> Iterator[tuple[int, bytes]]:
    """Type and payload of each netlink attribute in ``own``. Raises XstatsError, naming ``what``, if one is cut short."""
    at = 0
    while at < len(own):
        if len(own) - at < ATTRIBUTE.size:
            raise XstatsError(f"{what}: an attribute has {ATTRIBUTE.size} bytes or more, here are {len(own) - at}")
        length, kind = ATTRIBUTE.unpack_from(own, at)
        if not ATTRIBUTE.size <= length <= len(own) - at:
            raise XstatsError(f"{what}: an attribute of {length} bytes does not fit into the {len(own) - at} left")
        yield kind & TYPE_MASK, own[at + ATTRIBUTE.size : at + length]
        at += -(-length // ALIGNED) * ALIGNED


def attribute(own: bytes, kind: int, what: str) -> bytes:
    """The payload of the attribute of the type ``kind`` in ``own``. Raises XstatsError, naming ``what``, if there is none."""
    for found, payload in attributes(own, what):
        if found == kind:
            return payload
    raise XstatsError(f"{what} (attribute {kind}) is missing")
