"""Guards around code that ecnlab did not write: the files of user-defined laws (``docs/userlaws.md``)."""

from __future__ import annotations

import inspect
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final, NoReturn, TextIO

LAWS: Final = "ecnlab_law_"
"""Prefix of the names of modules with laws; `Source::class` in ``crates/py/src/userlaws/file.rs``."""

_exit, _setrecursionlimit = os._exit, sys.setrecursionlimit
_process = os.getpid()
_lock = threading.Lock()
_depth = 0
_output: TextIO | None = None
_descriptor: int | None = None


def enter() -> None:
    """Redirect the process's output to standard error until `leave`: standard output has only results.

    May be nested, and called in several threads.
    """
    global _depth, _output, _descriptor
    with _lock:
        if not _depth:
            _forbid_changes()
            _output, sys.stdout = sys.stdout, sys.stderr
            _descriptor = _divert()
        _depth += 1


def leave() -> None:
    """Undo `enter`."""
    global _depth, _output, _descriptor
    with _lock:
        _depth -= 1
        if _depth:
            return
        if _output is not None:
            sys.stdout, _output = _output, None
        if _descriptor is not None:
            os.dup2(_descriptor, 1)
            os.close(_descriptor)
            _descriptor = None


def _divert() -> int | None:
    """Redirect file descriptor 1 to standard error, if both exist; return the original."""
    with suppress(OSError):
        kept = os.dup(1)
        try:
            os.dup2(2, 1)
        except OSError:
            os.close(kept)
            raise
        return kept
    return None


@contextmanager
def guarded() -> Iterator[None]:
    """For the time of calls to laws."""
    enter()
    try:
        yield
    finally:
        leave()


def place(error: BaseException) -> str | None:
    """Return file, line and method of the innermost frame of a law in the traceback of ``error``, or None without one."""
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if _is_law(frame):
            found = f"{frame.f_code.co_filename}:{line}, in {frame.f_code.co_qualname}"
    return found


def lines(error: BaseException) -> str:
    """Return the traceback of ``error`` from the first frame of a law on, in Python's format."""
    at = error.__traceback__
    while at and not _is_law(at.tb_frame):
        at = at.tb_next
    return "".join(traceback.format_tb(at))


def _is_law(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith(LAWS)


def wrong_parameters(law: object, name: str, parameters: str) -> str | None:
    """Return why the method ``name`` of ``law``, if it exists, cannot be called with ``parameters``, or None.

    A parameter may start with an underscore if the method does not use it.
    """
    method = getattr(law, name, None)
    if inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method):
        return (
            f"{_place(method, law)}`{name}` is an `async def`, which the simulator does not await; write `def {name}`"
        )
    try:
        signature = inspect.signature(method)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None  # no such method, or one without a Python signature
    wanted = [word.strip() for word in parameters.split(",") if word.strip()]
    try:
        signature.bind(*wanted)
    except TypeError:
        pass
    else:
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        names = [one.name for one in signature.parameters.values() if one.kind in positional]
        if all(own.lstrip("_") in ("", word) for own, word in zip(names, wanted, strict=False)):
            return None
    given, should = str(signature).partition(" -> ")[0], ", ".join(wanted)
    return f"{_place(method, law)}`{name}` takes {given}, not ({should}); write `def {name}({', '.join(['self', *wanted])})`"


def _place(method: Any, law: object) -> str:
    code = getattr(inspect.unwrap(method), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}, in {type(law).__name__}: " if code else f"{type(law).__name__}: "


def _forbid_changes() -> None:
    """Make two functions, called by a law, an error of the law.

    ``os._exit`` would end the process with no word, and as if all were done; ``sys.setrecursionlimit`` would be that of ecnlab.
    """
    if os._exit is _exit:
        os._exit = _exit_unless_law
        sys.setrecursionlimit = _limit_unless_law


def _limit_unless_law(limit: int, /) -> None:
    if _called_by_law():
        raise RuntimeError(f"sys.setrecursionlimit({limit}) in a law: it would change the limit of ecnlab, too")
    _setrecursionlimit(limit)


def _exit_unless_law(status: int) -> NoReturn:
    # A process forked by a law may end in any way.
    if os.getpid() == _process and _called_by_law():
        raise SystemExit(f"os._exit({status}) in a law")
    _exit(status)


def _called_by_law() -> bool:
    frame: FrameType | None = sys._getframe(1)
    while frame:
        if _is_law(frame):
            return True
        frame = frame.f_back
    return False
