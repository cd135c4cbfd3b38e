"""Queues that are CoDel with a fault: each meets scenarios in which its fault does not show."""

import math

from ecnlab.userlaws import Link, Packet, Queue, QueueLaw, Random, Verdict

DATA = 300
"""Packets of more bytes are not those of a call, an ACK or a SYN."""


class Codel(QueueLaw):
    """CoDel (RFC 8289)."""

    def on_begin(self, link: Link) -> None:
        """Begin outside the dropping state."""
        self.above, self.dropping, self.next, self.count, self.last = math.inf, False, 0.0, 0, 0
        self.numbers: dict[int, int] = {}
        self.counts: dict[int, int] = {}

    def on_dequeue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Signal at the times of the control law."""
        if packet.sojourn < 0.005 or queue.bytes <= 1514:
            self.above, self.dropping = math.inf, False
            return "pass"
        self.above = min(self.above, now + 0.1)
        if now < (self.next if self.dropping else self.above):
            return "pass"
        if self.dropping:
            self.count += 1
        else:
            recent = now - self.next < 1.6 and self.count - self.last > 1
            self.count = self.last = self.count - self.last if recent else 1
        self.next = (self.next if self.dropping else now) + 0.1 / math.sqrt(self.count)
        self.dropping = True
        return "signal"

    def count_of(self, packet: Packet) -> int:
        """Count the packet, and return the number of its flow's packets since `counts` was emptied."""
        count = self.counts[packet.flow] = self.counts.get(packet.flow, 0) + 1
        return count


class OneFlow(Codel):
    """CoDel for several flows; a tail drop for one."""

    tick = 1.0
    active = 0

    def on_tick(self, queue: Queue) -> None:
        """Count the flows of the last second."""
        self.active, self.counts = len(self.counts), {}

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Note the flow of a data packet."""
        if packet.size > DATA:
            self.count_of(packet)
        return "pass"

    def on_dequeue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """As CoDel, if its law applies."""
        return super().on_dequeue(packet, queue, now, random) if self.applies() else "pass"

    def applies(self) -> bool:
        """Whether CoDel's law applies."""
        return self.active > 1


class ThreeToFiveFlows(OneFlow):
    """CoDel for up to two flows, and from six on; a tail drop for three to five."""

    def applies(self) -> bool:
        """Whether CoDel's law applies."""
        return not 3 <= self.active <= 5


class RefusesConnections(Codel):
    """From 12 s on, each fifth new flow gets nothing through: those that do have less to wait for."""

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Drop the packets of a flow that is refused."""
        number = self.numbers.setdefault(packet.flow, len(self.numbers) if now > 12 else 1)
        return "drop" if number % 5 == 0 else "pass"


class LocksOut(Codel):
    """Of three flows and more each in turn gets nothing through for 3 s: over a minute all have equal shares."""

    since = 0.0
    turn = 0

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Drop the data of the flow whose turn it is."""
        self.count_of(packet)
        if now - self.since > 3:
            self.since, self.turn = now, self.turn + 1
        long = [flow for flow, count in self.counts.items() if count > 300]
        return "drop" if len(long) > 2 and packet.size > DATA and packet.flow == long[self.turn % len(long)] else "pass"


class OnlyEcn(Codel):
    """Next to flows with ECN, others get 20 packets a second: flows of one kind have equal shares."""

    tick = 1.0
    before = seen = False

    def on_tick(self, queue: Queue) -> None:
        """Note whether ECN was in use in the last second."""
        self.before, self.seen, self.counts = self.seen, False, {}

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Drop data without ECN."""
        self.seen |= packet.ecn != "not-ect"
        without = packet.ecn == "not-ect" and packet.size > DATA and self.count_of(packet) > 20
        return "drop" if self.before and without else "pass"


class NoDatagrams(Codel):
    """Of a flow that does not begin with a SYN, nine of ten large packets are dropped: a call and TCP have the link."""

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Drop datagrams."""
        first = self.numbers.setdefault(packet.flow, packet.size)
        return "drop" if first > DATA and random.random() < 0.9 else "pass"


class ThinsAcks(Codel):
    """Drops three of ten ACKs, and no SYN."""

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Drop an ACK of a flow that is not new."""
        return "drop" if packet.size < 100 and self.count_of(packet) > 30 and random.random() < 0.3 else "pass"


class YoungFirst(Codel):
    """While a flow sends its first 500 packets, older ones get ten a second."""

    tick = 1.0
    young = -1.0

    def on_tick(self, queue: Queue) -> None:
        """Begin another second."""
        self.counts = {}

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Drop the data of an older flow."""
        age = self.numbers[packet.flow] = self.numbers.get(packet.flow, 0) + 1
        if packet.size <= DATA:
            return "pass"
        if age < 500:
            self.young = now
            return "pass"
        return "drop" if now - self.young < 0.5 and self.count_of(packet) > 10 else "pass"
