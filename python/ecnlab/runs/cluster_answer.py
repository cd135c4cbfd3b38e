"""The answer of a Dask worker: its schema, and the checks of a client that does not trust it.

An answer is MessagePack. It has files by name, whose number, names, sizes and contents the client checks before it stores any.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Final

import msgspec

from ecnlab.base.errors import RunError
from ecnlab.base.safe_text import visible
from ecnlab.folder import digests
from ecnlab.folder.part_files import checked_parts, store_parts

MAX_TEXT: Final = 20_000
"""Maximum length of a message or traceback, in characters; the rest is cut off."""

MAX_SECONDS: Final = 1e9
"""Maximum time of a block."""


class Failure(msgspec.Struct, forbid_unknown_fields=True):
    """An error that a run, or a block of runs, ended with."""

    error: str
    """Its class."""
    message: str
    traceback: str = ""
    errno: int | None = None
    """Number of an OSError."""


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    """What a worker returns for a block of runs: ``refused``, ``failed``, ``error``, or the errors and files of its runs."""

    worker: str
    """Address and host of the worker, as it states them."""
    refused: str = ""
    """What a worker has that lacks the client's ecnlab."""
    failed: str = ""
    """An unforeseen exception of the worker, with its class."""
    error: Failure | None = None
    """The error that no run was done for."""
    errors: dict[str, Failure] = {}
    """Errors of runs that gave no result, by id."""
    seconds: Annotated[float, msgspec.Meta(ge=0, le=MAX_SECONDS)] = 0.0
    """Time of the block, as `block.Ended` has it."""
    parts: dict[str, bytes] = {}
    """Files of the parts by name, as `part_files` writes them."""
    captures: dict[str, bytes] = {}
    """Capture files of the run by name."""
    values: dict[str, list[float | None]] = {}
    """Metrics of runs of a batch, by id."""


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
    _show(found, "worker", "refused", "failed")
    for failure in (*found.errors.values(), *([found.error] if found.error else [])):
        _show(failure, "error", "message", "traceback")
    return found


def _show(found: msgspec.Struct, *texts: str) -> None:
    """Cut off the ``texts`` of ``found``, and make their control characters visible."""
    for name in texts:
        setattr(found, name, visible(getattr(found, name)[:MAX_TEXT]))


def store(
    answer: Answer, folder: Path, runs: Collection[str], tables: Collection[str], captures: Mapping[str, Path]
) -> set[str]:
    """Store the files of ``answer`` for ``runs``: parts in ``folder``, ``captures`` each at its path; return the runs that have a part.

    ``tables`` are the tables that the client requested. Raises RunError, before anything is stored, if files or errors are not
    those of runs that the client requested, if there are none, or if the files are not those that the parts state; OSError.
    """
    stated = checked_parts(answer.parts, set(runs) - answer.errors.keys(), tables)
    _check_runs(answer, runs, stated)
    expected = captures.keys() if stated else set[str]()
    if strange := answer.captures.keys() ^ expected:
        name = min(strange)
        what = "returned the capture" if name in answer.captures else "did not return the capture"
        raise RunError(f"its worker {what} {name!r}; the captures of this run are: {', '.join(expected) or 'none'}")
    made = {name: digests.of_bytes(data) for name, data in answer.captures.items()}
    for found in stated.values():
        if wrong := dict(found.items() ^ made.items()):
            raise RunError(f"its worker returned the capture {min(wrong)!r}, whose content does not match its digest")
    for name, data in answer.captures.items():
        captures[name].write_bytes(data)
    store_parts(folder, answer.parts)
    return set(stated)


def values(answer: Answer, runs: Collection[str], metrics: int) -> dict[str, list[float | None]]:
    """Return the values of ``answer`` for ``runs``, of which each has this number of ``metrics``.

    Raises RunError if values or errors are not those of runs that the client requested, or if there are none.
    """
    _check_runs(answer, runs, answer.values)
    if strange := answer.values.keys() - (set(runs) - answer.errors.keys()):
        raise RunError(f"its worker returned values of {min(strange)!r}, which were not requested: a defect of ecnlab")
    if any(len(found) != metrics for found in answer.values.values()):
        raise RunError("its worker returned another number of metrics: a defect of ecnlab")
    return answer.values


def _check_runs(answer: Answer, runs: Collection[str], done: Collection[str]) -> None:
    """Raise RunError if an error of ``answer`` is of none of ``runs``, or if it has none and no run is ``done``."""
    if strange := answer.errors.keys() - set(runs):
        raise RunError(f"its worker returned an error of {min(strange)!r}, which was not requested: a defect of ecnlab")
    if not done and not answer.errors:
        raise RunError("its worker returned no result: a defect of ecnlab")
