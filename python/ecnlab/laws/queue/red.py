"""RED: ``sch_red`` on Linux, the control function H of the models, and the columns of its average."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Final

from ecnlab.base.quantities import length, number, quantity
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.tc import in_bytes, only_tail
from ecnlab.laws.kernel.xstats import Layout
from ecnlab.laws.kinds import Counts, Place, Queue, Table
from ecnlab.laws.model_coverage import covered

if TYPE_CHECKING:
    from ecnlab.models.red import ControlLaw

KERNEL_HAS: Final[dict[str, object]] = {
    "probability": "packets",
    "spacing": "linux",
    "count_arrival": False,
    "count_reset": "forced",
    "first_passes": True,
    "spare_short": False,
    "gentle": False,
    "mark_p": None,
    "adaptive": None,
    "feng": None,
    "frozen_gentle": False,
    "becn": None,
}
"""Keys that are fixed in sch_red, with its values."""


# ---------------------------------------------------------------- Linux


def _qdisc(queue: Table, path: str, rate_bps: int | None, found: Findings) -> str:
    only_tail(queue, path, found)
    _check_settings(queue, path, found)
    packet = number(queue["mean_packet"])
    low, high, limit = (in_bytes(queue, key, path, packet, found) for key in ("min_th", "max_th", "limit"))
    if found.any():
        return ""
    exponent, burst = weight(queue, path, low, packet, found)
    if rate_bps is None:
        found.refuse(f"{path}.discipline", f"`{path}`: RED needs a link with a rate on Linux", "give the link a rate")
    if low >= high or limit < high:
        found.refuse(f"{path}.limit", f"`{path}`: the kernel requires min_th < max_th <= limit", "")
    if found.any():
        return ""
    found.substitute(path, "weight", queue["weight"], 2.0**-exponent)
    words = ["red limit", limit, "min", low, "max", high, "avpkt", packet, "burst", burst]
    words += ["probability", queue["max_p"], "bandwidth", f"{rate_bps}bit"]
    if queue["ecn"]:
        words.append("ecn")
        if queue["above"] == "drop":
            words.append("harddrop")
    return " ".join(str(word) for word in words)


def _check_settings(queue: Table, path: str, found: Findings) -> None:
    """Refuse settings that sch_red does not support; only report those with little effect."""
    for key, only in KERNEL_HAS.items():
        value = queue.get(key)
        if value == only or (key == "first_passes" and queue["spacing"] == KERNEL_HAS["spacing"]):
            continue
        if key in ("count_arrival", "count_reset", "first_passes") or (key == "spacing" and value == "uniform"):
            found.substitute(path, key, value, only)
        else:
            found.refuse_value(f"{path}.{key}", value, f"its RED has {json.dumps(only)}" if only else "leave it out")
    found.substitute(path, "idle", queue["idle"], "linux")


def weight(queue: Table, path: str, low: int, packet: int, found: Findings) -> tuple[int, int]:
    """Return the weight as a power of two, as the kernel uses it, and the ``burst`` from which tc derives it."""
    weight = queue["weight"]
    if not isinstance(weight, float):
        found.refuse(f"{path}.weight", f"`{path}.weight`: the kernel accepts only a number", "write such as 0.002")
        return 0, 0
    exponent = min(range(1, 32), key=lambda e: abs(2.0**-e - weight))
    # For a min_th below one packet tc finds no exponent for any burst: the average would have to exceed the whole burst.
    bursts = range(low // packet + 1, 1 << 20) if low >= packet else range(0)
    for burst in bursts:
        if tc_exponent(low, burst, packet) == exponent:
            return exponent, burst
        if tc_exponent(low, burst, packet) > exponent:
            break
    found.refuse(f"{path}.weight", f"`{path}.weight`: tc cannot set 2^-{exponent} with this min_th", "")
    return 0, 0


def tc_exponent(low: int, burst: int, packet: int) -> int:
    """Return the exponent of the weight that tc derives from ``burst``; 0 if it finds none.

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


XSTATS: Final = Layout("tc_red_xstats", "early pdrop other marked")


def _counts(_drops: int, own: bytes) -> Counts:
    """Return sch_red's counts: ``early`` counts early and forced drops together, ``pdrop`` drops at a full buffer."""
    red = XSTATS.read(own)
    return Counts(red["marked"], None, None, red["pdrop"])


# ---------------------------------------------------------------- closed form


def _control_law(place: Place) -> ControlLaw:
    from ecnlab.models import red  # loads NumPy

    queue = place.settings
    for key in ("adaptive", "feng"):
        covered(key not in queue, f"queue {place.name} moves max_p ({key})", "leave that out")
    low, high = (place.packets(*length(queue[key])) for key in ("min_th", "max_th"))
    law = red.red(
        low,
        high,
        queue["max_p"],
        gentle=queue["gentle"],
        ecn=place.ecn and queue["ecn"],
        above=queue["above"],
        mark_p=queue.get("mark_p", math.inf),
        limit=place.packets(*length(queue["limit"])),
        spacing="uniform" if queue["spacing"] == "linux" else queue["spacing"],
    )
    return law if queue["probability"] == "packets" else law.scaled(place.wire_bytes / quantity(queue["mean_packet"]))


LAW: Final = Queue(
    qdisc=_qdisc,
    kernel=("red",),
    kernel_options=("NET_SCH_RED",),
    kernel_note='thresholds in bytes; with `ecn`, and with `harddrop` for `above = "drop"`',
    counts=_counts,
    uncounted=("early_drops", "forced_drops"),
    control_law=_control_law,
)
