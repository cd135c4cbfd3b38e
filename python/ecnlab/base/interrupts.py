"""Ctrl-C and SIGTERM on the command line: the exception is raised in the main thread until it ends the command.

Python loses an exception that a signal handler raises within `__del__`, a callback of a weak reference or one of the
garbage collector, and a library may discard it. The handler therefore starts a timer, which raises it again.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import Any, Final

from ecnlab.base.errors import Terminated

AGAIN_SECONDS: Final = 0.1
"""Time after which an exception that nothing handles is raised again."""

_ERRORS: Final[dict[int, type[BaseException]]] = {signal.SIGINT: KeyboardInterrupt, signal.SIGTERM: Terminated}

_TIMERS: Final = hasattr(signal, "setitimer")
"""Windows has none."""

_received: int | None = None
_print_unraisable: Callable[[Any], object] = sys.unraisablehook


def listen() -> None:
    """Raise KeyboardInterrupt on SIGINT, unless it is ignored (as with nohup), and Terminated on SIGTERM."""
    global _print_unraisable
    if signal.getsignal(signal.SIGINT) in (signal.SIG_DFL, signal.default_int_handler):
        signal.signal(signal.SIGINT, _receive)
    signal.signal(signal.SIGTERM, _receive)
    if sys.unraisablehook is not _unraisable:
        _print_unraisable, sys.unraisablehook = sys.unraisablehook, _unraisable


def settle() -> BaseException | None:
    """Return the exception for the signal that was received, or None. From then on a signal ends the process at once."""
    global _received
    if _TIMERS:
        signal.setitimer(signal.ITIMER_REAL, 0)
    for number in _ERRORS:
        if signal.getsignal(number) is _receive:
            signal.signal(number, signal.SIG_DFL)
    received, _received = _received, None
    return None if received is None else _ERRORS[received]()


def _receive(number: int, _frame: object) -> None:
    global _received
    _received = number
    if _TIMERS:
        signal.signal(signal.SIGALRM, _again)
        signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS, AGAIN_SECONDS)
    raise _ERRORS[number]


def _again(_number: int, _frame: object) -> None:
    if _received is not None and not _is_handled(sys.exception()):
        raise _ERRORS[_received]


def _is_handled(error: BaseException | None) -> bool:
    """Return whether the block that handles ``error`` is a consequence of the signal, such as the clean-up after it."""
    while error is not None:
        if isinstance(error, tuple(_ERRORS.values())):
            return True
        error = error.__context__
    return False


def _unraisable(lost: Any, /) -> None:
    """Print an exception that Python has lost, unless it is raised again."""
    if _received is None or not isinstance(lost.exc_value, _ERRORS[_received]):
        _print_unraisable(lost)
