"""Tables that grow during a run: written in blocks, merged at its end, never completely in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from ecnlab.base.errors import EcnlabError
from ecnlab.base.lazy_imports import pl
from ecnlab.base.types import Column
from ecnlab.engines.frames import frame
from ecnlab.folder import size_limits
from ecnlab.folder.tables import join_tables, stacked, write_table

ROW_GROUP: Final = 1 << 12
"""Rows of a table that are put together at a time, at the least."""

BLOCK_ROWS: Final = 1 << 18
"""Rows of a block on disk: some megabytes."""


class Growing:
    """Receiver of the blocks of a run's tables, which may have ``most`` bytes (None: the limit of the environment).

    They are written ``block_rows`` at a time.

    Tables that are not ``wanted`` (None: all are) are dropped.
    """

    def __init__(
        self,
        folder: Path,
        wanted: Collection[str] | None = None,
        most: float | None = None,
        block_rows: int | None = None,
    ) -> None:
        self._folder = folder
        self._wanted = wanted
        self._waiting: dict[str, list[pl.DataFrame]] = {}
        self._written: dict[str, list[Path]] = {}
        self._bytes = 0
        self._block_rows = block_rows or BLOCK_ROWS
        self._most = size_limits.limit() if most is None else most

    @property
    def tables(self) -> list[str]:
        """Return the tables with at least one block."""
        return list(self._waiting)

    def take(self, table: str, columns: Mapping[str, Column]) -> None:
        """The next rows of ``table``. Raises OSError; EcnlabError if the tables become larger than they may."""
        if self._wanted is None or table in self._wanted:
            self.add(table, frame(columns))

    def add(self, table: str, rows: pl.DataFrame) -> None:
        """Add the next rows of ``table``, as a frame. Raises as ``take`` does."""
        waiting = self._waiting.setdefault(table, [])
        waiting.append(rows)
        if sum(block.height for block in waiting) >= self._block_rows:
            self._write(table)

    def finish(self, table: str, path: Path) -> None:
        """Put ``table`` together in ``path``. Raises OSError."""
        if table not in self._written:
            write_table(path, stacked(table, self._waiting.pop(table)), durable=False)
            return
        if self._waiting[table]:
            self._write(table)
        blocks = self._written.pop(table)
        rows = stacked(table, [pl.scan_parquet(block) for block in blocks])
        join_tables(rows, blocks, path, max(self._block_rows, ROW_GROUP))
        for block in blocks:
            block.unlink()

    def _write(self, table: str) -> None:
        self._folder.mkdir(exist_ok=True)
        written = self._written.setdefault(table, [])
        path = self._folder / f"{table}.{len(written):06}.parquet"
        write_table(path, stacked(table, self._waiting[table]), durable=False)
        self._waiting[table] = []
        written.append(path)
        self._bytes += path.stat().st_size
        if self._bytes > self._most:
            raise EcnlabError(
                f"the tables of this run have become larger than {size_limits.size(self._most)} ({table} has "
                f"{len(written)} blocks of {self._block_rows} rows): allow more with {size_limits.LIMIT} in the environment, or "
                f"record less (`sample`, `packets`, `duration`)"
            )
