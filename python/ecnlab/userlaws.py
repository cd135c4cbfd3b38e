"""Base classes of user-defined laws: a window law or a queue discipline in a file of your own (``docs/userlaws.md``).

A scenario names a file and a class in it: ``congestion = { python = "mylaw.py:MyLaw" }``, ``discipline = { python =
"myqueue.py:MyQueue" }``. The simulator calls its methods as it calls those of its own laws (``crates/tcp/src/cc/mod.rs``,
``crates/aqm/src/contract/law.rs``). A method that a class does not have is not called, and costs nothing.

Times are seconds, lengths are bytes. A law is given no clock and no chance but what its methods are given: with them alone, the
same scenario and seed give the same bytes. Each run executes the file anew.
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
"""``Window.ssthresh`` before the first congestion."""

Verdict: TypeAlias = Literal["pass", "signal", "signal-by-drop", "drop", "mark-if-capable", "compare"]
"""What becomes of a packet.

``pass``: it is let through. ``signal``: it gets CE where the queue has ``ecn`` and it is ECN-capable, else it is dropped.
``signal-by-drop``: an early drop, ECN-capable or not. ``drop``: a forced drop. ``mark-if-capable``: CE if it is ECN-capable,
whether or not the queue has ``ecn``; it is let through in any case. ``compare``, on arrival: a packet is drawn from the queue, and
both are dropped if they are of one flow (CHOKe); else ``on_unlike`` says more.
"""


class WindowLaw:
    """A window law of one endpoint. TCP decides when the window may open or must be reduced, the law how much.

    An object is made, without arguments, at the beginning of each connection, at both ends. ``grow`` and ``on_congestion`` must
    be there. Methods that are given the window set ``window.cwnd`` and ``window.ssthresh``, and return None.
    """

    def grow(self, window: Window, acked: int) -> None:
        """An ACK of ``acked`` new bytes may open the window: no recovery, no ECN-Echo and no idle window forbids it."""
        raise NotImplementedError

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """Congestion, at most once for each window of data (RFC 5681 section 3.1, RFC 3168 section 6.1.2)."""
        raise NotImplementedError

    def on_further_loss(self, window: Window) -> None:
        """A loss that reduces nothing: ECN or an earlier timeout has done so for this window of data."""

    def on_established(self, window: Window, established: Established) -> None:
        """Data may flow."""

    def on_feedback(self, window: Window, sample: AckSample) -> None:
        """Each ACK, in every state, before recovery looks at it."""

    def on_ack(self, window: Window, sample: AckSample) -> None:
        """Each ACK, in every state, when recovery has decided; ``grow`` follows if the window may open."""

    def on_sent(self, window: Window, sent: Sent) -> None:
        """Each segment that leaves."""

    def on_undo(self, window: Window, cwnd: float, ssthresh: int) -> None:
        """A reduction was for nothing: before it, the window was ``cwnd`` and the threshold ``ssthresh`` bytes.

        By default neither stays below what it was.
        """

    def on_idle_restart(self, window: Window, restart: int) -> None:
        """Sending begins again after more than a retransmission timeout of silence (RFC 5681 section 4.1).

        By default the window is ``restart`` bytes at most.
        """

    def pacing(self, window: Window) -> tuple[float, float] | None:
        """Bytes of payload a second at which segments leave, and bytes that may leave at once; None: no pacing."""
        return None

    def codepoint(self) -> Literal["ect0", "ect1"]:
        """The codepoint of ECN-capable packets (RFC 9331 section 4.1). Without feedback that counts marks it is ECT(0)."""
        return "ect0"

    def limits_rate(self) -> bool:
        """Whether the law keeps its window below what the path carries, so that delivery rates do not tell the path's."""
        return False


class QueueLaw:
    """A law over one FIFO. It decides about each packet; the queue marks, drops and counts.

    An object is made, without arguments, for each queue with the law. ``on_enqueue`` or ``on_dequeue`` must be there.
    """

    tick: ClassVar[float | None] = None
    """Seconds between two calls of ``on_tick``, the first after so long; None: no ticks."""

    def on_begin(self, link: Link) -> None:
        """Before the first packet: the link that the queue feeds, and the queue's limit."""

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """The verdict on an arriving packet at ``now`` seconds; ``queue`` does not hold it yet."""
        return "pass"

    def on_dequeue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """The verdict on a packet about to leave at ``now`` seconds; ``queue`` no longer holds it."""
        return "pass"

    def on_unlike(self, packet: Packet, queue: Queue, random: Random) -> Verdict:
        """The verdict on an arriving packet after ``compare``, if it is of another flow than the packet drawn."""
        return "pass"

    def on_full(self) -> None:
        """A packet that the law let through found no room."""

    def on_shed(self, packets: int) -> None:
        """So many packets were dropped from the head, to make room for those of other queues."""

    def on_empty(self) -> None:
        """A packet was asked for, and none is left."""

    def on_tick(self, queue: Queue) -> None:
        """Every ``tick`` seconds."""
