"""Links and queues of a scenario in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ecnlab import laws
from ecnlab.base.quantities import written


def bits(link: Mapping[str, Any]) -> str:
    """Return the rate of a link, or of its shaper."""
    return written(link.get("shaper", link)["rate"])


def delay(value: Any) -> str:
    """Return a delay, or its distribution."""
    if isinstance(value, str):
        return written(value)
    ((law, parameter),) = value.items()
    if law == "uniform":
        low, high = parameter
        return f"{low.split()[0]} to {written(high)}" if low.split()[1] == high.split()[1] else f"{low} to {high}"
    return f"{law} {parameter}"


def queue_line(queue: Mapping[str, Any]) -> str:
    """Return a queue's discipline and main parameters."""
    full = "" if queue.get("full", "tail") == "tail" else f" ({queue['full']} on full)"
    always = [
        f"{laws.label('queue', queue['discipline'])}{full} {written(queue['limit'])}",
        *(["ECN"] if queue.get("ecn") else []),
    ]
    return ", ".join([*always, *map(_in_words, laws.shown(queue))])


def _in_words(setting: str) -> str:
    """``key value``, with a quantity as reports write it."""
    key, _, value = setting.partition(" ")
    return f"{key} {written(value)}" if re.fullmatch(r"[\d.e-]+ \w+", value) else setting
