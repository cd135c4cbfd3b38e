"""Made-up runs of RFC 2884's experiments with planted effects, in the columns that real runs have."""

from __future__ import annotations

import itertools
import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

PAPER = Path(__file__).parents[2] / "papers" / "rfc2884"
REPLICATES = 4

Rows = list[dict[str, Any]]
Columns = dict[str, list[Any]]


class MadeUp:
    """An experiment's tables: the ECN client gets ``gain(point)`` more than the non-ECN client."""

    def __init__(self, name: str, replicates: int = REPLICATES) -> None:
        self.name = name
        self._made: dict[str, pl.DataFrame] = {}
        question = tomllib.loads((PAPER / f"{name}.toml").read_text())
        axes = {axis: _labels(grid) for axis, grid in question.get("grid", {}).items()}
        arms = list(question.get("arm", {None: {}}))
        self.keys = [
            {"arm": arm, **dict(zip(axes, labels, strict=True)), "replicate": r}
            for arm in arms
            for labels in itertools.product(*axes.values())
            for r in range(replicates)
        ]

    def table(self, name: str) -> pl.LazyFrame:
        if name not in self._made:
            make = getattr(self, f"_{name.removesuffix('_run')}")
            self._made[name] = _joined(self.keys, [make(key, _rng(name, key)) for key in self.keys])
        return self._made[name].lazy()

    def _flows(self, key: dict[str, Any], rng: np.random.Generator) -> list[dict[str, Any]]:
        rows = []
        for group in ("ecn", "plain", "background", "background"):
            factor = 1.0 + gain(key) if group == "ecn" else 1.0
            rate = 1e5 * factor * rng.normal(1.0, 0.02)
            sent = int(rng.integers(13_000, 14_000))
            lost = 0 if group == "ecn" else int(0.02 * sent)
            rows.append(
                {
                    "name": group,
                    "group": group,
                    "start_s": 20.0,
                    "finish_s": 20.0 + 160e6 / rate,
                    "bytes_delivered": 20_000_000,
                    "goodput_bps": rate,
                    "data_segments_sent": sent,
                    "retransmits": lost,
                    "retransmits_fast": lost,
                    "timeouts": int(0.02 * lost),
                    "fast_recoveries": lost,
                    "exchanges": int(rate / 500),
                }
            )
        return rows

    def _transactions(self, _key: dict[str, Any], rng: np.random.Generator) -> list[dict[str, Any]]:
        lost = rng.integers(0, 2, 20)
        return [
            {
                "group": group,
                "measured": True,
                "retransmits": int(x),
                "timeouts": int(x),
                "start_s": 20.0,
                "established_s": 20.1,
            }
            for group in ("ecn", "plain")
            for x in [1, *lost]
        ]

    def _links(self, key: dict[str, Any], rng: np.random.Generator) -> list[dict[str, Any]]:
        # The region is reached from 15 kB on.
        # Above max_th it is for longer with more flows.
        flows = float(key["setting"].split()[0]) if self.name == "degenerate" else 2.0
        share = 0.95 if float(key.get("min_th", "20 kB").split()[0]) >= 15 else 0.5
        return [
            {
                "link": "pipe",
                "share_in_region": share + rng.normal(0, 0.002),
                "share_above": 0.05 * math.log2(flows) + rng.normal(0, 0.002),
                "utilisation": 0.99,
                "queue_mean_packets": 20.0 if key.get("variant") == "tail" else 8.0,
                "queue_var_packets": 9.0 if key.get("variant") == "tail" else 16.0,
            }
        ]

    def _queues(self, key: dict[str, Any], rng: np.random.Generator) -> list[dict[str, Any]]:
        # Bursts lose six times as much as a smooth flow at a tail-drop queue, as much at RED; small packets like large ones.
        bursts = 0.3 if key.get("variant") == "tail" else 0.05
        return [
            _queue("ecn", 12_000, marks=int(600 + rng.integers(-6, 6))),
            _queue("plain", 10_000, early_drops=int(500 + rng.integers(-5, 5))),
            _queue("all", 40_000, early_drops=2000),
            _queue("bursts", 2000, early_drops=int(2000 * bursts + rng.integers(-3, 3))),
            *(_queue(group, 2000, early_drops=int(100 + rng.integers(-3, 3))) for group in ("far", "fast", "smooth")),
            _queue("small", 6000, early_drops=int(300 + rng.integers(-3, 3)), size=500),
        ]

    def _flow_series(self, key: dict[str, Any], rng: np.random.Generator) -> Columns:
        speeds = {"ecn": 1.0 + gain(key), "plain": 1.0}
        return {
            "flow": [flow for flow in speeds for _ in range(40)],
            "time_s": [25.0 + t for _ in speeds for t in range(40)],
            "cwnd_bytes": (1460 * rng.integers(1, 9, 80)).tolist(),
            "delivered_bytes": [int(1e4 * t * speed) for speed in speeds.values() for t in range(40)],
        }

    def _packets(self, _key: dict[str, Any], rng: np.random.Generator) -> list[dict[str, Any]]:
        events = ("enqueue", "mark", "drop_early")
        return [
            {"time_s": t / 10, "link": "pipe", "flow": ("ecn", "plain")[t % 2], "event": events[rng.integers(0, 3)]}
            for t in range(200)
        ]

    def _queue_series(self, key: dict[str, Any], rng: np.random.Generator) -> Columns:
        # A tail-drop queue is full three quarters of the time.
        high = [57_000.0, 58_000.0, 59_000.0, 20_000.0]
        tail = key.get("variant") == "tail"
        return {
            "link": ["pipe"] * 200,
            "time_s": [t / 5 for t in range(200)],
            "bytes": high * 50 if tail else rng.integers(0, 12_000, 200).astype(float).tolist(),
            "average_bytes": [30_000.0] * 200,
        }


def _joined(keys: list[dict[str, Any]], parts: list[Rows | Columns]) -> pl.DataFrame:
    """One table of the rows of each run, behind its key; a column of the rows replaces one of the key."""
    columns: Columns = {}
    lengths = []
    for part in parts:
        one = part if isinstance(part, dict) else {name: [row[name] for row in part] for name in part[0]}
        lengths.append(len(next(iter(one.values()))))
        for name, values in one.items():
            columns.setdefault(name, []).extend(values)
    each = pl.DataFrame(keys, infer_schema_length=None)[np.repeat(np.arange(len(keys)), lengths)]
    return each.with_columns(pl.Series(name, values) for name, values in columns.items())


def _queue(group: str, arrived: int, marks: int = 0, early_drops: int = 0, size: int = 1500) -> dict[str, Any]:
    departed = arrived - early_drops
    return {
        "link": "pipe",
        "group": group,
        "arrived": arrived,
        "departed": departed,
        "departed_bytes": departed * size,
        "marks": marks,
        "dropped": early_drops,
        "early_drops": early_drops,
        "forced_drops": 0,
        "tail_drops": 0,
    }


def gain(key: dict[str, Any]) -> float:
    """The planted gain: grows with congestion and max_p, shrinks with size."""
    load = {"low": 0.1, "moderate": 0.2, "high": 0.3}[key.get("congestion", "high")]
    kilobytes = float(key.get("size", "20 KB").removesuffix(" KB"))
    size = 0.1 * math.log2(20 / kilobytes)
    return load + float(key.get("maxp", 0.1)) + size


def _labels(grid: dict[str, Any]) -> list[str]:
    if "points" in grid:
        return [point["label"] for point in grid["points"]]
    return grid.get("labels", [str(value) for value in grid["values"]])


def _rng(name: str, key: dict[str, Any]) -> np.random.Generator:
    return np.random.default_rng([ord(c) for c in name + "".join(map(str, key.values()))])
