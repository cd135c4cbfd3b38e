"""Reno with appropriate byte counting (RFC 5681, RFC 3465), like the built-in law with the profile `modern`."""

from ecnlab.userlaws import CongestionEvent, Window, WindowLaw


class Reno(WindowLaw):
    """Slow start; then one segment more per RTT; half the window on congestion."""

    def __init__(self) -> None:
        self.counted = 0

    def grow(self, window: Window, acked: int) -> None:
        """Slow start by the bytes acknowledged, two segments at most; then one segment per window acknowledged."""
        if window.cwnd < window.ssthresh:
            window.cwnd += min(acked, 2 * window.mss)
            return
        self.counted += acked
        if self.counted >= (whole := int(window.cwnd)):
            self.counted -= whole
            window.cwnd += window.mss

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """Half the data in flight; one segment after a timeout; on ECN only ssthresh has a floor of two segments."""
        half = (window.cwnd if event.in_flight == int(window.cwnd) else event.in_flight) / 2
        window.ssthresh = max(int(half), 2 * window.mss)
        window.cwnd = {"timeout": window.mss, "loss": window.ssthresh, "ecn": max(half, window.mss)}[event.why]
        self.counted = 0
