"""Tables that grow during a run: written while their rows come, never completely in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Final, Self

from ecnlab.base.errors import EcnlabError
from ecnlab.base.lazy_imports import pl
from ecnlab.base.types import Column
from ecnlab.engines.frames import frame
from ecnlab.folder import size_limits
from ecnlab.folder.tables import join_tables, stacked, write_table
from ecnlab.folder.written_parquet import WrittenParquet

ROW_GROUP: Final = 1 << 12
"""Rows of a table that are put together at a time, at the least."""

BLOCK_ROWS: Final = 1 << 18
"""Rows of a table that are held before its file is begun: some megabytes."""


class Growing:
    """Receiver of the blocks of a run's tables, which may have ``most`` bytes (None: the limit of the environment).

    A table of at least ``block_rows`` is written while its rows come, by a thread. On leaving the context, files that are
    not finished are closed.

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
        self._files: dict[str, list[WrittenParquet]] = {}
        self._block_rows = block_rows or BLOCK_ROWS
        self._most = size_limits.limit() if most is None else most

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        for file in self._all_files():
            with suppress(OSError):
                file.end()

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
        if not waiting and self._continues(table, rows):
            self._write(table, rows)
            return
        waiting.append(rows)
        if sum(block.height for block in waiting) >= self._block_rows:
            self._write_waiting(table)

    def finish(self, table: str, path: Path) -> None:
        """Put ``table`` together in ``path``. Raises as ``take`` does."""
        if table not in self._files:
            write_table(path, stacked(table, self._waiting.pop(table)), durable=False)
            return
        if self._waiting[table]:
            self._write_waiting(table)
        del self._waiting[table]
        files = self._files[table]
        files[-1].end()
        self._refuse_too_large(table)
        if len(files) == 1:
            files[0].path.replace(path)
            return
        blocks = [file.path for file in files]
        join_tables(stacked(table, [pl.scan_parquet(block) for block in blocks]), blocks, path, self._row_group)
        for block in blocks:
            block.unlink()

    @property
    def _row_group(self) -> int:
        return max(self._block_rows, ROW_GROUP)

    def _all_files(self) -> Iterator[WrittenParquet]:
        return chain.from_iterable(self._files.values())

    def _continues(self, table: str, rows: pl.DataFrame) -> bool:
        """Whether ``rows`` have the columns of the last file of ``table``."""
        files = self._files.get(table, [])
        return bool(files) and rows.schema == files[-1].schema

    def _write_waiting(self, table: str) -> None:
        rows = stacked(table, self._waiting[table])
        self._waiting[table] = []
        if not self._continues(table, rows):
            self._begin(table, rows.schema)
        self._write(table, rows)

    def _begin(self, table: str, schema: pl.Schema) -> None:
        self._folder.mkdir(exist_ok=True)
        files = self._files.setdefault(table, [])
        if files:
            files[-1].end()
        path = self._folder / f"{table}.{len(files):06}.parquet"
        files.append(WrittenParquet(path, schema, self._row_group))

    def _write(self, table: str, rows: pl.DataFrame) -> None:
        self._files[table][-1].put(rows)
        self._refuse_too_large(table)

    def _refuse_too_large(self, table: str) -> None:
        if sum(file.size for file in self._all_files()) > self._most:
            raise EcnlabError(
                f"the tables of this run have become larger than {size_limits.size(self._most)}, with rows of {table}: allow "
                f"more with {size_limits.LIMIT} in the environment, or record less (`sample`, `packets`, `duration`)"
            )
