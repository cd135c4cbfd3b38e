"""The machine's own kernel in real time. Needs root and TUN devices; skipped, with the reason, where they are not.

No test depends on how fast the machine is: what is asked of real time is only that the verdict on it is right.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from conftest import SCENARIO, Cli, ecnlab_command, first_fast, mostly_slow
from proc import open_files

import ecnlab
from ecnlab.base.errors import EcnlabError, RunError, SpecError
from ecnlab.folder import ecn_fallback
from ecnlab.linux.plan import plan
from ecnlab.linux.wall import capabilities, container, evidence
from ecnlab.linux.wall.guest import Guest, prepare
from ecnlab.linux.wall.network import RouterLinks
from ecnlab.runs.engine_by_name import answerer_of
from ecnlab.trace import trace

WALL = SCENARIO.replace('profile = "modern"', 'profile = "linux-7"').replace('"4 s"', '"3 s"')

CAP_NET_ADMIN = 12
CAP_SYS_ADMIN = 21
PR_CAPBSET_DROP = 24

PATIENCE = 60.0
"""Seconds that what must happen may take: against hanging only."""


@pytest.fixture(scope="module")
def guest() -> Guest:
    try:
        made = prepare()
        capabilities.check_machine(made)
    except EcnlabError as error:
        pytest.skip(str(error))
    return made


@pytest.fixture
def pipe(tmp_path: Path, guest: Guest) -> Path:
    path = tmp_path / "pipe.toml"
    path.write_text(WALL)
    return path


@pytest.fixture(scope="module")
def result(guest: Guest, tmp_path_factory: pytest.TempPathFactory) -> ecnlab.Run:
    """One run that several tests look at."""
    folder = tmp_path_factory.mktemp("wall")
    places = "".join(f'[capture.{node}]\nnode = "{node}"\n' for node in ("server", "client"))
    (folder / "pipe.toml").write_text(WALL + places)
    return ecnlab.run(folder / "pipe.toml", 1, engine="linux-wall", out=folder / "out")


def on_wall(path: Path, **overrides: object) -> ecnlab.Run:
    return ecnlab.run(path, 1, engine="linux-wall", overrides=overrides or None)


def by_name(frame: pl.DataFrame, column: str, value: str) -> dict[str, object]:
    return frame.filter(pl.col(column) == value).row(0, named=True)


def test_ecn_is_negotiated_marked_and_counted(result):
    marked, dropped = (by_name(result.table("flows_run"), "group", group) for group in ("marked", "dropped"))
    queue = result.table("queues_run").filter(pl.col("link") == "pipe", pl.col("group") == "marked").row(0, named=True)
    assert (marked["ecn"], dropped["ecn"]) == (True, False)
    assert queue["marks"] > 0
    # Every mark by the router is a CE at the receiver, but for those still on their way.
    assert 0 < marked["ce_received"] <= queue["marks"]
    assert queue["marks"] - marked["ce_received"] <= by_name(result.links, "link", "pipe")["held"] + 20
    assert dropped["ce_received"] == 0


@pytest.mark.parametrize(
    ("ends", "ecn"), first_fast(1, [(("rfc3168", "off"), False), (("off", "rfc3168"), False), (("off",) * 2, False)])
)
def test_ecn_needs_both_ends(pipe, ends, ecn):
    overrides = {"flow.marked.tcp_from": "ecn", "flow.marked.tcp_to": "plain", "flow.dropped.count": 0}
    overrides |= {"tcp.ecn.ecn": ends[0], "tcp.plain.ecn": ends[1], "tcp.plain.ecn_accepts": "off"}
    overrides |= {"duration": "1 s", "warmup": "0 s"}
    run = on_wall(pipe, **overrides)
    assert run.flows["ecn"].to_list() == [ecn]
    assert run.flows["bytes_delivered"][0] > 0
    assert run.table("queues_run")["marks"].sum() == 0


@pytest.mark.parametrize(
    ("overrides", "counted", "word"),
    first_fast(
        1,
        [
            ({"link.left.drop": [1]}, (False, 1, 0, 1), "fell back"),
            # The SYN arrived: the kernel's answer to the next SYN agrees to ECN, and its client takes it.
            ({"link.right.reverse": {"rate": "10 Mbps", "delay": "1 ms", "drop": [1]}}, (True, 1, 1, 0), "yes"),
            ({}, (True, 1, 1, 0), "yes"),
            # A SYN that is sent again requests ECN, too.
            ({"link.left.drop": [1], "tcp.ecn.ecn_syn_fallback": False}, (True, 1, 1, 0), "yes"),
            ({"link.left.drop": [1], "tcp.ecn.ecn": "off"}, (False, 1, 0, 0), "no"),
            # No SYN has an answer.
            ({"link.left.loss": 1.0}, (False, 1, 0, 1), "fell back"),
        ],
    ),
)
def test_connections_that_fell_back_are_counted(pipe, overrides, counted, word):
    flows = on_wall(pipe, **{"flow.dropped.count": 0, "duration": "2 s"} | overrides).table("flows_run")
    assert flows.select("ecn", "connections", "ecn_connections", "ecn_fallbacks").row(0) == counted
    assert ecn_fallback.shown(flows)["ecn"].item() == word


def test_marks_are_seen_as_ce_by_the_client_and_as_echoes_at_the_server(result):
    client, server = (trace(path) for path in sorted(result.captures))
    assert set(client.connections["ecn"]) == {"accepted", "not offered"}
    received, sent = (seen.directions.filter(pl.col("ect0") > 0).row(0, named=True) for seen in (client, server))
    marked = by_name(result.table("flows_run"), "group", "marked")
    assert received["ce"] == marked["ce_received"]
    # What the server sends is not marked yet; of the marks it hears.
    assert sent["ce"] == 0
    assert sent["ece_received"] > 0
    assert received["unique_bytes"] == marked["bytes_delivered"]


def balanced(run: ecnlab.Run) -> dict[str, dict[str, int]]:
    """The links by name, after a look at whether every packet is accounted for."""
    dropped = run.table("queues_run").filter(pl.col("group") == "all").select("link", "dropped")
    links = run.table("links_run").join(dropped, on="link").to_dicts()
    assert len(links) == 6
    for link in links:
        assert link["entered"] == link["dropped"] + link["delivered"] + link["lost"] + link["held"], link["link"]
    return {link["link"]: link for link in links}


def test_packets_are_conserved(result):
    assert balanced(result)["pipe"]["lost"] == 0


@pytest.mark.slow
def test_wires_jitter_and_lose_in_bursts_as_the_simulators_do(pipe):
    jitter = {"delay": {"uniform": ["0 s", "10 ms"]}, "reorder": True}
    # A fifth is lost: whatever is sent first, and be it a SYN again and again, there is a loss.
    run = on_wall(pipe, **{"link.pipe.jitter": jitter, "link.pipe.burst_loss": {"p": 0.2, "r": 0.8}, "duration": "2 s"})
    links = balanced(run)
    assert links["pipe"]["lost"] > 0 and links["pipe"]["delivered"] > 0
    assert links["pipe~reverse"]["lost"] == 0


def test_no_round_trip_is_shorter_than_the_path(result):
    # Both ways 1 + 10 + 1 ms, and a SYN or ACK of at least 40 bytes at 2 Mbit/s, 0.16 ms each.
    assert result.flows["rtt_min_s"].min() > 0.0243


def test_the_router_does_what_the_scenario_says_of_single_packets(pipe):
    overrides = {"flow.dropped.count": 0, "duration": "1 s", "warmup": "0 s", "link.pipe.drop": [7, 9]}
    run = on_wall(pipe, **overrides)
    assert by_name(run.table("links_run"), "link", "pipe")["lost"] == 2
    assert run.flows["retransmits"][0] >= 2
    assert run.flows["bytes_delivered"][0] > 14600


def test_the_manifest_says_how_well_time_was_kept(result):
    found = json.loads(json.dumps(result.manifest["evidence"]))
    timing = {row["what"]: row for row in result.table("timing").to_dicts()}
    assert timing["delivery"]["count"] > 100
    assert timing["reading"]["count"] > 100
    for name in ("p50_s", "p99_s", "max_s"):
        assert found["error"][name] == pytest.approx(sum(timing[what][name] for what in timing))
    # A full packet takes 12000 bit / 2 Mbit/s = 6 ms on the pipe. The round trip is 24 ms, and 1.2 + 6 + 1.2 ms for the
    # packet to be sent three times: 32.4 ms, a twentieth of which is 1.62 ms.
    assert found["limit"] == pytest.approx({"p99_s": 0.00162, "max_s": 0.0324})
    assert found["ok"] == (found["error"]["p99_s"] <= 0.00162 and found["error"]["max_s"] <= 0.0324)
    assert result.manifest["engine"] == "linux-wall"


def test_a_flow_at_a_high_rate_has_the_time_of_a_packet_for_its_limit():
    scenario = ecnlab.Scenario("pipe.toml", WALL.replace('"2 Mbps"', '"100 Mbps"'))
    # The slowest link is now the access link: 12000 bit / 10 Mbit/s = 1.2 ms, less than 5 % of 24 + 2.52 ms, 1.326 ms.
    found = evidence.limits(plan(scenario, 1, RouterLinks()))
    assert found == evidence.Limits(pytest.approx(0.0012), pytest.approx(0.02652))


def test_a_run_that_asks_too_much_of_time_is_stored_and_refused(pipe, cli: Cli, tmp_path):
    # Six links of 100 ns each way and back, and three times 1.2 us for a packet: 4.2 us, of which a twentieth is 0.21 us.
    # No process that sleeps is as early as that.
    text = WALL.replace('"2 Mbps"', '"10 Gbps"').replace('"10 Mbps"', '"10 Gbps"').replace('"3 s"', '"1 s"')
    text = text.replace('warmup = "1 s"\n', "").replace('"10 ms"', '"100 ns"').replace('"1 ms"', '"100 ns"')
    pipe.write_text(text.replace('traffic = "ftp"', 'traffic = { kind = "ftp", size = "1 kB" }'))
    done = cli("run", pipe, "--engine", "linux", "--clock", "wall", "--out", "out")
    assert done.returncode == 5, done.stderr
    assert "is not valid evidence" in done.stderr
    assert "allowed are p99 0.00021 ms" in done.stderr
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["evidence"]["ok"] is False
    assert "p99_s" in manifest["evidence"]["broken"]
    assert "evidence: NOT" in cli("show", "out").stdout


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("max_p = 0.1", 'max_p = 0.1\nbecn = { thresh = "5 packets" }', "its hosts do not receive source quenches"),
        ('ecn = "rfc3168"', 'ecn = "ecn-becn"', "the kernel's TCP has no `ecn-becn`"),
        (
            'traffic = "ftp"',
            'traffic = { kind = "web", sessions = 1, inter_session = "1 s", pages = 1, inter_page = "1 s", objects = 1, '
            'inter_object = "1 s", object_size = "1 kB", packet = "1 kB" }',
            "`web` traffic is not supported in real time",
        ),
        ('ecn = "rfc3168"', 'ecn = "rfc3168"\nack_delay = "10 ms"', "no setting for it"),
    ],
)
def test_what_the_hosts_cannot_do_is_refused_with_its_line(pipe, cli: Cli, old, new, said):
    text = WALL.replace(old, new, 1)
    pipe.write_text(text)
    line = next(i for i, row in enumerate(text.splitlines(), 1) if row == new.splitlines()[-1])
    done = cli("run", pipe, "--engine", "linux", "--clock", "wall")
    assert done.returncode == 2
    assert re.search(rf"pipe\.toml:{line}:", done.stderr)
    assert said in done.stderr
    assert not (pipe.parent / "results").exists()


def test_a_window_law_that_this_kernel_lacks_is_refused_with_its_line(pipe, monkeypatch):
    monkeypatch.setattr(capabilities, "_has", lambda law: law != "cubic")
    with pytest.raises(SpecError, match=r"pipe\.toml:\d+:.*does not offer `cubic`"):
        answerer_of("linux-wall").check(ecnlab.scenario.read_scenario(pipe))


def test_a_clock_is_only_the_linux_engines(scenario, cli: Cli):
    done = cli("run", scenario, "--clock", "wall")
    assert done.returncode == 2
    assert "--engine linux" in done.stderr


def test_a_sweep_is_not_done_in_real_time(experiment, tmp_path):
    with pytest.raises(EcnlabError, match="not possible in real time"):
        ecnlab.sweep(experiment, tmp_path / "out", engine="linux-wall")


def without(capability: int) -> Callable[[], None]:
    """For a child: root without ``capability``, which no program that it starts can get back."""

    def drop() -> None:
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)

    return drop


@pytest.mark.parametrize(("capability", "said"), first_fast(1, [(CAP_NET_ADMIN, "tun"), (CAP_SYS_ADMIN, "namespaces")]))
def test_a_missing_capability_is_told_with_its_remedy(pipe, tmp_path, capability, said):
    command = ecnlab_command("run", pipe, "--engine", "linux", "--clock", "wall")
    drop = without(capability)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, preexec_fn=drop)
    assert done.returncode == 2
    assert f"{said}: " in done.stderr
    assert "CAP_NET_ADMIN" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_missing_for_the_hosts_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("ECNLAB_LINUX", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("ecnlab.linux.build.SBIN", ())
    with pytest.raises(EcnlabError) as error:
        prepare()
    assert "apt install gcc libc6-dev" in str(error.value)
    assert "apt install iproute2" in str(error.value)
    assert not list(tmp_path.iterdir())


def test_hosts_that_fail_are_a_failed_run_with_their_words(pipe, monkeypatch):
    files = plan(ecnlab.scenario.read_scenario(pipe), 1, RouterLinks()).files
    monkeypatch.setattr("ecnlab.linux.wall.network._lines", lambda _home: iter(["link set nothing up"]))
    assert files
    with pytest.raises(RunError, match="Cannot find device") as error:
        on_wall(pipe)
    assert "the hosts failed: /bin/ip failed" in str(error.value)


@pytest.fixture
def endless(pipe: Path, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run that lasts, with its namespaces made; ended with the test."""
    pipe.write_text(WALL.replace('"3 s"', '"600 s"'))
    command = ecnlab_command("run", pipe, "--engine", "linux", "--clock", "wall", "--out", tmp_path / "out")
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        wait_for(lambda: hosts_of(process) is not None)
        yield process
    finally:
        process.kill()
        process.communicate()


def hosts_of(process: subprocess.Popen[bytes]) -> tuple[Path, int] | None:
    """The folder of a run of ours and the process of its hosts, once these are at work."""
    for folder in container.runs().glob("run-*"):
        for pid in container.processes_in(folder / "root"):
            try:
                launcher = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
                asked = Path(f"/proc/{launcher}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue  # it has ended since it was listed: the run before this one is being cleared away
            if asked[1:2] == [str(process.pid).encode()] and (folder / "root/out/flows.csv").exists():
                return folder, pid
    return None


def wait_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.05)


def namespaces_of(pid: int) -> set[str]:
    """The networks in which a process of ours is or which it holds open."""
    return {link for link in (str(Path(f"/proc/{pid}/ns/net").readlink()), *open_files(pid)) if "net:" in link}


def all_namespaces() -> set[str]:
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found |= namespaces_of(int(process.name))
        except OSError:
            continue
    return found


def devices() -> set[str]:
    return {path.name for path in Path("/sys/class/net").iterdir()}


def test_the_machines_own_network_is_left_alone(endless):
    _, pid = hosts_of(endless) or (None, 0)
    assert "u0" not in devices()
    own = str(Path("/proc/self/ns/net").readlink())
    assert own not in namespaces_of(pid)
    # Four hosts, and the network in which their process began.
    assert len(namespaces_of(pid)) >= 4


@pytest.mark.parametrize("deadly", mostly_slow([signal.SIGKILL, signal.SIGTERM], signal.SIGKILL))
def test_nothing_outlives_a_run_that_is_killed_and_the_next_one_clears_up(endless, pipe, deadly):
    folder, pid = hosts_of(endless) or (Path(), 0)
    networks = namespaces_of(pid)
    before = devices()
    assert networks <= all_namespaces()
    # Not while it runs: its lock is held.
    assert container.remove_leftovers() == []
    endless.send_signal(deadly)
    endless.wait(PATIENCE)
    wait_for(lambda: not container.processes_in(folder / "root"))
    wait_for(lambda: not networks & all_namespaces())
    assert devices() == before
    # SIGTERM is heard, and leaves nothing to clear up.
    assert folder.exists() == (deadly == signal.SIGKILL)
    on_wall(pipe, duration="1 s", warmup="0 s")
    assert not folder.exists()


def test_an_interrupted_run_leaves_nothing(endless, tmp_path):
    folder, pid = hosts_of(endless) or (Path(), 0)
    networks = namespaces_of(pid)
    endless.send_signal(signal.SIGINT)
    assert endless.wait(PATIENCE) == 130
    assert not folder.exists()
    assert not networks & all_namespaces()
    assert not (tmp_path / "out").exists()


def test_hosts_that_are_killed_fail_the_run(endless):
    folder, pid = hosts_of(endless) or (Path(), 0)
    os.kill(pid, signal.SIGKILL)
    _, said = endless.communicate(timeout=PATIENCE)
    assert endless.returncode == 4
    assert b"the hosts ended before the run did" in said
    assert not folder.exists()


def test_only_folders_whose_lock_is_free_are_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("ECNLAB_LINUX", str(tmp_path))
    for name in ("run-dead", "run-alive", "other"):
        (tmp_path / "wall" / name / "root").mkdir(parents=True)
    with (tmp_path / "wall/run-alive/lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert container.remove_leftovers() == [tmp_path / "wall/run-dead"]
    assert sorted(path.name for path in (tmp_path / "wall").iterdir() if path.is_dir()) == ["other", "run-alive"]
