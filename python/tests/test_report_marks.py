"""Marks per round trip in reports: hand arithmetic, and runs whose feedback does and does not count marks."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from reported import blocks, titled

import ecnlab
from ecnlab.folder.series import BIN, Bins, reported_marks
from ecnlab.report import Multiples
from ecnlab.stages import page

SCENARIO = """
format = 1
duration = "4 s"
sample = "100 ms"

link.pipe = { from = "a", to = "b", rate = "10 Mbps", delay = "10 ms", queue = "step" }
queue.step = { discipline = "step", limit = "200 packets", threshold = "10 packets", ecn = true }
tcp.counting = { profile = "modern", ecn = "dctcp", congestion = "dctcp" }
tcp.plain = { profile = "modern", ecn = "rfc3168" }
flow.counted = { from = "a", to = "b", traffic = "ftp", tcp = "counting" }
flow.presence = { from = "a", to = "b", traffic = "ftp", tcp = "plain" }
"""

SERIES = pl.LazyFrame(
    {
        "flow": ["f"] * 4 + ["g"] * 4,
        "time_s": [0.0, 0.1, 0.2, 0.3] * 2,
        "bytes_marked": [0.0, 3000.0, 3000.0, 9000.0] + [None] * 4,
        "srtt_s": [None, 0.05, 0.05, 0.05] * 2,
    }
)
FLOWS = pl.DataFrame({"name": ["f", "g"], "bytes_sent": [150_000, 150_000], "data_segments_sent": [100, 100]})
"""Segments of 1500 bytes."""


@pytest.mark.parametrize(
    ("size", "marks"),
    # 2 segments in 0.1 s are 1 in an RTT of 0.05 s, 4 are 2; 4 in 0.2 s are 1.
    [(1, [(1, 1.0), (2, 0.0), (3, 2.0)]), (2, [(1, 1.0)])],
)
def test_marks_per_round_trip_are_marked_segments_times_the_rtt_over_the_time(size, marks) -> None:
    found = reported_marks(SERIES, FLOWS, Bins(0.1, size))
    assert found["flow"].unique().to_list() == ["f"]
    assert [row[0] for row in found.select(BIN, "marks").rows()] == [bin_ for bin_, _ in marks]
    assert found["marks"].to_list() == pytest.approx([value for _, value in marks])


def run_of(tmp_path: Path, **overrides: str) -> ecnlab.Run:
    (tmp_path / "run.toml").write_text(SCENARIO)
    return ecnlab.run(tmp_path / "run.toml", overrides=overrides, out=tmp_path / "out")


def test_a_report_draws_the_flow_whose_feedback_counts_marks(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    made = titled(page(run), "Marks per round trip")
    assert isinstance(made, Multiples)
    assert [chart.title for chart in made.charts] == ["counted"]
    rows = run.flow_series.filter(flow="counted").sort("time_s")
    flow = run.flows.filter(name="counted").row(0, named=True)
    payload = flow["bytes_sent"] / flow["data_segments_sent"]
    gain = rows["bytes_marked"][10] - rows["bytes_marked"][9]
    expected = gain / payload * rows["srtt_s"][10] / 0.1
    chart = made.charts[0]
    at = [round(time, 6) for time in chart.times].index(1.0)
    assert chart.lines[0].values[at] == pytest.approx(expected)
    assert rows["bytes_marked"][-1] > 0
    assert run.flow_series.filter(flow="presence")["bytes_marked"].null_count() == rows.height


def test_a_report_without_counted_marks_has_no_such_figure(tmp_path: Path) -> None:
    run = run_of(tmp_path, **{"flow.counted.tcp": "plain"})
    assert not any("Marks per round trip" in str(getattr(one, "title", "")) for one in blocks(page(run)))


def test_marks_by_flow_add_up_to_those_of_the_queue(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    last = run.flow_series.filter(pl.col("time_s") == pl.col("time_s").max())
    queue = run.table("queue_series").filter(pl.col("time_s") == pl.col("time_s").max())
    for name in ("marks", "early_drops", "forced_drops", "tail_drops"):
        assert last[name].sum() == queue[name].sum(), name
    assert (last["marks"] > 0).all()
