"""Waiting for threads in a way that an interrupt can end."""

from __future__ import annotations

import signal
from _thread import start_new_thread
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib import import_module
from queue import Empty, SimpleQueue
from time import monotonic
from types import TracebackType
from typing import Final, Generic, TypeVar

T = TypeVar("T")

LOOK_SECONDS: Final = 0.1
"""Maximum delay until an interrupt is handled, in seconds.

Polars installs a signal handler that restarts system calls, so that an unlimited wait would not receive KeyboardInterrupt
before its end.
"""

LOOKS_FOR_START: Final = 5
"""How often a thread is looked for that an interrupt may have kept from being started."""


_producing: list[None] = []
"""An entry for each thread of `Threads` that has not ended: `threading.active_count` does not know them."""


def are_left() -> bool:
    """Return whether a thread of `Threads` has not ended, such as one that an interrupt has left behind."""
    return bool(_producing)


class Threads(Generic[T]):
    """Threads that produce values for the thread which has begun them. Leaving the block waits for their ends.

    An exception that leaves the block, such as KeyboardInterrupt, calls ``stop`` first, which must end their work. The
    block takes no lock that is written in Python, neither to begin a thread nor to wait: `threading.Thread.start` and
    `concurrent.futures.wait` do, and an interrupt in between their steps would leave a thread's lock taken, so that it
    would never end.
    """

    def __init__(self, stop: Callable[[], object]) -> None:
        self._stop = stop
        self._wanted, self._begun, self._alive, self._ended = 0, 0, list[None](), list[None]()
        self._answers: SimpleQueue[tuple[T] | BaseException | None] = SimpleQueue()

    def __enter__(self) -> Threads[T]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            self._stop()
            # An interrupt between the start of a thread and its count: it reports itself within moments, if it was started.
            for _ in range(LOOKS_FOR_START):
                if self._known() < self._wanted:
                    self._next()
        while self._running():
            self._next()

    def begin(self, values: Iterable[T]) -> None:
        """Produce ``values``, usually a generator's, in a thread of their own, which does not outlive the process."""
        _producing.append(None)
        self._wanted += 1
        start_new_thread(self._produce, (values,))
        self._begun += 1

    def values(self) -> Iterator[T]:
        """Yield the values of all threads as they are produced, until all have ended; raise the exception of any."""
        while self._running() or not self._answers.empty():
            answer = self._next()
            if isinstance(answer, BaseException):
                raise answer
            if answer is not None:
                yield answer[0]

    def end(self, seconds: float) -> bool:
        """Wait at most ``seconds`` for the ends of all threads, and return whether they have ended."""
        until = monotonic() + seconds
        while self._running() and monotonic() < until:
            self._next()
        return not self._running()

    def _running(self) -> bool:
        return len(self._ended) < self._known()

    def _known(self) -> int:
        """Return the number of threads that were started, as far as this thread or they themselves have counted them."""
        return max(self._begun, len(self._alive))

    def _next(self) -> tuple[T] | BaseException | None:
        """Return the next value or exception; None if there is none for a moment, or a thread has ended."""
        with suppress(Empty):
            return self._answers.get(timeout=LOOK_SECONDS)
        return None

    def _produce(self, values: Iterable[T]) -> None:
        self._alive.append(None)
        try:
            for value in values:
                self._answers.put((value,))
        except BaseException as error:
            self._answers.put(error)
        finally:
            # An interrupt may lose an answer, but not this.
            self._ended.append(None)
            self._answers.put(None)
            _producing.pop()


def returned(work: Callable[[], T]) -> Iterator[T]:
    """Yield what ``work`` returns; it is called by the thread that consumes it."""
    yield work()


def interruptible(work: Callable[[], T]) -> T:
    """Return the result of ``work``, or raise its exception; an interrupt ends the wait for it.

    For system calls that may wait without end, such as opening a FIFO without a writer. After an interrupt the thread
    continues and ends with the process.
    """
    threads = Threads[T](lambda: None)
    threads.begin(returned(work))
    (result,) = threads.values()
    return result


@contextmanager
def in_another_thread(context: AbstractContextManager[T], seconds: float, give_up: Callable[[], object]) -> Iterator[T]:
    """Enter and leave ``context`` in a thread, so that an interrupt reaches none of its code.

    The threads and processes that it starts do not receive SIGINT either. After an interrupt while it is entered, it is left as
    soon as it can be. `give_up` is called if leaving it takes longer than ``seconds``: the thread then ends with the process.
    """
    over: SimpleQueue[None] = SimpleQueue()

    def held() -> Iterator[T]:
        if hasattr(signal, "pthread_sigmask"):  # Windows has none
            # Otherwise `multiprocessing` starts it with its first process, and unblocks SIGINT afterwards.
            import_module("multiprocessing.resource_tracker").ensure_running()
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        with context as value:
            yield value
            over.get()

    threads = Threads[T](lambda: None)
    threads.begin(held())
    values = threads.values()
    try:
        yield next(values)
    finally:
        over.put(None)
        try:
            threads.end(seconds)
        except BaseException:
            threads.end(seconds)
            raise
        finally:
            if not threads.end(0):
                give_up()
