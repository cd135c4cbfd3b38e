"""``ecnlab tc``: its lines are those that the engine in virtual time loads, and it states what Linux lacks."""

from __future__ import annotations

import json
import shutil
import subprocess

import polars as pl
import pytest
from conftest import kernel_or_skip, mostly_slow

import ecnlab
from ecnlab._core import Scenario
from ecnlab.linux.network import KernelLinks
from ecnlab.linux.plan import plan

HOME = """\
format = 1
duration = "4 s"
profile = "linux-7"

[link.line]
from = "isp"
to = "home"
rate = "12 Mbps"
delay = "9 ms"
queue = "down"

[queue.down]
{down}

[tcp.default]
ecn = "rfc3168"

[flow.bulk]
from = "isp"
to = "home"
traffic = "ftp"
"""

QUEUES = {
    "fq_codel": 'discipline = "fq_codel"\nlimit = "300 packets"\ntarget = "7 ms"\nquantum = "300 B"',
    "codel": 'discipline = "codel"\nlimit = "200 packets"\ninterval = "80 ms"\necn = true',
    "pie": 'discipline = "pie"\nlimit = "150 packets"\ntarget = "20 ms"\necn = true\nprofile = "linux"',
    "red": 'discipline = "red"\nlimit = "90 kB"\nmin_th = "15 kB"\nmax_th = "45 kB"\necn = true\nweight = 0.002\nspacing = "linux"\nprobability = "packets"',
    "cake": 'discipline = "cake"\nrtt = "50 ms"\nisolation = "flows"',
    "droptail": 'discipline = "droptail"\nlimit = "64 packets"',
}
"""One queue each, with values other than the defaults."""


def home(down: str, more: str = "") -> str:
    return HOME.format(down=down).replace('queue = "down"\n', f'queue = "down"\n{more}', 1)


@pytest.fixture
def written(cli, tmp_path):
    """Writes a scenario and returns what ``ecnlab tc`` prints for it."""

    def write(text: str, *options: str):
        (tmp_path / "home.toml").write_text(text)
        return cli("tc", "home.toml", *options)

    return write


def tc_lines(done, device: str = "eth0") -> list[str]:
    start = f"tc qdisc add dev {device} "
    return [line.removeprefix("tc ") for line in done.stdout.splitlines() if line.startswith(start)]


@pytest.mark.parametrize("queue", QUEUES)
def test_the_lines_are_those_that_the_kernel_in_virtual_time_loads(written, queue) -> None:
    text = home(QUEUES[queue])
    done = written(text)
    assert done.returncode == 0, done.stderr
    made = plan(Scenario("home.toml", text), 1)
    (node,) = (name for name in made.files if name.endswith(".tc") and " o0 " in made.files[name])
    loaded = [line.replace(" o0 ", " eth0 ") for line in made.files[node].splitlines() if " o0 " in line]
    assert tc_lines(done) == loaded
    assert len(loaded) == 2


def test_a_shell_reads_the_lines(written, tmp_path) -> None:
    done = written(home(QUEUES["codel"]), "--emulate", "--ingress")
    (tmp_path / "lines.sh").write_text(done.stdout)
    assert subprocess.run(["sh", "-n", "lines.sh"], cwd=tmp_path, check=False).returncode == 0


def test_cake_with_a_rate_is_the_shaper(written) -> None:
    (line,) = tc_lines(written(home('discipline = "cake"\nrate = "11 Mbps"\noverhead = 18\nframing = "ptm"\nmpu = 64')))
    words = line.split()
    assert words[words.index("cake") :][:3] == ["cake", "bandwidth", "11000000bit"]
    # tc's overhead counts from the IP packet without an Ethernet header, which the table of sizes has removed before.
    assert {"root", "ptm", "32", "-14", "64"} <= set(words)
    assert "tbf" not in words


# Attributes of <linux/pkt_sched.h> that iproute2's tc/q_dualpi2.c sends for its words, with the unit of each.
NUMBERS = {"limit": 1, "target": 3, "tupdate": 4, "alpha": 5, "beta": 6, "step_thresh": 8, "coupling_factor": 10}
FLAGS = {"drop_on_overload": (11, 1), "overflow": (11, 0), "drop_enqueue": (12, 1), "drop_dequeue": (12, 0)}
MASKS = {"l4s_ect": (14, 1), "any_ect": (14, 3)}


def attributes(words: list[str]) -> dict[int, int]:
    """The attributes of dualpi2 for the words of tc."""
    rest, found = iter(words), {}
    for word in rest:
        if word in FLAGS | MASKS:
            at, value = (FLAGS | MASKS)[word]
            found[at] = value
            continue
        value_of = next(rest).removesuffix("us").removesuffix("%")
        at = 13 if word == "classic_protection" else NUMBERS[word]
        found[at] = int(float(value_of) * 256) if at in (5, 6) else int(value_of)
    return found


@pytest.mark.parametrize(
    "keys",
    [
        "",
        'limit = "700 packets"\nstep_thresh = "2 ms"\nalpha = 0.2\nbeta = 2.5\ncoupling_factor = 3',
        'tupdate = "20 ms"\ndrop_on_overload = false\ndrop_enqueue = true\nclassic_protection = 25',
        'l4s = { codepoints = ["ect0", "ect1", "ce"] }\ndrop_on_overload = true\ndrop_enqueue = false',
    ],
)
def test_the_words_for_dualpi2_are_the_attributes_that_the_guest_sets(written, keys) -> None:
    text = home(f'discipline = "dualpi2"\n{keys}')
    shaper, line = tc_lines(written(text))
    assert " tbf rate 12000000bit " in shaper
    made = plan(Scenario("home.toml", text), 1)
    (attached,) = (text for name, text in made.files.items() if name.endswith(".attached"))
    sent = dict(map(int, word.split(":")[::2]) for word in attached.split("dualpi2 ")[1].split())
    assert attributes(line.split(" dualpi2 ")[1].split()) == sent


@pytest.mark.parametrize(
    ("queue", "reason"),
    [
        ('discipline = "pi2"', "has no `pi2`"),
        (
            'discipline = "fq"\nlimit = "90 packets"\n[queue.down.class.each]\ndiscipline = "codel"\nlimit = "9 packets"',
            "has no `fq`",
        ),
        ('discipline = "dualpi2"\nprotection = {}', "no such setting"),
        ('discipline = "red"\nlimit = "90 kB"\nmin_th = "9 kB"\nmax_th = "30 kB"\ngentle = true', "queue.down.gentle"),
    ],
)
def test_a_queue_that_linux_lacks_is_a_comment_and_the_code_1(written, queue, reason) -> None:
    done = written(home(queue))
    assert done.returncode == 1
    assert [
        line for line in done.stdout.splitlines() if reason in line and line.startswith("#   Linux cannot have this")
    ]
    assert "tc qdisc" not in done.stdout
    assert "sysctl -w net.ipv4.tcp_ecn=1" in done.stdout.splitlines()


def test_what_linux_replaces_or_lacks_of_a_link_is_a_comment(written) -> None:
    done = written(home(QUEUES["codel"], 'jitter = { delay = "1 ms", reorder = false }\nloss = 0.25\n'))
    assert done.returncode == 0
    assert "`link.line.jitter`: netem implements it differently" in done.stdout
    assert "delay 9 ms and loss 25 %" in done.stdout
    assert "netem" not in "".join(line for line in done.stdout.splitlines() if not line.startswith("#"))


def test_emulate_writes_the_delay_at_the_far_end(written) -> None:
    done = written(home(QUEUES["codel"], "loss = 0.25\n"), "--emulate", "--dev", "lan1")
    (line,) = tc_lines(done, "ifb4lan1")
    assert line.endswith("netem delay 9000.000us limit 1000000 loss 25.0% rate 12000000bit -14")
    assert "# On home: wire of link `line`" in done.stdout


BOTH = 'reverse = { rate = "3 Mbps", queue = "up" }\n'
UP = '\n\n[queue.up]\ndiscipline = "cake"\nrate = "2.8 Mbps"\n'


def test_the_end_of_a_link_with_two_queues_shapes_both_directions(written) -> None:
    done = written(home(QUEUES["codel"] + UP, BOTH), "--dev", "wan0")
    assert [" codel " in line for line in tc_lines(done, "ifb4wan0")] == [False, True]
    (up,) = tc_lines(done, "wan0")[1:] or tc_lines(done, "wan0")[:1]
    assert " handle ffff: ingress" in done.stdout and "bandwidth 2800000bit" in done.stdout, up
    assert "redirect dev ifb4wan0" in done.stdout
    only = written(home(QUEUES["codel"] + UP, BOTH), "--link", "line~reverse")
    (up,) = tc_lines(only)
    assert "cake bandwidth 2800000bit" in up and "ifb" not in only.stdout


SECOND = '\n[link.next]\nfrom = "home"\nto = "pc"\nrate = "5 Mbps"\ndelay = "0 s"\nqueue = "down"\n'


def test_two_links_have_two_devices(written) -> None:
    text = home(QUEUES["codel"]) + SECOND
    done = written(text)
    assert [len(tc_lines(done, device)) for device in ("eth0", "eth1")] == [2, 2]
    named = written(text, "--dev", "next=eth7")
    assert [len(tc_lines(named, device)) for device in ("eth0", "eth7")] == [2, 2]


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        (("--dev", "eth3"), "choose one with --link, or write --dev line=eth0 --dev next=eth1"),
        (("--dev", "line=eth3", "--dev", "next=eth3"), "a device has one queue"),
        (("--dev", "eth0; reboot", "--link", "next"), "write a device of `ip link`"),
        (("--dev", "line=a_name_of_16_chr"), "write a device of `ip link`"),
        (("--dev", "away=eth3"), "those with queues are line, next"),
        (("--link", "lin"), "there is no link 'lin'; the scenario has line, next"),
    ],
)
def test_a_wrong_option_has_its_remedy(written, options, remedy) -> None:
    done = written(home(QUEUES["codel"]) + SECOND, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert remedy in done.stderr


def test_a_link_without_a_queue_has_linux_own(written) -> None:
    text = home(QUEUES["codel"]).replace('queue = "down"\n', "", 1)
    assert "No link of the scenario has a queue of its own" in written(text).stdout
    assert tc_lines(written(text, "--link", "line"))[1].endswith("pfifo limit 1000")


def test_hosts_have_the_settings_of_their_tcp(written) -> None:
    tcp = '[tcp.default]\ncongestion = "dctcp"\necn = "dctcp"\nreceive_buffer = "200 kB"\nmax_rto = "30 s"\n'
    done = written(home(QUEUES["codel"]).replace('[tcp.default]\necn = "rfc3168"\n', tcp))
    lines = done.stdout.splitlines()
    for line in (
        "# On home, isp: hosts with the TCP `default`",
        "sysctl -w net.ipv4.tcp_congestion_control=dctcp",
        "sysctl -w net.ipv4.tcp_ecn=1",
        'sysctl -w net.ipv4.tcp_rmem="4096 131072 200000"',
        "sysctl -w net.ipv4.tcp_rto_max_ms=30000",
    ):
        assert line in lines


def test_json_has_the_same_lines(written) -> None:
    text = home('discipline = "cake"\necn = false')
    found = json.loads(written(text, "--json").stdout)
    (link,) = found["links"]
    assert link["lines"] == [line for line in written(text).stdout.splitlines() if line in link["lines"]]
    assert (link["link"], link["queue"], link["discipline"], link["device"]) == ("line", "down", "cake", "eth0")
    assert [one["key"] for one in link["lacking"]] == ["queue.down.ecn"] and not link["missing"]
    assert found["hosts"][0]["tcp"] == "default"


# ---------------------------------------------------------------- the lines in kernels


@pytest.mark.parametrize("queue", mostly_slow(["fq_codel", "pie", "red"], "pie"))
def test_the_kernel_in_virtual_time_counts_the_same_with_the_printed_lines(
    written, monkeypatch, tmp_path, queue
) -> None:
    kernel_or_skip()
    done = written(home(QUEUES[queue]))
    own = ecnlab.run(tmp_path / "home.toml", 1, engine="linux").table("queues_run")
    printed = "".join(f"{line}\n" for line in tc_lines(done)).replace(" eth0 ", " o0 ")
    made = KernelLinks.files

    def with_printed(self, layout, found):
        files = made(self, layout, found)
        (node,) = (name for name in files if name.endswith(".tc") and " o0 " in files[name])
        others = [line for line in files[node].splitlines() if " o0 " not in line]
        return files | {node: printed + "".join(f"{line}\n" for line in others)}

    monkeypatch.setattr(KernelLinks, "files", with_printed)
    again = ecnlab.run(tmp_path / "home.toml", 1, engine="linux").table("queues_run")
    assert again.equals(own)
    assert own.filter(pl.col("link") == "line")["departed"].max() > 1000


def namespace(script: str) -> subprocess.CompletedProcess[str]:
    """``script`` in a network namespace of its own, which ends with it."""
    if not shutil.which("unshare") or not shutil.which("tc"):
        pytest.skip("unshare or tc is missing")
    command = [
        "unshare",
        "-n",
        "sh",
        "-e",
        "-c",
        f"ip link add eth0 type veth peer name far0\nip link set eth0 up\n{script}",
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)


@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("options", mostly_slow([(), ("--ingress",)], ()), ids=["egress", "ingress"])
def test_this_machine_loads_the_lines(written, queue, options) -> None:
    """With the parameters of the scenario, where this machine's kernel has the discipline."""
    done = written(home(QUEUES[queue]), *options)
    lines = "\n".join(line for line in done.stdout.splitlines() if not line.startswith(("sysctl", "modprobe tcp")))
    found = namespace(f"{lines}\ntc -j qdisc show")
    if found.returncode:
        pytest.skip(f"this machine cannot load it: {found.stderr.strip()[-200:]}")
    device = "ifb4eth0" if options else "eth0"
    shaper, below = (one for one in json.loads(found.stdout) if one.get("dev") == device)
    assert (shaper["kind"], shaper["options"]["rate"]) == ("tbf", 12_000_000 // 8)
    assert below["kind"] in (queue, "pfifo")
    for key, value in LOADED[queue].items():
        assert below["options"][key] == value


LOADED = {
    "fq_codel": {"limit": 300, "target": 6999, "quantum": 300, "ecn": True},
    "codel": {"limit": 200, "interval": 79999, "ecn": True},
    "pie": {"limit": 150, "ecn": True},
    "red": {"limit": 90_000, "min": 15_000, "max": 45_000, "ecn": True},
    "cake": {"rtt": 50_000, "flowmode": "flows"},
    "droptail": {"limit": 64},
}
"""Options of ``tc -j qdisc show``; times in microseconds, which the kernel keeps in units of 1024 ns."""
