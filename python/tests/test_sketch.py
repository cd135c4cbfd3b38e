"""The trees and sparklines of ``ecnlab show``."""

from __future__ import annotations

import io
import math
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import ecnlab
from ecnlab.cli import cli as commands
from ecnlab.cli.sketch import Spark, drawn, sparkline, tree
from ecnlab.scenario.files import read_scenario

EXAMPLES = Path(__file__).parents[2] / "examples"
CAUSES = ["early_drops", "forced_drops", "tail_drops"]


@pytest.mark.parametrize(
    ("values", "width", "line"),
    [
        # Eight levels: 1/8 of the largest is above level 0, 4/8 is at 3.5 of 7 and shown as 4.
        ([0, 1, 4, 8], 10, "▁▂▅█"),
        ([0, 0, 0], 10, "▁▁▁"),
        ([math.nan, 1e-9, 2.0], 10, " ▂█"),
        # Two values share a character: means of 0, 4 and 8.
        ([0, 0, 2, 6, 8], 3, "▁▅█"),
        ([], 10, ""),
    ],
)
def test_a_sparkline_has_eight_levels_from_zero(values: list[float], width: int, line: str) -> None:
    assert sparkline(values, width) == line


def test_a_terminal_without_blocks_gets_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert sparkline([0, 1, 4, 8], 10) == "_.=#"
    assert all(line.isascii() for line in tree({**LEAF, "class": {"a": {**LEAF, "class": {"b": LEAF}}, "c": LEAF}}))


LEAF: dict[str, Any] = {"discipline": "droptail", "limit": "7 packets"}


def test_a_tree_has_a_line_for_each_class() -> None:
    line = "drop-tail 7 packets"
    queue = {**LEAF, "class": {"a": {**LEAF, "class": {"b": LEAF}}, "c": LEAF}}
    assert tree(queue) == [line, f"├─ a: {line}", f"│  └─ b: {line}", f"└─ c: {line}"]


def test_the_tree_of_a_shaped_line_has_its_shapers_and_laws() -> None:
    spec = read_scenario(EXAMPLES / "shapers.toml").resolved
    up, down = (tree(spec["queue"][name]) for name in ("uplink", "downlink"))
    assert [line.split()[1] for line in up[1:]] == ["data:", "voice:"]
    assert "FQ-CoDel" in up[1] and "HTB" in up[0]
    assert "2 Mb/s" in down[0] and "15 kB" in down[0]
    assert down[1].startswith("└─ inner: CoDel 1000 packets, ECN")


def test_lines_are_as_wide_as_the_terminal() -> None:
    lines = drawn([Spark("queue", [1.0] * 500, "packets"), Spark("marks", [3.0] * 500, "in 1 s")], 60)
    assert all(line.index("█") == len("queue  ") for line in lines)
    assert max(map(len, lines)) <= 60
    assert lines[0].endswith("at most 1 packets") and lines[1].endswith("at most 3 in 1 s")


def test_show_draws_queues_marks_drops_and_goodput(scenario: Path, tmp_path: Path) -> None:
    run = ecnlab.run(scenario)
    run.save(tmp_path / "run")
    out = CliRunner().invoke(commands, ["show", str(tmp_path / "run")], env={"COLUMNS": "70"}).output
    sketch = out[out.index("queue of pipe") :].splitlines()
    assert sketch[1:3] == ["2 Mb/s, 10 ms", sketch[2]] and sketch[2].startswith("RED 60 packets, ECN")
    found = {line.split()[0]: line for line in sketch if line}
    assert {"queue", "marks", "marked", "dropped"} <= found.keys()
    assert max(map(len, sketch)) <= 70
    # 41 samples are no more than a line has room for: each character is an interval of 0.1 s.
    rows = run.queue_series.filter(link="pipe")
    for name, columns in (("marks", ["marks"]), ("drops", CAUSES)):
        counted = rows.select(pl.sum_horizontal(columns).cast(pl.Int64).diff()).to_series()
        if counted.sum():
            assert found[name].endswith(f"at most {counted.max()} in 0.1 s")
    assert found["queue"].endswith(f"at most {rows['packets'].max()} packets")


def test_json_has_no_sketch_and_a_run_without_series_has_only_trees(scenario: Path, tmp_path: Path) -> None:
    scenario.write_text(scenario.read_text().replace('sample = "100 ms"\n', ""))
    ecnlab.run(scenario).save(tmp_path / "run")
    shown = CliRunner().invoke(commands, ["show", str(tmp_path / "run")]).output
    assert "queue of pipe\n2 Mb/s, 10 ms\nRED 60 packets" in shown and "at most" not in shown
    document = CliRunner().invoke(commands, ["show", str(tmp_path / "run"), "--json"]).output
    assert "queue of pipe" not in document
