"""Units of metrics, and the unit in which every figure draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ecnlab.base.quantities import BYTES, RATES, TIMES
from ecnlab.folder.columns import TABLES
from ecnlab.scenario.metrics import unit_of

DRAWN: Final = {"bit/s": (1e-6, "Mbit/s"), "s": (1e3, "ms"), "bytes": (1e-3, "kB")}
"""Factor and unit of figures for a unit of tables; other units are drawn as they are. kB are 1000 bytes."""

CLOCK: Final = ("time at which", "time of the")
"""How the meaning of a column starts that is a time on the clock of the run, and not a duration."""

DIMENSIONS: Final = ({name: scale / 1e12 for name, scale in TIMES.items()}, RATES, BYTES, {"packets": 1})
"""Units of labels that can be compared."""


def drawn_unit(metrics: Mapping[str, Any], name: str) -> tuple[float, str]:
    """Return the factor by which figures multiply a metric, and the unit: rates in Mbit/s, durations in ms, sizes in kB.

    Times on the clock of the run, such as ``finish_s``, stay in seconds, as the axes of figures over time.
    """
    unit = unit_of(metrics, name)
    return (1.0, unit) if unit == "s" and _on_clock(metrics, name) else DRAWN.get(unit, (1.0, unit))


def _on_clock(metrics: Mapping[str, Any], name: str) -> bool:
    requested = metrics[name]
    if "difference" in requested:
        return False
    return TABLES[requested["table"]][requested["column"]].meaning.startswith(CLOCK)


def numbers(labels: Sequence[str]) -> tuple[list[float], str]:
    """Return the labels of an axis as numbers, with their unit; none if one is no number.

    Labels such as "10 ms" and "0.1 s" are in the unit of the first one.
    """
    split = [label.partition(" ") for label in labels]
    scales = next((scales for scales in DIMENSIONS if all(unit in scales for _, _, unit in split)), None)
    unit = split[0][2] if scales else ""
    try:
        if scales is None:
            return [float(label) for label in labels], ""
        return [float(number) * (scales[of] / scales[unit]) for number, _, of in split], unit
    except ValueError:
        return [], ""
