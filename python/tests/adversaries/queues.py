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
