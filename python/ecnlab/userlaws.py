"""Base classes of user-defined laws: a window law or a queue discipline in a file of your own (``docs/userlaws.md``).

A scenario names a file and a class in it: ``congestion = { python = "mylaw.py:MyLaw" }``, ``discipline = { python =
"myqueue.py:MyQueue" }``. The simulator calls its methods as it calls those of its own laws (``crates/tcp/src/cc/mod.rs``,
``crates/aqm/src/contract/law.rs``). A method that a class does not define is not called, at no cost.

Times are in seconds, lengths in bytes. A law should use no clock and no random numbers other than the arguments of its
methods: then the same scenario and seed give the same bytes. Each run executes the file anew.
"""

from __future__ import annotations

from typing import ClassVar, Final, Literal, TypeAlias

from ecnlab._core import (
    AckSample,
    CongestionEvent,
    Established,
    Link,
    Packet,
    Queue,
    Random,
    RateSample,
    Sent,
    Window,
)

__all__ = [
    "NO_THRESHOLD",
    "AckSample",
    "CongestionEvent",
    "Established",
    "Link",
    "Packet",
    "Queue",
    "QueueLaw",
    "Random",
    "RateSample",
    "Sent",
    "Verdict",
    "Window",
    "WindowLaw",
]

NO_THRESHOLD: Final = 2**64 - 1
"""Initial value of ``Window.ssthresh``, before the first congestion event."""

Verdict: TypeAlias = Literal["pass", "signal", "signal-by-drop", "drop", "mark-if-capable", "compare"]
"""Verdict of a queue law on a packet.

``pass``: accept. ``signal``: mark CE if the queue has ``ecn`` and the packet is ECN-capable, else drop.
``signal-by-drop``: early drop, ECN-capable or not. ``drop``: forced drop. ``mark-if-capable``: mark CE if ECN-capable,
whether or not the queue has ``ecn``, and accept in any case. ``compare``, on arrival: a packet is drawn from the queue, and
both are dropped if they belong to the same flow (CHOKe); otherwise ``on_unlike`` gives the verdict.
"""


class WindowLaw:
    """A window law of one endpoint. TCP decides when the window may open or must be reduced, the law how much.

    One object is created per connection and end, without arguments. The class must define ``grow`` and ``on_congestion``.
    Methods with the parameter ``window`` may set ``window.cwnd`` and ``window.ssthresh``, and return None.
    """

    def grow(self, window: Window, acked: int) -> None:
        """Called for an ACK of ``acked`` new bytes that may open the window: not in recovery or after ECN-Echo, and cwnd-limited."""
        raise NotImplementedError

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """Called on congestion, at most once per window of data (RFC 5681 section 3.1, RFC 3168 section 6.1.2)."""
        raise NotImplementedError

    def on_further_loss(self, window: Window) -> None:
        """Called for a loss without a reduction: ECN or an earlier timeout has reduced the window for this window of data."""

    def on_established(self, window: Window, established: Established) -> None:
        """Called when the connection is established."""

    def on_feedback(self, window: Window, sample: AckSample) -> None:
        """Called for each ACK, in every state, before loss recovery processes it."""

    def on_ack(self, window: Window, sample: AckSample) -> None:
        """Called for each ACK, in every state, after loss recovery; ``grow`` follows if the window may open."""

    def on_sent(self, window: Window, sent: Sent) -> None:
        """Called for each segment sent."""

    def on_undo(self, window: Window, cwnd: float, ssthresh: int) -> None:
        """Called after a spurious reduction; before it, the window was ``cwnd`` and the threshold ``ssthresh`` bytes.

        By default both are restored to at least these values.
        """

    def on_idle_restart(self, window: Window, restart: int) -> None:
        """Called when sending resumes after an idle time of more than one RTO (RFC 5681 section 4.1).

        By default the window becomes at most ``restart`` bytes.
        """

    def pacing(self, window: Window) -> tuple[float, float] | None:
        """Return the pacing rate in bytes of payload per second and the maximum burst in bytes; None: no pacing."""
        return None

    def codepoint(self) -> Literal["ect0", "ect1"]:
        """Return the codepoint of ECN-capable packets (RFC 9331 section 4.1). Without feedback that counts marks it is ECT(0)."""
        return "ect0"

    def limits_rate(self) -> bool:
        """Return whether the law keeps its window below the path's capacity, so that delivery rates do not measure it."""
        return False


class QueueLaw:
    """A queue law over one FIFO. It returns a verdict on each packet; the queue marks, drops and counts.

    One object is created per queue, without arguments. The class must define ``on_enqueue`` or ``on_dequeue``.
    """

    tick: ClassVar[float | None] = None
    """Interval of calls of ``on_tick`` in seconds, the first after one interval; None: no ticks."""

    def on_begin(self, link: Link) -> None:
        """Called before the first packet, with the link that the queue feeds and the queue's limit."""

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Return the verdict on an arriving packet at ``now`` seconds; ``queue`` does not contain it yet."""
        return "pass"

    def on_dequeue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Return the verdict on a departing packet at ``now`` seconds; ``queue`` no longer contains it."""
        return "pass"

    def on_unlike(self, packet: Packet, queue: Queue, random: Random) -> Verdict:
        """Return the verdict on an arriving packet after ``compare``, if the drawn packet belongs to another flow."""
        return "pass"

    def on_full(self) -> None:
        """Called when a packet that the law accepted is dropped because the queue is full."""

    def on_shed(self, packets: int) -> None:
        """Called when ``packets`` packets were dropped from the head, to make room for packets of other queues."""

    def on_empty(self) -> None:
        """Called on a dequeue from an empty queue."""

    def on_tick(self, queue: Queue) -> None:
        """Called every ``tick`` seconds."""
