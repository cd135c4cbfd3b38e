"""Queues with one defect each, which a search has to find."""

from __future__ import annotations

from ecnlab.userlaws import Packet, Queue, QueueLaw, Random, Verdict


class Milliseconds(QueueLaw):
    """A step at 10 ms of queue, whose target was written in milliseconds where seconds are meant."""

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Signal above the threshold, which no queue reaches."""
        return "signal" if queue.bytes * 8 > 1e6 * 10 else "pass"


class OneRate(QueueLaw):
    """A step at 10 ms of queue at 50 Mbps, which knows nothing of the rate."""

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Signal above 42 packets."""
        return "signal" if queue.bytes > 0.010 * 50e6 / 8 else "pass"
