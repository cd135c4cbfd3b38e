"""Window laws with one defect each, which a search has to find."""

from __future__ import annotations

from ecnlab.userlaws import CongestionEvent, Window, WindowLaw


class Reno(WindowLaw):
    """Reno, of which the others are copies with a defect."""

    def __init__(self) -> None:
        self.counted = 0

    def grow(self, window: Window, acked: int) -> None:
        """Slow start, then a segment a round trip."""
        if window.cwnd < window.ssthresh:
            window.cwnd += min(acked, 2 * window.mss)
            return
        self.counted += acked
        if self.counted >= (whole := int(window.cwnd)):
            self.counted -= whole
            window.cwnd += window.mss

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """Half of the data in flight, one segment after a timeout."""
        window.ssthresh = max(int(event.in_flight / 2), 2 * window.mss)
        window.cwnd = window.mss if event.why == "timeout" else window.ssthresh


class IgnoresMarks(Reno):
    """The reduction is for losses only."""

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """Nothing on ECN-Echo."""
        if event.why != "ecn":
            super().on_congestion(window, event)


class Unscaled(Reno):
    """No window above 65,535 bytes, as without the option of window scaling."""

    def grow(self, window: Window, acked: int) -> None:
        """As Reno, up to 64 KiB."""
        super().grow(window, acked)
        window.cwnd = min(window.cwnd, 65_535)


class StaysSmall(Reno):
    """After a timeout the threshold is one segment for ever: slow start never comes back."""

    def __init__(self) -> None:
        super().__init__()
        self.timed_out = False

    def grow(self, window: Window, acked: int) -> None:
        """As Reno until the first timeout."""
        if not self.timed_out:
            super().grow(window, acked)

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """As Reno."""
        self.timed_out = self.timed_out or event.why == "timeout"
        super().on_congestion(window, event)
