"""Kwon & Fahmy: what the slides print, the measures by hand, and the whole paper on two short seeds."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from pages import assert_whole, stored

from ecnlab.models import ecn
from ecnlab.papers import kwon_fahmy
from ecnlab.papers.judge import judge_claims, judge_numbers
from ecnlab.papers.kwon_fahmy import measure
from ecnlab.papers.kwon_fahmy.grid import AS_IS, GRID, MORE_UDP
from ecnlab.papers.published import read_published
from ecnlab.papers.samples import at
from ecnlab.report import render
from ecnlab.scenario import read_experiment
from ecnlab.sweep import sweep

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


def test_every_number_is_the_ratio_of_two_printed_ones(published) -> None:
    for number in published.numbers:
        column, kind = number.metric.split("_")
        k, arm = measure.COLUMNS.index(column), number.where["arm"]
        if kind == "gain":
            ratio = SLIDES[number.slide][arm][k] / SLIDES[number.slide][number.where["against"]][k]
        else:
            ratio = SLIDES[21][arm][k] / SLIDES[20][arm][k]
        assert number.value == pytest.approx(ratio - 1, abs=5e-5), number.id
    # Five columns and three pairs on each slide; UDP and FTP of three responses from one slide to the other.
    assert len(published.numbers) == 2 * 5 * 3 + 2 * 3


# --------------------------------------------------------------- measures by hand


class Given:
    """The tables of a sweep, as they are given."""

    def __init__(self, **tables: pl.DataFrame) -> None:
        self.tables = tables

    def table(self, name: str) -> pl.LazyFrame:
        return self.tables[name].lazy()


def test_the_error_of_the_rate_is_nought_for_senders_that_keep_to_the_formula() -> None:
    # p = 100 marks of 10000 segments, a round trip of 0.5 s: 1/RTT sqrt(1.5 / p) = 24.5 packets a second.
    rate = float(np.asarray(ecn.sending_rate(0.5, 0.01, 1.0, timeout_s=1.0, alpha=1.0, beta=0.5)))
    assert rate == pytest.approx(2 * math.sqrt(150), rel=1e-9)
    flow = {
        "arm": "reno-ecn",
        "flows": "5",
        "replicate": 0,
        "data_segments_sent": 10_000,
        "ecn_reductions": 100,
        "timeouts": 0,
        "fast_recoveries": 0,
        "rtt_mean_s": 0.5,
        "bytes_delivered": 10_000_000,
        "goodput_bps": rate * 8000,
    }
    timers = pl.DataFrame(
        {"arm": "reno-ecn", "flows": "5", "replicate": 0, "time_s": [10.0, 30.0], "rto_s": [9.0, 1.0]}
    )
    found = measure.rates(Given(flows=pl.DataFrame([flow]), flow_series=timers), window=400.0)
    (row,) = at(found, "rate", {}).iter_rows(named=True)
    assert row["value"] == pytest.approx(row["other"]) == pytest.approx(rate)
    assert at(found, "mark_share", {})["value"].to_list() == [1.0]
    # Held to 10 segments a round trip, the model says 20 packets a second.
    held = measure.rates(Given(flows=pl.DataFrame([flow]), flow_series=timers), window=10.0)
    assert at(held, "rate", {})["value"].to_list() == [20.0]


def test_the_equilibrium_fills_the_link() -> None:
    queue, p = measure._equilibrium({"arm": "ecn-ab-real", "flows": "20"})
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
    found = measure.sensitivity(Given(queues=queues, flows=flows, objects=objects))
    (drops,) = at(found, "drops_gain", {}).iter_rows(named=True)
    assert (drops["arm"], drops["against"], drops["value"], drops["other"]) == ("ecn-ab", "reno", 0.0025, 0.01)
    assert at(found, "ftp_gain", {}).select("value", "other").rows() == [(4.0, 2.0)]
    assert at(found, "delay_gain", {}).select("value", "other").rows() == [(3.0, 4.0)]


# --------------------------------------------------------------- the paper on two short seeds


@pytest.fixture(scope="module")
def measured(tmp_path_factory) -> pl.DataFrame:
    folder = tmp_path_factory.mktemp("kwon-fahmy")
    shutil.copytree(PAPER, folder / "paper")
    for name, long, short in (
        ("gfc2.toml", '"60 s"', '"20 s"'),
        ("gfc2.toml", '"10 s"\nprofile', '"4 s"\nprofile'),
        ("gfc2.toml", '"35 s", "35.5 s"', '"12 s", "12.5 s"'),
        ("validation.toml", '"100 s"', '"40 s"'),
    ):
        file = folder / "paper" / name
        text = file.read_text()
        assert long in text
        file.write_text(text.replace(long, short))
    sweeps = {
        step.name: sweep(
            read_experiment(folder / "paper" / f"{step.name}.toml").with_replicates(2),
            folder / step.name,
            keep=step.keep,
        )
        for step in kwon_fahmy.STEPS
    }
    return kwon_fahmy.analyse(sweeps)


def test_every_number_and_claim_is_measured(published, measured) -> None:
    points = GRID.points(measured, published.metrics)
    assert judge_numbers(published, points, GRID)["id"].to_list() == [number.id for number in published.numbers]
    judged = judge_claims(published, measured, points, GRID)
    assert set(judged["id"]) == {claim.id for claim in published.claims}
    assert not any(", ," in place or place.startswith(",") for place in judged["place"])


def test_effects_too_large_for_chance_are_there(published, measured) -> None:
    points = GRID.points(measured, published.metrics)

    def mean(metric: str, **where) -> float:
        return at(points, metric, where)["mean"].item()

    # Marks take the place of drops; ten more UDP sessions for half of the time double five.
    assert mean("drops_gain", test=AS_IS, arm="reno-ecn", against="reno") < -0.5
    assert mean("udp_change", test=MORE_UDP, arm="reno") == pytest.approx(0.98, abs=0.05)
    # The formula is at home with large windows, and too fast with small ones.
    assert abs(mean("rate", test="10 Mb/s", arm="ecn-ab-real", flows="5")) < 0.2
    assert mean("rate", test="", loss="", arm="ecn-ab-real", flows="40") > 0.3
    # 8% lost and few marks left; and marks alone.
    assert mean("mark_share", arm="ecn-ab-real", flows="", loss="0.08") < 0.3
    assert mean("mark_share", arm="ecn-ab-real", flows="", loss="0") == 1.0


def test_the_page_has_a_line_for_every_row(tmp_path, published, measured) -> None:
    html = render(kwon_fahmy.page(PAPER, stored(tmp_path, published, measured, GRID)))
    assert_whole(html, published)
    assert "slide\u00a020" in html
