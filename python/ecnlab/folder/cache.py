"""The cache of results: contents by key in one SQLite file of the user, for all folders and processes (``docs/cache.md``).

The cache never fails a run. A file that cannot be used is left alone with one warning; a damaged one is set aside and begun again.
Each entry has a digest over its key and content, checked at each read.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache as once
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from ecnlab.base import provenance
from ecnlab.base.errors import EcnlabError
from ecnlab.folder import size_limits

VARIABLE: Final = "ECNLAB_CACHE"
"""Environment variable: "off", a size such as "5 GB", or the absolute path of a folder."""

OFF: Final = "off"

DEFAULT_LIMIT: Final = 2 * 10**9
"""Bytes of the file."""

MAX_ENTRY: Final = 4 * 10**6
"""Bytes of the largest content that is stored."""

KEPT_SHARE: Final = 0.9
"""Share of the limit that is left when entries are removed."""

BLOCK: Final = 64
"""Entries in one query or transaction."""

NAME: Final = "runs-1.sqlite"
"""Name of the file; its number is that of the tables' format."""

DAMAGED: Final = ".damaged"
"""End of the name of a damaged file that was set aside."""

PAGE: Final = 16_384
"""Bytes of a page of the file: a part has about 34,000, and SQLite's 4,096 take 1.6 times the time to write."""

BUSY_SECONDS: Final = 5.0
"""Longest wait for another process that writes."""

_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS entries"
    " (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, digest BLOB NOT NULL, size INTEGER NOT NULL, used INTEGER NOT NULL)",
    "CREATE INDEX IF NOT EXISTS by_use ON entries (used, size)",
    "CREATE TABLE IF NOT EXISTS contents (id INTEGER PRIMARY KEY, data BLOB NOT NULL)",
)
"""Contents are apart, so that sizes and times of use are read and changed without them."""

_SIDE_FILES: Final = ("", "-wal", "-shm")

T = TypeVar("T")


class CacheWarning(UserWarning):
    """The cache is not used."""


@dataclass(frozen=True)
class Settings:
    """Place and size of the cache."""

    folder: Path
    limit: float
    """Bytes of the file."""

    @property
    def file(self) -> Path:
        """The SQLite file."""
        return self.folder / NAME


def settings() -> Settings | None:
    """Return the settings of the environment, None if the cache is off. Raises EcnlabError for an invalid variable."""
    text = os.environ.get(VARIABLE, "").strip()
    if text == OFF:
        return None
    if Path(text).is_absolute():
        return Settings(Path(text), DEFAULT_LIMIT)
    limit = size_limits.parsed(text) if text else DEFAULT_LIMIT
    if limit is None:
        raise EcnlabError(f'{VARIABLE} is {text!r}: write off, a size such as "5 GB", or an absolute path')
    try:
        return Settings(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "ecnlab", limit)
    except RuntimeError:  # no home
        return None


def key(*parts: str) -> bytes:
    """Return the key of a result that ``parts`` determine, together with the simulator's binary and the code that makes its tables."""
    return hashlib.sha256("\0".join((provenance.build(), _code(), *parts)).encode()).digest()


@once
def _code() -> str:
    """Digest of the Python files that make tables of the simulator's columns, and store them."""
    digest = hashlib.sha256()
    for package in ("engines", "folder"):
        for path in sorted((Path(__file__).parents[1] / package).glob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


class Cache:
    """Contents by key. Used by one thread, with `opened`."""

    def __init__(self, chosen: Settings | None) -> None:
        self._settings = chosen
        self._connection: sqlite3.Connection | None = None
        if chosen:
            self._tried(lambda: self._connect(chosen), None)

    @property
    def on(self) -> bool:
        """Whether the cache can be used."""
        return self._connection is not None

    def get(self, keys: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Yield the entries with ``keys`` that exist and are whole, as (key, content). Damaged ones are removed."""
        remaining = iter(keys)
        while block := list(islice(remaining, BLOCK)):
            yield from self._tried(partial(self._read, block), list[tuple[bytes, bytes]]())

    def put(self, entries: Iterable[tuple[bytes, bytes]]) -> None:
        """Store ``entries``, as (key, content), replacing those with the same keys; remove the least recently used above the limit."""
        remaining = iter(entries)
        while self.on and (block := list(islice(remaining, BLOCK))):
            self._tried(partial(self._write, block), None)

    def close(self) -> None:
        """Close the file."""
        connection, self._connection = self._connection, None
        if connection:
            with suppress(sqlite3.Error):
                connection.close()

    def count(self) -> tuple[int, int]:
        """Return the number of entries and the bytes of their contents."""
        query = "SELECT count(*), coalesce(sum(size), 0) FROM entries"
        count, total = self._tried(lambda: self._open.execute(query).fetchone(), (0, 0))
        return count, total

    def clear(self) -> None:
        """Remove all entries, and give their space back; remove a file that was set aside."""
        self._tried(self._clear, None)

    def _tried(self, action: Callable[[], T], otherwise: T) -> T:
        """Return the result of ``action``; ``otherwise`` without a usable file. A damaged file is begun again once."""
        assert self._settings or not self._connection
        for again in (True, False):
            if self._settings is None:
                break
            try:
                return action()
            except (sqlite3.Error, OSError) as error:
                damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in (
                    sqlite3.SQLITE_CORRUPT,
                    sqlite3.SQLITE_NOTADB,
                )
                if not (again and damaged and self._set_aside(self._settings)):
                    self._turn_off(error)
        return otherwise

    def _turn_off(self, error: Exception) -> None:
        assert self._settings
        text = f"{self._settings.file}: the cache of runs is not used ({error}); `ecnlab cache` shows it, {VARIABLE}=off is without it"
        self.close()
        self._settings = None
        warnings.warn(text, CacheWarning, stacklevel=2)

    def _set_aside(self, chosen: Settings) -> bool:
        """Rename the damaged file, unless another process has begun it again, and open a new one. Return whether that was possible."""
        inode = self._inode
        self.close()
        with suppress(OSError):
            if _inode(chosen.file) == inode:
                for end in _SIDE_FILES:
                    with suppress(FileNotFoundError):
                        (chosen.folder / (NAME + end)).replace(chosen.folder / (NAME + DAMAGED + end))
            with suppress(sqlite3.Error):
                self._connect(chosen)
                return True
        return False

    def _connect(self, chosen: Settings) -> None:
        if self._connection:
            return
        chosen.folder.mkdir(parents=True, exist_ok=True)
        self._inode = _inode(chosen.file)
        connection = sqlite3.connect(chosen.file, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            _prepare(connection)
        except sqlite3.Error:
            connection.close()
            raise
        self._connection, self._inode = connection, _inode(chosen.file)

    @property
    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise sqlite3.OperationalError("it is closed")
        return self._connection

    def _read(self, keys: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
        query = (
            "SELECT id, key, digest, data FROM entries LEFT JOIN contents USING (id)"
            f" WHERE key IN ({','.join('?' * len(keys))})"
        )
        found, used, wrong = list[tuple[bytes, bytes]](), list[tuple[int, int]](), list[tuple[int]]()
        for entry, one, digest, data in self._open.execute(query, keys):
            if isinstance(data, bytes) and _digest(one, data) == digest:
                found.append((one, data))
                used.append((time.time_ns(), entry))
            else:
                wrong.append((entry,))
        if used or wrong:
            with suppress(sqlite3.OperationalError), _transaction(self._open) as writing:
                writing.executemany("UPDATE entries SET used = ? WHERE id = ?", used)
                _remove(writing, wrong)
        return found

    def _write(self, entries: Sequence[tuple[bytes, bytes]]) -> None:
        assert self._settings
        limit = self._settings.limit
        with _transaction(self._open) as writing:
            for one, data in entries:
                if len(data) <= min(MAX_ENTRY, limit * KEPT_SHARE):
                    _remove(writing, writing.execute("SELECT id FROM entries WHERE key = ?", (one,)).fetchall())
                    row = (one, _digest(one, data), len(data), time.time_ns())
                    entry = writing.execute("INSERT INTO entries (key, digest, size, used) VALUES (?, ?, ?, ?)", row)
                    writing.execute("INSERT OR REPLACE INTO contents VALUES (?, ?)", (entry.lastrowid, data))
            excess = _occupied(writing) - limit
            if excess > 0:
                _remove(writing, _oldest(writing, excess + (1 - KEPT_SHARE) * limit))

    def _clear(self) -> None:
        assert self._settings
        for end in _SIDE_FILES:
            (self._settings.folder / (NAME + DAMAGED + end)).unlink(missing_ok=True)
        with _transaction(self._open) as writing:
            writing.execute("DELETE FROM entries")
            writing.execute("DELETE FROM contents")
        with suppress(sqlite3.OperationalError):  # another process reads: its space is used again
            self._open.execute("VACUUM")
            self._open.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@contextmanager
def opened(*, use: bool = True) -> Iterator[Cache]:
    """The cache of the environment's settings; without ``use`` one that is off. Raises EcnlabError for an invalid variable."""
    made = Cache(settings() if use else None)
    try:
        yield made
    finally:
        made.close()


def _prepare(connection: sqlite3.Connection) -> None:
    """Set the modes of a connection, and create tables that do not exist."""
    connection.execute(f"PRAGMA page_size = {PAGE}")
    deadline = time.monotonic() + BUSY_SECONDS
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:  # the change of the mode does not wait for other processes
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    connection.execute("PRAGMA synchronous = NORMAL")
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] < len(_TABLES):
        with _transaction(connection):
            for table in _TABLES:
                connection.execute(table)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _remove(writing: sqlite3.Connection, entries: Sequence[tuple[int]]) -> None:
    writing.executemany("DELETE FROM entries WHERE id = ?", entries)
    writing.executemany("DELETE FROM contents WHERE id = ?", entries)


def _occupied(connection: sqlite3.Connection) -> int:
    """Bytes of the file that have contents."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    used: int = (pages - free) * size
    return used


def _oldest(connection: sqlite3.Connection, least: float) -> list[tuple[int]]:
    """Return the least recently used entries that have at least ``least`` bytes together."""
    found = list[tuple[int]]()
    for entry, size in connection.execute("SELECT id, size FROM entries ORDER BY used"):
        if least <= 0:
            break
        found.append((entry,))
        least -= size
    return found


def _digest(one: bytes, data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16, key=one).digest()


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None
