"""Step marking at 20 packets, like the built-in law `step` with `threshold = "20 packets"`."""

from ecnlab.userlaws import Packet, Queue, QueueLaw, Random, Verdict


class Step(QueueLaw):
    """Signals every packet that finds more than 20 others in the queue."""

    def on_enqueue(self, packet: Packet, queue: Queue, now: float, random: Random) -> Verdict:
        """Return the verdict; the queue does not include the arriving packet."""
        return "signal" if queue.packets > 20 else "pass"
