"""The prober: what it says of simulated servers, of real ones, and of questions that cannot be asked."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import ecnlab
from ecnlab import probing

DOCS = Path(__file__).parents[2] / "docs"


def test_every_box_is_classified_as_expected():
    expected = tomllib.loads(probing.BOXES.with_name("expected.toml").read_text())
    for seed in (1, 2):
        assert {name: answers["class"] for name, answers in probing.probe(probing.BOXES, seed=seed).items()} == expected


def test_the_table_of_the_page_is_that_of_the_command(cli):
    page = (DOCS / "probe.md").read_text()
    assert cli("probe", "--boxes").stdout in page


def test_every_finding_is_in_the_page():
    page = (DOCS / "probe.md").read_text()
    found = {name for answers in probing.probe(probing.BOXES).values() for name, _ in answers["findings"]}
    assert len(found) > 9
    assert [name for name in sorted(found) if f"| `{name}` |" not in page] == []


def test_a_scenario_of_the_user(cli, scenario):
    asked = json.loads(cli("probe", str(scenario), "--flow", "marked", "--json").stdout)
    assert [answers["class"] for answers in asked.values()] == ["ecn"] * len(asked)
    printed = cli("probe", str(scenario)).stdout
    assert "ecn-refused: the server does not support ECN" in printed


def test_a_share_of_probes_is_concerned(tmp_path):
    """The prober's second connection is concerned under about half of the seeds."""
    text = probing.BOXES.read_text().replace('syn = "drop"\n', 'syn = "drop"\nshare = 0.5\n')
    path = tmp_path / "half.toml"
    path.write_text(text)
    classes = [probing.probe(path, ["there-syn-drop"], seed)["there-syn-drop"]["class"] for seed in range(1, 30)]
    assert set(classes) == {"ecn", "ecn-syn-unanswered"}
    assert 6 <= classes.count("ecn") <= 23


UDP = """
[flow.voice]
from = "server"
to = "client"
traffic = { kind = "cbr", rate = "64 kbps", packet = "200 B" }
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no server to probe"),
        (["{}", "--boxes"], "no server to probe"),
        (["{}", "--flow", "mraked"], "there is no flow `mraked`; there is"),
        (["{}", "--flow", "voice"], "flow `voice` has no TCP"),
        (["--host", "nowhere"], "write HOST:PORT"),
        (["--host", ":99999"], "write HOST:PORT"),
        (["--host", "::1"], "write HOST:PORT, such as 192.0.2.1:80 or [2001:db8::1]:80"),
        (["--host", "[::1]"], "write HOST:PORT"),
        (["--host", "[192.0.2.1]"], "write HOST:PORT"),
        (["--host", "[fe80::1]:80"], "is a link-local address"),
        (["--host", "name.invalid:80"], "has no address"),
        (["--host", "127.0.0.1:80"], "is a loopback address"),
    ],
)
def test_questions_that_cannot_be_asked(cli, scenario, arguments, said):
    scenario.write_text(scenario.read_text() + UDP)
    done = cli("probe", *(argument.format(scenario) for argument in arguments))
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("host", "setting", "prober"),
    [
        ("192.0.2.1", "net.ipv4.ip_forward", "ip saddr 198.18.0.2"),
        ("2001:db8::1", "net.ipv6.conf.all.forwarding", "ip6 saddr 2001:2::2"),
    ],
)
@pytest.mark.parametrize("exists", [True, False])
def test_another_machine_takes_forwarding(monkeypatch, tmp_path, host, setting, prober, exists):
    monkeypatch.setattr(probing, "SYSCTLS", tmp_path)
    if exists:
        file = tmp_path / setting.replace(".", "/")
        file.parent.mkdir(parents=True)
        file.write_text("0\n")
    with pytest.raises(ecnlab.EcnlabError, match=f"does not forward packets: set `sysctl {setting}=1`.*{prober} masq"):
        probing.probe_host(host, 80)


@pytest.mark.parametrize(
    ("addresses", "probed"),
    [({4: "198.18.0.1", 6: "2001:2::1"}, "198.18.0.1"), ({6: "2001:2::1"}, "2001:2::1")],
    ids=["both versions", "IPv6 only"],
)
def test_a_name_is_probed_over_ipv4_or_else_over_ipv6(monkeypatch, addresses, probed):
    def resolve(_host, _port, family, _kind):
        version = 6 if family == probing.socket.AF_INET6 else 4
        if version not in addresses:
            raise OSError("no address")
        return [(family, None, 0, "", (addresses[version], 0))]

    arguments = []
    monkeypatch.setattr(probing.socket, "getaddrinfo", resolve)
    monkeypatch.setattr(probing._core, "probe_host", lambda *given: arguments.append(given) or {})
    probing.probe_host("server.example", 80)
    near, own = (addresses := arguments[0])[4:6]
    assert (addresses[0], near, own[:-1]) == (probed, probed, probed[:-1])
    assert b"Host: server.example\r\n" in addresses[2]


SERVER = """
import http.server, socket, sys
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(bytes(200_000))
    def log_message(self, *_): pass
    def handle(self):
        try: super().handle()
        except OSError: pass
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
Server(("", 8080), Page).serve_forever()
"""

INSIDE = """
set -e
echo {ecn} > /proc/sys/net/ipv4/tcp_ecn
echo reno > /proc/sys/net/ipv4/tcp_congestion_control
ip link set lo up
{python} -c "$SERVER" &
trap 'kill $!' EXIT
for i in $(seq 100); do {python} -c 'import socket; socket.create_connection(("127.0.0.1", 8080))' 2>/dev/null && break; sleep 0.1; done
{python} -m ecnlab probe --host '{host}:{port}' --json
"""


def _missing() -> str | None:
    if os.geteuid() != 0:
        return "a network namespace takes root"
    if not shutil.which("ip") or not shutil.which("unshare") or not Path("/dev/net/tun").exists():
        return "ip, unshare or /dev/net/tun is missing"
    done = subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False)
    return f"no network namespace: {done.stderr!r}" if done.returncode else None


@pytest.mark.parametrize(
    ("ecn", "port", "expected"), [(1, 8080, "ecn"), (0, 8080, "ecn-refused"), (1, 8081, "unreachable")]
)
@pytest.mark.parametrize("host", ["", "[::1]"])
def test_a_real_server_of_this_machine(ecn, host, port, expected):
    if why := _missing():
        pytest.skip(why)
    if host and not Path("/proc/sys/net/ipv6").exists():
        pytest.skip("the machine's kernel has no IPv6")
    script = INSIDE.format(ecn=ecn, host=host, port=port, python=sys.executable)
    found = []
    # A busy machine may deliver a window in two parts, which the prober takes for two.
    for _ in range(3):
        done = subprocess.run(
            ["unshare", "-n", "sh", "-c", script],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, "SERVER": SERVER},
        )
        assert done.returncode == 0, done.stderr
        [answers] = json.loads(done.stdout).values()
        found.append(answers["class"])
        if found[-1] == expected:
            return
    pytest.fail(f"{found}: {answers}")


def test_without_root_the_reason_is_told(monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(probing._core, "probe_host", refuse)
    with pytest.raises(ecnlab.EcnlabError, match=re.escape("needs root (CAP_NET_ADMIN)")):
        probing.probe_host("", 80)
