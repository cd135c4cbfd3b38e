"""CoDel (RFC 8289), as the built-in law, and variants that each change one part of it: what differs between a mark and a drop?"""

from __future__ import annotations

from collections import deque
from math import sqrt
from typing import Final

from ecnlab.userlaws import Link, Packet, Queue, QueueLaw, Random, Verdict

TARGET: Final = 0.012
INTERVAL: Final = 0.1
MTU: Final = 1514

ROUND_TRIP: Final = 0.15
"""Seconds: about the mean round trip of long transfers at 1.5 Mb/s and 100 ms, after which a sender has sent a dropped packet again."""

CLOCK: Final = 0.142
"""Seconds between two signals of `Clock`: CoDel drops about as many packets of CUBIC without ECN."""


class Codel(QueueLaw):
    """The built-in `codel` with a target of 12 ms."""

    def __init__(self) -> None:
        self.since: float | None = None
        self.dropping = False
        self.drop_next = 0.0
        self.count = self.last_count = 0
        self.behind = ""
        self.rate = 0.0

    def on_begin(self, link: Link) -> None:
        """Note the rate of the link."""
        self.rate = link.rate

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """End a series of signals if the link found the queue empty."""
        if queue.asked:
            self.on_empty()
        return "pass"

    def on_dequeue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Return CoDel's verdict on the packet at the head."""
        return self.judged(self.above(packet.sojourn, queue.in_all, now), packet.can_mark, now)

    def on_empty(self) -> None:
        """End a series of signals, unless its first packet was just dropped."""
        self.since = None
        self.dropping = self.dropping and self.behind == "first drop"
        self.behind = ""

    def above(self, sojourn: float, backlog: int, now: float) -> bool:
        """Return whether sojourns have been at or above the target for an interval."""
        if sojourn < TARGET or backlog <= MTU:
            self.since = None
            return False
        if self.since is None:
            self.since = now + INTERVAL
            return False
        return now >= self.since

    def judged(self, above: bool, marks: bool, now: float) -> Verdict:
        """Return the verdict of the control law; ``marks``: a signal leaves the packet in place."""
        behind, self.behind = self.behind, ""
        if behind == "first drop":
            return "pass"
        if behind == "drop" and above:
            self.drop_next += INTERVAL / sqrt(self.count)
        if not self.dropping:
            return self._begun(marks, now) if above else "pass"
        self.dropping = above
        if not above or now < self.drop_next:
            return "pass"
        self.count += 1
        if marks:
            self.drop_next += INTERVAL / sqrt(self.count)
        else:
            self.behind = "drop"
        return "signal"

    def _begun(self, marks: bool, now: float) -> Verdict:
        signals = self.count - self.last_count
        recent = self.last_count > 0 and now - self.drop_next < 16 * INTERVAL
        self.dropping = True
        self.count = self.last_count = signals if recent and signals > 1 else 1
        self.drop_next = now + INTERVAL / sqrt(self.count)
        self.behind = "" if marks else "first drop"
        return "signal"


class Gone(Codel):
    """Counts a packet that was marked in the last round trip as gone, as if it had been dropped."""

    packets = -1
    """Change of the queue by a signal, as the law counts it."""

    def __init__(self) -> None:
        super().__init__()
        self.signalled: deque[float] = deque()

    def on_dequeue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Return the verdict on a queue that is shorter or longer by the packets signalled in the last round trip."""
        while self.signalled and self.signalled[0] < now - ROUND_TRIP:
            self.signalled.popleft()
        size = self.packets * len(self.signalled) * packet.size if self.counts(packet) else 0
        above = self.above(packet.sojourn + size * 8 / self.rate, queue.in_all + size, now)
        verdict = self.judged(above, packet.can_mark, now)
        if verdict == "signal":
            self.signalled.append(now)
        return verdict

    def counts(self, packet: Packet) -> bool:
        """Return whether signals to such packets are counted: those that were marked."""
        return packet.can_mark


class Kept(Gone):
    """Counts a packet that was dropped in the last round trip as queued, as if it had been marked."""

    packets = 1

    def counts(self, packet: Packet) -> bool:
        """Return whether the packet would be dropped."""
        return not packet.can_mark


class One(Codel):
    """A drop advances the control law as a mark does, and the packet behind it leaves."""

    def __init__(self) -> None:
        super().__init__()
        self.leaves = False

    def on_dequeue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Return CoDel's verdict on a packet that can be marked, but not behind a signal."""
        if self.leaves:
            self.leaves = False
            return "pass"
        verdict = self.judged(self.above(packet.sojourn, queue.in_all, now), True, now)
        self.leaves = verdict == "signal" and not packet.can_mark
        return verdict


class Tail(Codel):
    """The signal goes to the next packet that arrives, not to the head."""

    def __init__(self) -> None:
        super().__init__()
        self.owed = 0

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Signal the packet if one that left should have been."""
        super().on_enqueue(packet, queue, now, random)
        if not self.owed:
            return "pass"
        self.owed -= 1
        return "signal"

    def on_dequeue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Owe a signal to the next arrival."""
        if self.judged(self.above(packet.sojourn, queue.in_all, now), True, now) == "signal":
            self.owed += 1
        return "pass"


class Clock(QueueLaw):
    """One signal in each `CLOCK`, whatever the queue holds: as many to hosts with ECN as to hosts without."""

    def __init__(self) -> None:
        self.next = 0.0

    def on_dequeue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Signal the first packet that leaves after the gap."""
        if now < self.next:
            return "pass"
        self.next = now + CLOCK
        return "signal"


class Overload(Codel):
    """Drops packets that it would mark while signals come faster than packets leave."""

    def on_dequeue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Return CoDel's verdict, in overload as for a packet that cannot be marked."""
        overload = self.count > 0 and INTERVAL / sqrt(self.count) < packet.size * 8 / self.rate
        above = self.above(packet.sojourn, queue.in_all, now)
        verdict = self.judged(above, packet.can_mark and not overload, now)
        return "signal-by-drop" if verdict == "signal" and overload else verdict
