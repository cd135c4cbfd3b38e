"""Threads whose values another thread takes: order, exceptions, and an interrupt at each point of the wait."""

from __future__ import annotations

import dis
import gc
import os
import sys
import threading
import time
from _thread import start_new_thread
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

from ecnlab._core import Cancelled
from ecnlab.base import threads
from ecnlab.base.threads import Threads, are_left, interruptible, returned

ENDS = 10
"""Seconds after which a thread that was to end has not."""


def test_values_come_in_the_order_of_their_thread() -> None:
    with Threads[int](lambda: None) as both:
        both.begin(iter([1, 3, 5]))
        both.begin(iter([2, 4]))
        values = list(both.values())
    assert [value for value in values if value % 2] == [1, 3, 5]
    assert [value for value in values if not value % 2] == [2, 4]


def test_the_exception_of_a_thread_stops_the_others_and_is_raised() -> None:
    over = threading.Event()

    def fails() -> Iterator[int]:
        yield 1
        raise OSError("full")

    with pytest.raises(OSError, match="full"), Threads[object](over.set) as both:
        both.begin(returned(over.wait))
        both.begin(fails())
        for value in both.values():
            assert value == 1
    assert over.is_set()


def test_what_is_waited_for_is_returned_or_raised() -> None:
    assert interruptible(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0)


def test_a_thread_that_an_interrupt_has_left_behind_is_known() -> None:
    over, ended = threading.Event(), threading.Event()

    def blocked() -> None:
        over.wait()
        ended.set()

    interrupt = Interrupt(60)  # in the wait, which has no end
    assert interrupted(interrupt, lambda: interruptible(blocked)) == "KeyboardInterrupt"
    assert are_left()
    over.set()
    assert ended.wait(ENDS)
    until = time.monotonic() + ENDS
    while are_left() and time.monotonic() < until:
        time.sleep(0.001)
    assert not are_left()


# Python handles a signal after these instructions (CHECK_EVAL_BREAKER in ceval.c), and nowhere else.
HANDLED = {dis.opmap[name] for name in ("CALL", "CALL_FUNCTION_EX", "RESUME", "JUMP_BACKWARD") if name in dis.opmap}


class Interrupt:
    """Raises KeyboardInterrupt in the thread that sets it as its trace function, where Python may handle a signal."""

    def __init__(self, point: int) -> None:
        self._left = point
        self._before: dict[FrameType, int] = {}
        self.line = ""
        """The line in which it was raised."""

    def __call__(self, frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        if self.line or frame.f_code.co_name == "_remove":  # of a weak reference: Python ignores its exceptions
            return None
        frame.f_trace_opcodes = True
        if event == "return":
            self._before.pop(frame, None)
        if event == "opcode":
            before = self._before.get(frame)
            self._before[frame] = frame.f_code.co_code[frame.f_lasti]
            self._left -= before in HANDLED
            if not self._left:
                self.line = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                sys.settrace(None)
                raise KeyboardInterrupt
        return self


def interrupted(interrupt: Interrupt, wait: Callable[[], object]) -> str:
    """How ``wait`` ended in a thread that ``interrupt`` interrupts."""
    ended: list[str] = []

    def traced() -> None:
        sys.settrace(interrupt)
        try:
            wait()
        except BaseException as error:
            ended.append(type(error).__name__)
        finally:
            sys.settrace(None)

    thread = threading.Thread(target=traced, daemon=True)
    thread.start()
    thread.join(ENDS)
    return ended[0] if ended else f"nothing ended it at {interrupt.line}"


@pytest.fixture
def without_collections() -> Iterator[None]:
    """No garbage collection: Hypothesis has a callback of it, and Python ignores exceptions there."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_collections")
@pytest.mark.parametrize("ends_first", [False, True])
def test_an_interrupt_at_any_point_of_the_wait_ends_the_threads_and_the_wait(
    monkeypatch: pytest.MonkeyPatch, ends_first: bool
) -> None:
    monkeypatch.setattr(threads, "LOOK_SECONDS", 0.0005)
    lines = set()
    for point in range(1, 120):
        over = threading.Event()

        def blocked(over: threading.Event = over) -> Iterator[int]:
            yield 1
            over.wait()
            raise Cancelled("the run was cancelled")

        def wait(over: threading.Event = over, blocked: Callable[[], Iterator[int]] = blocked) -> None:
            with Threads[int](over.set) as both:
                both.begin(iter([1]) if ends_first else blocked())
                both.begin(blocked())
                for _ in both.values():
                    pass

        interrupt = Interrupt(point)
        assert interrupted(interrupt, wait) == "KeyboardInterrupt"
        lines.add(interrupt.line.rpartition(os.sep)[2])
    assert len(lines) > 5


@pytest.mark.parametrize("started", [True, False])
def test_an_interrupt_before_a_thread_is_counted_waits_for_it(monkeypatch: pytest.MonkeyPatch, started: bool) -> None:
    ended, over = list[int](), threading.Event()

    def start(work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        if started:
            start_new_thread(work, arguments)
        raise KeyboardInterrupt

    def work() -> Iterator[None]:
        over.wait(ENDS)
        time.sleep(0.2)
        ended.append(1)
        yield

    monkeypatch.setattr(threads, "start_new_thread", start)
    monkeypatch.setattr(threads, "LOOK_SECONDS", 0.01)
    with pytest.raises(KeyboardInterrupt), Threads[None](over.set) as one:
        one.begin(work())
    assert ended == [1] * started
    if not started:
        threads._producing.pop()
