"""Links and queues of a scenario in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ecnlab import laws
from ecnlab.base.quantities import changes, written

MAX_LEVELS: Final = 4
"""Levels of a changing quantity that are named."""


def bits(link: Mapping[str, Any]) -> str:
    """Return the rate of a link, or of its shaper."""
    rate = link.get("shaper", link)["rate"]
    return changing(rate) if changes(rate) else written(rate)


def changing(value: Any) -> str:
    """Return a rate or delay that changes: its kind and its levels."""
    table = value if isinstance(value, Mapping) else {"steps": value}
    every = f" every {written(table['every'])}" if "every" in table else ""
    if "steps" in table:
        levels = [level for _, level in table["steps"]]
        shown = levels if len(levels) <= MAX_LEVELS else [*levels[: MAX_LEVELS - 1], "…", levels[-1]]
        return ", then ".join(written(level) for level in shown) + every
    for kind, words in (
        ("square", "{} and {} in turn"),
        ("sine", "sine from {} to {}"),
        ("walk", "walk from {} to {}"),
    ):
        if kind in table:
            return words.format(*map(written, table[kind])) + every
    return f"trace {table.get('csv') or table.get('mahimahi')}{every}"


def delay(value: Any) -> str:
    """Return a delay, or its distribution."""
    if isinstance(value, str):
        return written(value)
    if changes(value):
        return changing(value)
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
