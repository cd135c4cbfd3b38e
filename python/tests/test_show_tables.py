"""Tables of ``ecnlab sweep`` and ``ecnlab show``: units, digits by the width of intervals, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from called import called
from conftest import EXPERIMENT, SCENARIO

import ecnlab
from ecnlab.base.spread import spread
from ecnlab.stages import page


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("shown")
    (where / "pipe.toml").write_text(SCENARIO)
    extra = """\
sent = { table = "flows", column = "segments_sent", aggregate = "sum" }
reduced = { table = "flows", column = "ecn_reductions", aggregate = "sum" }
absent = { ratio = ["sent", "reduced"] }
ended = { table = "flows", column = "finish_s", aggregate = "mean" }
"""
    (where / "gain.toml").write_text(EXPERIMENT + extra)
    ecnlab.sweep(where / "gain.toml", where / "three", workers=1)
    ecnlab.sweep(where / "gain.toml", where / "one", workers=1, replicates=1)
    return where


@pytest.mark.parametrize(
    ("column", "numbers", "text"),
    [
        ("_bps", (19.248e6, 19.228e6, 19.268e6), "19.248 ± 0.020 Mb/s"),
        ("_bps", (999.6e3, 989.6e3, 1009.6e3), "1000 ± 10 kb/s"),
        ("_s", (0.0891, 0.0771, 0.1011), "89 ± 12 ms"),
        ("_s", (0.0, -0.004, 0.004), "0.0 ± 4.0 ms"),
        ("", (0.982, 0.950, 1.0), "0.982 (0.950 to 1.000)"),
        ("", (-0.01, -1.0, 1.6), "0.0 (−1.0 to 1.6)"),
        ("", (12.0, 12.0, 12.0), "12 ± 0"),
        ("", (2.5e-6, 2.4e-6, 2.6e-6), "(2.50 ± 0.10)e-6"),
        ("_bytes", (1.5e3, None, None), "1.5 kB"),
        ("_bps", (0.0, 0.0, 0.0), "0 ± 0 b/s"),
    ],
)
def test_the_interval_decides_the_digits(
    column: str, numbers: tuple[float, float | None, float | None], text: str
) -> None:
    assert spread(column, *numbers) == text


def test_a_sweep_on_the_terminal_ends_with_the_sentence_of_its_page(folder, capsys, monkeypatch) -> None:
    code, out, _ = called(capsys, monkeypatch, "show", folder / "three")
    assert code == 0 and "half width of the 95 % interval over n replicates" in out
    assert out.rstrip().splitlines()[-1] == page(ecnlab.load(folder / "three")).answer
    row = ecnlab.load(folder / "three").summary().row(by_predicate=_dropped(), named=True)
    half = f"{(row['high'] - row['low']) / 2e3:.0f}"
    assert f"{row['mean'] / 1e3:.0f} ± {half} kb/s" in out
    assert "absent: no value with blind" in out.splitlines() and "ended: no value in any run" in out.splitlines()


def _dropped():
    import polars as pl

    return (pl.col("metric") == "dropped") & (pl.col("arm") == "red") & (pl.col("max_p") == "high")


def test_one_replicate_has_no_interval(folder, capsys, monkeypatch) -> None:
    _, out, _ = called(capsys, monkeypatch, "show", folder / "one")
    assert "metrics (one replicate: no interval)" in out and "±" not in out and "1 replicate)" in out


def test_a_table_for_a_paper_has_units_in_its_header(folder, capsys, monkeypatch) -> None:
    code, out, _ = called(capsys, monkeypatch, "show", folder / "three", "--csv")
    head, *rows = csv.reader(io.StringIO(out))
    assert code == 0 and head[:8] == [
        "arm",
        "max_p",
        "marked (kb/s)",
        "dropped (kb/s)",
        "advantage",
        "sent",
        "reduced",
        "absent",
    ]
    assert [row[:2] for row in rows] == [["red", "low"], ["blind", "low"], ["red", "high"], ["blind", "high"]]
    _, out, _ = called(capsys, monkeypatch, "show", folder / "three", "--latex")
    assert "\\begin{tabular}{llrrrrrr}" in out and "max\\_p & marked (kb/s)" in out and "$\\pm$" in out


def test_a_table_of_a_run_for_a_paper_has_one_unit_a_column(folder, capsys, monkeypatch) -> None:
    run = folder / "run"
    ecnlab.run(folder / "pipe.toml", out=run)
    _, out, _ = called(capsys, monkeypatch, "show", run, "--table", "links", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    stored = ecnlab.load(run).table("links")
    assert [float(row["sojourn_mean (ms)"]) for row in rows] == pytest.approx(
        [1e3 * one for one in stored["sojourn_mean_s"]], rel=0.006
    )
    _, out, _ = called(capsys, monkeypatch, "show", run, "--csv")
    assert [line for line in out.splitlines() if line.startswith("#")] == ["# links", "# queues", "# flows"]
    code, _, err = called(capsys, monkeypatch, "show", run, "--csv", "--json")
    assert code == 2 and "leave one out" in err


def test_laws_prints_the_page_of_a_law(capsys, monkeypatch) -> None:
    code, out, _ = called(capsys, monkeypatch, "laws", "codel")
    assert code == 0 and out.startswith("# CoDel") and "| `target` |" in out and "<!--" not in out
    code, _, err = called(capsys, monkeypatch, "laws", "bbr2")
    assert code == 2 and "versions 1 and 3" in err
    code, _, err = called(capsys, monkeypatch, "laws", "fq_codle")
    assert code == 2 and "did you mean `fq_codel`" in err
