"""Verdicts on ECN: on captures made byte by byte, and on random paths with hostile boxes whose truth is known."""

from __future__ import annotations

import json
import re

import pytest
from conftest import first_fast, kernel_or_skip, mostly_slow
from ecn_paths import KERNEL_ENDS, Route, false_verdicts, paths
from segments import CE, ECT0, ECT1, NOT_ECT, Hosts

import ecnlab
from ecnlab.trace.page import capture_page

IN_CI = 20


@pytest.mark.parametrize(
    "path",
    [pytest.param(one, marks=[] if one.number < IN_CI else pytest.mark.slow) for one in paths(200)],
    ids=lambda one: f"{one.number} {one.box} {one.sender} {one.receiver} {'marks' if one.marks else 'drops'}",
)
def test_no_verdict_on_a_random_path_is_false(path, tmp_path):
    assert not any(false_verdicts(path, tmp_path).values())


@pytest.mark.parametrize("marks", mostly_slow([True, False], True), ids=["marks", "drops"])
@pytest.mark.parametrize("ends", mostly_slow(KERNEL_ENDS, *KERNEL_ENDS[:2]), ids=" ".join)
def test_no_verdict_on_a_capture_of_the_kernel_is_false(ends, marks, tmp_path):
    kernel_or_skip()
    path = Route(*ends, "none", marks, 1)
    assert not any(false_verdicts(path, tmp_path, kernel=True).values())


@pytest.mark.parametrize(
    ("feedback", "congestion", "line"),
    first_fast(
        1,
        [
            ("rfc3168", "cubic", r"ECN: [\d,]+ marks at queues, [\d,]+ received with CE; reductions are not counted"),
            (
                "rfc3168",
                "bbr",
                r"ECN PROBLEM: f: BBR ignores marks: [\d,]+ packets \(\d+ % of the data packets\) were received",
            ),
            ("off", "cubic", r"ECN WARNING: no flow uses ECN"),
        ],
    ),
)
def test_a_run_on_linux_reports_whether_marks_arrive(feedback, congestion, line, tmp_path, cli):
    kernel_or_skip()
    text = Route(feedback, feedback, "none", marks=True, number=1).text()
    text = text.replace("[tcp.sender]\n", f'[tcp.sender]\ncongestion = "{congestion}"\n')
    (tmp_path / "path.toml").write_text(f'profile = "linux-7"\n{text}')
    done = cli("run", "path.toml", "--engine", "linux", "--out", "run")
    assert re.search(line, " ".join(done.stdout.split())), done.stdout + done.stderr
    assert "ECN works" not in done.stdout
    assert cli("report", "run", "-o", "page.html").returncode == 0


def transfer(place: str, *, ecn: int = ECT0, marked: int = 0, echo: bool = True, answer: bool = True) -> Hosts:
    """A client that sends 60 segments, one each 40 ms, captured at the client or the server; every ``marked``-th has CE."""
    hosts, here = Hosts(), place == "client"
    rtt = 40.0
    hosts.send(0, 0, 0, 0, "SEC", options=hosts.options)
    hosts.send(rtt if here else 0.1, 1, 0, 1, "SAE", options=hosts.options)
    hosts.send(rtt + 0.1, 0, 1, 1, "A")
    echoing = owed = False
    for i in range(60):
        at = 100 + i * rtt
        ce = bool(marked) and i % marked == 2
        flags = "AC" if owed and answer else "A"
        hosts.send(at, 0, 1 + i * 1000, 1, flags, 1000, CE if ce and not here else ecn)
        echoing = (echoing and "C" not in flags) or ce
        owed = echoing and echo
        hosts.send(at + (rtt - 1 if here else 0.1), 1, 1, 1001 + i * 1000, "AE" if echoing and echo else "A")
    return hosts


@pytest.mark.parametrize(
    ("place", "sent", "verdict", "severity"),
    [
        ("client", {"marked": 8}, "works", "ok"),
        ("server", {"marked": 8}, "works", "ok"),
        ("server", {"ecn": NOT_ECT}, "data not ECT", "warning"),
        ("client", {"ecn": NOT_ECT}, "data not ECT", "warning"),
        ("server", {"marked": 8, "echo": False}, "not echoed", "problem"),
        ("client", {"marked": 8, "answer": False}, "not answered", "problem"),
        ("server", {"marked": 8, "answer": False}, "not answered", "problem"),
        ("server", {"marked": 1}, "unknown", "none"),
        ("server", {}, "unknown", "none"),
    ],
)
def test_a_class_of_verdict_from_bytes(place, sent, verdict, severity, tmp_path, cli):
    capture = transfer(place, **sent).save(tmp_path / "x.pcap")
    [row] = ecnlab.trace(capture).verdicts.to_dicts()
    at = "at the sender" if place == "client" else "at the receiver"
    assert (row["verdict"], row["severity"], row["vantage"], row["directions"]) == (verdict, severity, at, 1)
    done = cli("trace", capture)
    word = {"problem": "PROBLEM", "warning": "WARNING"}.get(severity, verdict)
    assert done.stdout.startswith(f"ECN {word}: data of the opener, captured {at}")
    found = json.loads(cli("trace", capture, "--json").stdout)
    assert found["verdicts"] == [row]
    assert [one["ecn_verdict"] for one in found["directions"]] == [verdict, "no data"]


def test_the_page_counts_all_connections_and_shows_warnings(tmp_path):
    first = transfer("server", ecn=NOT_ECT)
    flood = [packet for n in range(150) for packet in _syn(n)]
    first.packets = sorted([*first.packets, *flood], key=lambda one: one[0])
    capture = ecnlab.trace(first.save(tmp_path / "x.pcap"))
    assert sum(capture.negotiations.values()) == 151
    page = capture_page(capture)
    assert "151 connections, ECN:" in page
    assert "ECN WARNING" in page
    assert "60 data packets are Not-ECT on arrival" in page


def _syn(number: int) -> list[tuple[float, bytes]]:
    """A SYN with ECN from another port."""
    hosts = Hosts()
    hosts.send(5 + number, 0, 0, 0, "SEC", options=hosts.options)
    [(ms, packet)] = hosts.packets
    return [(ms, packet[:20] + (1000 + number).to_bytes(2, "big") + packet[22:])]


@pytest.mark.parametrize(
    ("box", "says"),
    first_fast(
        3,
        [
            ("none", "ECN works: f: "),
            ("hide", "no packet was received with CE: it is erased on the path"),
            ("clear ECE", "the senders did not reduce: not echoed or not answered"),
            ("bleach behind", "no packet was received with CE: it is erased on the path"),
            ("bleach", "the path erases ECT"),
        ],
    ),
)
def test_a_run_reports_whether_marks_are_answered(box, says, tmp_path, cli):
    source, folder = tmp_path / "path.toml", tmp_path / "run"
    source.write_text(Route("rfc3168", "rfc3168", box, marks=True, number=1).text())
    done = cli("run", source, "--out", folder)
    lines = [line for line in done.stdout.splitlines() if line.startswith("ECN ")]
    assert len(lines) == 1
    assert says in " ".join(done.stdout.split())
    assert lines[0].startswith("ECN works" if box == "none" else "ECN PROBLEM")
    assert cli("report", folder, "--out", tmp_path / "page.html").returncode == 0
    assert lines[0].partition(": ")[0] in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("box", "marks", "kinds"),
    [
        ("none", True, {"marked"}),
        ("none", False, set()),
        ("bleach", False, {"erased"}),
        ("hide", False, set()),
        ("clear ECE", True, {"flags changed", "marked"}),
        ("mark all", False, {"set on the path", "marked"}),
    ],
)
@pytest.mark.parametrize("places", mostly_slow([("server", "client"), ("client", "server")], ("server", "client")))
def test_two_captures_show_what_the_path_changes(box, marks, kinds, places, tmp_path, cli):
    route = Route("rfc3168", "rfc3168", box, marks, number=1)
    ecnlab.run(route.scenario(), seed=2, captures=tmp_path)
    first, second = (tmp_path / f"{place}.pcapng" for place in places)
    found = json.loads(cli("trace", first, "--against", second, "--json").stdout)
    assert {row["verdict"] for row in found["verdicts_between"]} == kinds
    line = cli("trace", first, "--against", second).stdout.splitlines()[0]
    assert line.startswith("ECN ") and ("between the two captures" in line) == bool(kinds)


@pytest.mark.parametrize(
    ("scheme", "standard", "reason"),
    [("dctcp", "rfc8257", 'the run has ecn = "dctcp"'), ("rfc3168", "rfc3168", "the default")],
)
def test_the_rules_of_a_stored_run_are_those_of_its_scheme(scheme, standard, reason, tmp_path, cli):
    ecnlab.run(Route(scheme, scheme, "none", marks=True, number=1).scenario(), seed=2, out=tmp_path / "run")
    capture = tmp_path / "run" / "captures" / "client.pcapng"
    found = ecnlab.trace(capture)
    assert (found.standard, found.standard_reason) == (standard, reason)
    assert f"rules of {standard.replace('rfc', 'RFC ')} ({reason}): --standard" in cli("trace", capture).stdout
    assert ecnlab.trace(capture, standard="rfc2481").standard_reason is None
    assert "rules of" not in cli("trace", capture, "--standard", "rfc3168").stdout


def test_ect1_is_named_and_breaks_no_rule_of_rfc3168(tmp_path):
    path = transfer("server", ecn=ECT1).save(tmp_path / "x.pcap")
    found = ecnlab.trace(path)
    assert (found.standard, found.standard_reason) == ("rfc3168", "the default; 60 packets have ECT(1)")
    assert found.violations.is_empty()
    assert set(ecnlab.trace(path, standard="rfc9331").violations["rule"]) == {"ect1-without-accecn"}


LAWS = """\
format = 1
duration = "8 s"
profile = "linux-7"

link.pipe = { from = "server", to = "client", rate = "20 Mbps", delay = "10 ms", queue = "q" }
queue.q = { discipline = "fq_codel", ecn = true }
tcp.deaf = { congestion = "bbr", ecn = "ECN" }
flow.deaf = { from = "server", to = "client", traffic = "ftp", tcp = "deaf", count = 4 }
"""


@pytest.mark.parametrize(
    ("ecn", "says"),
    [
        (
            "rfc3168",
            r"ECN PROBLEM: deaf: BBR ignores marks: [\d,]+ packets \(\d+ % of the data packets\) were received",
        ),
        ("off", r"ECN WARNING: no flow uses ECN: nothing was marked by the queues that can mark, q"),
    ],
)
def test_a_run_says_that_marks_were_ignored_or_never_set(ecn, says, tmp_path, cli):
    (tmp_path / "s.toml").write_text(LAWS.replace("ECN", ecn))
    done = cli("run", "s.toml", "--out", "run")
    assert re.search(says, " ".join(done.stdout.split())), done.stdout
    assert cli("report", "run", "-o", "page.html").returncode == 0
    assert ("BBR ignores marks" if ecn != "off" else "no flow uses ECN") in (tmp_path / "page.html").read_text()
