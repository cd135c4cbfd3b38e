"""``agree --explain``: two engines' packets compared. Where no kernel is built, two simulators that differ by one setting."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from conftest import SCENARIO, kernel_or_skip

import ecnlab
from ecnlab.explain import LONGEST_S, measure, rank
from ecnlab.scenario.files import read_scenario

PIPE = SCENARIO.replace('profile = "modern"', 'profile = "linux-7"').replace('"4 s"', '"21 s"')
COUNTS = {"flow.marked.count": 3, "flow.dropped.count": 3}


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe.toml"
    path.write_text(PIPE)
    return path


@pytest.fixture
def scenario(pipe: Path) -> ecnlab.Scenario:
    return read_scenario(pipe).with_overrides(COUNTS)


def everywhere(scenario: ecnlab.Scenario, key: str, value: object) -> ecnlab.Scenario:
    return scenario.with_overrides({f"tcp.{tcp}.{key}": value for tcp in ("ecn", "plain")})


def measured(*values: float, events: float | None) -> pl.DataFrame:
    """One quantity of as many flows as there are ``values``."""
    keys = {"group": "bulk", "place": "sender", "quantity": "data segments sent", "unit": "count"}
    types = {**dict.fromkeys(keys, pl.String), "value": pl.Float64, "events": pl.Float64}
    return pl.DataFrame([keys | {"value": value, "events": events} for value in values], schema=types)


def test_the_score_is_the_distance_in_standard_errors():
    # Variances of the means: 200 / 2 among ours, 30**2 / 200 by the events of theirs.
    row = rank(measured(90, 110, events=1e6), measured(30, 30, events=100)).row(0, named=True)
    assert (row["simulator"], row["linux"], row["ratio"]) == (100, 30, pytest.approx(100 / 30))
    assert row["score"] == pytest.approx(70 / (100 + 4.5) ** 0.5)


def test_a_quantity_that_one_engine_never_counts_has_noise_by_the_other_alone():
    row = rank(measured(0, 0, events=0), measured(8, 8, events=8)).row(0, named=True)
    assert row["ratio"] == 0
    assert row["score"] == pytest.approx(8 / (64 / 16) ** 0.5)


def test_a_quantity_without_known_noise_has_no_score_and_comes_last():
    one, other = (
        pl.concat([measured(value, events=None), measured(value, events=10).with_columns(quantity=pl.lit("zeros"))])
        for value in (1, 2)
    )
    assert rank(one, other)["quantity"].to_list() == ["zeros", "data segments sent"]
    assert rank(one, other)["score"].to_list()[1] is None


def test_an_engine_does_not_differ_from_itself(scenario):
    ranked = rank(*(measure(scenario, 1, "packets") for _ in range(2)))
    assert ranked.height > 40
    assert ranked["score"].drop_nulls().max() == 0
    assert set(ranked["ratio"]) == {1.0}
    assert set(ranked["group"]) == {"marked", "dropped", "pipe"}


def test_an_acknowledgement_policy_comes_first(scenario):
    one, two = (measure(everywhere(scenario, "ack_every", every), 1, "packets") for every in (1, 2))
    first = rank(one, two).row(0, named=True)
    assert first["place"] == "receiver"
    assert first["quantity"].startswith("ACK")
    assert first["score"] > 20


def test_a_push_policy_comes_first(scenario):
    one, two = (measure(everywhere(scenario, "push", push), 1, "packets") for push in ("last-segment", "linux-7"))
    first = rank(one, two).row(0, named=True)
    assert first["quantity"] in {"segments with PSH", "ACKs of 1 segment: PSH"}
    assert first["ratio"] == 0


def check_counts(scenario: ecnlab.Scenario, engine: str) -> None:
    """Packets of each flow group are those that the engine counted of it."""
    whole = scenario.with_overrides({"warmup": "0 s"})
    found = measure(whole, 1, engine)
    flows = ecnlab.run(whole, 1, engine=engine).flows.filter(pl.col("connections") > 0)
    for name, column in (("data segments sent", "data_segments_sent"), ("retransmissions", "retransmits")):
        ours = found.filter(pl.col("quantity") == name).sort("group", "value")
        theirs = flows.sort("group", column)
        assert ours["group"].to_list() == theirs["group"].to_list()
        assert ours["value"].to_list() == theirs[column].to_list()


def test_packets_are_of_the_flow_group_that_sent_them(scenario):
    check_counts(scenario, "packets")


def test_flows_that_start_together_and_udp_flows_keep_their_groups(pipe):
    pipe.write_text(
        PIPE.replace('{ uniform = ["0 s", "100 ms"] }', '"0 s"')
        + '[flow.a]\nfrom = "server"\nto = "client"\ntraffic = { kind = "cbr", rate = "100 kbps", packet = "500 B" }\n'
    )
    check_counts(read_scenario(pipe).with_overrides(COUNTS), "packets")


def test_the_capture_ends_a_minute_after_the_warm_up(scenario):
    long, cut = (measure(scenario.with_overrides({"duration": f"{1 + LONGEST_S + s} s"}), 1, "packets") for s in (9, 0))
    assert long.equals(cut)


def test_groups_of_flows_with_several_connections_are_one(scenario):
    asked = scenario.with_overrides(
        {"flow.dropped.traffic": {"kind": "crr", "request": "100 B", "response": "9 kB", "think": "100 ms"}}
    )
    groups = set(measure(asked, 1, "packets").filter(pl.col("place") == "sender")["group"])
    assert groups == {"dropped + marked"}


def test_captures_need_explain(cli, pipe):
    done = cli("agree", pipe, "--captures", 2)
    assert done.returncode == 2
    assert "--captures needs --explain" in done.stderr


@pytest.fixture
def kernel() -> None:
    kernel_or_skip()


@pytest.mark.slow
@pytest.mark.usefixtures("kernel")
def test_packets_of_the_kernel_are_of_the_flow_group_that_sent_them(scenario):
    check_counts(scenario, "linux")


@pytest.mark.slow
@pytest.mark.usefixtures("kernel")
def test_an_agreement_is_explained_in_the_table_and_on_the_page(cli, pipe, tmp_path):
    done = cli("agree", pipe, "--replicates", 2, "--explain", "--out", "result", "--json")
    assert done.returncode == 0, done.stderr
    rows = pl.DataFrame(json.loads(done.stdout)["behaviour"])
    stored = pl.read_parquet(tmp_path / "result/explanation.parquet")
    assert rows["quantity"].to_list() == stored["quantity"].to_list()
    sent = stored.filter(pl.col("quantity") == "data segments sent", pl.col("group") == "marked").row(0, named=True)
    assert sent["ratio"] == pytest.approx(1, abs=0.2)
    assert "Differences in behaviour" in (tmp_path / "result/agreement.html").read_text()
    shown = cli("agree", pipe, "--replicates", 2, "--explain", "--out", "result")
    assert "behaviour" in shown.stdout
    # A long name is wrapped.
    assert " ".join(stored["quantity"][0].split()[:2]) in shown.stdout
