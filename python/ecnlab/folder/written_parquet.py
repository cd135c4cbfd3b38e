"""A Parquet file that a thread encodes and writes while its rows are being made."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from threading import Thread

from ecnlab.base.lazy_imports import pl


class WrittenParquet:
    """The file ``path`` in row groups of ``row_group`` rows, with the columns of ``schema``.

    Rows are held until their row group is complete. `end` must be called, also if the file is not wanted any more.
    """

    def __init__(self, path: Path, schema: pl.Schema, row_group: int) -> None:
        self.path, self.schema = path, schema
        self._row_group = row_group
        self._coming: Queue[pl.DataFrame | None] = Queue(1)
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
            rows.sink_parquet(self.path, compression="zstd", row_group_size=self._row_group)
        except pl.exceptions.PolarsError as error:
            self._failure = _as_os_error(error, self.path)
        except BaseException as error:  # raised again where the rows come from
            self._failure = error
        finally:
            for _ in self._arriving():  # after a failure `put` and `end` must not wait
                pass

    def _arriving(self) -> Iterator[pl.DataFrame]:
        while not self._ended:
            rows = self._coming.get()
            if rows is None:
                self._ended = True
            else:
                yield rows


def _as_os_error(error: pl.exceptions.PolarsError, path: Path) -> OSError:
    number = re.search(r"\(os error (\d+)\)", str(error))
    if number:
        return OSError(int(number[1]), os.strerror(int(number[1])), str(path))
    return OSError(errno.EIO, f"cannot be written: {error}", str(path))
