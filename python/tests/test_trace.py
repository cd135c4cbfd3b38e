"""Captures in: what the analysis says, beside tshark and tcptrace, on captures of the kernel and of the simulator."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import mostly_slow

import ecnlab
from ecnlab.cli import cli as commands
from ecnlab.cli import console
from ecnlab.scenario.files import read_scenario
from ecnlab.trace import changes, memory
from ecnlab.trace.graphs import SIGNS, SequenceGraph, Violation, graphs, with_gaps
from ecnlab.trace.page import _marked, capture_page

ROOT = Path(__file__).parents[2]
STORED = sorted((ROOT / "tests" / "data" / "captures").glob("*.pcap.gz"))
"""Captures of Linux 6.18, made by tests/data/captures/kernel.py."""


def kernel():
    spec = importlib.util.spec_from_file_location("kernel", ROOT / "tests" / "data" / "captures" / "kernel.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["kernel"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def simulated(tmp_path_factory) -> Path:
    """A capture of the simulator with marks, drops, SACK, and two connections."""
    from conftest import SCENARIO

    folder = tmp_path_factory.mktemp("simulated")
    scenario = ecnlab.Scenario("pipe.toml", SCENARIO).with_overrides({"capture.server": {"node": "server"}})
    ecnlab.run(scenario, captures=folder)
    return folder / "server.pcapng"


@pytest.fixture(
    params=mostly_slow([*STORED, "simulated"], STORED[0], STORED[-2], "simulated"),
    ids=lambda param: getattr(param, "name", param),
)
def capture(request, simulated) -> Path:
    return simulated if request.param == "simulated" else request.param


def tshark(path: Path, *fields: str, only: str = "tcp") -> list[list[str]]:
    columns = [word for field in fields for word in ("-e", field)]
    command = ["tshark", "-n", "-r", str(path), "-Y", only, "-T", "fields", "-E", "occurrence=f", *columns]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split("\t") for line in lines]


def yes(text: str) -> bool:
    return text in ("1", "True")


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
def test_packets_ecn_bits_and_connections_are_tsharks(capture):
    fields = (
        "tcp.stream",
        "ip.src",
        "tcp.srcport",
        "tcp.len",
        "ip.dsfield.ecn",
        "tcp.flags.ece",
        "tcp.flags.cwr",
        "tcp.flags.syn",
    )
    want: Counter[tuple[int, str, str]] = Counter()
    for stream, source, port, length, ecn, ece, cwr, syn in tshark(capture, *fields):
        key = (int(stream), f"{source}:{port}")
        want[*key, "packets"] += 1
        want[*key, "bytes"] += int(length)
        want[*key, ("not_ect", "ect1", "ect0", "ce")[int(ecn)]] += 1
        if not yes(syn):
            want[*key, "ece_sent"] += yes(ece)
            want[*key, "cwr_sent"] += yes(cwr)
    rows = ecnlab.trace(capture).directions.to_dicts()
    names = ("packets", "bytes", "not_ect", "ect0", "ect1", "ce", "ece_sent", "cwr_sent")
    assert {key[0] for key in want} == {row["connection"] for row in rows}
    for row in rows:
        got = {name: row[name] for name in names}
        assert got == {name: want[row["connection"], row["from"], name] for name in names}


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
def test_retransmissions_are_tsharks(capture):
    """Seen at the sender nothing is out of order: what tshark calls so it has taken for no retransmission by its time."""
    analysis = [f"tcp.analysis.{kind}" for kind in ("retransmission", "out_of_order")]
    rows = tshark(capture, "tcp.stream", "frame.number", only=" or ".join(analysis))
    want = {(int(stream), int(number)) for stream, number in rows}
    found = ecnlab.trace(capture)
    kinds = ["fast", "sack", "partial", "timeout", "tail"]
    got = set()
    for connection in found.connections["connection"]:
        series = found.series(connection, most=1_000_000)
        got |= {(connection, packet) for packet in series.filter(pl.col("kind").is_in(kinds))["packet"]}
    assert got == want
    assert len(got) == found.directions["retransmits"].sum() + found.directions["control_retransmits"].sum()


def path_has_fin_again(path: Path) -> bool:
    """Whether the only retransmission of the capture carries a FIN."""
    return path.name == "tail.pcap.gz"


@pytest.mark.skipif(not shutil.which("tcptrace"), reason="tcptrace is not installed")
def test_round_trips_and_throughput_are_tcptraces(capture, tmp_path):
    # tcptrace reads microseconds: times are cut to them, and what is rounded differs in the last digit.
    text = subprocess.run(
        ["tcptrace", "-n", "-l", "-r", str(capture)], check=True, capture_output=True, text=True
    ).stdout
    found = ecnlab.trace(capture).directions
    for connection, part in enumerate(re.split(r"TCP connection \d+:", text)[1:]):
        for place, row in enumerate(found.filter(connection=connection).to_dicts()):
            told = {
                name.strip(): values[place]
                for name, *values in re.findall(
                    r"^     (\S[^:\n]*): +(\S+)[^:\n]*? {3,}\S[^:\n]*: +(\S+)", part, re.MULTILINE
                )
            }
            counts = {
                "total packets": row["packets"] if "total packets" in told else None,
                "actual data pkts": row["data_packets"],
                "actual data bytes": row["bytes"],
                "unique bytes sent": row["unique_bytes"],
                "rexmt data pkts": row["retransmits"],
                # tcptrace counts the FIN of a segment sent again as a byte of it.
                "rexmt data bytes": row["retransmitted_bytes"]
                + (path_has_fin_again(capture) and row["retransmits"] > 0),
                "outoforder pkts": row["out_of_order"],
                "RTT samples": row["rtt_samples"],
            }
            assert {name: int(told[name]) for name in counts if name in told} == {
                name: value for name, value in counts.items() if name in told
            }
            if row["rtt_samples"]:
                for name, column in (("RTT min", "rtt_min_s"), ("RTT max", "rtt_max_s"), ("RTT avg", "rtt_mean_s")):
                    assert float(told[name]) == pytest.approx(row[column] * 1e3, abs=0.0511), (connection, name)
            assert float(told["throughput"]) == pytest.approx(row["goodput_bps"] / 8, rel=1e-4, abs=0.51)


CASES = {
    "ecn": {"ecn": "accepted", "retransmits": 0, "cwr_sent": 3, "ecn_reductions": 3},
    "refused": {"ecn": "refused", "retransmits": 0, "cwr_sent": 0, "ect0": 0},
    "off": {"ecn": "not offered", "retransmits": 2, "retransmits_fast": 2, "ect0": 0},
    "sack": {"ecn": "accepted", "retransmits": 4, "retransmits_sack": 2, "timeouts": 0, "sack_permitted": True},
    "no-sack": {"ecn": "accepted", "retransmits": 3, "retransmits_sack": 0, "sack_permitted": False},
    "tail": {"ecn": "accepted", "retransmits": 1, "retransmits_fast": 0},
}
"""What was done to each transfer of the kernel (tests/data/captures/kernel.py), as the analysis must find it."""


def found_in(path: Path) -> dict[str, object]:
    found = ecnlab.trace(path)
    assert found.violations.to_dicts() == []
    assert found.connections.height == 1
    return {**found.directions.to_dicts()[0], "ecn": found.connections["ecn"][0]}


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.name)
def test_what_was_done_to_the_kernels_packets_is_found(path):
    want = CASES[path.name.removesuffix(".pcap.gz")]
    assert {key: found_in(path)[key] for key in want} == want


@pytest.mark.slow
def test_the_kernel_of_this_machine_is_understood_too(tmp_path):
    made = kernel()
    if reason := made.available():
        pytest.skip(reason)
    for name in ("ecn", "refused", "sack"):
        made.record(made.CASES[name], tmp_path / f"{name}.pcap")
        found = found_in(tmp_path / f"{name}.pcap")
        assert found["ecn"] == CASES[name]["ecn"]
        assert (found["unique_bytes"], found["in_order_bytes"]) == (400_000, 400_000)
        # How many marks come before the window is reduced, and whether a segment is lost again, is the machine's speed.
        assert bool(found["cwr_sent"]) == (name != "refused")
        assert bool(found["retransmits"]) == (name == "sack")


def test_the_command_line_shows_a_capture(cli, simulated, tmp_path):
    shown = cli("trace", simulated)
    assert shown.returncode == 0, shown.stderr
    assert "accepted" in shown.stdout and "retransmits_fast" in shown.stdout
    told = json.loads(cli("trace", simulated, "--json", "--connection", "1").stdout)
    assert [row["connection"] for row in told["connections"]] == [1]
    assert {row["connection"] for row in told["directions"]} == {1}
    assert cli("trace", simulated, "--connection", "7").returncode == 2
    assert cli("trace", simulated, "--parquet", "tables").returncode == 0
    stored = pl.read_parquet(tmp_path / "tables" / "directions.parquet")
    assert stored.equals(ecnlab.trace(simulated).directions)
    filtered = json.loads(cli("trace", simulated, "--json", "--filter", "port 49152").stdout)
    assert len(filtered["connections"]) == 1
    assert "`prot` is not a condition" in cli("trace", simulated, "--filter", "prot 80").stderr


def test_standard_input_is_a_capture(simulated, tmp_path):
    from conftest import ecnlab_command

    with simulated.open("rb") as file:
        command = ecnlab_command("trace", "-", "--json")
        told = subprocess.run(command, stdin=file, capture_output=True, check=True, cwd=tmp_path).stdout
    whole = ecnlab.trace(simulated).directions.to_dicts()
    assert json.loads(told)["directions"] == whole


def test_the_page_draws_everything_and_asks_for_nothing(cli, simulated, tmp_path):
    assert cli("trace", simulated, "--html", "x.html").returncode == 0
    page = (tmp_path / "x.html").read_text()
    found = ecnlab.trace(simulated)
    for number in found.connections["connection"]:
        assert f'id="connection-{number}"' in page
    connection = int(found.connections.filter(ecn="accepted")["connection"][0])
    alone = capture_page(found, connection)
    assert alone.count('id="connection-') == 1
    for kind in ("ce", "ece", "cwr"):
        assert SIGNS[kind][0] in alone
    assert not re.search(r"https?:|@import", page.replace("http://www.w3.org/2000/svg", ""))
    fetched = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert all(link.startswith(("#", "data:")) for link in fetched)
    thin = found.series(connection, most=100)
    assert thin.group_by("kind").len()["len"].max() <= 100


def a_series(**kinds: list[tuple[int, float, float, float]]) -> pl.DataFrame:
    """Packets of one direction: number, time, low, high by kind."""
    rows = [(packet, time, kind, low, high) for kind, some in kinds.items() for packet, time, low, high in some]
    return pl.DataFrame(rows, schema=["packet", "time_s", "kind", "low", "high"], orient="row")


def test_goodput_is_the_progress_of_acks_over_time():
    # 1 Mbyte in the first second, nothing in the second: 8 Mbit/s and 0.
    rows = a_series(ack=[(i, i / 10, min(i, 10) * 1e5, 2e6) for i in range(21)])
    (goodput,) = (graph for graph in graphs(rows) if graph.title == "Goodput")
    rates = goodput.lines[0].values
    first = [rate for time, rate in zip(goodput.times, rates, strict=True) if 0 < time <= 1]
    second = [rate for time, rate in zip(goodput.times, rates, strict=True) if time > 1.001]
    assert first == pytest.approx([8.0] * len(first)) and second == pytest.approx([0.0] * len(second))


def test_no_line_crosses_an_idle_gap():
    times = [i / 100 for i in range(100)] + [30 + i / 100 for i in range(100)]
    placed, values = with_gaps(times, [1.0] * 200)
    gaps = [i for i, value in enumerate(values) if value != value]
    assert gaps == [100] and placed[99:102] == [0.99, 0.99, 30.0]


def test_a_packet_that_breaks_a_rule_is_a_sign_that_leads_to_its_row():
    rows = a_series(data=[(7, 1.0, 100.0, 200.0), (9, 2.0, 200.0, 300.0)], ack=[(8, 1.5, 200.0, 900.0)])
    drawn = SequenceGraph(rows, [Violation(9, 2.0, "CE on a <retransmission>")]).svg()
    (link,) = re.findall(r'<a href="#packet-9"[^>]*>.*?</a>', drawn)
    assert 'class="no" href="#m2" x="100%"' in link and "CE on a &lt;retransmission&gt;" in link


def test_violations_are_marked_even_if_their_packets_are_left_out_of_the_graph():
    # Packet 8 is not among the drawn ones: its sign is at its own time and at the last segment before it.
    rows = a_series(data=[(7, 1.0, 100.0, 200.0), (9, 2.0, 300.0, 400.0)], ack=[(6, 0.5, 0.0, 900.0)])
    graph = SequenceGraph(rows, [Violation(8, 1.25, "a rule")])
    (at,) = re.findall(r'<use class="no" href="#m2" x="([\d.]+)%" y="([\d.]+)%">', graph.svg())
    area = graph._area()
    assert float(at[0]) == pytest.approx(50.0)  # of the time from 0.5 to 2
    assert float(at[1]) == pytest.approx(100 * (1 - area.y.place(100.0)), abs=0.01)


def test_the_graphs_of_a_later_connection_have_the_time_of_the_capture(simulated):
    # Times of violations are those of the capture, too.
    found = ecnlab.trace(simulated)
    later = found.connections.filter(pl.col("start_s") > 0).row(0, named=True)
    first = re.findall(r'data-x="([\d.e-]+) ', capture_page(found, later["connection"]))[0]
    assert float(first) == pytest.approx(later["start_s"], rel=1e-9)


def test_violations_of_a_receiver_are_in_the_graph_of_the_data():
    found = pl.DataFrame({"by": ["a", "b"], "packet": [1, 2], "time_s": [0.1, 0.2], "says": ["x", "y"]})
    direction = {"from": "a", "to": "b"}
    assert [one.packet for one in _marked(found, direction, other_sends=False)] == [1, 2]
    assert [one.packet for one in _marked(found, direction, other_sends=True)] == [1]


def test_many_signs_of_a_kind_are_no_solid_band():
    # Marks of the second half only, twice as dense at its end.
    times = [0.5 + i / 8000 for i in range(2000)] + [0.75 + i / 16000 for i in range(4000)]
    rows = a_series(
        data=[(0, 0.0, 0.0, 100.0), (1, 1.0, 100.0, 200.0)], ce=[(i, time, 50.0, 50.0) for i, time in enumerate(times)]
    )
    drawn = SequenceGraph(rows).svg()
    shades = dict(re.findall(r'class="shade c4" data-rug="CE" fill-opacity="([\d.]+)" d="([^"]*)"', drawn))
    starts = {share: [int(x) for x in re.findall(r"M(\d+)", path)] for share, path in shades.items()}
    assert min(min(some) for some in starts.values()) >= 4950
    assert all(x >= 7450 for x in starts["1"]) and len(starts["1"]) >= 45
    assert len(starts["0.6"]) >= 45 and all(x < 7500 for x in starts["0.6"])


def test_a_capture_cut_off_is_shown_up_to_there(cli, simulated, tmp_path):
    whole = simulated.read_bytes()
    (tmp_path / "cut.pcapng").write_bytes(whole[: len(whole) // 2])
    shown = cli("trace", "cut.pcapng")
    assert shown.returncode == 2
    assert re.search(
        r"cut\.pcapng: byte \d+: the file is cut off inside a block of \d+ bytes, .* packets were read", shown.stderr
    )
    assert "connections" in shown.stdout
    found = ecnlab.trace(tmp_path / "cut.pcapng")
    assert found.damage and found.totals["packets"] > 0


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "byte 0: is empty"),
        (b"not a capture", "byte 0: is not a capture"),
        (b"\x1f\x8bgarbage", "byte 0: cannot be read"),
    ],
)
def test_what_is_no_capture_is_told(cli, tmp_path, content, told):
    (tmp_path / "x.pcap").write_bytes(content)
    shown = cli("trace", "x.pcap")
    assert shown.returncode in (2, 3)
    assert told in shown.stderr and "Traceback" not in shown.stderr
    with pytest.raises((ecnlab.TraceFailure, OSError)):
        ecnlab.trace(tmp_path / "x.pcap")


def test_folders_devices_and_missing_files_are_told(cli):
    assert "is a folder" in cli("trace", ".").stderr
    assert "is a device" in cli("trace", "/dev/null").stderr
    missing = cli("trace", "nowhere.pcap")
    assert (missing.returncode, "nowhere.pcap: No such file" in missing.stderr) == (3, True)


def test_marks_set_between_two_places_are_found(scenario, tmp_path, cli):
    captures = {"capture.a": {"link": "left"}, "capture.b": {"link": "right", "end": "to"}}
    run = ecnlab.run(read_scenario(scenario).with_overrides(captures), captures=tmp_path)
    found = changes(tmp_path / "a.pcapng", tmp_path / "b.pcapng")
    marked = found.filter(before="ECT(0)", after="CE")["packets"].sum()
    assert marked == run.table("flows_run")["ce_received"].sum() > 0
    assert found.filter(after="Not-ECT").filter(pl.col("before") != "Not-ECT").height == 0
    assert "changes on the path" in cli("trace", "a.pcapng", "--against", "b.pcapng").stdout


def a_flood(path, count):
    """A pcap of so many SYNs, each of another connection, with the options that Linux sends."""
    options = bytes([2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7])
    ip = struct.pack(">BBHHHBBH8x", 0x45, 0, 60, 0, 0x4000, 64, 6, 0)
    tcp = struct.pack(">HHIIBBHHH", 0, 80, 0, 0, 0xA0, 0xC2, 0xFFFF, 0, 0)
    n = np.arange(count, dtype=np.uint32)
    records = np.zeros((count, 76), np.uint8)
    records[:, 0:4] = (n // 1_000_000).astype("<u4").view(np.uint8).reshape(count, 4)
    records[:, 4:8] = (n % 1_000_000).astype("<u4").view(np.uint8).reshape(count, 4)
    records[:, 8:] = np.frombuffer(struct.pack("<II", 60, 60) + ip + tcp + options, np.uint8)
    records[:, 28:32] = (n // 60_000 + 0x0A000001).astype(">u4").view(np.uint8).reshape(count, 4)
    records[:, 32:36] = [192, 0, 2, 1]
    records[:, 36:38] = (n % 60_000 + 1024).astype(">u2").view(np.uint8).reshape(count, 2)
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101) + records.tobytes())
    return path


@pytest.mark.slow
def test_a_connection_without_data_takes_at_most_600_bytes(tmp_path):
    if not Path("/proc/self/status").exists():
        pytest.skip("the most memory that a process has had is in /proc/self/status")
    program = (
        "import sys\nfrom ecnlab.cli import cli\ncli(['trace', sys.argv[1]], standalone_mode=False)\n"
        "print('peak', open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    )

    def peak(count):
        path = a_flood(tmp_path / f"{count}.pcap", count)
        told = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True).stdout
        assert f"... {count - 20} more rows" in told
        return int(told.split("peak")[1]) * 1024

    few, many = 20_000, 220_000
    slope = (peak(many) - peak(few)) / (many - few)
    assert 20 < slope <= 600, f"{slope:.0f} bytes a connection"


def test_connections_take_no_more_than_they_may(cli, tmp_path):
    flood = a_flood(tmp_path / "flood.pcap", 10_000)
    shown = cli("trace", flood, "--memory", "1 MB")
    assert shown.returncode == 2 and "Traceback" not in shown.stderr
    told = re.search(r"the (\d+) connections of the first \1 packets take more than the 1 MB", shown.stderr)
    assert told and 1_600 < int(told[1]) < 10_000
    assert "--memory" in shown.stderr and "--filter" in shown.stderr
    found = ecnlab.trace(flood, memory=1_000_000)
    assert found.damage and found.connections.height == int(told[1])
    assert cli("trace", flood, "--memory", "10 MB").returncode == 0
    for wrong in ("10", "10 cows", "-1 MB", "nan MB", "1e999 GB"):
        refused = cli("trace", flood, "--memory", wrong)
        assert refused.returncode == 2 and "is not a size" in refused.stderr, wrong


def test_tables_made_in_parts_are_those_of_the_whole(tmp_path):
    found = ecnlab.trace(a_flood(tmp_path / "flood.pcap", 10_000))
    assert found.connections["connection"].to_list() == list(range(10_000))
    assert found.directions.height == 20_000 and found.violations.height == 0
    again = ecnlab.trace(tmp_path / "flood.pcap")
    glimpse = again.glimpse(5)
    assert glimpse["connections"][1] == 10_000 and glimpse["directions"][1] == 0 and glimpse["violations"][1] == 0
    assert glimpse["connections"][0].equals(found.connections.head(5))
    assert again.only(9_999).connections.equals(found.connections.tail(1)) and again.largest() == 0
    with pytest.raises(ecnlab.EcnlabError, match="there is no connection 10000: the capture has 10000"):
        again.only(10_000)


def test_memory_is_three_quarters_of_what_is_available(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal: 4000 kB\nMemAvailable: 2000 kB\n")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    assert memory.for_connections() == 1_536_000
    (tmp_path / "memory.current").write_text("1000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.for_connections() == 1_536_000
    (tmp_path / "memory.max").write_text("5000\n")
    assert memory.for_connections() == 3000
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "nowhere")
    monkeypatch.setattr(memory, "CGROUP", tmp_path / "nowhere")
    assert memory.for_connections() is None


def syns(path: Path, connections: int) -> Path:
    """A capture with one SYN for each connection."""
    out = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)]
    for number in range(connections):
        source = struct.pack(">BBH", 10, 0, number >> 12)
        tcp = struct.pack(">HHIIBBHHH", 1024 + (number & 0xFFF), 80, 1, 0, 0x50, 2, 65535, 0, 0)
        packet = struct.pack(">BBHHHBBH", 0x45, 0, 40, 0, 0, 64, 6, 0) + source + bytes([10, 1, 0, 1]) + tcp
        out.append(struct.pack("<IIII", number, 0, len(packet), len(packet)) + packet)
    path.write_bytes(b"".join(out))
    return path


@pytest.mark.slow
def test_json_of_many_connections_needs_no_more_memory_than_of_few(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["ecnlab.trace"], "AT_A_TIME", 100)
    peaks = []
    for count in (200, 1600):
        capture = syns(tmp_path / f"{count}.pcap", count)
        with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
            tracemalloc.start()
            commands.main(["trace", str(capture), "--json"], standalone_mode=False)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_json_in_parts_is_json_of_the_whole(simulated, tmp_path, monkeypatch, capsys):
    for capture, count in ((syns(tmp_path / "x.pcap", 25), 25), (simulated, 2)):
        whole = ecnlab.trace(capture)
        tables = {name: table.to_dicts() for name, table in whole.tables.items()}
        console.write_json(
            {
                "totals": whole.totals,
                "sums": whole.sums,
                "damage": whole.damage,
                "warnings": whole.warnings,
                "verdicts": whole.verdicts.to_dicts(),
                **tables,
            }
        )
        expected = json.loads(capsys.readouterr().out)
        monkeypatch.setattr(sys.modules["ecnlab.trace"], "AT_A_TIME", 10)
        commands.main(["trace", str(capture), "--json"], standalone_mode=False)
        found = json.loads(capsys.readouterr().out)
        assert found == expected
        assert [list(row) for row in found["directions"]] == [list(row) for row in expected["directions"]]
        assert len(found["connections"]) == count
