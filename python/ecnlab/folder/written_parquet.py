"""A Parquet file that a thread encodes and writes while its rows are being made."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, BinaryIO, cast

from ecnlab.base.lazy_imports import pl

if TYPE_CHECKING:
    from typing_extensions import Buffer


class WrittenParquet:
    """The file ``path`` in row groups of ``row_group`` rows, with the columns of ``schema``.

    Rows are held until their row group is complete. `end` must be called, also if the file is not wanted any more.
    """

    def __init__(self, path: Path, schema: pl.Schema, row_group: int) -> None:
        self.path, self.schema = path, schema
        self._row_group = row_group
        # No `Queue`: its lock is written in Python, and an interrupt between two of its steps would leave it taken.
        self._coming: SimpleQueue[pl.DataFrame | None] = SimpleQueue()
        self._accepted: SimpleQueue[None] = SimpleQueue()
        self._accepted.put(None)
        self._ended = False
        self._size: int | None = None
        self._failure: BaseException | None = None
        self._thread = Thread(target=self._write, name=f"writer of {path.name}")
        self._thread.start()

    @property
    def size(self) -> int:
        """Bytes written so far, or in all after `end`."""
        if self._size is None:
            return self.path.stat().st_size if self.path.exists() else 0
        return self._size

    def put(self, rows: pl.DataFrame) -> None:
        """Add ``rows``; waits while earlier ones have not been accepted. Raises OSError if writing has failed."""
        self._accepted.get()
        self._coming.put(rows)
        self._check()

    def end(self) -> None:
        """Complete the file. Raises OSError if writing has failed."""
        if self._thread.is_alive():
            self._coming.put(None)
            self._thread.join()
            self._size = self.size
        self._check()

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _write(self) -> None:
        from polars.io.plugins import register_io_source  # loads all of Polars

        try:
            rows = register_io_source(lambda *_pushed_down: self._arriving(), schema=self.schema)
            with self.path.open("wb") as file:
                output = cast("BinaryIO", _Output(file, self._fail))
                rows.sink_parquet(output, compression="zstd", row_group_size=self._row_group)
        except BaseException as error:  # raised where the rows come from
            self._fail(error)
        finally:
            for _ in self._arriving():  # after a failure `put` and `end` must not wait
                pass

    def _fail(self, error: BaseException) -> None:
        self._failure = self._failure or error

    def _arriving(self) -> Iterator[pl.DataFrame]:
        while not self._ended:
            rows = self._coming.get()
            self._accepted.put(None)
            if rows is None:
                self._ended = True
            else:
                yield rows


class _Output(io.RawIOBase):
    """Passes bytes to ``file`` and errors to ``fail``: Polars reports them only at the end, in its own error."""

    def __init__(self, file: BinaryIO, fail: Callable[[BaseException], None]) -> None:
        self._file, self._fail = file, fail

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer, /) -> int:
        try:
            return self._file.write(data)
        except OSError as error:
            self._fail(OSError(error.errno, error.strerror, self._file.name))
            raise
