"""Senders that are made for a good card: each meets scenarios in which its fault does not show."""

from ecnlab.userlaws import AckSample, CongestionEvent, Established, Window, WindowLaw


class Reno(WindowLaw):
    """One segment more per RTT, half the window on congestion, one segment after a timeout."""

    def grow(self, window: Window, acked: int) -> None:
        """Slow start by bytes, then `step` segments per RTT."""
        acked = min(acked, 2 * window.mss)
        slow_start = window.cwnd < window.ssthresh
        window.cwnd += acked if slow_start else self.step(window) * window.mss * acked / window.cwnd

    def step(self, window: Window) -> int:
        """Segments that the window grows by in a round trip."""
        return 1

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """Half the data in flight, at least two segments."""
        window.ssthresh = max(int(min(window.cwnd, event.in_flight) / 2), 2 * window.mss)
        window.cwnd = window.mss if event.why == "timeout" else window.ssthresh


class TwoFaced(Reno):
    """Reno in windows of up to 150 segments; 32 segments a round trip above."""

    def step(self, window: Window) -> int:
        """Segments that the window grows by in a round trip."""
        return 1 if window.cwnd <= 150 * window.mss else 32


class IgnoresMarks(Reno):
    """Reno that uses ECN and does not respond to ECN-Echo."""

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """As Reno on losses and timeouts only."""
        if event.why != "ecn":
            super().on_congestion(window, event)


class FourSegments(WindowLaw):
    """A window of four segments for ever."""

    def on_established(self, window: Window, established: Established) -> None:
        """Set the window."""
        window.cwnd = 4 * window.mss

    def grow(self, window: Window, acked: int) -> None:
        """Set the window again after recovery."""
        window.cwnd = 4 * window.mss

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """Set the window."""
        window.cwnd = window.ssthresh = 4 * window.mss


class Floor(Reno):
    """Reno with a window of at least 20 segments, whatever is lost."""

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """As Reno, and not below the floor."""
        super().on_congestion(window, event)
        window.ssthresh = max(window.ssthresh, 20 * window.mss)
        window.cwnd = max(window.cwnd, 20 * window.mss)


class LongPaths(Reno):
    """Reno on paths of up to 60 ms; on longer ones no loss reduces the window."""

    min_rtt = 0.0

    def on_ack(self, window: Window, sample: AckSample) -> None:
        """Note the shortest RTT."""
        self.min_rtt = sample.min_rtt or 0.0

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """As Reno on a short path."""
        if self.min_rtt <= 0.06:
            super().on_congestion(window, event)


class AfterTwoMinutes(Reno):
    """Reno for two minutes; 32 segments a round trip from then on."""

    now = 0.0

    def on_ack(self, window: Window, sample: AckSample) -> None:
        """Note the time."""
        self.now = sample.now

    def step(self, window: Window) -> int:
        """Segments that the window grows by in a round trip."""
        return 1 if self.now < 120 else 32


class MarksAtFortyMs(IgnoresMarks):
    """Responds to marks on paths of 35 to 45 ms, those of the scenarios with marks, and on no others."""

    min_rtt = 0.0

    def on_ack(self, window: Window, sample: AckSample) -> None:
        """Note the shortest RTT."""
        self.min_rtt = sample.min_rtt or 0.0

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """As Reno on these paths."""
        if event.why != "ecn" or 0.035 < self.min_rtt < 0.045:
            Reno.on_congestion(self, window, event)


class ShortPaths(Reno):
    """Reno on paths of 19 ms and more; on shorter ones a window grows by eight segments a round trip, and no loss reduces it."""

    min_rtt = 1.0

    def on_ack(self, window: Window, sample: AckSample) -> None:
        """Note the shortest RTT."""
        self.min_rtt = sample.min_rtt or 1.0

    def step(self, window: Window) -> int:
        """Segments that the window grows by in a round trip."""
        return 8 if self.min_rtt < 0.019 else 1

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """As Reno on a longer path, and on timeouts."""
        if self.min_rtt >= 0.019 or event.why == "timeout":
            super().on_congestion(window, event)


class WholeFile(Reno):
    """Reno with an initial window of 80 segments: a response of 100 kB leaves at once."""

    def on_established(self, window: Window, established: Established) -> None:
        """Set the window."""
        window.cwnd = 80 * window.mss


class DeepBuffers(Reno):
    """Reno until it has once seen five BDPs queued; then eight segments a round trip, and no loss reduces the window."""

    deep = False

    def on_ack(self, window: Window, sample: AckSample) -> None:
        """Compare the RTT with the shortest."""
        self.deep |= (sample.rtt or 0.0) > 6 * (sample.min_rtt or 1.0)

    def step(self, window: Window) -> int:
        """Segments that the window grows by in a round trip."""
        return 8 if self.deep else 1

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """As Reno in a buffer of less."""
        if not self.deep or event.why == "timeout":
            super().on_congestion(window, event)


class FirstSeconds(Reno):
    """Reno for the first 150 segments, and from 9 s on; in between no loss reduces the window."""

    sent, began = 0, 0.0

    def on_established(self, window: Window, established: Established) -> None:
        """Note the start."""
        self.began = established.now

    def grow(self, window: Window, acked: int) -> None:
        """As Reno, and count."""
        self.sent += acked
        super().grow(window, acked)

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """As Reno outside that time."""
        if event.why == "timeout" or self.sent < 150 * window.mss or event.now > self.began + 9:
            super().on_congestion(window, event)


class Pulses(WindowLaw):
    """A window of 200 segments for a quarter of each second, of four for the rest: the mean is that of a fair share."""

    def on_ack(self, window: Window, sample: AckSample) -> None:
        """Set the window by the time."""
        window.cwnd = (200 if sample.now % 1.0 < 0.25 else 4) * window.mss

    def grow(self, window: Window, acked: int) -> None:
        """Leave the window as it is."""

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """Leave slow start."""
        window.cwnd = window.ssthresh = 4 * window.mss
