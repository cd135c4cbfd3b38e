"""Captures out: what the simulator writes is what it counts, and what other tools read."""

from __future__ import annotations

import shutil
import subprocess

import polars as pl
import pytest

import ecnlab
from ecnlab.scenario.files import read_scenario


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
