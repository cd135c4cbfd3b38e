"""Akujobi et al.: what is measured, by hand, and that the files say what was chosen."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from analysed import of_step
from pages import material

from ecnlab.papers import blocks
from ecnlab.papers.akujobi import runs, settings
from ecnlab.papers.akujobi.grid import GRID
from ecnlab.papers.akujobi.settings import KEYS, STATED, choose
from ecnlab.papers.analysis import Stored
from ecnlab.papers.judge import at
from ecnlab.papers.published import read_published
from ecnlab.scenario.files import read_experiment

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
    return of_step(
        "akujobi", "homogeneous", Sweep(queues=pl.concat(queues), links=pl.concat(links), flows=pl.concat(flows))
    )


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


def used(**shares: float) -> Sweep:
    """Flows of one kind whose schemes use ``shares`` of the pipe."""
    tables = [one_kind(scheme, 0) for scheme in shares]
    links = [
        links.with_columns(utilisation=pl.lit(share))
        for (_, links, _), share in zip(tables, shares.values(), strict=True)
    ]
    queues, flows = [queues for queues, _, _ in tables], [flows for _, _, flows in tables]
    return Sweep(queues=pl.concat(queues), links=pl.concat(links), flows=pl.concat(flows))


def test_utilisation_is_placed_between_ecn_and_becn() -> None:
    # 92 is 2 of the 8 points from 90 to 98, 97 is 7 of them; 97 less 92 are 5.
    found = of_step("akujobi", "homogeneous", used(ecn=0.90, eb40=0.92, eb20=0.97, becn=0.98))
    way = {row["scheme"]: row["value"] / row["other"] for row in at(found, "utilisation_way", {}).iter_rows(named=True)}
    assert way == pytest.approx({"eb40": 0.25, "eb20": 0.875})
    (less,) = at(found, "utilisation_less_eb20", {"scheme": "eb40"}).iter_rows(named=True)
    assert less["value"] - less["other"] == pytest.approx(-5.0)
    assert at(found, "loss_less_becn", {"scheme": "eb40"}).select("value", "other").row(0) == pytest.approx(
        (100 * 400 / 100_400,) * 2
    )


def lossy_runs(window: int, average: tuple[int, int], goodput_bps: float, loss: str) -> dict[str, pl.DataFrame]:
    key = {"scheme": "eb6", "loss": loss, "replicate": 0}
    times = (19.0, 20.0, 21.0)  # what is before 20 s does not count
    windows = [{**key, "time_s": t, "cwnd_bytes": 9e9 if t < 20 else window * 1000} for t in times]
    queue = [
        {**key, "time_s": t, "link": "pipe", "average_bytes": b} for t, b in zip(times, (9e9, *average), strict=True)
    ]
    return {
        "flow_series": pl.DataFrame(windows),
        "queue_series": pl.DataFrame(queue),
        "flows": pl.DataFrame([{**key, "goodput_bps": goodput_bps}]),
    }


def test_what_a_lossy_way_back_does_is_of_window_queue_and_goodput() -> None:
    without, with_loss = lossy_runs(8, (1000, 3000), 4e5, "0%"), lossy_runs(10, (1000, 7000), 3e5, "10%")
    found = of_step(
        "akujobi", "lossy-unharmed", Sweep(**{name: pl.concat([without[name], with_loss[name]]) for name in without})
    )
    ratios = {row["metric"]: row["value"] / row["other"] for row in found.iter_rows(named=True)}
    # The spread of two values is as wide as they are apart.
    assert ratios == pytest.approx({"unharmed": 10 / 8, "unharmed_queue": 3.0, "unharmed_goodput": 0.75})


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
    found = of_step("akujobi", "heavy", Sweep(flows=flows, queues=queues))
    over = at(found, "gain_over_ecn", {"scheme": "becn"})
    assert (over["value"][0], over["other"][0]) == pytest.approx((1.0, 0.5))
    less = at(found, "loss_to_ecn", {"scheme": "becn"})
    assert (less["value"][0], less["other"][0]) == pytest.approx((0.5, 1.0))
    assert at(found, "heavy_plain_loss", {"scheme": "ecn"}).select("value", "other").row(0) == (7000.0, 1000.0)


def test_the_ends_of_the_threshold_are_beside_what_they_are_to_be() -> None:
    gains = {"ecn": 150.0, "eb45": 160.0, "eb15": 190.0, "becn": 200.0}
    flows = pl.concat([mixed_flows([rate], [100.0], scheme) for scheme, rate in gains.items()])
    queues = pl.DataFrame(
        [
            {"scheme": s, "replicate": 0, "link": "pipe", "group": g, "arrived": 1000, "dropped": 10}
            for s in gains
            for g in ("able", "plain")
        ]
    )
    found = of_step("akujobi", "ends", Sweep(flows=flows, queues=queues))
    over = {row["metric"]: (row["scheme"], row["value"] - row["other"]) for row in found.iter_rows(named=True)}
    assert over["ends_gain_over_ecn"] == ("eb45", pytest.approx(0.1))
    assert over["ends_gain_over_becn"] == ("eb15", pytest.approx(-0.1))
    assert set(over) == {f"ends_{m}_{s}" for m in ("gain_over", "loss_to") for s in ("ecn", "becn")}


def objects(scheme: str, delays: list[float]) -> pl.DataFrame:
    rows = [{"complete": True, "delay_s": delay} for delay in delays] + [{"complete": False, "delay_s": float("nan")}]
    return pl.DataFrame([{"scheme": scheme, "pages": "p", "replicate": 0, **row} for row in rows])


def test_delay_and_its_fairness_are_of_whole_objects() -> None:
    schemes = {"ecn": [1.0, 3.0], "eb20": [1.0, 1.0], "eb40": [2.0, 2.0]}
    key = [{"scheme": s, "pages": "p", "replicate": 0, "link": "pipe"} for s in schemes]
    links = pl.DataFrame([{**k, "queue_mean_packets": 20.0, "queue_var_packets": 100.0} for k in key])
    queues = pl.DataFrame([{**k, "group": "web", "arrived": 1000, "dropped": 10} for k in key])
    whole = pl.concat([objects(scheme, delays) for scheme, delays in schemes.items()])
    found = of_step("akujobi", "web-fifteen", Sweep(objects=whole, links=links, queues=queues))
    # (1 + 3)^2 / (2 * (1 + 9)) = 0.8
    assert at(found, "delay_fairness", {"scheme": "ecn"})["value"][0] == pytest.approx(0.8)
    beside = at(found, "delay_of_ecn", {"scheme": "eb20"})
    assert (beside["value"][0], beside["other"][0]) == pytest.approx((2.0, 1.0))


def test_the_rule_takes_the_least_sum_of_relative_distances() -> None:
    def point(timer: str, gain: float, loss: float, tick: str = STATED["tick"]) -> list[dict[str, object]]:
        place = dict.fromkeys(KEYS, "x") | {"timer": timer, "tick": tick, "scheme": "ecn", "settings": ""}
        return [{"metric": "variant_gain", "mean": gain, **place}, {"metric": "variant_loss", "mean": loss, **place}]

    gain, loss = 0.3458, 0.57  # printed of ECN at 46 flows, in figures 3 and 4
    # Off by a tenth in both, and by nothing in the gain but half in the loss.
    points = pl.DataFrame(point("both", 1.1 * gain, 0.9 * loss) + point("one", gain, 1.5 * loss))
    points.extend(pl.DataFrame(point("clock", gain, loss, tick="10 ms")))
    # What another scheme gains and loses has no say.
    other = pl.DataFrame(point("better", gain, loss)).with_columns(pl.lit("becn").alias("scheme"))
    given = material(PAPER, GRID, pl.concat([points, other]))
    assert choose(given)["timer"].to_list() == ["both", "one"]
    assert choose(given)["distance"].to_list() == pytest.approx([0.2, 0.5])
    assert choose(given, {})["timer"].to_list() == ["clock", "both", "one"]


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


# --------------------------------------------------------------- what texts say


def test_gains_lie_above_the_printed_ones_by_two_amounts() -> None:
    # reasons.toml and README.md: the gap is wider for BECN and ECN+BECN (20 KB) than for the other two.
    rows = {row["id"]: row for row in json.loads((PAPER / "quoted.json").read_text())["tables"]["numbers"]}
    ecn, eb40, eb20, becn = ({end: rows[f"A13.{i}"][end] - rows[f"A13.{i}"]["printed"] for end in ENDS} for i in "1234")
    assert min(gap["low"] for gap in (ecn, eb40, eb20, becn)) > 0
    assert max(gap["high"] for gap in (ecn, eb40)) < min(gap["low"] for gap in (eb20, becn))


ENDS = ("low", "high")


def test_a_claim_is_compared_with_other_settings_only_where_these_have_all_its_places() -> None:
    claim = next(claim for claim in read_published(PAPER).claims if claim.id == "A17.loads")
    flows = claim.where["flows"]
    here = pl.DataFrame({"metric": claim.metric, "scheme": "eb20", "flows": flows, "settings": ""})
    there = here.with_columns(settings=pl.lit("nearest"))
    assert settings.is_there(claim, pl.concat([here, there]))
    assert not settings.is_there(claim, pl.concat([here, there.head(1)]))
    assert not settings.is_there(claim, here)


# --------------------------------------------------------------- figures


def test_each_figure_of_a_single_run_stands_under_its_number(tmp_path) -> None:
    columns = [f"{what}_{scheme}" for what in ("queue", "average") for scheme in ("ecn", "eb20", "eb6", "becn")]
    series = pl.DataFrame({name: [1.0, 2.0] for name in ["time_s", "eb6", "becn", *columns]})
    for name in ("queue_15", "queue_lossy", "window_lossy"):
        series.write_parquet(tmp_path / f"{name}.parquet")
    given = replace(material(PAPER, GRID, pl.DataFrame()), tables=Stored(tmp_path, {}))
    shown = {chart.caption.split(".")[0]: chart for chart in runs.evolution(given)}
    assert set(shown) == {f"As figure {n}" for n in range(7, 13)}
    schemes = {
        "7": "ECN flows",
        "8": "ECN+BECN (20 kB)",
        "9": "BECN:",
        "10": "BECN:",
        "11": "ECN+BECN (6",
        "12": "ECN+BECN (6",
    }
    for figure, name in schemes.items():
        assert name in shown[f"As figure {figure}"].title


def test_evidence_has_the_names_of_schemes() -> None:
    rows = [("eb20", 1.3, 1.2, 1.4), ("eb20, echoes heard", 1.1, 1.0, 1.2)]
    tests = pl.DataFrame(rows, schema=["place", "mean", "low", "high"], orient="row")
    said = blocks.evidence(tests, read_published(PAPER).metrics["gain"], "above", GRID)
    assert "eb20" not in said
    assert said.startswith("ECN+BECN (20 kB): ") and "; ECN+BECN (20 kB), echoes heard: " in said
