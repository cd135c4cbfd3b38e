"""The ecnlab side: run a scenario of this folder and name its numbers as `ns2.measure` does."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from cells import Cell

from ecnlab import _core
from ecnlab.engines.frames import frame

BOTTLENECK = "bottleneck"
Tables = dict[str, dict[str, Any]]


@cache
def _scenario(path: Path) -> _core.Scenario:
    return _core.Scenario(str(path), path.read_text())


def run(cell: Cell, seed: int) -> Tables:
    """Run a cell; return its tables: columns of numbers as arrays (missing is NaN), of text as lists."""
    tables = _scenario(cell.scenario).with_overrides(dict(cell.overrides)).run(seed)
    return {name: {column.name: _values(column) for column in frame(columns)} for name, columns in tables.items()}


def _values(column: pl.Series) -> Any:
    return column.to_list() if column.dtype == pl.String else column.to_numpy()


def measure(cell: Cell, seed: int) -> dict[str, float]:
    """Run a cell and return `metric group` -> value over the measurement window."""
    tables = run(cell, seed)
    links, queues, flows = tables["links"], tables["queues"], tables["flows"]
    link = links["link"].index(BOTTLENECK)
    values = {"queue mean, packets": float(links["queue_mean_packets"][link])}
    if cell.red:
        average = links["average_mean_packets"] if cell.mean_packet is None else links["average_mean_bytes"]
        values["RED average, packets"] = float(average[link]) / (cell.mean_packet or 1)
    places = list(zip(queues["link"], queues["group"], strict=True))
    groups = np.array(flows["group"])
    for group in cell.groups:
        row = places.index((BOTTLENECK, group))
        members = groups == group
        values |= {
            f"goodput {group}, bit/s": float(flows["goodput_bps"][members].mean()),
            f"drops {group}": int(queues["dropped"][row]),
            f"early drops {group}": int(queues["early_drops"][row]),
            f"marks {group}": int(queues["marks"][row]),
            f"retransmits {group}": int(flows["retransmits"][members].sum()),
            f"timeouts {group}": int(flows["timeouts"][members].sum()),
            f"ecn cuts {group}": int(flows["ecn_reductions"][members].sum()),
        }
    return values
