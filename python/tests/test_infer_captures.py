"""The numbers of a capture that docs/infer.md compares with metrics are the same quantities of the same run."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_doc_blocks import blocks

import ecnlab

PAGE = Path(__file__).parents[2] / "docs/infer.md"

SAME = {
    "rtt_min_s": ("rtt_min_s",),
    "retransmits": ("retransmits", "control_retransmits"),
    "timeouts": ("timeouts",),
    "fast_recoveries": ("recoveries",),
    "ecn_reductions": ("ecn_reductions",),
}
"""Columns of ``flows_run``, and the columns of ``directions`` whose sum they are."""

SEGMENT_BITS = 1500 * 8
RED = {"discipline": "red", "min_th": "10 packets", "max_th": "30 packets"}


def both(folder, **changes):
    """The numbers of one run of the page's path: its row of ``flows_run``, and the sender's row of its capture."""
    (text,) = (block.text for block in blocks(PAGE.read_text()) if block.stored == "path.toml")
    (folder / "path.toml").write_text(text)
    truth = {"link.path.rate": "8 Mbps", "link.path.delay": "15 ms"}
    run = ecnlab.run(folder / "path.toml", 42, overrides=truth | changes, captures=folder)
    capture = ecnlab.trace(folder / "server.pcapng")
    sender = capture.directions.row(0, named=True) | capture.connections.select("duration_s").row(0, named=True)
    return run.table("flows_run").row(0, named=True), sender


@pytest.mark.parametrize(
    "queue",
    [{}, {"discipline": "pie"}, RED, {"limit": "60 packets"}, {"discipline": "droptail", "limit": "20 packets"}],
    ids=["marks", "pie", "red", "drops", "droptail"],
)
def test_the_columns_that_the_page_pairs_are_the_same_quantity(tmp_path, queue):
    simulated, captured = both(tmp_path, **{"queue.path": queue})
    assert simulated["ecn_reductions"] + simulated["retransmits"] > 0
    assert {name: simulated[name] for name in SAME} == {
        name: sum(captured[column] for column in columns) for name, columns in SAME.items()
    }
    in_flight = 8.0 * captured["outstanding_max"] / captured["duration_s"]
    assert 0.0 < captured["goodput_bps"] - simulated["goodput_bps"] < in_flight


def test_the_mean_rtt_differs_by_the_wait_of_a_segment_for_the_next_one(tmp_path):
    simulated, captured = both(tmp_path)
    assert captured["retransmits"] == 0
    assert 0.0 < simulated["rtt_mean_s"] - captured["rtt_mean_s"] < 2.0 * SEGMENT_BITS / captured["goodput_bps"]
    simulated, captured = both(tmp_path, **{"tcp.default.ack_every": 1})
    assert captured["retransmits"] == 0
    assert simulated["rtt_mean_s"] == pytest.approx(captured["rtt_mean_s"], rel=1e-12)


def test_the_mean_rtt_is_another_quantity_with_retransmissions(tmp_path):
    simulated, captured = both(tmp_path, **{"queue.path": {"discipline": "pie"}})
    means = (1e3 * one["rtt_mean_s"] for one in (captured, simulated))
    said = f"with PIE and {captured['retransmits']} retransmissions its mean is {next(means):.0f} ms in place of {next(means):.0f} ms"
    assert said in " ".join(PAGE.read_text().split())
