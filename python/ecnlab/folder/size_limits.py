"""Size of the tables of a run that grow with time or packets: predicted before the run, rejected if too large."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ecnlab._core import Scenario
from ecnlab.base.errors import EcnlabError

LIMIT: Final = "ECNLAB_MAX_TABLES"
"""Environment variable for the maximum size of a run's tables, such as "50 GB"."""

DEFAULT_LIMIT: Final = 20 * 10**9

BYTES_A_ROW: Final = {"packets": 24, "queue_series": 24, "class_series": 24, "flow_series": 32}
"""Assumed bytes of a row on disk: more than measured in two examples, see ``docs/reliability.md``."""

_KEY: Final = {"packets": "packets", "queue_series": "sample", "class_series": "sample", "flow_series": "sample"}
_REMEDY: Final = {
    "packets": "shorten `duration`, capture one link ([capture.NAME]), or allow more",
    "sample": 'write a longer interval, such as "100 ms", or allow more',
}
_UNITS: Final = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@dataclass(frozen=True)
class Expected:
    """Expected size of a table."""

    table: str
    rows: float | None
    """None if unbounded."""

    @property
    def bytes(self) -> float | None:
        """On disk."""
        return None if self.rows is None else self.rows * BYTES_A_ROW[self.table]

    def __str__(self) -> str:
        if self.rows is None or self.bytes is None:
            return f"{self.table}: the number of rows is unknown beforehand, because no rate bounds it"
        about = "about " if self.table == "packets" else "at most " if self.table == "flow_series" else ""
        return f"{self.table}: {about}{_number(self.rows)} rows, about {size(self.bytes)}"


def expected(scenario: Scenario, *, events: bool = False) -> list[Expected]:
    """Return the expected tables of a run of ``scenario`` that grow with time (`sample`) or packets."""
    return [Expected(table, rows) for table, rows in scenario.volume(events=events).items()]


def refuse_too_large(
    scenario: Scenario, folder: Path, *, events: bool = False, tables: Collection[str] | None = None
) -> None:
    """Raise SpecError, which names the key, if a run's tables exceed the limit or the disk that holds ``folder``.

    Only the stored ``tables`` count (None: all). While tables are merged the disk holds them twice.
    """
    most, free = limit(), free_at(folder)
    found: list[tuple[str, str, str]] = []
    kept = [one for one in expected(scenario, events=events) if tables is None or one.table in tables]
    for key, wanted in _by_key(kept).items():
        total = sum(one.bytes or 0.0 for one in wanted)
        amounts = "; ".join(map(str, wanted))
        requested = f"`{key}`" if key == "sample" or scenario.resolved.get("packets") else "`--events` (`events=True`)"
        if total > most:
            allow = f'{LIMIT}="{size(total * 1.1)}" in the environment'
            found.append(
                (key, f"{requested} records {amounts}; at most {size(most)} are written", f"{_REMEDY[key]}: {allow}")
            )
        elif 2 * total > free:
            reason = f"{requested} records {amounts}, and twice as much while they are written; {folder} has {size(free)} free"
            found.append((key, reason, "free space, write elsewhere (`--out`), or record less"))
    if found:
        raise scenario.refusal(found)


def refuse_any_too_large(scenarios: Iterable[Scenario], folder: Path, tables: Collection[str]) -> None:
    """As `refuse_too_large`, for each of the ``scenarios`` of an experiment of which ``tables`` are kept."""
    for scenario in scenarios:
        refuse_too_large(scenario, folder, events="packets" in tables, tables=tables)


def limit() -> float:
    """Return the maximum bytes of a run's tables. Raises EcnlabError if the environment variable is invalid."""
    text = os.environ.get(LIMIT, "").strip()
    if not text:
        return DEFAULT_LIMIT
    found = parsed(text)
    if found is None:
        raise EcnlabError(f'{LIMIT} is {text!r}: write a size such as "50 GB"')
    return found


def parsed(text: str) -> float | None:
    """Return the bytes of a size such as "50 GB", None if ``text`` is none."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([kMGT]?)B", text)
    return float(found[1]) * _UNITS[found[2]] if found else None


def free_at(folder: Path) -> int:
    """Bytes free on the disk where ``folder`` is or would be."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


def size(count: float) -> str:
    """``count`` bytes for people: "1.7 GB"."""
    for unit in reversed(_UNITS):
        if unit and count >= _UNITS[unit]:
            return f"{_number(count / _UNITS[unit])} {unit}B"
    return f"{count:.0f} B"


def _number(value: float) -> str:
    return f"{value:.0f}" if 100 <= value < 1e7 else f"{value:.3g}"


def _by_key(wanted: list[Expected]) -> Mapping[str, list[Expected]]:
    by_key: dict[str, list[Expected]] = {}
    for one in wanted:
        by_key.setdefault(_KEY[one.table], []).append(one)
    return by_key
