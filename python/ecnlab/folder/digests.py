"""Digests of stored files: a flipped bit is detected, and a verified file is not read again.

A digest is BLAKE2b with 128 bits. JSON files are sealed: they end with the digest of their contents.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import time
from pathlib import Path
from typing import IO, Any, Final, NoReturn

SIZE: Final = 16
"""Bytes of a digest."""

BLANK: Final = "0" * 2 * SIZE
"""Placeholder in a sealed text while the digest is computed."""

_SEAL: Final = re.compile(rb'"digest": "([0-9a-f]{32})"[\s}]*\Z')

_SETTLED_NS: Final = 2_000_000_000
"""A file changed less than this ago may change again within one tick of its times: it is not remembered."""

_Stamp = tuple[int, int, int, int, int]
_seen: dict[str, tuple[_Stamp, str]] = {}


def of_bytes(data: bytes) -> str:
    """The digest of ``data``."""
    return hashlib.blake2b(data, digest_size=SIZE).hexdigest()


def of_file(path: Path) -> str:
    """The digest of the file ``path``, remembered until the file changes. Raises OSError."""
    with path.open("rb") as file:
        stamp = _stamp(file.fileno())
        key = str(path.resolve())
        if key in _seen and _seen[key][0] == stamp:
            return _seen[key][1]
        digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=SIZE)).hexdigest()
        if time.time_ns() - max(stamp[3:]) > _SETTLED_NS:
            _seen[key] = (stamp, digest)
    return digest


def seal(value: dict[str, Any]) -> bytes:
    """``value`` as JSON that a person can read, with its digest at the end. Raises ValueError for NaN and infinity.

    It is in ``wall``, if there is one, which has all that differs between two results that are the same.
    """
    wall = value.get("wall")
    end = {"digest": BLANK} if wall is None else {"wall": {**wall, "digest": BLANK}}
    rest = {key: one for key, one in value.items() if key != "wall"}
    data = (json.dumps({**rest, **end}, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
    at = data.rindex(BLANK.encode())
    return data[:at] + of_bytes(data).encode() + data[at + len(BLANK) :]


def unseal(data: bytes) -> dict[str, Any]:
    """The value that ``seal`` made ``data`` of."""
    value: dict[str, Any] = json.loads(data, parse_constant=_refuse, parse_float=_finite)
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")
    holder = value.get("wall", value)
    if isinstance(holder, dict):
        holder.pop("digest", None)
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"it has {constant}, which is no number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


class Running:
    """Writes a sealed JSON object piece by piece."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hash = hashlib.blake2b(digest_size=SIZE)

    def write(self, data: bytes) -> None:
        """The next bytes. Raises OSError."""
        self._hash.update(data)
        self._file.write(data)

    def finish(self) -> None:
        """The last entry, which is the digest, and the end. Raises OSError."""
        before, after = b' "digest": "', b'"\n}\n'
        self._hash.update(before + BLANK.encode() + after)
        self._file.write(before + self._hash.hexdigest().encode() + after)


def is_sealed(data: bytes) -> bool | None:
    """Return whether ``data`` are as ``seal`` wrote them; None if they have no seal."""
    found = _SEAL.search(data)
    if not found:
        return None
    blank = data[: found.start(1)] + BLANK.encode() + data[found.end(1) :]
    return of_bytes(blank) == found[1].decode()


def _stamp(descriptor: int) -> _Stamp:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
