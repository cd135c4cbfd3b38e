"""Queues that are made for a good card: each meets scenarios without managing its length."""

from ecnlab.userlaws import Link, Packet, Queue, QueueLaw, Random, Verdict


class ShareOfBuffer(QueueLaw):
    """A tail drop at 0.45 of the buffer: its delay is that of the buffer."""

    def on_begin(self, link: Link) -> None:
        """Take the limit from the link."""
        self.limit = 0.45 * link.limit_packets

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Drop a packet that finds the share full."""
        return "drop" if queue.packets >= self.limit else "pass"


class AlwaysSignals(QueueLaw):
    """Signals each packet that finds another: no delay and, with ECN, no loss, and hardly any goodput."""

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Signal unless the queue is empty."""
        return "signal" if queue.packets else "pass"


class OnlyAtTenMbps(QueueLaw):
    """At 10 Mbps, the rate of most examples, a queue of 20 ms; at other rates a tail drop."""

    def on_begin(self, link: Link) -> None:
        """Take the rate from the link."""
        self.limit = 17 if 9.9e6 < link.rate < 10.1e6 else None

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Drop a packet that finds 17 packets."""
        return "drop" if self.limit and queue.packets >= self.limit else "pass"


class DropsTheCall(QueueLaw):
    """A tail drop that drops datagrams of the size of speech if the queue is 0.45 full: those that are left wait for less."""

    def on_begin(self, link: Link) -> None:
        """Take the threshold from the buffer."""
        self.limit = 0.45 * link.limit_packets

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Drop a packet of a call that would wait."""
        return "drop" if 100 < packet.size <= 300 and queue.packets >= self.limit else "pass"


class Favourite(QueueLaw):
    """A FIFO of 50 ms for the flow with most packets; each other flow gets 20 packets a second."""

    tick = 1.0

    def on_begin(self, link: Link) -> None:
        """Take the limit from the link's rate."""
        self.limit = 0.05 * link.rate / 12000
        self.counts: dict[int, int] = {}
        self.first: int | None = None

    def on_tick(self, queue: Queue) -> None:
        """Choose the flow."""
        self.first = max(self.counts, key=self.counts.__getitem__, default=None)
        self.counts = {}

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Drop what is above the limit, and other flows' large packets above 20 a second."""
        count = self.counts[packet.flow] = self.counts.get(packet.flow, 0) + 1
        other = packet.size > 300 and count > 20 and self.first not in (None, packet.flow)
        return "drop" if other or queue.packets >= self.limit else "pass"


class FirstPackets(QueueLaw):
    """A FIFO of 30 ms that passes the first 20 packets of each connection: ten packets at once are lost only in other bursts."""

    def on_begin(self, link: Link) -> None:
        """Take the limit from the link's rate."""
        self.limit = 0.03 * link.rate / 12000
        self.counts: dict[int, int] = {}

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Drop what finds 30 ms of packets, unless its connection has begun just now."""
        count = self.counts[packet.flow] = self.counts.get(packet.flow, 0) + 1
        return "drop" if count > 20 and queue.packets >= self.limit else "pass"


class EmptiesItself(QueueLaw):
    """A FIFO of 45 ms that, once full, drops all packets until 20 ms are left: there is room for bursts some of the time."""

    def on_begin(self, link: Link) -> None:
        """Take both lengths from the link's rate."""
        packet = 12000 / link.rate
        self.most, self.least, self.full = max(6, 0.045 / packet), max(1, 0.02 / packet), False

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Drop while it empties itself."""
        self.full = queue.packets > self.least if self.full else queue.packets >= self.most
        return "drop" if self.full else "pass"
