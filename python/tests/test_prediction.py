"""The engine ``model``: a scenario read as a model sees it, by hand; its point; what it refuses; the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ecnlab
from ecnlab import SpecError, run
from ecnlab.base.errors import FolderError
from ecnlab.engines.model.law import control_law
from ecnlab.engines.model.path import bottleneck
from ecnlab.models import equilibrium, padhye, red
from ecnlab.prediction import NotCoveredError, predict
from ecnlab.scenario.files import read_scenario

CHECKOUT = Path(__file__).parents[2]
ONE_LINK = CHECKOUT / "papers" / "kadhum-hassan" / "bottleneck.toml"
MIXED = CHECKOUT / "examples" / "mixed.toml"


def seen(path: Path = ONE_LINK, **overrides):
    return bottleneck(read_scenario(path).with_overrides(overrides).resolved)


# --------------------------------------------------------------- reading


def test_the_slow_link_and_the_round_trip_by_hand() -> None:
    found = seen()
    (users,) = found.classes
    assert (found.link.name, users.count, users.ecn) == ("bottleneck", 10, False)
    assert [link.name for link in users.path] == ["access", "bottleneck"]
    # 20 ms and on average 3 ms each way; 592 B and 40 B over 10 Mb/s and 0.7 Mb/s
    assert users.base_rtt_s == pytest.approx(0.046 + 632 * 8 / 10e6 + 632 * 8 / 0.7e6)
    assert (users.payload_bytes, users.wire_bytes, users.per_ack) == (552, 592, 1)
    assert users.max_window == pytest.approx(32000 / 552)


def test_timestamps_take_their_place_from_the_segment_and_bytes_acked_undoes_the_delayed_ack() -> None:
    (bulk,) = seen(CHECKOUT / "examples" / "dumbbell.toml").classes
    assert (bulk.payload_bytes, bulk.wire_bytes, bulk.ack_bytes, bulk.per_ack) == (1448, 1500, 52, 1)
    (slow,) = seen(CHECKOUT / "examples" / "dumbbell.toml", **{"tcp.default.growth": "per-ack"}).classes
    assert slow.per_ack == 2


def test_a_random_delay_is_its_mean() -> None:
    def base(delay: object) -> float:
        return seen(**{"link.access.delay": delay}).classes[0].base_rtt_s

    assert base({"uniform": ["1 ms", "5 ms"]}) == pytest.approx(base("3 ms"))


def test_a_shaper_is_the_slow_link() -> None:
    assert seen(CHECKOUT / "papers" / "rfc2884" / "testbed.toml").link.rate_bps == 1.5e6


def law_of(**overrides) -> red.ControlLaw:
    scenario = read_scenario(ONE_LINK).with_overrides(overrides)
    queue = scenario.resolved["queue"]["red"] | scenario.in_force(1)["bottleneck"]
    return control_law("red", queue, 592.0, 0.7e6, ecn=True)


def test_automatic_thresholds_in_bytes_are_packets_on_the_wire() -> None:
    # 0.7 Mb/s is 175 packets of 500 B a second: half of 5 ms of them is under 5, so 5 and 15 times 500 B
    assert law_of().queue[[0, 1, 2]] == pytest.approx([0.0, 2500 / 592, 2500 / 592])
    assert 7500 / 592 in law_of().queue.tolist()
    # 0.2 s of them is 35, half of it 17.5
    packets = law_of(
        **{"queue.red.target_delay": "200 ms", "queue.red.min_th": "auto packets", "queue.red.max_th": "auto packets"}
    )
    assert packets.queue.tolist().count(17.5) == 2 and 52.5 in packets.queue.tolist()


def test_byte_mode_raises_the_chance_of_a_packet_above_the_mean() -> None:
    # at max_th p_b is 0.1; a packet of 592 B has 1.184 times that, of which wait signals 2p/(3-p)
    p = 0.1 * 592 / 500
    assert law_of().probability(7500 / 592) == pytest.approx(2 * p / (3 - p))
    half = red.red(5, 15, 0.5, gentle=True).scaled(4.0)
    assert half.probability([10.0, 15.0]) == pytest.approx([1.0, 1.0])


def test_marks_end_at_mark_p() -> None:
    law = law_of(**{"queue.red.ecn": True, "queue.red.mark_p": 0.05})
    assert law.marked.max() == pytest.approx(0.05 * 592 / 500)


# --------------------------------------------------------------- predicting


def test_one_class_of_drops_is_where_padhye_and_the_queue_agree() -> None:
    row = predict(ONE_LINK).table("prediction").row(0, named=True)
    p, rtt = row["dropped"], row["rtt_s"]
    assert row["marked"] == 0.0 and row["utilisation"] == pytest.approx(1.0)
    sent = padhye.approximate(rtt, p, timeout_s=max(0.2, 2 * rtt))
    assert row["sent_pps"] == pytest.approx(float(sent), rel=1e-6)
    # what is not dropped fills the link
    assert 10 * row["sent_pps"] * (1 - p) == pytest.approx(0.7e6 / (8 * 592), rel=1e-6)
    assert law_of().probability(row["queue_packets"]) == pytest.approx(p, rel=1e-6)
    assert row["queue_bytes"] == pytest.approx(592 * row["queue_packets"])
    assert row["goodput_bps"] == pytest.approx(70e3 * 552 / 592, rel=1e-6)


def test_ecn_flows_and_others_in_one_queue_meet_the_same_chance() -> None:
    rows = {row["group"]: row for row in predict(MIXED).table("prediction").iter_rows(named=True)}
    marked, dropped = rows["marked"], rows["dropped"]
    assert marked["marked"] == pytest.approx(dropped["dropped"]) and marked["dropped"] == dropped["marked"] == 0.0
    assert marked["goodput_bps"] > dropped["goodput_bps"]
    payload, wire = 1448, 1500
    carried = sum(row["flows"] * row["goodput_bps"] for row in rows.values()) * wire / payload
    assert carried == pytest.approx(10e6, rel=1e-6)


def test_responses_to_a_mark_are_those_of_the_scenario() -> None:
    dumbbell = CHECKOUT / "examples" / "dumbbell.toml"

    def queue(congestion: object) -> float:
        found = predict(dumbbell, overrides={"tcp.default.congestion": congestion})
        return found.table("prediction")["queue_packets"][0]

    # (1, 1/2) and (0.2, 0.875) have one response function where all signals are marks; ABE gives back less
    assert queue("ecn-alpha-beta") == pytest.approx(queue("reno"), rel=1e-6)
    assert queue("abe") > queue("reno")
    assert queue({"kind": "abe", "beta": 0.5}) == pytest.approx(queue("reno"), rel=1e-6)


def test_flows_that_their_windows_hold_leave_the_link_idle() -> None:
    row = predict(ONE_LINK, overrides={"flow.user.count": 1, "tcp.sender.receive_buffer": "552 B"})
    found = row.table("prediction").row(0, named=True)
    assert found["queue_packets"] == found["dropped"] == 0.0
    assert found["utilisation"] == pytest.approx(found["sent_pps"] / (0.7e6 / (8 * 592)))
    assert found["window_segments"] == pytest.approx(1.0)


def test_a_prediction_is_near_the_run() -> None:
    said = predict(ONE_LINK).table("prediction").row(0, named=True)
    measured = run(ONE_LINK).links.filter(link="bottleneck").row(0, named=True)
    assert said["queue_packets"] == pytest.approx(measured["queue_mean_packets"], rel=0.1)


def test_drop_tail_is_full() -> None:
    row = predict(ONE_LINK, overrides={"link.bottleneck.queue": "tail"}).table("prediction").row(0, named=True)
    assert row["queue_packets"] == 99 and 0 < row["dropped"] < 0.1


# --------------------------------------------------------------- refusing


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        ({"flow.user.traffic": {"kind": "ftp", "size": "5 MB"}}, "flow user ends after 5 MB"),
        ({"flow.user.traffic": {"kind": "crr", "request": "1 kB", "response": "5 kB"}}, "flow user sends crr"),
        ({"link.access.loss": 0.01}, "link access has loss"),
        ({"link.access.jitter": {"delay": "1 ms", "reorder": False}}, "link access has jitter"),
        ({"link.bottleneck.burst_loss": {"p": 0.1, "r": 0.5}}, "link bottleneck has burst_loss"),
        ({"flow.user.stop": "20 s"}, "flow user stops at 20 s"),
        ({"link.bottleneck.drop": [7]}, "link bottleneck has drop"),
        ({"link.access.rate": "0.7 Mbps"}, "equally slow"),
        ({"link.bottleneck.reverse.rate": "40 kbps"}, "ACKs would fill bottleneck~reverse"),
        ({"queue.red.adaptive": {}}, "moves max_p"),
    ],
)
def test_what_no_model_covers_is_named(overrides, named) -> None:
    with pytest.raises(NotCoveredError, match=named):
        predict(ONE_LINK, overrides=overrides)


def test_several_slow_links_are_no_single_one() -> None:
    with pytest.raises(NotCoveredError, match=r"does not cross .*one bottleneck"):
        predict(CHECKOUT / "examples" / "parking-lot.toml")


def test_a_wrong_scenario_is_told_as_ever(tmp_path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("format = 1\n")
    with pytest.raises(SpecError):
        predict(path)


# --------------------------------------------------------------- storing


def test_the_command_stores_a_run_of_its_own_engine(cli, scenario, tmp_path) -> None:
    done = cli("run", scenario, "--engine", "model", "--out", "m", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["manifest"]["engine"] == "model" and said["manifest"]["seed"] is None
    assert [row["group"] for row in said["prediction"]] == ["dropped", "marked"]
    stored = ecnlab.load(tmp_path / "m")
    assert stored.table("prediction").height == 2
    assert "queue_packets" in cli("show", "m").stdout
    assert cli("run", scenario, "--engine", "model", "--out", "m").returncode == 0


def test_engines_do_not_overwrite_each_other_and_compare_says_so(cli, scenario, tmp_path) -> None:
    assert cli("run", scenario, "--out", "p").returncode == 0
    assert json.loads((tmp_path / "p" / "manifest.json").read_text())["engine"] == "packets"
    with pytest.raises(FolderError, match="another run"):
        predict(scenario, out=tmp_path / "p")
    assert cli("run", scenario, "--engine", "model", "--out", "m").returncode == 0
    told = cli("compare", "p", "m")
    assert told.returncode == 1 and "engine: packets against model" in told.stdout


@pytest.mark.parametrize("option", [("--seed", "1"), ("--events",)])
def test_options_of_chance_and_packets_are_refused(cli, scenario, option) -> None:
    done = cli("run", scenario, "--engine", "model", *option)
    assert done.returncode == 2 and option[0] in done.stderr


def test_a_scenario_that_is_not_covered_is_a_message_not_a_traceback(cli) -> None:
    done = cli("run", CHECKOUT / "examples" / "chain.toml", "--engine", "model")
    assert done.returncode == 2 and "no model covers" in done.stderr and "Traceback" not in done.stderr


def test_the_equilibrium_of_the_models_is_the_prediction_where_nothing_is_dropped() -> None:
    from functools import partial

    from ecnlab.models import ecn

    overrides = {"queue.red.ecn": True, "queue.red.mark_p": 2.0, "queue.red.above": "mark", "tcp.sender.ecn": "rfc2481"}
    row = predict(ONE_LINK, overrides=overrides).table("prediction").row(0, named=True)
    (users,) = seen(**overrides).classes
    rate = partial(ecn.sending_rate, timeout_s=1.0, alpha=1.0, beta=0.5)  # marks alone: T0 does not enter
    found = equilibrium(
        rate, law_of(**overrides), flows=10, capacity=0.7e6 / (8 * 592), base_rtt_s=users.base_rtt_s,
        max_window=users.max_window,
    )  # fmt: skip
    assert row["dropped"] == 0.0
    assert row["queue_packets"] == pytest.approx(float(found.queue), rel=1e-6)
