"""The arithmetic of `make bench`: slopes, medians, the table, missing peers, and the scenarios that its rows derive."""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from ecnlab import Scenario

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "bench"
sys.path.insert(0, str(BENCH))
import bench  # noqa: E402
import captures  # noqa: E402
import commands  # noqa: E402
import curves  # noqa: E402
import dumbbells  # noqa: E402
import growth  # noqa: E402
import instructions  # noqa: E402
import machine  # noqa: E402
import measuring  # noqa: E402
import memory  # noqa: E402
import ns3  # noqa: E402
import recording  # noqa: E402
import stages  # noqa: E402

OPTIONS = measuring.Options(repeat=1, core=0, binary=Path("ecnlab-bench"))


def test_a_slope_is_the_change_per_unit() -> None:
    assert measuring.slope((10_000, 60e6), (50_000, 120e6)) == 1_500
    with pytest.raises(ValueError, match="no slope"):
        measuring.slope((5, 1), (5, 2))


def test_the_segments_in_flight_are_not_counted_in_a_flow() -> None:
    # 1,600 bytes with one segment and 1,700 with two: a segment has 100, and a flow without any 1,500.
    assert memory.without_segments(1_600, 1_700) == (1_500, 100)


def test_sides_alternate_and_their_medians_count() -> None:
    values = iter([3.0, 30.0, 1.0, 10.0, 2.0, 50.0])
    order = []

    def side(name: str):
        def measure() -> float:
            order.append(name)
            return next(values)

        return measure

    found = measuring.alternate({"a": side("a"), "b": side("b")}, 3)
    assert order == ["a", "b", "a", "b", "a", "b"]
    assert found == {"a": [3, 1, 2], "b": [30, 10, 50]}
    assert measuring.medians(found) == {"a": 2, "b": 30}


def test_a_target_is_a_maximum_or_a_minimum() -> None:
    assert measuring.Row("bytes", 1_500, 1_500).met is True
    assert measuring.Row("bytes", 1_501, 1_500).met is False
    assert measuring.Row("speed", 7.9, 8, at_most=False).met is False
    assert measuring.Row("speed", 8.0, 8, at_most=False).met is True
    assert measuring.Row("speed", 8.0).met is None
    assert measuring.Row("speed", None, 8).met is None


def test_the_table_has_the_value_the_target_and_what_is_missed() -> None:
    rows = [
        measuring.Row("bytes", 8_597.1, 1_500, "B"),
        measuring.Row("speed", 9.456, 8, "x", at_most=False),
        measuring.missing("peer", "ns", "ns2", 12, unit="x", at_most=False),
    ]
    assert measuring.table(rows) == [
        "measure    value      target",
        "bytes    8,597 B  <= 1,500 B  missed",
        "speed     9.46 x      >= 8 x",
        "peer           -     >= 12 x  ns is not installed (Debian's ns2)",
    ]
    assert rows[1].as_json()["met"] is True


def test_a_missing_peer_is_a_row_and_no_error(monkeypatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: None)
    rows = [*dumbbells.rows(OPTIONS), *ns3.rows(OPTIONS), *instructions.rows(OPTIONS), *instructions.overflow(OPTIONS)]
    assert [row.value for row in rows] == [None] * 6
    assert [row.note.split()[0] for row in rows] == ["ns", "ns", "g++", "valgrind", "valgrind", "valgrind"]
    assert [row.target for row in rows[:3]] == [5.5, 12, 220]


def test_the_peer_in_ns3_has_the_settings_of_c() -> None:
    c, source = tomllib.loads((BENCH / "c.toml").read_text()), ns3.SOURCE.read_text()
    red, link = c["queue"]["red"], c["link"]
    for words in (
        f"FLOWS = {c['flow']['bulk']['count']};",
        f"MSS = {c['tcp']['ecn']['mss'].removesuffix(' B')};",
        f'"{link["bottleneck"]["rate"].replace(" ", "")}", "{link["bottleneck"]["delay"].replace(" ", "")}"',
        f'"{link["access"]["rate"].replace(" ", "")}", "{link["access"]["delay"].replace(" ", "")}"',
        f'"MaxSize", StringValue("{red["limit"].removesuffix(" packets")}p")',
        f'"MinTh", DoubleValue({red["min_th"].removesuffix(" packets")})',
        f'"QW", DoubleValue({red["weight"]})',
        f'"LInterm", DoubleValue({1 / red["max_p"]:.0f})',
    ):
        assert words in re.sub(r"\s+", " ", source), words


def test_captures_are_compared_with_the_peers_that_are_there(monkeypatch) -> None:
    times = {"one core": [2.0], "two cores": [1.0], "round trip": [51.0, 300.0, 53.0], "tcptrace": [9.0, 8.0, 1.0]}
    monkeypatch.setattr(captures, "_capture", lambda folder: folder / "c")
    monkeypatch.setattr(captures, "_times", lambda *_: times)
    one, two, tshark, threads, round_trip = captures.rows(OPTIONS)
    assert (one.value, two.value, tshark.value, threads.value, round_trip.value) == (4, 8, None, 2, 53)
    assert "tshark is not installed" in tshark.note
    del times["two cores"], times["round trip"]
    assert [row.value for row in captures.rows(OPTIONS)] == [4, None, None]


def test_a_process_has_its_output_and_times_and_a_failure_its_errors() -> None:
    run = measuring.execute([sys.executable, "-c", "print('x'); print('{\"packets\": 3}')"])
    assert run.result() == {"packets": 3}
    assert run.cpu > 0 and run.wall > 0
    with pytest.raises(Exception, match="exit status 3") as failed:
        measuring.execute([sys.executable, "-c", "import sys; print('why', file=sys.stderr); sys.exit(3)"])
    assert failed.value.stderr == "why\n"


@pytest.mark.parametrize("flows", growth.REPEATS)
def test_the_bottleneck_grows_with_the_flows(flows: int) -> None:
    text = growth.scenario(flows)
    Scenario("growth.toml", text)
    Scenario("empty.toml", growth.scenario(flows, growth.EMPTY, growth.EMPTY_SPREAD))
    grown, d = tomllib.loads(text), tomllib.loads((BENCH / "d.toml").read_text())
    times = flows / 500
    assert grown["flow"]["bulk"]["count"] == flows
    assert grown["node"] == d["node"]
    # d has 1 Gbit/s for 500 flows: 2 Mbit/s each, 20 packets of buffer, thresholds of 2 and 6.
    assert grown["link"]["bottleneck"]["rate"] == f"{2 * flows:.0f} Mbps"
    assert grown["link"]["access"]["rate"] == grown["link"]["exit"]["rate"] == f"{20 * flows:.0f} Mbps"
    red = grown["queue"]["red"]
    assert (red["limit"], red["min_th"], red["max_th"]) == tuple(f"{n * flows} packets" for n in (20, 2, 6))
    assert red["weight"] * times == pytest.approx(d["queue"]["red"]["weight"])


def test_a_growth_curve_has_a_pair_of_hosts_for_each_flow() -> None:
    for name, pairs in (("50 pairs of hosts", 50), ("a pair for each flow", 3_000)):
        nodes = tomllib.loads(curves.text(name, 3_000))["node"]
        assert {one["count"] for one in nodes.values()} == {pairs}
        assert tomllib.loads(curves.text(name, 3_000))["flow"]["bulk"]["count"] == 3_000


def test_growth_curves_are_a_table_and_a_figure(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(curves, "FIGURE", tmp_path / "growth.svg")
    found = {"50 pairs of hosts": [curves.Point(100, 2_340_000, 12_400_000), curves.Point(1_000, 1e6, 50_000_000)]}
    assert curves.table(found)[2] == "| 50 pairs of hosts | 100 | 2.34 | 12 |"
    curves.draw(found)
    assert "million packets/s" in curves.FIGURE.read_text()


@pytest.mark.parametrize("keys", [keys for tables in instructions.OVERFLOWING.values() for keys in tables])
def test_the_overflowing_queues_are_at_the_bottleneck_of_d(keys: str) -> None:
    text = instructions.with_table((BENCH / "d.toml").read_text(), "queue.red", keys)
    Scenario("overflow.toml", text)
    queue = tomllib.loads(text)["queue"]["red"]
    # CAKE counts 1,500 + 576 bytes for each of 1,000 packets.
    assert queue.get("limit") == "1000 packets" or queue["memory"] == "2076000 B"


def test_the_memory_of_flows_is_that_of_windows_of_a_segment() -> None:
    text = memory.SCENARIO.format(pairs=3, flows=7, window=1460)
    Scenario("flows.toml", text)
    assert tomllib.loads(text)["tcp"]["default"] == {"mss": "1460 B", "receive_buffer": "1460 B"}


@pytest.mark.parametrize(("kind", "key"), [("off", None), ("series", "sample"), ("capture", "capture")])
def test_a_run_that_records_is_c_with_one_more_key(kind: str, key: str | None) -> None:
    text = recording.scenario(kind, "20 s")
    Scenario("c.toml", text)
    mine, c = tomllib.loads(text), tomllib.loads((BENCH / "c.toml").read_text())
    assert set(mine) - set(c) == ({key} if key else set())
    assert mine["duration"] == "20 s"
    assert mine["link"] == c["link"]


def test_many_runs_of_few_flows() -> None:
    assert [growth.repeats(flows, 5) for flows in growth.REPEATS] == [25, 25, 5, 3]
    assert growth.repeats(100_000, 1) == 1


def test_the_small_run_is_two_flows_for_a_minute() -> None:
    text = commands.start_scenario((ROOT / "examples" / "dumbbell.toml").read_text())
    found = tomllib.loads(text)
    assert found["duration"] == "60 s"
    assert found["node"]["source"]["count"] == found["node"]["sink"]["count"] == 2
    assert found["link"]["bottleneck"]["rate"] == "40 Mbps"
    with pytest.raises(ValueError, match="has no"):
        commands.start_scenario(text)


def test_total_instructions_are_read_from_a_file_of_callgrind() -> None:
    assert instructions.instructions("events: Ir\nsummary: 123456\n\nfn=(1)\n1 5\n") == 123_456
    assert instructions.instructions("events: Ir\n\nfn=(1)\n1 5\n\ntotals: 77 3\n") == 77
    with pytest.raises(ValueError, match="no total"):
        instructions.instructions("events: Ir\n")


def test_instructions_per_packet_are_a_slope(monkeypatch) -> None:
    counts = {'duration = "5 s"': (100, 1_000_000), 'duration = "15 s"': (400, 1_540_000)}
    monkeypatch.setattr(instructions, "_count", lambda options, text: counts[text])
    assert instructions.per_packet(OPTIONS, 'duration = "100 s"', ("5 s", "15 s")) == 1_800


def test_the_processor_is_named() -> None:
    assert machine.processor("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nmodel name\t: B\n") == "Some CPU @ 2 GHz"
    assert machine.processor("processor: 0\n") is None


def test_kinds_run_in_the_order_of_the_table_and_a_million_flows_only_by_name() -> None:
    assert bench.chosen([]) == [kind for kind in bench.KINDS if kind != "million"]
    assert bench.chosen(["start", "million", "memory"]) == ["memory", "start", "million"]


def test_instructions_are_of_the_stage_of_the_line_and_those_of_a_call_of_the_called() -> None:
    text = """\
fl=(1) /x/crates/engine/src/sim.rs
fn=(1) run
10 5
fi=(2) /x/crates/aqm/src/machine/fifo.rs
+3 7
cfi=(3) /x/crates/tcp/src/input.rs
cfn=(2) on_segment
calls=2 40
* 900
fe=(1)
12 1
fl=(3)
fn=(2)
40 900
fl=(4) ./malloc/malloc.c
3 2
"""
    counted = stages.by_stage(text)
    assert counted == {
        "simulation loop": 6,
        "queue discipline": 7,
        "TCP: arriving segments": 900,
        "memory: malloc, memcpy": 2,
    }
