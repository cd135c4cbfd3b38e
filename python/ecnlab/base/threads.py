"""Waiting for threads in a way that an interrupt can end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from ecnlab.base.lazy_imports import futures

T = TypeVar("T")

LOOK_SECONDS: Final = 0.1
"""Maximum delay until an interrupt is handled, in seconds."""


def as_finished(these: Iterable[futures.Future[T]]) -> Iterator[T]:
    """Yield the results of ``these`` as they finish; raise the exception of any of them.

    Polars installs a signal handler that restarts system calls, so that an unlimited wait would not receive
    KeyboardInterrupt before its end.
    """
    pending = set(these)
    while pending:
        done, pending = futures.wait(pending, LOOK_SECONDS, futures.FIRST_COMPLETED)
        for future in done:
            yield future.result()


def ticks(these: Iterable[futures.Future[None]]) -> Iterator[None]:
    """Yield periodically until all ``these`` are done, and once more then; raise the exception of any of them."""
    pending = set(these)
    while pending:
        done, pending = futures.wait(pending, LOOK_SECONDS, futures.FIRST_COMPLETED)
        yield
        for future in done:
            future.result()
    yield


def heard(work: Callable[[], T]) -> T:
    """Return the result of ``work``, or raise its exception; an interrupt ends the wait for it.

    For system calls that may wait without end, such as opening a FIFO without a writer. After an interrupt the thread
    continues and ends with the process.
    """
    future: futures.Future[T] = futures.Future()

    def do() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=do, daemon=True).start()
    (result,) = as_finished([future])
    return result
