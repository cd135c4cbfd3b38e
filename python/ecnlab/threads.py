"""Waiting for threads in a way that an interrupt can end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
