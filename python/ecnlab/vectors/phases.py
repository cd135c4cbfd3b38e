"""The phase of congestion control in which a sender processes an ACK, derived from its segments and its windows."""

from __future__ import annotations

from typing import Any, Final

Event = dict[str, Any]
INFINITE: Final = 2**63
"""A threshold that is not set."""


class Phases:
    """The phases of one sender, ACK by ACK.

    They are derived, not read from the sender. A recovery begins with an ACK on which the sender retransmits, and ends with
    the ACK of all data sent before (``recover`` of RFC 6582). A reduction is an ACK outside a recovery that lowers ssthresh.
    """

    def __init__(self) -> None:
        self._acked = 0
        self._end = 0
        """One past the last byte sent."""
        self._recover: int | None = None
        """The end of data sent before the recovery in progress."""
        self._timed_out = 0
        """The end of data sent before the last timeout."""
        self._before: Event = {}

    def complete(self, event: Event, segments: list[Event]) -> Event:
        """Return ``event`` with ``newly_acked`` and ``phase``; ``segments`` are those sent at its time."""
        again = any(segment["retransmission"] for segment in segments)
        end = self._end
        self._end = max([end, *(segment["seq"] + segment["bytes"] for segment in segments)])
        state = {key: value for key, value in event.items() if key != "ack"}
        if "ack" in event:
            newly = max(event["ack"] - self._acked, 0)
            phase = self._phase(event, newly, again, end)
            self._acked = max(self._acked, event["ack"])
            event = {"ack": event["ack"], "newly_acked": newly, **_first(state), "phase": phase, **_rest(state)}
        elif again:
            self._recover, self._timed_out = None, end
            event = {"phase": "timeout", **state}
        self._before = state
        return event

    def _phase(self, event: Event, newly: int, again: bool, end: int) -> str:
        if self._recover is not None:
            if event["ack"] < self._recover:
                return "recovery"
            self._recover = None
            return "recovery-end"
        if again and event["ack"] >= self._timed_out:
            self._recover = end
            return "recovery-start"
        before, after = _threshold(self._before), _threshold(event)
        if after < before:
            return "reduction"
        if event.get("ece"):
            return "echo"
        if newly == 0:
            return "duplicate"
        return "slow-start" if self._before.get("cwnd_bytes", 0) < before else "avoidance"


def _threshold(state: Event) -> int:
    value = state.get("ssthresh_bytes")
    return INFINITE if value is None else int(value)


def _first(state: Event) -> Event:
    return {key: value for key, value in state.items() if key in ("ece", "ace")}


def _rest(state: Event) -> Event:
    return {key: value for key, value in state.items() if key not in ("ece", "ace")}
