"""Captures out: what the simulator writes is what it counts, and what other tools read."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

import ecnlab
from ecnlab.scenario import read_experiment, read_scenario

PAPER = Path(__file__).parents[2] / "papers" / "rfc2884"
EXPERIMENTS = sorted(
    path
    for path in PAPER.glob("*.toml")
    # agree.toml has one finding that is not explained: docs/trace.md, "Open".
    if "\nscenario = " in path.read_text() and path.stem != "agree"
)

AT_THE_SENDER = {
    "segments_sent": "packets",
    "data_segments_sent": "data_packets",
    "bytes_sent": "bytes",
    "retransmits_fast": "retransmits_fast",
    "retransmits_timeout": "retransmits_timeout",
    "timeouts": "timeouts",
    "fast_recoveries": "recoveries",
    "ecn_reductions": "ecn_reductions",
    "cwr_sent": "cwr_sent",
}
AT_THE_RECEIVER = {
    "ce_received": "ce",
    "bytes_delivered": "in_order_bytes",
    "duplicate_bytes_received": "retransmitted_bytes",
}
"""The simulator's columns of ``flows_run``, and the analysis' of ``directions``."""


def counted(run: ecnlab.Run, to: str) -> dict[str, int]:
    flows = run.table("flows_run").filter(pl.col("to") == to)
    return {name: int(flows[name].sum()) for name in [*AT_THE_SENDER, *AT_THE_RECEIVER, "retransmits", "ece_received"]}


def analysed(folder: Path, standard, addresses: dict[str, str], sender: str, to: str) -> dict[str, int]:
    def direction(node: str) -> pl.DataFrame:
        found = ecnlab.trace(folder / f"{node}.pcapng", standard=standard)
        assert found.damage is None
        assert found.violations.to_dicts() == []
        ways = (
            pl.col("from").str.starts_with(addresses[sender] + ":"),
            pl.col("to").str.starts_with(addresses[to] + ":"),
        )
        return found.directions.filter(*ways)

    sent, received = direction(sender), direction(to)
    return {
        **{ours: int(sent[name].sum()) for ours, name in AT_THE_SENDER.items()},
        **{ours: int(received[name].sum()) for ours, name in AT_THE_RECEIVER.items()},
        "retransmits": int(sent["retransmits"].sum() + sent["control_retransmits"].sum()),
        # What comes when both ends have closed, and a FIN that comes again, is on the wire, and no endpoint takes it in.
        "ece_received": int(sent["ece_received"].sum() - sent["ece_unheard"].sum()),
    }


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_the_analysis_of_a_capture_gives_the_simulators_own_counters(path, tmp_path):
    runs = read_experiment(path).with_replicates(1).runs
    for number, chosen in enumerate(runs[:: max(1, len(runs) // 2)]):
        spec = chosen.scenario.resolved
        ends = {flow["from"] for flow in spec["flow"].values()} | {flow["to"] for flow in spec["flow"].values()}
        captures = {f"capture.{node}": {"node": node} for node in ends}
        scenario = chosen.scenario.with_overrides({"duration": "45 s", "warmup": "1 s", **captures})
        run = ecnlab.run(scenario, chosen.seed, captures=tmp_path / str(number))
        addresses = {node: f"10.0.0.{i + 1}" for i, node in enumerate(sorted(spec["node"]))}
        kinds = {tcp["ecn"] for tcp in spec["tcp"].values()}
        standard = "rfc2481" if "rfc2481" in kinds else "rfc3168"
        for sender, to in {(flow["from"], flow["to"]) for flow in spec["flow"].values() if flow.get("count") != 0}:
            found = analysed(tmp_path / str(number), standard, addresses, sender, to)
            assert found == counted(run, to), (chosen.arm, chosen.point, to)


def test_a_capture_changes_no_result_and_stands_in_the_run_folder(scenario, cli, tmp_path):
    plain = cli("run", scenario, "--out", "plain")
    tapped = cli("run", scenario, "--out", "tapped", "--capture", "pipe", "--capture", "server")
    assert (plain.returncode, tapped.returncode) == (0, 0), tapped.stderr
    assert cli("compare", "plain", "tapped").returncode in (0, 1)
    for table in (tmp_path / "plain").glob("*.parquet"):
        assert table.read_bytes() == (tmp_path / "tapped" / table.name).read_bytes()
    files = sorted(path.name for path in (tmp_path / "tapped" / "captures").iterdir())
    assert files == ["pipe.pcapng", "server.pcapng"]
    assert [path.name for path in ecnlab.load(tmp_path / "tapped").captures] == files
    again = cli("run", scenario, "--out", "again", "--capture", "pipe")
    assert again.returncode == 0
    one, other = (tmp_path / folder / "captures" / "pipe.pcapng" for folder in ("tapped", "again"))
    assert one.read_bytes() == other.read_bytes()


def test_drops_and_marks_are_those_of_the_queue(scenario, tmp_path):
    question = read_scenario(scenario).with_overrides(
        {
            "capture.before": {"link": "pipe", "snap": "65535 B"},
            "capture.after": {"link": "pipe", "queue": "after"},
            "capture.far": {"link": "pipe", "end": "to", "format": "pcap"},
        }
    )
    run = ecnlab.run(question, captures=tmp_path)
    queue = run.table("queues_run").filter(link="pipe", group="all").to_dicts()[0]
    back = run.table("links_run").filter(link="pipe~reverse").to_dicts()[0]
    before, after = (ecnlab.trace(tmp_path / f"{name}.pcapng").directions for name in ("before", "after"))
    data = pl.col("from_opener")
    assert before.filter(data)["packets"].sum() == queue["arrived"]
    assert before.filter(data)["dropped"].sum() == queue["dropped"] > 0
    assert before.filter(data)["ce"].sum() == queue["marks"] > 0
    assert after.filter(data)["packets"].sum() == queue["departed"]
    assert before.filter(~data)["packets"].sum() == back["delivered"]
    assert ecnlab.trace(tmp_path / "far.pcap").totals["packets"] > 0


@pytest.mark.parametrize(
    ("capture", "told"),
    [
        ({"link": "pip"}, "there is no link `pip`"),
        ({"node": "sever"}, "there is no node `sever`"),
        ({}, "needs a place"),
        ({"link": "pipe", "node": "r1"}, "needs a place"),
        ({"node": "r1", "end": "to"}, "is for a link"),
        ({"link": "pipe", "snap": "0 B"}, "`capture.x.snap` is 0 B"),
        ({"link": "pipe", "snap": "96"}, "96"),
        ({"link": "pipe", "format": "erf"}, "erf"),
    ],
)
def test_a_capture_that_cannot_be_is_told(scenario, capture, told):
    with pytest.raises(ecnlab.SpecError, match=told):
        read_scenario(scenario).with_overrides({"capture.x": capture})


def test_a_capture_that_cannot_be_written_is_told(scenario, tmp_path):
    question = read_scenario(scenario).with_overrides({"capture.x": {"node": "r1"}})
    with pytest.raises(OSError, match=r"No space left"):
        (tmp_path / "x.pcapng").symlink_to("/dev/full")
        ecnlab.run(question, captures=tmp_path)


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
def test_wireshark_finds_no_malformed_packet_and_no_bad_checksum(scenario, tmp_path):
    question = read_scenario(scenario).with_overrides({"capture.x": {"node": "r1", "snap": "65535 B"}})
    ecnlab.run(question, captures=tmp_path)
    check = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    command = ["tshark", "-n", "-r", str(tmp_path / "x.pcapng"), *check, "-q", "-z", "expert"]
    expert = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "Sequence" in expert
    assert "Errors" not in expert and "alformed" not in expert and "hecksum" not in expert, expert
    # That it would say so: the same with one byte of a TCP header changed.
    damaged = bytearray((tmp_path / "x.pcapng").read_bytes())
    damaged[damaged.index(bytes([10, 0, 0])) + 10] ^= 1
    (tmp_path / "damaged.pcapng").write_bytes(damaged)
    command[3] = str(tmp_path / "damaged.pcapng")
    assert "hecksum" in subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(not shutil.which("capinfos"), reason="capinfos is not installed")
def test_capinfos_reads_both_formats(scenario, tmp_path):
    captures = {"capture.a": {"node": "r1"}, "capture.b": {"node": "r1", "format": "pcap"}}
    ecnlab.run(read_scenario(scenario).with_overrides(captures), captures=tmp_path)
    for name in ("a.pcapng", "b.pcap"):
        found = subprocess.run(["capinfos", tmp_path / name], check=True, capture_output=True, text=True).stdout
        assert "nanoseconds" in found and "Strict time order:   True" in found, found
    assert "r1:pipe" in subprocess.run(["capinfos", tmp_path / "a.pcapng"], capture_output=True, text=True).stdout
