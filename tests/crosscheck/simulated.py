"""The ecnlab side: run a scenario of this folder and name its numbers as `ns2.measure` does."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from cells import Cell
from ecnlab import _core

BOTTLENECK = "bottleneck"
Tables = dict[str, dict[str, Any]]


@cache
def _scenario(path: Path) -> _core.Scenario:
    return _core.Scenario(str(path), path.read_text())


def run(cell: Cell, seed: int) -> Tables:
    """Run a cell; return its tables."""
    tables: Tables = _scenario(cell.scenario).with_overrides(dict(cell.overrides)).run(seed)
    return tables


def measure(cell: Cell, seed: int) -> dict[str, float]:
    """Run a cell and return `metric group` -> value over the measurement window."""
    tables = run(cell, seed)
    link = tables["links"]["link"].index(BOTTLENECK)
    values = {"queue mean, packets": float(tables["links"]["queue_mean_packets"][link])}
    if cell.red:
        values["RED average, packets"] = float(tables["links"]["average_mean_packets"][link])
    queues, flows = tables["queues"], tables["flows"]
    for group in cell.groups:
        row = list(zip(queues["link"], queues["group"], strict=True)).index((BOTTLENECK, group))
        of_group = np.array([g == group for g in flows["group"]])
        early = int(queues["early_drops"][row])
        drops = early + int(queues["forced_drops"][row]) + int(queues["tail_drops"][row])
        values |= {
            f"goodput {group}, bit/s": float(flows["goodput_bps"][of_group].mean()),
            f"drops {group}": drops,
            f"early drops {group}": early,
            f"marks {group}": int(queues["marks"][row]),
            f"retransmits {group}": int(flows["retransmits"][of_group].sum()),
            f"timeouts {group}": int(flows["timeouts"][of_group].sum()),
            f"ecn cuts {group}": int(flows["ecn_reductions"][of_group].sum()),
        }
    return values
