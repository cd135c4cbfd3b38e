"""The gate on instructions: `bench/perf.py` compares counts with the stored ones."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest

from ecnlab import Scenario

BENCH = Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import perf  # noqa: E402


def counts(**instructions: int) -> dict:
    workloads = {name: {"instructions": n, "packets": 100} for name, n in instructions.items()}
    return {"rustc": "rustc 1.95.0", "workloads": workloads}


def test_three_percent_more_instructions_pass_and_a_little_more_fail() -> None:
    assert perf.compare(counts(red=102_900), counts(red=100_000))[1] is False
    lines, failed = perf.compare(counts(red=103_100, cake=90_000), counts(red=100_000, cake=100_000))
    assert failed
    assert "+3.10%  more than 3%" in lines[1]
    assert "-10.00%" in lines[2] and "more than" not in lines[2]


def test_a_workload_without_a_figure_fails() -> None:
    lines, failed = perf.compare(counts(red=1, new=1), counts(red=1))
    assert failed and "no stored figure" in lines[2]


def test_figures_of_another_compiler_are_not_compared() -> None:
    lines, failed = perf.compare(counts(red=200), counts(red=100) | {"rustc": "rustc 1.94.0"})
    assert not failed
    assert lines == ["perf: not compared: the figures are of rustc 1.94.0, this compiler is rustc 1.95.0"]


def test_other_packets_are_named() -> None:
    stored = counts(red=100_000)
    stored["workloads"]["red"]["packets"] = 90
    assert "90 packets before, 100 now" in perf.compare(counts(red=100_000), stored)[0][1]


def test_the_stored_figures_are_of_the_workloads(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(perf, "_capture", lambda _: "capture")
    stored = json.loads(perf.STORED.read_text())["workloads"]
    assert list(stored) == list(perf._commands(tmp_path))
    assert len(stored) == 11


@pytest.mark.parametrize("name", [*perf.QUEUES, *perf.SENDERS])
def test_a_workload_is_bench_c_with_another_table(tmp_path, monkeypatch, name) -> None:
    monkeypatch.setattr(perf, "_capture", lambda _: "capture")
    (path,) = perf._commands(tmp_path)[name]
    Scenario(path, Path(path).read_text())
    mine, base = tomllib.loads(Path(path).read_text()), tomllib.loads((BENCH / "c.toml").read_text())
    table, key = ("queue", "red") if name in perf.QUEUES else ("tcp", "ecn")
    assert mine[table][key] != base[table][key]
    assert mine["link"] == base["link"] and mine["flow"] == base["flow"]
