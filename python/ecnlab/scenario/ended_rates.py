"""Links whose rate falls to zero for good."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ecnlab._core import Scenario


def found(scenario: Scenario) -> Iterator[tuple[str, str, str]]:
    """Yield key, message and remedy of each link whose changing rate ends in 0: nothing leaves it from there on."""
    for name, link in scenario.resolved["link"].items():
        since = _ends(link["rate"], Path(scenario.path).parent)
        if since is not None:
            key = f"link.{name}.rate"
            message = f"`{key}` is 0 from {since} on: no packet leaves the link any more"
            yield key, message, "write every = TIME to repeat it, or end with a rate above 0"


def _ends(rate: Any, folder: Path) -> str | None:
    """Return the time from which ``rate`` is 0; None if it repeats or does not end in 0. Only a CSV can have a rate of 0."""
    if not isinstance(rate, Mapping) or "csv" not in rate or "every" in rate:
        return None
    return _end_of_csv(folder / rate["csv"])


def _end_of_csv(path: Path) -> str | None:
    """Return the last time of a CSV that the scenario has read, with its unit, if its last rate is 0."""
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    header, *rows = [line for line in lines if line.strip() and not line.startswith("#")]
    time, value = (part.strip() for part in rows[-1].split(",")[:2])
    return f"{time} {header.partition(',')[0].strip().rpartition('_')[2]}" if float(value) == 0 else None
