"""Statistics of the kernel's queue disciplines (TCA_STATS_APP): structs of linux/pkt_sched.h, and attributes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from ecnlab.base.errors import EcnlabError
from ecnlab.laws.kinds import Counts

ATTRIBUTE: Final = struct.Struct("=HH")
"""Length including this header, and type (``struct nlattr``)."""

TYPE_MASK: Final = 0x3FFF
"""The bits of a type without its flags (NLA_TYPE_MASK)."""

ALIGNED: Final = 4
"""Alignment of attributes in bytes (NLA_ALIGNTO)."""


class XstatsError(EcnlabError):
    """Statistics that do not have the layout of their discipline. The message states the expected layout."""


class Layout:
    """A kernel struct: its name, and its fields in order, of type ``__u32`` by default."""

    def __init__(self, name: str, fields: str, others: dict[str, str] | None = None) -> None:
        """``others``: format codes of ``struct`` for fields of other types, by field."""
        self.name, self._fields = name, fields.split()
        self._struct = struct.Struct("=" + "".join((others or {}).get(field, "I") for field in self._fields))

    def read(self, own: bytes) -> dict[str, int]:
        """Return the fields at the start of ``own``. Newer kernels may append fields, but do not insert any.

        Raises XstatsError if ``own`` is too short.
        """
        if len(own) < self._struct.size:
            raise XstatsError(f"{self.name} has {self._struct.size} bytes, got {len(own)}")
        return dict(zip(self._fields, self._struct.unpack_from(own), strict=True))


def early_or_full(drops: int, full: int, marks: int) -> Counts:
    """Return the counts of a discipline that counts all drops, and among them the drops at a full queue."""
    return Counts(marks, drops - full, 0, full)


def attributes(own: bytes, what: str) -> Iterator[tuple[int, bytes]]:
    """Yield type and payload of each netlink attribute in ``own``. Raises XstatsError, naming ``what``, if one is truncated."""
    at = 0
    while at < len(own):
        if len(own) - at < ATTRIBUTE.size:
            raise XstatsError(f"{what}: an attribute has {ATTRIBUTE.size} bytes or more, got {len(own) - at}")
        length, kind = ATTRIBUTE.unpack_from(own, at)
        if not ATTRIBUTE.size <= length <= len(own) - at:
            raise XstatsError(f"{what}: an attribute of {length} bytes does not fit into the {len(own) - at} left")
        yield kind & TYPE_MASK, own[at + ATTRIBUTE.size : at + length]
        at += -(-length // ALIGNED) * ALIGNED


def attribute(own: bytes, kind: int, what: str) -> bytes:
    """Return the payload of the attribute of type ``kind`` in ``own``. Raises XstatsError, naming ``what``, if missing."""
    for found, payload in attributes(own, what):
        if found == kind:
            return payload
    raise XstatsError(f"{what} (attribute {kind}) is missing")
