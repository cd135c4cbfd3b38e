"""Kwon & Fahmy: what the slides print, the measures by hand, and the whole paper on two short seeds."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from analysed import of_all, of_step
from analysed import quantity as of_run
from pages import assert_whole, material, stored

from ecnlab.api.sweep import Sweep
from ecnlab.base.quantities import quantity
from ecnlab.models import ecn
from ecnlab.papers import kwon_fahmy
from ecnlab.papers.judge import at, judge_claims, judge_numbers
from ecnlab.papers.kwon_fahmy import calibration, measure
from ecnlab.papers.kwon_fahmy.grid import AS_IS, GENTLE, GRID, MORE_UDP, SLIDE_7
from ecnlab.papers.kwon_fahmy.slides import COLUMNS
from ecnlab.papers.layout import paper_page
from ecnlab.papers.published import read_published
from ecnlab.report import render
from ecnlab.runs.sweep import sweep
from ecnlab.scenario.files import read_experiment, read_scenario

PAPER = Path(__file__).parents[2] / "papers" / "kwon-fahmy"

SLIDES = {
    20: {
        "reno": (14.260, 1.509, 2.855, 38.772, 1.637),
        "reno-ecn": (12.194, 0.845, 2.830, 40.805, 1.110),
        "ecn-ab": (11.481, 2.339, 2.881, 41.890, 0.854),
    },
    21: {
        "reno": (13.607, 0.615, 5.783, 35.789, 1.804),
        "reno-ecn": (12.082, 0.657, 5.958, 37.648, 1.157),
        "ecn-ab": (12.841, 1.010, 5.805, 38.494, 0.903),
    },
}
"""The tables as printed."""


@pytest.fixture(scope="module")
def published():
    return read_published(PAPER)


# --------------------------------------------------------------- what was printed


def test_every_number_is_a_printed_cell_and_each_is_there_once(published) -> None:
    seen = []
    for number in published.numbers:
        arm, scale = number.where["arm"], 0.01 if number.metric == "drops" else 1.0
        printed = SLIDES[number.slide][arm][COLUMNS.index(number.metric)]
        assert number.value == pytest.approx(printed * scale, rel=1e-9), number.id
        assert number.margin == pytest.approx(number.value / 10, rel=1e-4)
        seen.append((number.slide, arm, number.metric))
    # All cells but the fitted row, and UDP of the other two rows of its slide, whose rate is fitted.
    left_out = {(20, "reno", name) for name in COLUMNS} | {(20, arm, "udp") for arm in ("reno-ecn", "ecn-ab")}
    every = {(slide, arm, name) for slide, rows in SLIDES.items() for arm in rows for name in COLUMNS}
    assert len(seen) == len(set(seen)) == 23 and set(seen) == every - left_out
    assert {arm: SLIDES[20][arm][COLUMNS.index("udp")] for arm in calibration.FITTED_RATE} == calibration.FITTED_RATE


def test_no_claim_is_about_what_another_is_about(published) -> None:
    asked = [(c.metric, str(c.where), c.test) for c in published.claims]
    assert len(asked) == len(set(asked))
    assert len({(metric, where) for metric, where, _ in asked}) == len(asked), "a claim and its negation"


# --------------------------------------------------------------- what was fitted


def test_the_fitted_row_is_renos_of_slide_20() -> None:
    printed = SLIDES[20]["reno"]
    assert tuple(calibration.FITTED) == COLUMNS
    assert [calibration.FITTED[name] for name in COLUMNS[:-1]] == list(printed[:-1])
    assert calibration.FITTED["drops"] == pytest.approx(printed[-1] / 100)


def test_the_nearest_is_so_by_the_root_mean_square_of_logarithms() -> None:
    place = {"object_size": "64 kB", "inter_session": "2 s", "min_th": "5", "maxp": "0.02", "udp_rate": "580 kbps"}
    place |= {"above": GENTLE}
    # One twice as much in every column, one exact but for a response e times as long: sqrt(1/5).
    factors = {
        "3": dict.fromkeys(calibration.FITTED, 2.0),
        "5": dict.fromkeys(calibration.FITTED, 1.0) | {"delay": math.e},
    }
    frame = pl.DataFrame(
        [
            {**place, "min_th": min_th, "metric": metric, "mean": calibration.FITTED[metric] * factor}
            for min_th, columns in factors.items()
            for metric, factor in columns.items()
        ]
    )
    found = calibration.ranked(material(PAPER, GRID, frame), GENTLE)
    assert found["min_th"].to_list() == ["5", "3"]
    assert found["distance"].to_list() == pytest.approx([math.sqrt(0.2), math.log(2.0)])


def chosen(spec) -> dict[str, str]:
    """What a resolved scenario has of what the calibrations vary."""
    web, queue = spec["flow"]["web"]["traffic"], spec["queue"]["red"]
    assert quantity(queue["max_th"]) == 3 * quantity(queue["min_th"])
    found = {"object_size": web["object_size"], "inter_session": web["inter_session"]["exponential"]}
    found |= {"min_th": queue["min_th"], "maxp": queue["max_p"], "udp_rate": spec["flow"]["udp"]["traffic"]["rate"]}
    return {key: quantity(value) if isinstance(value, str) else value for key, value in found.items()}


def test_the_networks_are_the_chosen_combinations() -> None:
    wanted = {
        name: {
            key: float(value) if key in ("min_th", "maxp") else quantity(value) for key, value in combination.items()
        }
        for name, combination in calibration.CHOSEN.items()
    }
    judged = read_scenario(PAPER / "gfc2.toml").resolved
    assert chosen(judged) == wanted[SLIDE_7]
    assert not judged["queue"]["red"]["gentle"] and judged["queue"]["red"]["above"] == "drop"
    for run in read_experiment(PAPER / "above.toml").with_replicates(1).runs:
        assert chosen(run.scenario.resolved) == wanted[GENTLE] and run.scenario.resolved["queue"]["red"]["gentle"]
    for name, gentle in (("calibration", True), ("calibration-drop", False)):
        experiment = read_experiment(PAPER / f"{name}.toml")
        assert set(experiment.axes) == set(calibration.KEYS)
        assert all(
            run.scenario.resolved["queue"]["red"]["gentle"] == gentle for run in experiment.with_replicates(1).runs
        )


def test_the_control_curves_cross_at_the_equilibrium() -> None:
    for arm in ("reno", "ecn-ab"):
        queue, p = measure.equilibrium(arm)
        assert measure.filling_p(arm, queue, 20.0) == pytest.approx(p, rel=1e-6)
        assert float(measure.control_law(arm).probability(queue)) == pytest.approx(p, rel=1e-6)


# --------------------------------------------------------------- measures by hand


class Given:
    """The tables of a sweep, as they are given."""

    def __init__(self, **tables: pl.DataFrame) -> None:
        self.tables = tables

    def table(self, name: str) -> pl.LazyFrame:
        return self.tables[name].lazy()


def senders(marks: int, rate: float, **place: str) -> Given:
    """A flow of Reno-ECN with so many marks of 10000 segments and a round trip of 0.5 s, at ``rate`` packets a second."""
    run = {"arm": "reno-ecn", "flows": "5", "replicate": 0, **place}
    counts = {"data_segments_sent": 10_000, "ecn_reductions": marks, "timeouts": 0, "fast_recoveries": 0}
    flow = {**run, **counts, "rtt_mean_s": 0.5, "bytes_delivered": 10_000_000, "goodput_bps": rate * 8000}
    timers = pl.DataFrame({**run, "time_s": [10.0, 30.0], "rto_s": [9.0, 1.0]})
    return Given(flows=pl.DataFrame([flow]), flow_series=timers)


def test_the_error_of_the_rate_is_nought_for_senders_that_keep_to_the_formula() -> None:
    # p = 10 marks of 10000: 1/RTT sqrt(1.5 / p) = 77.5 packets a second.
    rate = float(np.asarray(ecn.sending_rate(0.5, 0.001, 1.0, timeout_s=1.0, alpha=1.0, beta=0.5)))
    assert rate == pytest.approx(2 * math.sqrt(1500), rel=1e-9)
    wide = senders(10, rate, test="10 Mb/s")
    (row,) = of_run("kwon-fahmy", "rate", wide).iter_rows(named=True)
    assert row["value"] == pytest.approx(row["other"]) == pytest.approx(rate)
    for name in ("rate_measured", "rate_predicted"):
        assert of_run("kwon-fahmy", name, wide)["value"].to_list() == pytest.approx([rate * 8])  # kb/s
    # Held to the 20 segments a round trip of the profile, the model says 40 packets a second.
    assert of_run("kwon-fahmy", "rate", senders(10, rate))["value"].to_list() == [40.0]


def test_the_window_kept_after_a_mark_is_that_of_its_second() -> None:
    # 8 segments, cut to 4 at 20.3 s, 5 from 20.8 s on: (5 · 4 + 5 · 5) / 10 of 8. The growth before is no reduction, nor is
    # the smaller window of 22 s, whose threshold stays; the cut at the end has no whole second behind it.
    windows = [7] * 2 + [8] + [4] * 5 + [5] * 12 + [3] * 9 + [1]
    thresholds = [20] * 3 + [4] * 26 + [2]
    run = {"test": "1 Mb/s", "arm": "reno-ecn", "replicate": 0, "flow": "bulk[0]"}
    times = [20 + 0.1 * i for i in range(len(windows))]
    series = pl.DataFrame({"time_s": times, "cwnd_bytes": windows, "ssthresh_bytes": thresholds})
    series = series.with_columns(pl.lit(value).alias(key) for key, value in run.items())
    found = of_run("kwon-fahmy", "kept", Given(flow_series=series))
    assert found["value"].to_list() == pytest.approx([4.5 / 8])


def test_a_run_without_indications_has_no_share_of_marks() -> None:
    for marks, share in ((10, [1.0]), (0, [])):
        sweep = senders(marks, 1.0)
        assert of_run("kwon-fahmy", "indications", sweep)["value"].to_list() == [marks / 10_000]
        assert of_run("kwon-fahmy", "mark_share", sweep)["value"].to_list() == share


def test_the_equilibrium_fills_the_link() -> None:
    queue, p = measure.equilibrium("ecn-ab-real", flows="20")
    # Twenty times sqrt(1.5 / p) packets in a round trip of 0.128 s and the queue's delay are 125 a second.
    assert 20 * math.sqrt(1.5 / p) / (measure.BASE_RTT_S + queue / 125) == pytest.approx(125, rel=1e-6)
    # With max_p 0.1 at 84 packets, p_b is 0.1 (q - 28) / 56; ns-2's wait spaces signals 1.5/p_b - 0.5 apart or so.
    chosen = 0.1 * (queue - 28) / 56
    assert p == pytest.approx(chosen / (1.5 - 0.5 * chosen), rel=0.05)


def test_losses_on_the_way_back_are_not_those_of_the_table() -> None:
    keys = {"test": AS_IS, "replicate": 0}
    queues = pl.DataFrame(
        [
            {**keys, "arm": arm, "link": link, "group": "all", "arrived": 1000, "dropped": dropped}
            for arm, lost in (("reno", 20), ("ecn-ab", 5))
            for link, dropped in (("L1", lost), ("L2", 0), ("L1~reverse", 500), ("exit1", 500))
        ]
    )
    flows = pl.DataFrame(
        [
            {**keys, "arm": arm, "group": group, "goodput_bps": bps}
            for arm, bps in (("reno", 1e6), ("ecn-ab", 2e6))
            for group in ("ftp", "ftp", "udp", "web")
        ]
    )
    objects = pl.DataFrame(
        [
            {**keys, "arm": arm, "delay_s": delay, "measured": measured, "complete": True}
            for arm, delay in (("reno", 4.0), ("ecn-ab", 3.0))
            for measured in (True, False)
        ]
    )
    found = of_step("kwon-fahmy", "sensitivity", Given(queues=queues, flows=flows, objects=objects))
    (drops,) = at(found, "drops_gain", {}).iter_rows(named=True)
    assert (drops["arm"], drops["against"], drops["value"], drops["other"]) == ("ecn-ab", "reno", 0.0025, 0.01)
    assert at(found, "ftp_gain", {}).select("value", "other").rows() == [(4.0, 2.0)]
    assert at(found, "delay_gain", {}).select("value", "other").rows() == [(3.0, 4.0)]


# --------------------------------------------------------------- the paper on two short seeds


INTER_SESSION = '  {{ label = "{0}", set = {{ "flow.web.traffic.inter_session" = {{ exponential = "{0}" }} }} }},'


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory) -> dict[str, Sweep]:
    folder = tmp_path_factory.mktemp("kwon-fahmy")
    shutil.copytree(PAPER, folder / "paper")
    for name, long, short in (
        ("gfc2.toml", '"60 s"', '"16 s"'),
        ("gfc2.toml", '"10 s"\nprofile', '"4 s"\nprofile'),
        ("gfc2.toml", '"35 s", "35.5 s"', '"9.9 s", "10.1 s"'),
        ("validation.toml", '"100 s"', '"35 s"'),
        ("calibration.toml", '["32 kB", "64 kB", "128 kB"]', '["128 kB"]'),
        ("calibration-drop.toml", '["32 kB", "64 kB", "128 kB"]', '["64 kB"]'),
        *(
            (f"{name}.toml", long, short)
            for name in ("calibration", "calibration-drop")
            for long, short in (
                ("values = [0.01, 0.02, 0.05]", "values = [0.02]"),
                ('["580 kbps", "600 kbps"]', '["580 kbps"]'),
                (INTER_SESSION.format("1 s"), ""),
            )
        ),
    ):
        file = folder / "paper" / name
        text = file.read_text()
        assert long in text
        file.write_text(text.replace(long, short))
    return {
        step.name: sweep(
            read_experiment(folder / "paper" / f"{step.name}.toml").with_replicates(2),
            folder / step.name,
            keep=step.keep,
        )
        for step in kwon_fahmy.PAPER.steps
    }


@pytest.fixture(scope="module")
def measured(sweeps) -> pl.DataFrame:
    return of_all("kwon-fahmy", sweeps)


@pytest.mark.slow
def test_every_number_and_claim_is_measured(published, measured) -> None:
    points = GRID.points(measured, published.metrics)
    assert judge_numbers(published, points, GRID)["id"].to_list() == [number.id for number in published.numbers]
    judged = judge_claims(published, measured, points, GRID)
    assert set(judged["id"]) == {claim.id for claim in published.claims}
    assert not any(", ," in place or place.startswith(",") for place in judged["place"])


@pytest.mark.slow
def test_effects_too_large_for_chance_are_there(published, measured) -> None:
    points = GRID.points(measured, published.metrics)

    def mean(metric: str, **where) -> float:
        return at(points, metric, where)["mean"].item()

    # Marks take the place of drops; ten more UDP sessions for half of the time double five.
    assert mean("drops_gain", test="gentle marks", arm="reno-ecn", against="reno") < -0.5
    assert mean("udp_change", test=MORE_UDP, arm="reno") == pytest.approx(0.98, abs=0.05)
    # The formula is at home with large windows, and too fast with small ones.
    assert abs(mean("rate", test="10 Mb/s", arm="ecn-ab-real", flows="5")) < 0.2
    assert mean("rate", test="", loss="", arm="ecn-ab-real", flows="40") > 0.3
    # The round trip alone keeps Vegas's queue short; 7/8 is more than half.
    assert mean("vegas_gain", test="10 Mb/s", arm="vegas", against="reno") < -0.5
    assert mean("kept_gain", test="10 Mb/s", arm="ecn-ab", against="reno-ecn") > 0.2
    # 8% lost and few marks left; and marks alone.
    assert mean("mark_share", arm="ecn-ab-real", flows="", loss="0.08") < 0.3
    assert mean("mark_share", arm="ecn-ab-real", flows="", loss="0") == 1.0


@pytest.mark.slow
def test_the_page_has_a_line_for_every_row(tmp_path, published, sweeps, measured) -> None:
    drawn = kwon_fahmy.PAPER.draw(sweeps)
    losses = drawn.tables["drawn_events"].filter(arm="ecn-ab", event="loss")["time_s"]
    packets = sweeps["evolution"].table("packets").collect()
    lost = packets.filter(arm="ecn-ab", flow="bulk[0]", event="loss", link="pipe")["time_s"]
    assert lost.len() >= losses.len() > 0 and set(losses) <= set(lost)
    html = render(paper_page(PAPER, stored(tmp_path, published, measured, GRID, drawn), kwon_fahmy.PAPER))
    assert_whole(html, published)
    assert "slide\u00a020" in html and "losses on the wire" in html
