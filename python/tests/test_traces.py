"""The traces of examples/traces: made by their program, described by their page, and read by scenarios."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from one_link import one_link

from ecnlab.scenario.files import read_scenario

FOLDER = Path(__file__).parents[2] / "examples" / "traces"
TRACES = sorted(FOLDER.glob("*.csv"))


def drawn(tmp_path: Path, kind: str, file: Path) -> list[tuple[int, int]]:
    """Starts in ps, and bit/s or ps, of the link that follows ``file`` for 60 s."""
    is_delay = file.suffix == ".csv" and "delay_ms" in file.read_text()
    rate, delay = '"10 Mbps"', '"10 ms"'
    table = f'{{ {kind} = "{file}" }}'
    path = tmp_path / "scenario.toml"
    link = f"rate = {rate if is_delay else table}\ndelay = {table if is_delay else delay}"
    path.write_text(one_link(link, duration="60 s"))
    return read_scenario(path).drawn(1)["links"][0]["changes"]["delay" if is_delay else "rate"]


def mean(steps: list[tuple[int, int]]) -> float:
    """The mean of ``steps`` over 60 s."""
    return sum((end - start) * value for (start, value), (end, _) in pairwise([*steps, (60 * 10**12, 0)])) / 60e12


def test_the_program_writes_the_same_bytes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, FOLDER / "make.py", tmp_path], check=True)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    stored = {path.name: path.read_bytes() for path in FOLDER.iterdir() if path.is_file() and path.suffix != ".py"}
    assert made.keys() == stored.keys()
    assert [name for name in made if made[name] != stored[name]] == []


def test_the_traces_are_small_synthetic_and_listed_once() -> None:
    assert len(TRACES) >= 12
    listed = re.findall(r"^\| `([^`]*)` \|", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == [path.name for path in TRACES]
    for path in FOLDER.iterdir():
        assert path.stat().st_size <= 30_000, path
    for path in TRACES:
        first, second, *_ = path.read_text().splitlines()
        assert first.startswith("# ") and re.match(r"# Synthetic, not measured: make.py, seed \d+\. \S", second), path


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_a_scenario_reads_a_trace_with_the_values_of_the_page(tmp_path: Path, path: Path) -> None:
    steps = drawn(tmp_path, "csv", path)
    values = [value for _, value in steps]
    row = re.search(rf"^\| `{path.name}` .*$", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert row
    shown = [float(number) for number in re.findall(r"\| ([\d.]+) (?:Mbit/s|ms)", row[0])]
    unit = 1e9 if "delay" in path.name else 1e6
    assert shown == pytest.approx([mean(steps) / unit, min(values) / unit, max(values) / unit], abs=0.001)


def test_the_trace_of_mahimahi_has_the_mean_rate_of_its_csv(tmp_path: Path) -> None:
    (file,) = FOLDER.glob("*.mahimahi")
    wanted = mean(drawn(tmp_path, "csv", file.with_suffix(".csv")))
    packet = 1500 * 8  # bit/s of a packet per second
    assert abs(mean(drawn(tmp_path, "mahimahi", file)) - wanted) < packet
    assert abs(len(file.read_text().splitlines()) * packet / 60 - wanted) < packet
