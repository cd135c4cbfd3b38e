"""Kadhum & Hassan: synchronisation by hand, the printed arithmetic, and the whole paper on two seeds."""

from __future__ import annotations

import math
import re
from pathlib import Path

import polars as pl
import pytest
from analysed import given, of_all, quantity
from pages import assert_whole, stored

from ecnlab.papers import kadhum_hassan, measuring
from ecnlab.papers.judge import at, judge_claims, judge_numbers
from ecnlab.papers.kadhum_hassan import answers, measure
from ecnlab.papers.kadhum_hassan.grid import GRID, USERS
from ecnlab.papers.layout import paper_page
from ecnlab.papers.published import read_published
from ecnlab.report import Chart, Multiples, render
from ecnlab.runs.sweep import sweep
from ecnlab.scenario.files import read_experiment

PAPER = Path(__file__).parents[2] / "papers" / "kadhum-hassan"
SEGMENT = measure.SEGMENT_BYTES


@pytest.fixture(scope="module")
def published():
    return read_published(PAPER)


# --------------------------------------------------------------- what was printed


def test_the_printed_delays_follow_from_the_printed_queues_cut_off_after_two_decimals(published) -> None:
    value = {number.id: number.value for number in published.numbers}
    for row in ("K05", "K06", "K07", "K09", "K10", "K11"):
        exact_ms = value[f"{row}.queue"] * answers.WIRE_BYTES * 8 / measure.RATE_BPS * 1e3
        assert value[f"{row}.delay"] == math.floor(exact_ms * 100) / 100
    assert [value[f"{row}.queue"] for row in ("K05", "K06", "K07", "K09", "K10", "K11")] == [75, 8, 7, 80, 40, 40]


# --------------------------------------------------------------- synchronisation


class Windows:
    """Two to four flows whose windows stand at 8 segments and are cut to 4 for one second at chosen seconds."""

    def __init__(self, *cut_at: tuple[int, ...], threshold_moves: bool = False) -> None:
        self.cut_at = cut_at
        self.threshold_moves = threshold_moves

    def table(self, _name: str) -> pl.LazyFrame:
        rows = []
        for flow, seconds in enumerate(self.cut_at):
            for tick in range(400):
                cut = tick // 10 in seconds
                window = 8 if self.threshold_moves or not cut else 4
                threshold = 4 + (tick // 10 - min(seconds)) if self.threshold_moves and cut else 4
                rows.append((f"f{flow}", 10.0 + tick / 10, window * SEGMENT, threshold, 0))
        names = ["flow", "time_s", "cwnd_bytes", "ssthresh_bytes", "replicate"]
        return pl.LazyFrame(rows, schema=names, orient="row")


def correlation(windows: Windows, width: float) -> float:
    return measure._correlated(measure._cuts(windows), width).collect()["value"][0]


def test_flows_cut_at_once_have_correlation_one() -> None:
    at_once = Windows((3, 17, 30), (3, 17, 30), (3, 17, 30))
    assert correlation(at_once, 0.5) == pytest.approx(1.0)
    assert measure._together(measure._cuts(at_once), 1.0).collect()["value"][0] == 1.0


def test_flows_cut_apart_have_the_correlation_of_two_bits_that_are_never_both_set() -> None:
    # 40 bins of a second; each flow in two of them, never the same: -p/(1-p) with p = 2/40
    apart = Windows((3, 17), (8, 30))
    p = 2 / 40
    assert correlation(apart, 1.0) == pytest.approx(-p / (1 - p), rel=0.03)
    assert measure._together(measure._cuts(apart), 1.0).collect()["value"][0] == 0.0


def test_a_flow_cut_with_one_of_three_others_is_cut_with_a_third_of_them() -> None:
    pairs = Windows((3,), (3,), (20,), (20,))
    assert measure._together(measure._cuts(pairs), 1.0).collect()["value"][0] == pytest.approx(1 / 3)


def test_a_cut_shows_in_the_threshold_where_recovery_inflates_the_window() -> None:
    cuts = measure._cuts(Windows((3,), (5,), threshold_moves=False)).collect()
    assert cuts.filter("cut").select("flow", "time_s").rows() == [("f0", 13.0), ("f1", 15.0)]
    moved = measure._cuts(Windows((3, 4), (5, 6), threshold_moves=True)).collect().filter("cut")
    assert moved["time_s"].min() == 14.0  # the window never moved


def test_the_first_threshold_is_a_cut_and_the_first_sample_is_none() -> None:
    class Started(Windows):
        def table(self, name: str) -> pl.LazyFrame:
            unset = pl.when(pl.col("time_s") < 10.3).then(None).otherwise("ssthresh_bytes")
            return super().table(name).with_columns(ssthresh_bytes=unset)

    assert measure._cuts(Started(())).collect().filter("cut")["time_s"].to_list() == [10.3]


def test_a_flow_that_is_never_cut_is_left_out_of_the_correlation() -> None:
    frame = Windows((3, 17), (3, 17)).table("flow_series")
    idle = frame.filter(pl.col("flow") == "f0").with_columns(
        flow=pl.lit("idle"), cwnd_bytes=pl.lit(8 * SEGMENT, pl.Int64)
    )
    three = pl.concat([frame, idle]).with_columns(x=pl.col("cwnd_bytes"))
    assert measuring.mean_correlation(GRID, three).collect()["value"][0] == pytest.approx(1.0)


def test_queues_are_compared_under_the_same_seed_only() -> None:
    values = pl.LazyFrame(
        {"queue": ["ecn", "red", "red"], "users": ["10"] * 3, "replicate": [0, 0, 1], "value": [3.0, 1.0, 9.0]}
    )
    flows = values.rename({"value": "goodput_bps"})
    found = quantity("kadhum-hassan", "goodput_difference", given(flows=flows))
    assert found.select("queue", "against", "value", "other").rows() == [("ecn", "red", 0.003, 0.001)]


def test_a_share_that_is_lost_is_set_beside_another_queues_and_reductions_are_per_flow_and_second() -> None:
    key = {"users": "10", "replicate": 0}
    rows = [{**key, "queue": q, "link": "bottleneck", "group": "all", "arrived": 1000, "dropped": d} for q, d in LOST]
    counts = {"fast_recoveries": 30, "timeouts": 9, "ecn_reductions": 1}
    flows = [{**key, "queue": "red", **counts}, {**key, "queue": "red", **dict.fromkeys(counts, 0)}]
    sweep = given(queues=pl.LazyFrame(rows), flows=pl.LazyFrame(flows))
    found = {row["against"]: row for row in quantity("kadhum-hassan", "loss_to", sweep).to_dicts()}
    assert (found["droptail"]["queue"], found["droptail"]["value"], found["droptail"]["other"]) == ("ecn", 0.1, 0.02)
    # 40 and 0 reductions in 40 s
    assert quantity("kadhum-hassan", "reductions", sweep)["value"].to_list() == [0.5]


LOST = (("droptail", 20), ("ecn", 100))


# --------------------------------------------------------------- the claims


def test_synchronisation_is_judged_by_windows_as_the_paper_speaks_of_them(published) -> None:
    judged = {claim.id: claim for claim in published.claims if "synchronis" in claim.statement}
    assert len(judged) == 9
    assert {claim.metric for claim in judged.values()} == {"window_correlation", "window_correlation_difference"}
    assert not any("bin" in claim.where for claim in judged.values())


def test_less_loss_and_less_delay_are_asked_of_both_queues_in_both_scenarios(published) -> None:
    for what, metric in (("loss", "loss_to"), ("delay", "queue_delay_difference")):
        asked = [claim for claim in published.claims if claim.id.startswith(f"K13.{what}.")]
        places = {(claim.where["users"], claim.where["queue"], claim.where["against"]) for claim in asked}
        assert places == {(users, "ecn", against) for users in USERS for against in ("red", "droptail")}
        assert {claim.metric for claim in asked} == {metric}


# --------------------------------------------------------------- the paper on two seeds


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kadhum-hassan")
    return {
        step.name: sweep(
            read_experiment(PAPER / f"{step.name}.toml").with_replicates(2), folder / step.name, keep=step.keep
        )
        for step in kadhum_hassan.PAPER.steps
    }


@pytest.fixture(scope="module")
def measured(sweeps) -> pl.DataFrame:
    return of_all("kadhum-hassan", sweeps)


@pytest.mark.slow
def test_every_number_and_claim_is_measured(published, measured) -> None:
    points = GRID.points(measured, published.metrics)
    assert judge_numbers(published, points, GRID)["id"].to_list() == [number.id for number in published.numbers]
    judged = judge_claims(published, measured, points, GRID)
    assert set(judged["id"]) == {claim.id for claim in published.claims}


@pytest.mark.slow
def test_red_in_bytes_meets_the_printed_averages_as_kilobytes_and_the_gap_is_no_accident(published, measured) -> None:
    points = GRID.points(measured, published.metrics)

    def mean(metric: str, **where) -> float:
        return at(points, metric, {"variant": "as printed", **where})["mean"][0]

    assert mean("average_kilobytes", users="10", queue="red") == pytest.approx(8, abs=0.5)
    assert mean("average_kilobytes", users="30", queue="red") == pytest.approx(40, abs=2.5)
    assert mean("queue_packets", users="30", queue="red") > 60
    tails = {
        users: at(points, "queue_packets", {"variant": answers.BUFFER, "users": users})["mean"][0] for users in USERS
    }
    assert tails["10"] == pytest.approx(75, abs=5) and tails["30"] == pytest.approx(80, abs=2.5)


@pytest.mark.slow
def test_delay_is_queue_over_rate(measured) -> None:
    # Little's law: what waits on average, over what the full link carries, is what a packet waits.
    for users in USERS:
        where = {"variant": "as printed", "users": users, "queue": "droptail"}
        kilobytes = at(measured, "queue_kilobytes", where)["value"].to_numpy()
        delay_ms = at(measured, "queue_delay", where)["value"].to_numpy()
        assert kilobytes * 8e6 / measure.RATE_BPS == pytest.approx(delay_ms, rel=0.01)


@pytest.mark.slow
def test_the_page_has_a_line_for_every_row_and_a_chart_for_every_figure(tmp_path, published, sweeps, measured) -> None:
    tables = stored(tmp_path, published, measured, GRID, kadhum_hassan.PAPER.draw(sweeps))
    report = paper_page(PAPER, tables, kadhum_hassan.PAPER)
    assert_whole(render(report), published)
    charts = [block for section in report.sections for block in section.blocks if isinstance(block, Chart | Multiples)]
    said = " ".join(chart.caption for chart in charts)
    shown = {int(n) for text in re.findall(r"[Aa]s figures? ([\d, and]+)", said) for n in re.findall(r"\d+", text)}
    assert shown == set(range(4, 30)), "figures 4 to 29 are the paper's results"
    printed = {number.figure: f"printed: {number.value:g}" for number in published.numbers if number.unit == "packets"}
    for figure, text in printed.items():
        drawn = [chart for chart in charts if re.search(rf"figure {figure}\b", chart.caption)]
        assert drawn and all(text in " ".join(name for _, name in chart.levels) for chart in drawn), figure
    assert [finding.statement for finding in report.findings[:2]] == [
        f"{users} users: ECN-RED loses fewer packets than drop-tail." for users in USERS
    ]
