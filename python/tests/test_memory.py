"""Memory: `check` estimates what a run takes, and what does not fit is refused before anything is allocated."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from conftest import EXPERIMENT, first_fast, mostly_slow

import ecnlab
from ecnlab.runs.sweep_doing import workers_that_fit
from ecnlab.scenario.files import read_scenario

SCENARIO = """\
format = 1
duration = "1.2 s"
warmup = "1 s"

[link.pipe]
from = "a"
to = "b"
rate = "1 Gbps"
delay = "20 ms"
queue = "q"

[queue.q]
discipline = "droptail"
limit = "1000 packets"

[flow.bulk]
from = "a"
to = "b"
count = 20000
traffic = "ftp"
start = { uniform = ["0 s", "1 s"] }
"""

NESTED = """\
discipline = "fq"
limit = "1000 packets"
flows = 65536
[queue.q.class.each]
discipline = "fq"
limit = "1000 packets"
flows = 65536
[queue.q.class.each.class.each]
discipline = "droptail"
limit = "1000 packets"
"""

QUIC = """\
quic = "host"

[quic.host]
stack = "quinn"
"""

DROPTAIL = 'discipline = "droptail"\nlimit = "1000 packets"\n'

MEASURE = """\
import sys
from pathlib import Path
import ecnlab
ecnlab.run(sys.argv[1], out=sys.argv[2])
# Unlike `ru_maxrss` without what this process shared with its parent before it began.
line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(int(line.split()[1]) * 1024)
"""


THRESHOLDS = ["131072", "33554432"]
"""The least and the greatest threshold from which glibc asks the kernel for a block of its own. If it is not stated, it moves with
what the process has freed, so that the same run takes more or less memory with another version of Python's modules."""

WEB = (
    '{ kind = "web", sessions = 400, inter_session = "100 ms", pages = 20, inter_page = "500 ms", objects = 10, '
    'inter_object = "10 ms", object_size = "2 kB", packet = "1000 B" }'
)
CRR = '{ kind = "crr", request = "1500 B", response = "10 kB", think = "100 ms" }'
SHORT_CRR = '{ kind = "crr", request = "100 B", response = "1 kB", think = "10 ms" }'
"""Few packets a transaction: its rows are most of what the run takes, and it takes less time."""


@pytest.mark.parametrize(
    "text",
    first_fast(
        2,
        [
            SCENARIO,
            SCENARIO.replace(DROPTAIL, NESTED).replace("20000", "10"),
            SCENARIO.replace(DROPTAIL, NESTED.replace("65536", "256")),
            SCENARIO.replace('"ftp"', CRR),
            SCENARIO.replace('"ftp"', SHORT_CRR).replace("20000", "1000").replace('"1.2 s"', '"14 s"'),
            SCENARIO.replace('"ftp"', WEB).replace("20000", "3").replace('"1.2 s"', '"30 s"'),
            SCENARIO.replace("20000", "2000") + QUIC,
        ],
    ),
    ids=["ftp", "65,536 queues of 65,536 and 10 flows", "256 queues of 256", "crr", "transactions", "web", "quic"],
)
@pytest.mark.parametrize("threshold", mostly_slow(["", *THRESHOLDS], THRESHOLDS[0]))
def test_the_estimate_is_within_a_fifth_of_what_a_run_takes(tmp_path, text, threshold):
    file = tmp_path / "x.toml"
    file.write_text(text)
    estimate = ecnlab.scenario.read_scenario(file).memory
    command = [sys.executable, "-c", MEASURE, str(file), str(tmp_path / "r")]
    env = os.environ | ({"GLIBC_TUNABLES": f"glibc.malloc.mmap_threshold={threshold}"} if threshold else {})
    taken = int(subprocess.run(command, capture_output=True, check=True, text=True, env=env).stdout)
    assert taken / 1.2 < estimate < taken * 1.2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            (DROPTAIL, NESTED),
            r"x.toml:15:9: a run takes about 1\.\d TB of memory, 1\.\d TB of it for `queue.q.flows`, and ",
        ),
        (
            ("20000", "9000000"),
            r"x.toml:19:9: a run takes about 5\d GB of memory, 5\d GB of it for `flow.bulk.count`, and ",
        ),
        (
            ("20000", "900000"),
            r"x.toml:19:9: a run takes about 5\.\d GB of memory, 5\.\d GB of it for `flow.bulk.count`, and ",
        ),
    ],
)
def test_check_and_run_refuse_what_no_memory_holds(cli, tmp_path, monkeypatch, change, said):
    monkeypatch.setenv("ECNLAB_MAX_MEMORY", "4 GB")
    (tmp_path / "x.toml").write_text(SCENARIO.replace(*change))
    for command in (["check", "x.toml"], ["run", "x.toml", "--out", "r"]):
        done = cli(*command)
        assert done.returncode in (1, 2)
        assert re.search(said + "ECNLAB_MAX_MEMORY allows 4.0 GB; write less there, or allow more with", done.stderr)
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "r").exists()


def test_four_billion_queues_are_refused_without_a_stated_limit(tmp_path, monkeypatch):
    monkeypatch.delenv("ECNLAB_MAX_MEMORY", raising=False)
    (tmp_path / "x.toml").write_text(SCENARIO.replace(DROPTAIL, NESTED))
    with pytest.raises(ecnlab.SpecError, match=r"`queue.q.flows`, and .* are available; write less"):
        ecnlab.check(tmp_path / "x.toml")


def test_a_sweep_is_refused_for_its_largest_point(experiment, tmp_path, monkeypatch):
    monkeypatch.setenv("ECNLAB_MAX_MEMORY", "4 GB")
    grid = '[grid.count]\npath = "flow.marked.count"\nvalues = [1, 1000000]\n\n[arm.red]'
    experiment.write_text(EXPERIMENT.replace("[arm.red]", grid))
    for refused in (ecnlab.check, lambda file: ecnlab.sweep(file, tmp_path / "out")):
        with pytest.raises(ecnlab.SpecError, match=r":\d+:\d+: a run takes about .* for `flow.marked.count`"):
            refused(experiment)
    assert not (tmp_path / "out").exists()


def test_a_sweep_has_no_more_workers_than_fit(scenario, monkeypatch):
    one = ecnlab.scenario.read_scenario(scenario)
    for fit, available in [(1, 1.5), (3, 3.9)]:
        monkeypatch.setenv("ECNLAB_MAX_MEMORY", f"{int(available * one.memory)} B")
        assert workers_that_fit([one, one]) == fit
    assert workers_that_fit([]) > 1000


def test_check_prints_the_memory_of_a_large_run(cli, tmp_path):
    (tmp_path / "x.toml").write_text(SCENARIO)
    assert "  memory: about 1" in cli("check", "x.toml").stdout
    (tmp_path / "x.toml").write_text(SCENARIO.replace("20000", "2"))
    assert "memory" not in cli("check", "x.toml").stdout


def test_check_states_tables_and_memory_as_json(cli, tmp_path, scenario, experiment):
    (tmp_path / "bad.toml").write_text("format = 1")
    found = json.loads(cli("check", scenario, experiment, tmp_path / "bad.toml", "--json").stdout)["estimates"]
    assert [one["path"] for one in found] == [str(scenario), str(experiment)]
    assert found[0]["memory_bytes"] == read_scenario(scenario).memory
    assert found[1]["memory_bytes"] >= found[0]["memory_bytes"] > 50_000_000
    assert all(table["bytes"] is None or table["bytes"] >= table["rows"] > 0 for table in found[0]["tables"])


def test_a_limit_that_is_no_size_is_refused(scenario, monkeypatch):
    monkeypatch.setenv("ECNLAB_MAX_MEMORY", "much")
    with pytest.raises(ecnlab.SpecError, match='ECNLAB_MAX_MEMORY is "much"; write a size such as "8 GB"'):
        ecnlab.check(scenario)
