"""The scenario's queues as the kernel's queue disciplines, in the words of ``tc``.

What the kernel's discipline cannot do is refused; where it is near but not the same, the caller is told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from ecnlab.linux.findings import Findings
from ecnlab.linux.quantity import number, split

FIXED: Final = {"admit": "fits", "forced": "arriving", "mark_at": "tail"}
"""Keys of every queue that the kernel leaves no choice."""

RED_FIXED: Final[dict[str, object]] = {
    "probability": "packets",
    "spacing": "uniform",
    "count_arrival": False,
    "first_passes": True,
    "spare_short": False,
    "gentle": False,
    "mark_p": None,
    "adaptive": None,
    "feng": None,
    "frozen_gentle": False,
    "becn": None,
}
"""Keys of RED that the kernel's sch_red leaves no choice."""


def qdisc(queue: Mapping[str, Any], name: str, rate_bps: int | None, found: Findings) -> str:
    """What follows ``tc qdisc add ... handle 10:`` for the ``[queue.NAME]`` in front of a link of ``rate_bps``."""
    path = f"queue.{name}"
    for key, only in FIXED.items():
        if queue[key] != only:
            found.refuse(f"{path}.{key}", f"`{path}.{key}`: the kernel knows only `{only}`", f'write {key} = "{only}"')
    if queue["discipline"] == "droptail":
        return _fifo(queue, path, found)
    if queue["discipline"] == "red":
        return _red(queue, path, rate_bps, found)
    law = queue["discipline"]
    found.refuse(f"{path}.discipline", f"`{path}`: the Linux engine has no `{law}`", "it has droptail and red")
    return ""


def _fifo(queue: Mapping[str, Any], path: str, found: Findings) -> str:
    limit, unit = split(queue["limit"])
    if queue["full"] == "front" and unit == "packets":
        return f"pfifo_head_drop limit {limit}"
    _only_tail(queue, path, found)
    return f"{'pfifo' if unit == 'packets' else 'bfifo'} limit {limit}"


def _only_tail(queue: Mapping[str, Any], path: str, found: Findings) -> None:
    if queue["full"] != "tail":
        help_ = 'write full = "tail"; "front" is there for droptail with a limit in packets'
        found.refuse(f"{path}.full", f"`{path}.full`: the kernel cannot drop at the {queue['full']}", help_)


def _red(queue: Mapping[str, Any], path: str, rate_bps: int | None, found: Findings) -> str:
    _only_tail(queue, path, found)
    _red_fixed(queue, path, found)
    packet = number(queue["mean_packet"])
    low, high, limit = (_in_bytes(queue, key, path, packet, found) for key in ("min_th", "max_th", "limit"))
    if found.any():
        return ""
    exponent, burst = _weight(queue, path, low, packet, found)
    if rate_bps is None:
        found.refuse(f"{path}.discipline", f"`{path}`: RED needs a link with a rate on Linux", "give the link a rate")
    if low >= high or limit < high:
        found.refuse(f"{path}.limit", f"`{path}`: the kernel wants min_th < max_th <= limit", "")
    if found.any():
        return ""
    found.tell(path, "weight", queue["weight"], 2.0**-exponent)
    words = ["red limit", limit, "min", low, "max", high, "avpkt", packet, "burst", burst]
    words += ["probability", queue["max_p"], "bandwidth", f"{rate_bps}bit"]
    if queue["ecn"]:
        words.append("ecn")
        if queue["above"] == "drop":
            words.append("harddrop")
    return " ".join(str(word) for word in words)


def _red_fixed(queue: Mapping[str, Any], path: str, found: Findings) -> None:
    """Refuse what RED's law is asked to do and sch_red does not; tell of what hardly matters."""
    for key, only in RED_FIXED.items():
        value = queue.get(key)
        if value == only:
            continue
        if key in ("count_arrival", "first_passes"):
            found.tell(path, key, value, only)
        else:
            found.refuse_value(f"{path}.{key}", value, f"its RED has {json.dumps(only)}" if only else "leave it out")
    found.tell(path, "idle", queue["idle"], "the kernel's table of powers of the weight")


def _in_bytes(queue: Mapping[str, Any], key: str, path: str, packet: int, found: Findings) -> int:
    """A length of RED's in bytes, in which the kernel's RED thinks; packets are mean packets."""
    text = queue[key]
    if text.startswith("auto"):
        found.refuse(f"{path}.{key}", f"`{path}.{key}`: the kernel has no automatic threshold", 'write such as "15 kB"')
        return 0
    value, unit = split(text)
    return value * packet if unit == "packets" else value


def _weight(queue: Mapping[str, Any], path: str, low: int, packet: int, found: Findings) -> tuple[int, int]:
    """The weight as a power of two, which is what the kernel computes with, and the ``burst`` for which tc finds it."""
    weight = queue["weight"]
    if not isinstance(weight, float):
        found.refuse(f"{path}.weight", f"`{path}.weight`: the kernel knows only numbers", "write such as 0.002")
        return 0, 0
    exponent = min(range(1, 32), key=lambda e: abs(2.0**-e - weight))
    for burst in range(low // packet + 1, 1 << 20):
        if tc_exponent(low, burst, packet) == exponent:
            return exponent, burst
        if tc_exponent(low, burst, packet) > exponent:
            break
    found.refuse(f"{path}.weight", f"`{path}.weight`: tc cannot set 2^-{exponent} with this min_th", "")
    return 0, 0


def tc_exponent(low: int, burst: int, packet: int) -> int:
    """The exponent of the weight that tc derives from ``burst``; 0 if it finds none.

    The condition on it is how long an average of zero takes to reach min_th when ``burst`` packets arrive at once
    (tc-red(8); tc_red_eval_ewma in iproute2's tc/tc_red.c).
    """
    needed = burst + 1 - low / packet
    if needed < 1:
        return 0
    for exponent in range(1, 32):
        weight = 2.0**-exponent
        if needed <= (1 - (1 - weight) ** burst) / weight:
            return exponent
    return 0
