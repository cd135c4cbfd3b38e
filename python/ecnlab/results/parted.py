"""The tables of a run of which some are too large for memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ecnlab.base.lazy_imports import pl
from ecnlab.folder.tables import describe, describe_stored, read_table


class Parted(Mapping[str, "pl.DataFrame"]):
    """Tables of which some are in files because they are too large for memory."""

    def __init__(self, held: Mapping[str, pl.DataFrame], stored: Mapping[str, Path], order: list[str]) -> None:
        self.held, self.stored, self._order = held, stored, order
        self.scratch: object = None
        """The folder of these files, if it vanishes with the tables."""

    def __contains__(self, name: object) -> bool:
        return name in self._order  # that of `Mapping` reads the table

    def __getitem__(self, name: str) -> pl.DataFrame:
        return self.held[name] if name in self.held else read_table(self.stored[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._order)


def described(tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Return the entry ``tables`` of the manifest for the tables of a run."""
    if not isinstance(tables, Parted):
        return describe(tables)
    stored = describe_stored(tables.stored)
    held = describe(tables.held)
    return {name: {**held, **stored}[name] for name in tables}
