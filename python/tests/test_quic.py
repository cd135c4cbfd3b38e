"""Flows over QUIC: the same bytes twice, captures that tshark decrypts, and who refuses them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

import ecnlab
from ecnlab.base.errors import EcnlabError

TEXT = """\
format = 1
duration = "3 s"

[link.pipe]
from = "server"
to = "client"
rate = "10 Mbps"
delay = "10 ms"
queue = "marking"

[queue.marking]
discipline = "step"
limit = "100 packets"
threshold = "10 packets"
ecn = true

[capture.pipe]
link = "pipe"

[quic.stack]
stack = "{stack}"
{keys}

[flow.bulk]
from = "server"
to = "client"
traffic = "ftp"
quic = "stack"
"""


def scenario(folder: Path, stack: str = "quinn", keys: str = "") -> Path:
    path = folder / "quic.toml"
    path.write_text(TEXT.format(stack=stack, keys=keys))
    return path


def digests(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*.p*") if path.suffix in (".parquet", ".pcapng")}


@pytest.mark.parametrize("stack", ["quinn", "noq"])
def test_a_run_has_the_same_bytes_twice_and_marks_reach_the_controller(tmp_path, stack, monkeypatch):
    runs = []
    for name in ("one", "two"):
        runs.append(ecnlab.run(scenario(tmp_path, stack), seed=3, out=tmp_path / name))
        monkeypatch.setenv("TZ", "Asia/Tokyo")  # another machine's environment
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    [row] = runs[0].table("quic").to_dicts()
    [flow] = runs[0].table("flows").to_dicts()
    assert 0 < row["from_ecn_events"] == flow["ecn_reductions"]
    assert row["to_ce_received"] == runs[0].table("queues").filter(pl.col("group") == "all")["marks"].sum() > 0


def test_null_crypto_changes_no_result(tmp_path):
    tables = []
    for keys in ("", 'crypto = "null"'):
        run = ecnlab.run(scenario(tmp_path, keys=keys), seed=3, out=tmp_path / f"run{len(tables)}")
        tables.append([run.table(name) for name in ("flows", "queues", "links", "quic")])
    assert all(one.equals(two) for one, two in zip(*tables, strict=True))


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
def test_tshark_decrypts_a_capture(tmp_path):
    ecnlab.run(scenario(tmp_path), seed=1, out=tmp_path / "run")
    capture = tmp_path / "run" / "captures" / "pipe.pcapng"
    fields = ["-T", "fields", "-e", "quic.frame_type", "-e", "ip.dsfield.ecn"]
    shown = subprocess.run(["tshark", "-r", capture, *fields], capture_output=True, text=True, check=True)
    lines = [line.split("\t") for line in shown.stdout.splitlines()]
    frames = {frame for line in lines for frame in line[0].split(",")}
    # ACK with ECN counts, CRYPTO, STREAM with length and offset, HANDSHAKE_DONE (RFC 9000 §19).
    assert {"3", "6", "30"} <= frames and frames & {str(kind) for kind in range(8, 16)}
    assert all(line[0] for line in lines), "a packet that is not decrypted has no frames"
    assert "3" in {line[1] for line in lines}, "marked packets"


def test_mistakes_have_their_place(tmp_path):
    def refusal(keys: str, flow: str = "") -> str:
        path = scenario(tmp_path, keys=keys)
        path.write_text(path.read_text() + flow)
        with pytest.raises(ecnlab.SpecError) as error:
            ecnlab.run(path, out=tmp_path / "run")
        return str(error.value)

    assert "`quic.stack.max_mtu` is 1100 B" in refusal('max_mtu = "1100 B"')
    assert "`flow.bulk.read_rate`: applications read at once over QUIC" in refusal("", 'read_rate = "1 Mbps"\n')
    assert "there is no quic `quin`" in refusal(
        "", '[flow.other]\nfrom = "server"\nto = "client"\ntraffic = "ftp"\nquic = "quin"\n'
    )
    cbr = '[flow.other]\nfrom = "server"\nto = "client"\ntraffic = { kind = "cbr", rate = "1 Mbps", packet = "1 kB" }\nquic = "stack"\n'
    assert "traffic of the kind `cbr` does not run over QUIC" in refusal("", cbr)


@pytest.mark.parametrize("engine", ["linux", "linux-wall", "model"])
def test_other_engines_refuse(tmp_path, monkeypatch, engine):
    monkeypatch.setenv("ECNLAB_LINUX", str(tmp_path / "no kernel has been built"))
    with pytest.raises((ecnlab.SpecError, EcnlabError), match="QUIC"):
        ecnlab.run(scenario(tmp_path), engine=engine, out=tmp_path / "run")


def test_linux_refuses_a_sweep_before_it_makes_a_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ECNLAB_LINUX", str(tmp_path / "no kernel has been built"))
    question = tmp_path / "sweep.toml"
    question.write_text(
        f'format = 1\ntitle = "QUIC"\nscenario = "{scenario(tmp_path).name}"\nreplicates = 2\nseed = 1\n'
    )
    with pytest.raises(ecnlab.SpecError, match="QUIC"):
        ecnlab.sweep(question, tmp_path / "sweep", engine="linux")
    assert not (tmp_path / "sweep").exists()
