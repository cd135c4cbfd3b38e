"""Akujobi et al.: what is measured, by hand, and that the files say what was chosen."""

from __future__ import annotations

import tomllib
from pathlib import Path

import polars as pl
import pytest

from ecnlab.papers.akujobi import measure
from ecnlab.papers.akujobi.choice import GAIN, KEYS, LOSS, STATED, choose
from ecnlab.papers.published import read_published
from ecnlab.papers.samples import at
from ecnlab.scenario import read_experiment

PAPER = Path(__file__).parents[2] / "papers" / "akujobi"


class Sweep:
    """Tables made up of rows."""

    def __init__(self, **tables: pl.DataFrame) -> None:
        self.tables = tables

    def table(self, name: str) -> pl.LazyFrame:
        return self.tables[name].lazy()


def one_kind(scheme: str, quenches: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """100 s at 10 Mb/s: 100000 data packets there, 100000 ACKs back."""
    key = {"scheme": scheme, "flows": "45", "replicate": 0}
    queues = [
        {**key, "link": "pipe", "group": group, "arrived": 100_400, "dropped": 400, "quenches": quenches}
        for group in ("all", "able")
    ]
    links = [
        {
            **key,
            "link": link,
            "delivered": 100_000,
            "rate_bps": 1e7,
            "utilisation": 0.8,
            "queue_mean_packets": 20.0,
            "queue_var_packets": 100.0,
        }
        for link in ("pipe", "pipe~reverse")
    ]
    flows = [{**key, "group": "able", "goodput_bps": rate} for rate in (1e5, 3e5)]
    return pl.DataFrame(queues), pl.DataFrame(links), pl.DataFrame(flows)


def homogeneous(**quenches: int) -> pl.DataFrame:
    queues, links, flows = zip(*(one_kind(scheme, n) for scheme, n in quenches.items()), strict=True)
    return measure.homogeneous(Sweep(queues=pl.concat(queues), links=pl.concat(links), flows=pl.concat(flows)))


def test_source_quenches_are_a_share_of_all_that_goes_back() -> None:
    # 25000 of 125000, and 10000 of 110000: 1/5 and 1/11, which is 6/11 less.
    found = homogeneous(ecn=0, eb40=10_000, eb20=25_000, becn=25_000)
    share = dict(at(found, "quench_share", {}).select("scheme", "value").iter_rows())
    assert share == pytest.approx({"ecn": 0.0, "eb40": 1 / 11, "eb20": 0.2, "becn": 0.2})
    saving = at(found, "quench_saving", {"scheme": "eb40"})
    assert (saving["value"][0], saving["other"][0]) == pytest.approx((1 / 11, 0.2))


def test_utilisation_is_what_goes_forward_and_the_papers_formula_counts_the_way_back() -> None:
    # Forward: 100000 * 8000 bits of 10^9. The formula adds 40 B for each of 100000 ACKs and 25000 quenches:
    # 8 * (1000 * 100000 + 40 * 125000) = 8.4 * 10^8.
    found = homogeneous(ecn=0, eb40=0, eb20=0, becn=25_000)
    assert at(found, "utilisation", {"scheme": "becn"})["value"][0] == pytest.approx(80.0)
    assert at(found, "utilisation_printed", {"scheme": "becn"})["value"][0] == pytest.approx(84.0)


def test_loss_is_in_percent_of_what_came() -> None:
    found = homogeneous(ecn=0, eb40=0, eb20=0, becn=0)
    assert at(found, "homogeneous_loss", {"scheme": "ecn"})["value"][0] == pytest.approx(100 * 400 / 100_400)


def mixed_flows(able: list[float], plain: list[float], scheme: str) -> pl.DataFrame:
    rates = [("able", rate) for rate in able] + [("plain", rate) for rate in plain]
    return pl.DataFrame(
        [{"scheme": scheme, "replicate": 0, "group": group, "goodput_bps": rate} for group, rate in rates]
    )


def test_a_gain_is_of_averages_and_schemes_are_compared_by_seed() -> None:
    # ECN: (200 + 400) / 2 over (100 + 300) / 2 is 1.5. BECN: 400 over 200 is 2.
    flows = pl.concat([mixed_flows([200.0, 400.0], [100.0, 300.0], "ecn"), mixed_flows([400.0], [200.0], "becn")])
    queues = pl.DataFrame(
        [
            {"scheme": s, "replicate": 0, "link": "pipe", "group": g, "arrived": 1000, "dropped": d}
            for s, lost in (("ecn", 10), ("becn", 5))
            for g, d in (("able", lost), ("plain", 70))
        ]
    )
    # Schemes that a run lacks give no row.
    found = measure.heavy(Sweep(flows=flows, queues=queues))
    over = at(found, "gain_over_ecn", {"scheme": "becn"})
    assert (over["value"][0], over["other"][0]) == pytest.approx((1.0, 0.5))
    less = at(found, "loss_to_ecn", {"scheme": "becn"})
    assert (less["value"][0], less["other"][0]) == pytest.approx((0.5, 1.0))
    assert at(found, "heavy_plain_loss", {"scheme": "ecn"}).select("value", "other").row(0) == (7000.0, 1000.0)


def objects(scheme: str, delays: list[float]) -> pl.DataFrame:
    rows = [{"complete": True, "delay_s": delay} for delay in delays] + [{"complete": False, "delay_s": float("nan")}]
    return pl.DataFrame([{"scheme": scheme, "pages": "p", "replicate": 0, **row} for row in rows])


def test_delay_and_its_fairness_are_of_whole_objects() -> None:
    schemes = {"ecn": [1.0, 3.0], "eb20": [1.0, 1.0], "eb40": [2.0, 2.0]}
    key = [{"scheme": s, "pages": "p", "replicate": 0, "link": "pipe"} for s in schemes]
    links = pl.DataFrame([{**k, "queue_mean_packets": 20.0, "queue_var_packets": 100.0} for k in key])
    queues = pl.DataFrame([{**k, "group": "web", "arrived": 1000, "dropped": 10} for k in key])
    whole = pl.concat([objects(scheme, delays) for scheme, delays in schemes.items()])
    found = measure.web(Sweep(objects=whole, links=links, queues=queues))
    # (1 + 3)^2 / (2 * (1 + 9)) = 0.8
    assert at(found, "delay_fairness", {"scheme": "ecn"})["value"][0] == pytest.approx(0.8)
    beside = at(found, "delay_of_ecn", {"scheme": "eb20"})
    assert (beside["value"][0], beside["other"][0]) == pytest.approx((2.0, 1.0))


def test_the_rule_takes_the_least_sum_of_relative_distances() -> None:
    def point(timer: str, gain: float, loss: float, tick: str = STATED["tick"]) -> list[dict[str, object]]:
        place = dict.fromkeys(KEYS, "x") | {"timer": timer, "tick": tick, "scheme": "ecn"}
        return [{"metric": "variant_gain", "mean": gain, **place}, {"metric": "variant_loss", "mean": loss, **place}]

    # Off by a tenth in both, and by nothing in the gain but half in the loss.
    points = pl.DataFrame(point("both", 1.1 * GAIN, 0.9 * LOSS) + point("one", GAIN, 1.5 * LOSS))
    points.extend(pl.DataFrame(point("clock", GAIN, LOSS, tick="10 ms")))
    # What another scheme gains and loses has no say.
    other = pl.DataFrame(point("better", GAIN, LOSS)).with_columns(pl.lit("becn").alias("scheme"))
    ranked = choose(pl.concat([points, other]))
    assert ranked["timer"].to_list() == ["both", "one"]
    assert ranked["distance"].to_list() == pytest.approx([0.2, 0.5])
    assert choose(pl.concat([points, other]), {})["timer"].to_list() == ["clock", "both", "one"]


def test_the_rule_aims_at_what_is_printed_of_ecn() -> None:
    printed = {number.id: number.value for number in read_published(PAPER).numbers}
    assert (printed["A13.1"], printed["A14.1"]) == (GAIN, LOSS)


def test_what_is_printed_is_read_under_the_settings_of_the_networks() -> None:
    published = read_published(PAPER)
    assert {entry.where["settings"] for entry in (*published.numbers, *published.claims)} == {""}


def test_all_networks_have_the_chosen_variant() -> None:
    for name in ("network1", "network1-web", "network2"):
        network = tomllib.loads((PAPER / f"{name}.toml").read_text())
        red = network["queue"]["red"]
        assert (red["mean_packet"], red["spacing"], red["gentle"], red["above"]) == ("500 B", "wait", False, "drop")
        assert network["profile"] == "ns-2.1b8a", name
        assert all(not {"min_rto", "rtt_tick"} & tcp.keys() for tcp in network["tcp"].values()), name


@pytest.mark.parametrize("name", ["nearest", "nearest-alike", "nearest-lossy", "nearest-web"])
def test_the_nearest_settings_are_the_same_in_all_experiments(name: str) -> None:
    # README.md, "The rule for the variant": with the clock free, ECN comes nearest here.
    resolved = read_experiment(PAPER / f"{name}.toml").runs[0].scenario.resolved
    red = resolved["queue"]["red"]
    assert (red["mean_packet"], red["spacing"], red["gentle"], red["above"]) == ("500 B", "uniform", False, "drop")
    assert red["count_arrival"]
    for flow in resolved["flow"].values():
        tcp = resolved["tcp"][flow["tcp_from"]]
        assert (tcp["rtt_tick"], tcp["min_rto"]) == ("10 ms", "200 ms")
