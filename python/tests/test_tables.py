"""Tables at widths from 60 to 200 columns, and numbers with units."""

from __future__ import annotations

import importlib
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

import ecnlab
from ecnlab.base.readable import cell, number
from ecnlab.cli import console
from ecnlab.folder.differences import differences
from ecnlab.results.comparison import _schemas

EXAMPLES = Path(__file__).parents[2] / "examples"
WIDTHS = range(60, 201, 20)

WIDE = pl.DataFrame(
    {
        "name": ["bulk[0]", "a flow with a long name of several words"],
        "goodput_bps": [1.05563e6, 11_612_345.0],
        "bytes": [1234, 40_082_088],
        "rtt_mean_s": [2.1e-3, None],
        **{f"count_{i}": [10**i, 7] for i in range(8)},
        "says": ["the data outstanding reached a new maximum while ACKs had ECE", "nothing"],
    }
)


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("goodput_bps", 11_612_345.0, "11.6 Mb/s"),
        ("rtt_mean_s", 0.0021, "2.1 ms"),
        ("bytes", 1234, "1.23 kB"),
        ("goodput_bps", 999_700.0, "1 Mb/s"),
        ("rtt_mean_s", 0.0, "0 s"),
        ("time_s", 39.0000014, "39.000001 s"),
        ("packets", 42566, "42566"),
        ("alpha", 0.0403372, "0.0403"),
        ("mean", 1.05563e6, "1060000"),
        ("mean", float("nan"), "-"),
        ("mean", None, "-"),
    ],
)
def test_numbers_have_units_and_three_digits(name, value, shown):
    assert cell(name, value) == shown


def test_extreme_numbers_have_an_exponent():
    assert [number(x) for x in (-1234.5, 1e-7, 2.5e20, float("inf"))] == ["-1230", "1e-07", "2.5e+20", "inf"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("rows", [2, 8])
def test_no_line_is_wider_than_the_output_and_no_number_is_broken(capsys, monkeypatch, width, rows):
    monkeypatch.setenv("COLUMNS", str(width))
    table = pl.concat([WIDE] * (rows // 2))
    console.write_frame(table, "flows", 100)
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= width
    for name in ("goodput_bps", "bytes"):
        for value in table[name]:
            assert name not in text.split("not shown")[0] or re.search(rf"\s{re.escape(cell(name, value))}\b", text)
    assert "goodput_bps" in text.split("not shown")[0]


@pytest.mark.parametrize("width", [60, 120, 200])
def test_a_run_begins_with_its_congested_link_and_group_means(cli, tmp_path, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    shutil.copy(EXAMPLES / "hostile.toml", tmp_path)
    text = (tmp_path / "hostile.toml").read_text().replace('"60 s"', '"4 s"')
    (tmp_path / "hostile.toml").write_text(text)
    cli("run", "hostile.toml", "--out", "out")
    lines = cli("show", "out").stdout.splitlines()
    assert max(map(len, lines)) <= width
    for table in ("links", "queues"):
        assert lines[lines.index(table) + 2].startswith("pipe ")
    assert lines[lines.index("group means") + 2].startswith("page      40 ")
    assert len(lines) < 90
    whole = cli("show", "out", "--all").stdout.splitlines()
    assert sum(line.startswith("page[") for line in whole) == 40


def test_comparisons_have_no_python_structures():
    (found,) = differences({"queue": {"kind": "red", "ecn": True}}, {"queue": None})
    assert found == "queue: kind = red, ecn = true against nothing"
    a, b = pl.DataFrame({"x": [1], "y": [1]}), pl.DataFrame({"x": ["1"], "z": [1]})
    assert _schemas(a, b, ("on", "off")) == "y only in on, z only in off, x is Int64 against String"


def test_show_of_an_unfinished_sweep_counts_the_missing_runs(cli, tmp_path, monkeypatch):
    (tmp_path / "pipe.toml").write_text(
        'format = 1\nduration = "2 s"\n'
        '[link.pipe]\nfrom = "a"\nto = "b"\nrate = "1 Mbps"\ndelay = "5 ms"\n'
        '[flow.bulk]\nfrom = "a"\nto = "b"\ntraffic = "ftp"\n'
    )
    (tmp_path / "x.toml").write_text('format = 1\nscenario = "pipe.toml"\nreplicates = 3\n')

    class Interrupted(Exception):
        pass

    def stop(*_args):
        raise Interrupted

    monkeypatch.setattr(importlib.import_module("ecnlab.runs.sweep"), "merge", stop)
    with pytest.raises(Interrupted):
        ecnlab.sweep(tmp_path / "x.toml", tmp_path / "out")
    parts = sorted((tmp_path / "out" / "parts").glob("*.arrows"))
    parts[0].unlink()
    text = cli("show", "out").stdout
    assert "not complete, 2 of 3 runs are finished, 1 are missing" in text
    assert re.search(r"^bulk +2 ", text, re.MULTILINE)
