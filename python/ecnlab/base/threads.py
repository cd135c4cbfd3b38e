"""Waiting for threads in a way that an interrupt can end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Final, TypeVar

T = TypeVar("T")

LOOK_SECONDS: Final = 0.1
"""How long an interrupt may wait to be heard."""


def as_finished(futures: Iterable[Future[T]]) -> Iterator[T]:
    """The results of ``futures``, each when it is there; raises what one of them raised.

    Polars installs a signal handler that restarts system calls, so that a wait without an end of its own would not
    hear KeyboardInterrupt before it is over.
    """
    pending = set(futures)
    while pending:
        done, pending = wait(pending, LOOK_SECONDS, FIRST_COMPLETED)
        for future in done:
            yield future.result()


def ticks(futures: Iterable[Future[None]]) -> Iterator[None]:
    """Now and then until all ``futures`` are done, and once more then; raises what one of them raised."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, LOOK_SECONDS, FIRST_COMPLETED)
        yield
        for future in done:
            future.result()
    yield


def heard(work: Callable[[], T]) -> T:
    """What ``work`` gives, or raises; an interrupt ends the wait for it.

    For what may wait without end in the system, as to open a FIFO that nobody writes. After an interrupt the thread is
    left behind, which ends with the process.
    """
    future: Future[T] = Future()

    def do() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=do, daemon=True).start()
    (result,) = as_finished([future])
    return result
