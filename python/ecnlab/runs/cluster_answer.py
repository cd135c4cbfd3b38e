"""The answer of a Dask worker: its schema, and the checks of a client that does not trust it.

An answer is MessagePack. It has files by name, whose number, names, sizes and contents the client checks before it stores any.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

import msgspec

from ecnlab.base.errors import RunError
from ecnlab.base.safe_text import visible
from ecnlab.folder import digests
from ecnlab.folder.part_files import captures_of, receive_part

MAX_TEXT: Final = 20_000
"""Maximum length of a message or traceback, in characters; the rest is cut off."""


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    """What a worker returns for a run: ``refused``, ``failed``, ``error`` or its files."""

    worker: str
    """Address and host of the worker, as it states them."""
    refused: str = ""
    """What a worker has that lacks the client's ecnlab."""
    failed: str = ""
    """An unforeseen exception of the worker, with its class."""
    error: str | None = None
    """Class of the error that the run ended with."""
    message: str = ""
    traceback: str = ""
    errno: int | None = None
    """Number of an OSError."""
    parts: dict[str, bytes] = {}
    """Files of the part by name, as `part_files.write_run` writes them."""
    captures: dict[str, bytes] = {}
    """Capture files by name."""


def read(data: object) -> Answer:
    """Return the answer in ``data``. Raises RunError if it is none."""
    if not isinstance(data, bytes):
        raise RunError(
            "its worker returned a Python object, which is not decoded: install the same wheel on the workers"
        )
    try:
        found = msgspec.msgpack.decode(data, type=Answer)
    except msgspec.MsgspecError as error:
        raise RunError(
            f"its worker returned no answer of ecnlab ({error}): install the same wheel on the workers"
        ) from error
    for name in ("worker", "refused", "failed", "message", "traceback"):
        setattr(found, name, visible(getattr(found, name)[:MAX_TEXT]))
    return found


def store(answer: Answer, folder: Path, run: str, tables: Collection[str], captures: Mapping[str, Path]) -> None:
    """Store the files of ``answer`` for ``run``: its part in ``folder``, and its ``captures``, each at its path.

    ``tables`` are the tables that the client requested. Raises RunError, before anything is stored, if the files are not
    those that the client requested, or not those that the part states; OSError.
    """
    if answer.captures.keys() != captures.keys():
        strange = sorted(answer.captures.keys() ^ captures.keys())[0]
        what = "returned the capture" if strange in answer.captures else "did not return the capture"
        requested = ", ".join(captures) or "none"
        raise RunError(f"its worker {what} {strange!r}; the captures of this run are: {requested}")
    stated = captures_of(run, answer.parts, tables)
    for name, data in answer.captures.items():
        if stated.get(name) != digests.of_bytes(data):
            raise RunError(f"its worker returned the capture {name}, whose content does not match its digest")
    for name, path in captures.items():
        path.write_bytes(answer.captures[name])
    receive_part(folder, run, answer.parts, tables)
