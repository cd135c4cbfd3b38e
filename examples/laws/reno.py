"""Reno with bytes counted (RFC 5681, RFC 3465), as the simulator's own under the profile `modern`."""

from ecnlab.userlaws import CongestionEvent, Window, WindowLaw


class Reno(WindowLaw):
    """Slow start, one segment more a round trip, half on congestion."""

    def __init__(self) -> None:
        self.counted = 0

    def grow(self, window: Window, acked: int) -> None:
        """Slow start by what is acknowledged, two segments at most; then a segment for each window acknowledged."""
        if window.cwnd < window.ssthresh:
            window.cwnd += min(acked, 2 * window.mss)
            return
        self.counted += acked
        if self.counted >= (whole := int(window.cwnd)):
            self.counted -= whole
            window.cwnd += window.mss

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """Half of what is in flight; one segment after a timeout; ECN leaves ssthresh its floor of two segments."""
        half = (window.cwnd if event.in_flight == int(window.cwnd) else event.in_flight) / 2
        window.ssthresh = max(int(half), 2 * window.mss)
        window.cwnd = {"timeout": window.mss, "loss": window.ssthresh, "ecn": max(half, window.mss)}[event.why]
        self.counted = 0
