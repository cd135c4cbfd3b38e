"""Pictures of congestion windows begin at the end of the warm-up, unless another start is given."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import ecnlab
from ecnlab.plots.figure import TIME

SCENARIO = """
format = 1
duration = "3 s"
warmup = "1200 ms"
sample = "100 ms"

link.wire = { from = "a", to = "b", rate = "3 Mbps", delay = "8 ms" }
tcp.plain = {}
flow.long = { from = "a", to = "b", traffic = "ftp", tcp = "plain", start = "0 s" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("warm")
    (where / "wire.toml").write_text(SCENARIO)
    ecnlab.run(where / "wire.toml", out=where / "run")
    (where / "short.toml").write_text(SCENARIO.replace('"1200 ms"', '"0 s"'))
    ecnlab.run(where / "short.toml", out=where / "cold")
    return where


def times(cli, folder: Path, *options: str) -> list[float]:
    file = folder / "cwnd.csv"
    done = cli("plot", str(folder / "run"), "cwnd", "-o", str(file), *options)
    assert done.returncode == 0, done.stderr
    return pl.read_csv(file)[TIME].to_list()


@pytest.mark.parametrize("panels", [(), ("--panels",)])
def test_the_command_begins_at_the_warm_up_and_from_0_shows_all(cli, folder, panels) -> None:
    assert min(times(cli, folder, *panels)) == pytest.approx(1.2)
    for all_ in ("0", "0 s"):
        assert min(times(cli, folder, "--from", all_, *panels)) == 0.0
    assert min(times(cli, folder, "--from", "500 ms", *panels)) == pytest.approx(0.5)


def test_an_end_alone_keeps_the_start_unless_it_is_before_it(cli, folder) -> None:
    assert [min(found := times(cli, folder, "--to", "2 s")), max(found)] == pytest.approx([1.2, 2.0])
    assert [min(found := times(cli, folder, "--to", "900 ms")), max(found)] == pytest.approx([0.0, 0.9])


def test_a_figure_can_be_widened_after_its_series_are_renamed(folder) -> None:
    figure = ecnlab.load(folder / "run").plot.cwnd().with_(labels={"long": "L"}).with_(start=0.0)
    assert figure.data()[TIME].min() == 0.0 and figure.data()["series"].unique().to_list() == ["L"]


def test_without_a_warm_up_the_picture_begins_with_the_run(folder) -> None:
    assert ecnlab.load(folder / "cold").plot.cwnd().data()[TIME].min() == 0.0


def test_the_page_begins_at_the_warm_up(folder) -> None:
    from ecnlab.stages.run_flows import windows

    (chart,) = windows(ecnlab.load(folder / "run")).charts
    assert min(chart.times) == pytest.approx(1.2)
    assert "After the warm-up of 1.2 s." in windows(ecnlab.load(folder / "run")).caption
