"""The Linux engine as far as it needs no kernel: plans, refusals, tables, failures."""

from __future__ import annotations

import json
import math
import re
import struct
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from conftest import SCENARIO
from linux_plans import LINUX, refused, the_plan

from ecnlab import laws
from ecnlab._core import Scenario, SpecError
from ecnlab.agreement import means
from ecnlab.base.errors import EcnlabError, FolderError, RunError
from ecnlab.base.quantities import number, quantity, split
from ecnlab.base.stats import ratio_of_means
from ecnlab.cli import console
from ecnlab.folder.sealed_json import write_json
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.twin import Twin
from ecnlab.laws.queue.red import tc_exponent, weight
from ecnlab.linux import build, engine, kernel, replay, source, tables
from ecnlab.linux.kernel import Kernel
from ecnlab.linux.machine import Cores, boot
from ecnlab.linux.plan import plan
from ecnlab.linux.wall.network import RouterLinks
from ecnlab.report import render
from ecnlab.runs.engine_by_name import answerer_of

TESTBED = Path(__file__).parents[2] / "papers/rfc2884/testbed.toml"


def test_a_kernel_goes_to_the_core_with_the_fewest(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {3, 5})
    cores = Cores()
    with cores.one() as first, cores.one() as second:
        assert {first, second} == {3, 5}
        # After the third there are two on one core and one on the other: the fourth goes there.
        with cores.one() as third, cores.one() as fourth:
            assert {third, fourth} == {3, 5}
    with cores.one() as again:
        assert again == first


def test_quantities_are_whole_numbers_of_the_smallest_unit():
    assert number("1.5 Mbps") == 1_500_000
    assert number("20 ms") == 20_000_000
    assert number("1.5 kB") == 1500
    assert split("30 packets") == (30, "packets")


def test_a_quantity_is_one_float_of_its_unit_and_exact_as_a_whole_number():
    seconds = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
    assert [quantity(f"1 {unit}") for unit in seconds] == list(seconds.values())
    assert [quantity(f"1 {unit}") for unit in ("KiB", "GB", "Mbps", "packets")] == [1024.0, 1e9, 1e6, 1.0]
    assert quantity("unlimited") == math.inf
    assert number("9007199254.740993 ms") == 9007199254740993
    assert number("500 ps") == 0 and number("1 h") == 3600 * 10**9


def test_the_burst_that_makes_tc_choose_the_weight():
    # tc asks for the least e with burst + 1 - min/avpkt <= (1 - (1 - 2^-e)^burst)·2^e. With 36, 5000 and 1500 the left is
    # 33.67; the right is 33.64 for e = 8 and 34.78 for e = 9.
    assert tc_exponent(5000, 36, 1500) == 9
    assert (1 - (1 - 2**-8) ** 36) * 2**8 < 36 + 1 - 5000 / 1500 <= (1 - (1 - 2**-9) ** 36) * 2**9


def test_no_burst_makes_tc_choose_a_weight_below_one_packet():
    assert {tc_exponent(1499, burst, 1500) for burst in (1, 2, 30, 1000, (1 << 20) - 1)} == {0}
    found = Findings()
    assert weight({"weight": 0.002}, "queue.red", 1499, 1500, found) == (0, 0) and found.any()
    found = Findings()
    assert weight({"weight": 0.002}, "queue.red", 5000, 1500, found) == (9, 36) and not found.any()


def test_the_testbed_of_rfc_2884_as_ip_and_tc_lines():
    files = plan(Scenario(str(TESTBED), TESTBED.read_text()), 1).files
    red = next(line for text in files.values() for line in text.splitlines() if " red " in line)
    assert red.endswith(
        "red limit 240000 min 5000 max 15000 avpkt 1500 burst 36 probability 0.1 bandwidth 1500000bit ecn harddrop"
    )
    # 1500 B and what 64 ns at 1.5 Mbit/s may round away, less than a byte: two more bytes.
    shaper = red.replace(re.search(r"parent.*", red)[0], "")
    assert f"{shaper.strip()} stab overhead -14" in files["n3.tc"]
    assert "tbf rate 1500000bit burst 1502 limit 1502" in files["n3.tc"]
    assert (
        "qdisc add dev b2 root handle 20: netem delay 20000.000us limit 1000000 rate 10000000bit -14\n"
        in files["wire.tc"]
    )


def test_flows_of_two_tcps_have_hosts_of_their_own_behind_one_node():
    files = the_plan().files
    assert "set h0x1 net/ipv4/tcp_ecn" in files["plan"]
    settings = dict(re.findall(r"set (h\d+x\d+) net/ipv4/tcp_ecn (\d)", files["plan"]))
    assert sorted(settings.values()) == ["1", "1", "2", "2"]
    assert "route add default via 10.0.0.1 dev u0 onlink src 10.0.0.2 initcwnd 10 rto_min 200ms" in files["h0x1.ip"]


def test_starts_are_those_of_the_simulator():
    scenario = Scenario("pipe.toml", LINUX)
    starts = [int(line.split()[3]) for line in plan(scenario, 7).files["plan"].splitlines() if line.startswith("flow ")]
    assert starts == [flow["start_ps"] // 1000 for flow in scenario.drawn(7)["flows"]]
    assert starts != [flow["start_ps"] // 1000 for flow in scenario.drawn(8)["flows"]]


WEB = LINUX.replace(
    'traffic = "ftp"\ntcp = "ecn"',
    'tcp = "ecn"\ntraffic = { kind = "web", sessions = 2, inter_session = "1 s", pages = 2, inter_page = "500 ms", objects = 2, '
    'inter_object = "10 ms", object_size = "2500 B", packet = "1000 B" }',
    1,
)
"""Two sessions 1 s apart, of two pages 500 ms apart, of two objects 10 ms apart."""


@pytest.mark.parametrize(("spacing", "kind"), [("end-to-start", "web"), ("start-to-start", "web-overlapping")])
def test_the_sessions_of_web_traffic_are_those_of_the_simulator(spacing, kind):
    text = WEB.replace('packet = "1000 B"', f'packet = "1000 B", page_spacing = "{spacing}"')
    lines = the_plan(text).files["plan"].splitlines()
    flow = next(line for line in lines if line.startswith("flow 1 ")).split()
    assert (flow[2], flow[4]) == (kind, "1000")
    start = int(flow[3])
    assert sum(line.startswith("pool 1 ") for line in lines) == 2
    # Session, page, server, client, 2500 B as three packets, and the pause before it.
    assert [tuple(map(int, line.split()[2:])) for line in lines if line.startswith("object 1 ")] == [
        (session, page, 0, 0, 3000, pause)
        for session in (0, 1)
        for page, first in ((0, start + session * 10**9), (1, 500_000_000))
        for pause in (first, 10_000_000)
    ]


def test_what_only_the_profile_says_is_told_and_not_refused():
    told = {entry["key"]: entry for entry in the_plan(SCENARIO.replace("modern", "linux-2.0")).instead}
    assert told["tcp.ecn.initial_rto"] == {"key": "tcp.ecn.initial_rto", "asked": "3 s", "kernel": "1 s"}
    assert told["tcp.ecn.recovery"]["kernel"] == "linux-newreno"
    assert not [entry for entry in the_plan().instead if entry["key"].startswith("tcp.")]


def test_accecn_of_the_kernel_is_negotiated_with_dsack():
    made = the_plan(LINUX.replace('ecn = "rfc3168"', 'ecn = "accecn-linux"\ndsack = true'))
    assert re.findall(r"net/ipv4/tcp_ecn (3)$", made.files["plan"], re.MULTILINE) == ["3", "3"]
    assert not [entry for entry in made.instead if entry["key"].startswith("tcp.")]


# Values of tcp_ecn in Documentation/networking/ip-sysctl.rst: 2 and 5 offer nothing, 4 offers ECN and accepts AccECN.
ROLES = {
    ("off", "off"): "0",
    ("rfc3168", "off"): "1",
    ("off", "rfc3168"): "2",
    ("accecn-linux", "off"): "3",
    ("accecn-linux", "rfc3168"): "3",
    ("rfc3168", "accecn-linux"): "4",
    ("off", "accecn-linux"): "5",
}


@pytest.mark.parametrize("role", ROLES)
def test_the_roles_of_a_host_are_values_of_tcp_ecn(role):
    offers, accepts = role
    settings = f'ecn = "{offers}"\necn_accepts = "{accepts}"\ndsack = true'
    made = the_plan(LINUX.replace('ecn = "rfc3168"', settings))
    found = re.findall(r"net/ipv4/tcp_ecn (\d)$", made.files["plan"], re.MULTILINE)
    # The hosts of the other flow have no ECN.
    assert sorted(found) == sorted([ROLES[role]] * 2 + ["2"] * 2)


def test_the_kernel_has_settings_for_the_accecn_option():
    def settings(keys):
        made = the_plan(LINUX.replace('ecn = "rfc3168"', f'ecn = "accecn-linux"\ndsack = true\n{keys}'))
        return set(re.findall(r"net/ipv4/tcp_ecn_(option\w* \d)$", made.files["plan"], re.MULTILINE))

    assert [settings(f'ecn_option = "{mode}"') for mode in ("scheme", "full", "off", "persist")] == [
        set(),
        set(),
        {"option 0"},
        {"option 3"},
    ]
    assert settings('ecn_option = "minimum"\necn_option_beacon = 0') == {"option 1", "option_beacon 0"}
    assert "it has at most 3" in refused(LINUX.replace('ecn = "rfc3168"', 'ecn = "rfc3168"\necn_option_beacon = 4'))


def test_the_kernel_accepts_only_feedback_that_it_has():
    text = LINUX.replace('ecn = "rfc3168"', 'ecn = "off"\necn_accepts = "accecn"\ndsack = true')
    assert "the kernel's TCP has no `accecn`" in refused(text)


def test_the_kernel_s_cubic_has_hystart():
    def instead(settings):
        plan = the_plan(LINUX.replace('ecn = "rfc3168"', f'ecn = "rfc3168"\n{settings}', 1))
        return [entry for entry in plan.instead if entry["key"].endswith("slow_start")]

    assert instead('congestion = "cubic"\nslow_start = "hystart"') == []
    assert [entry["kernel"] for entry in instead('congestion = "cubic"')] == ["hystart"]


def instead_of(settings: str, text: str = LINUX) -> dict[str, tuple[object, object]]:
    """What the kernel replaces of a scenario whose `[tcp.ecn]` has ``settings``: (asked, kernel) by key."""
    found = the_plan(text.replace('ecn = "rfc3168"', settings, 1)).instead
    tcp = [entry for entry in found if entry["key"].startswith("tcp.")]
    return {entry["key"]: (entry["asked"], entry["kernel"]) for entry in tcp}


def test_the_profile_alone_is_the_kernel_s_default_tcp():
    plan = the_plan(LINUX.replace('ecn = "rfc3168"\n', "", 1))
    assert [entry for entry in plan.instead if entry["key"].startswith("tcp.")] == []
    assert {(home.tcp.congestion, home.tcp.sysctl["tcp_ecn"]) for home in plan.homes} == {("cubic", "2")}


def test_the_cubic_of_rfc_9438_is_substituted_by_that_of_linux():
    hystart = 'ecn = "rfc3168"\nslow_start = "hystart"\n'
    assert instead_of(f'{hystart}congestion = {{ kind = "cubic", profile = "linux" }}') == {}
    substituted = {"tcp.ecn.congestion.profile": ("rfc9438", "linux")}
    assert instead_of(f'{hystart}congestion = "cubic"') == substituted
    assert instead_of(f'{hystart}congestion = {{ kind = "cubic", profile = "rfc9438" }}') == substituted


def test_dctcp_has_its_own_feedback_on_linux():
    dctcp = 'congestion = "dctcp"\necn = '
    assert "tcp.ecn.ecn" not in instead_of(f'{dctcp}"dctcp"')
    assert instead_of(f'{dctcp}"rfc3168"')["tcp.ecn.ecn"] == ("rfc3168", "dctcp")
    every = ["ack", "probe", "retransmission", "fin"]
    assert instead_of(f'{dctcp}"dctcp"')["tcp.ecn.ecn_control"] == ("scheme", every)
    assert "tcp.ecn.ecn_control" not in instead_of(f'{dctcp}"dctcp"\necn_control = {every}'.replace("'", '"'))
    plan = the_plan(LINUX.replace('ecn = "rfc3168"', f'{dctcp}"dctcp"', 1))
    assert next(home.tcp.sysctl["tcp_ecn"] for home in plan.homes if home.tcp.congestion == "dctcp") == "1"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('congestion = "dctcp"\necn = "off"', "the kernel's dctcp negotiates ECN whatever `ecn` is"),
        ('ecn = "dctcp"', 'off, rfc2481, rfc3168, accecn-linux, and `dctcp` with congestion = "dctcp"'),
        (
            'ecn = "accecn"\nsack = false\nrecovery = "linux-newreno"',
            "the kernel's TCP has no `accecn`; it has off, rfc2481, rfc3168",
        ),
        (
            'ecn = "accecn"\nsack = false\nrecovery = "linux-newreno"\ncongestion = "prague"',
            "the kernel has no `prague`",
        ),
    ],
)
def test_ecn_feedback_that_the_kernel_has_not_is_refused(settings, said):
    assert said in refused(LINUX.replace('ecn = "rfc3168"', settings, 1))


def test_dctcp_at_one_end_is_refused():
    text = LINUX.replace('tcp = "ecn"', 'tcp_from = "ecn"\ntcp_to = "plain"', 1)
    assert the_plan(text).files
    message = refused(text.replace('ecn = "rfc3168"', 'congestion = "dctcp"\necn = "dctcp"', 1))
    assert "the kernel's ECN feedback `dctcp` needs the window law of `tcp.ecn` at both ends" in message


def test_what_the_kernel_rounds_or_calls_otherwise_is_substituted():
    assert instead_of('ecn = "rfc2481"') == {"tcp.ecn.ecn": ("rfc2481", "rfc3168")}
    assert instead_of('ecn = "rfc3168"\nmax_rto = "240 s"') == {"tcp.ecn.max_rto": ("240 s", "120000 ms")}
    assert instead_of('ecn = "rfc3168"\nmin_rto = "1500 us"') == {"tcp.ecn.min_rto": ("1.5 ms", "1 ms")}


def test_packet_events_of_the_scenario_are_refused_with_their_line():
    scenario = Scenario("pipe.toml", LINUX.replace("format = 1", "format = 1\npackets = true"))
    with pytest.raises(SpecError, match=r"pipe.toml:2:\d+: `packets`: the Linux engine records no packet events"):
        engine.refuse_events(False, scenario)


def test_a_substitution_is_a_line():
    entry = {"key": "tcp.ecn.congestion.profile", "asked": "rfc9438", "kernel": "linux"}
    assert console.substituted(entry) == 'substituted: tcp.ecn.congestion.profile = "rfc9438"; Linux has "linux"'


@pytest.mark.parametrize("recovery", ["newreno", "linux-newreno"])
def test_without_sack_the_kernel_has_its_own_newreno(recovery):
    plan = the_plan(LINUX.replace('ecn = "rfc3168"', f'ecn = "rfc3168"\nsack = false\nrecovery = "{recovery}"', 1))
    assert not [entry for entry in plan.instead if entry["key"].endswith("recovery")]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('ecn = "rfc3168"', 'ecn = "rfc3168"\nack_delay = "10 ms"', 'its TCP has "40 ms", and no setting for it'),
        ('ecn = "rfc3168"', 'ecn = "rfc3168"\nrecovery = "newreno"', "`linux-newreno` with `sack = false`"),
        ('ecn = "rfc3168"', 'ecn = "rfc3168"\ncongestion = "abe"', "it has reno, cubic, dctcp"),
        (
            'ecn = "rfc3168"',
            'congestion = "reno"\nslow_start = "hystart"',
            'its TCP has "standard", and no setting for it',
        ),
        ('ecn = "rfc3168"', 'ecn = "rfc3168"\ncongestion = { kind = "cubic", c = 1.0 }', "the kernel's cubic has 0.4"),
        (
            'ecn = "rfc3168"',
            'ecn = "rfc3168"\ncongestion = { kind = "cubic", beta_ecn = 0.85 }',
            "the kernel's cubic has none",
        ),
        ("max_p = 0.1", "max_p = 0.1\ngentle = true", "`queue.red.gentle`: Linux cannot do `true`"),
        ("max_p = 0.1", 'max_p = 0.1\nbecn = { thresh = "5 packets" }', "`queue.red.becn`: Linux cannot do"),
        ('limit = "60 packets"', 'limit = "60 packets"\nfull = "random"', "cannot drop at the random"),
        ('max_th = "15 packets"', 'max_th = "15 packets"\nmark_at = "front"', "the kernel supports only `tail`"),
        ('queue = "red"', 'queue = "red"\ndrop = [7]', "`loss` works on Linux"),
        (
            'queue = "red"',
            'queue = "red"\njitter = { delay = "1 ms", reorder = true }',
            "netem implements it differently",
        ),
        ('queue = "red"', 'queue = "red"\nburst_loss = { p = 0.1, r = 0.5 }', "or with `--clock wall`"),
        ('traffic = "ftp"', 'traffic = "ftp"\nstop = "2 s"', "cannot stop a flow"),
        (
            'traffic = "ftp"',
            'traffic = { kind = "crr", request = "1 kB", response = { exponential = "5 kB" } }',
            "no random sizes of transactions",
        ),
        ('queue = "red"', 'queue = "red"\nshaper = { rate = "1 Mbps", burst = "500 B" }', 'at least "1500 B"'),
    ],
)
def test_what_the_kernel_cannot_do_is_refused_with_its_line(old, new, said):
    text = LINUX.replace(old, new, 1)
    line = next(i for i, row in enumerate(text.splitlines(), 1) if row == new.splitlines()[-1])
    message = refused(text)
    assert message.startswith(f"pipe.toml:{line}:")
    assert said in message


def test_datagrams_are_refused_beside_all_else():
    text = LINUX.replace(
        'traffic = "ftp"\ntcp = "ecn"',
        'stop = "2 s"\ntraffic = { kind = "cbr", rate = "1 Mbps", packet = "1 kB", ecn = "ect0", quench = {} }',
        1,
    )
    message = refused(text)
    assert "does not send `cbr`" in message
    assert "cannot stop a flow" in message


def test_a_dscp_is_refused():
    text = LINUX.replace('traffic = "ftp"\ntcp = "ecn"', 'traffic = "ftp"\ntcp = "ecn"\ndscp = "EF"', 1)
    assert "does not set a DSCP" in refused(text)


def test_our_own_wires_have_jitter_and_burst_loss():
    text = LINUX.replace(
        'queue = "red"',
        'queue = "red"\njitter = { delay = "1 ms", reorder = true }\nburst_loss = { p = 0.1, r = 0.5 }',
        1,
    )
    assert plan(Scenario("pipe.toml", text), 1, RouterLinks()).files


def test_boxes_are_for_the_router_in_user_space():
    text = LINUX.replace('queue = "red"', 'queue = "red"\nboxes = ["wall"]', 1) + '\n[box.wall]\nsyn = "drop"\n'
    assert "or with `--clock wall`" in refused(text)


def test_linux_has_no_tunnels_on_either_clock():
    text = LINUX.replace('queue = "red"', 'queue = "red"\ntunnel = "vpn"', 1) + "\n[tunnel.vpn]\n"
    assert "the Linux engine has no tunnels" in refused(text)
    with pytest.raises(SpecError, match="the Linux engine has no tunnels"):
        plan(Scenario("pipe.toml", text), 1, RouterLinks())


def test_every_refusal_is_told_at_once():
    text = LINUX.replace('ecn = "off"', 'ecn = "off"\nack_delay = "10 ms"').replace(
        "max_p = 0.1", "max_p = 0.1\ngentle = true"
    )
    assert refused(text).count("pipe.toml:") == 2


def write_counters(folder: Path) -> None:
    """What the guest would have written: 10 packets of 1500 B before the warm-up, 20 after it, of which 2 were dropped."""
    flows = "phase,flow,delivered,exchanges,finished_ns,connections,connections_established,ecn_connections,ecn_fallbacks,segs_out,data_segs_out,"
    flows += "bytes_sent,retransmits,timeouts,delivered_ce,min_rtt_us,received_ce\n"
    for phase, n in (("warm", 10), ("end", 30)):
        for flow in (0, 1):
            flows += (
                f"{phase},{flow},{1460 * n},0,,5,4,{4 * flow},1,{n + 1},{n},{1460 * n},{n // 10},1,0,24100,{n // 5}\n"
            )
    (folder / "flows.csv").write_text(flows)
    queues = "phase,link,host,packets,bytes,qlen,backlog,drops,samples,sum_packets,sum_bytes,sum_squares,kind,own\n"
    links = the_plan().links
    for phase, n, held in (("warm", 10, 3), ("end", 30, 1)):
        for link in range(6):
            drops, looked = (2, 100) if phase == "end" else (0, 50)
            kind, own = ("red", struct.pack("=4I", drops, 0, 0, n)) if links[link].law == "red" else ("pfifo", b"")
            queues += f"{phase},{link},n0,{n},{1500 * n},{held},0,{drops},{looked},{2 * looked},0,{6 * looked},"
            queues += f"{kind},{own.hex()}\n{phase},{link},wire,{n - 1},{1514 * (n - 1)},0,0,0,0,0,0,0,netem,\n"
    (folder / "queues.csv").write_text(queues)
    (folder / "transactions.csv").write_text("flow,index,start_ns,established_ns,end_ns,retransmits,timeouts\n")
    (folder / "queue_series.csv").write_text("time_ns,link,packets,bytes\n1000000000,0,3,4500\n")
    (folder / "flow_series.csv").write_text(
        "time_ns,flow,cwnd_bytes,ssthresh_bytes,flight_bytes,srtt_us,rto_us,delivered\n1000000000,0,14600,,2920,,200000,5\n"
    )


def test_counters_become_the_tables_of_a_run(tmp_path):
    write_counters(tmp_path)
    asked = the_plan()
    frames = tables.read(tmp_path, asked, Scenario("pipe.toml", LINUX).resolved)
    flow = frames["flows"].row(0, named=True)
    assert flow["bytes_delivered"] == 20 * 1460
    assert flow["goodput_bps"] == pytest.approx(20 * 1460 * 8 / 3)  # 4 s less 1 s of warm-up
    assert (flow["retransmits"], flow["ce_received"], flow["rtt_min_s"]) == (2, 4, 0.0241)
    assert flow["rtt_mean_s"] is None
    # Connections are counted from the start of the run, not of the window.
    names = ["ecn", "connections", "connections_established", "ecn_connections", "ecn_fallbacks"]
    assert frames["flows"].select(names).rows() == [(False, 5, 4, 0, 1), (True, 5, 4, 4, 1)]
    link = frames["links"].row(0, named=True)
    # 20 left, 2 were dropped, and 2 fewer are held than at the warm-up: 20 came.
    assert (link["entered"], link["delivered"], link["delivered_bytes"]) == (20, 20, 20 * 1500)
    assert link["held"] == 1 + 1  # one in the queue, one on the wire
    assert (link["queue_mean_packets"], link["queue_var_packets"]) == (2.0, 2.0)
    red = frames["queues"].filter(pl.col("link") == "pipe").row(0, named=True)
    assert (red["dropped"], red["early_drops"], red["tail_drops"]) == (2, None, 0)
    assert red["marks"] == 30 - 10  # since the warm-up
    tail = frames["queues"].filter(pl.col("link") == "left").row(0, named=True)
    assert (tail["dropped"], tail["early_drops"], tail["tail_drops"]) == (2, 0, 2)


def test_tables_have_the_simulators_columns_and_types(tmp_path):
    write_counters(tmp_path)
    scenario = Scenario("pipe.toml", LINUX)
    theirs = tables.read(tmp_path, the_plan(), scenario.resolved)
    ours = answerer_of("packets").tables(scenario, 1, events=False)
    # The kernel tells nothing of the laws' own columns.
    without = {name: frame.drop(laws.columns(name.removesuffix("_run")), strict=False) for name, frame in ours.items()}
    assert {name: frame.schema for name, frame in theirs.items()} == {
        name: frame.schema for name, frame in without.items()
    }


def fake_kernel(tmp_path: Path, script: str) -> Kernel:
    folder = tmp_path / "kernel"
    (folder / "root").mkdir(parents=True)
    (folder / "linux").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "linux").chmod(0o755)
    return Kernel(folder, {"version": "0", "guest": "0", "binary": "0"})


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo Kernel panic", "the kernel ended before the run did"),
        ("echo Kernel panic; echo no such queue > out/error", "the guest gave up: no such queue"),
    ],
)
def test_a_kernel_that_fails_is_a_failed_run_with_its_console(tmp_path, script, said):
    with pytest.raises(RunError, match=said) as error, boot(fake_kernel(tmp_path, script), {}, 1, 60.0):
        pytest.fail("it has a result")
    assert "the end of the kernel's console:\n" in str(error.value)
    assert "\n  Kernel panic" in str(error.value)


def test_a_kernel_that_hangs_is_ended(tmp_path):
    hung = fake_kernel(tmp_path, "sleep 600")
    with pytest.raises(RunError, match=r"was not done after 1 s of wall time"), boot(hung, {}, 1, 1.0):
        pytest.fail("it has a result")


def test_a_kernel_that_ends_well_leaves_its_files_for_the_block_only(tmp_path):
    with boot(fake_kernel(tmp_path, "cp plan out/copy; echo > out/done"), {"plan": "run\n"}, 1, 9.0) as folder:
        assert (folder / "copy").read_text() == "run\n"
    assert not folder.exists()


def test_without_a_kernel_the_remedy_is_told(cli, scenario, monkeypatch, tmp_path):
    monkeypatch.setenv("ECNLAB_LINUX", str(tmp_path / "nothing"))
    done = cli("run", scenario, "--engine", "linux")
    assert done.returncode == 2
    assert "`ecnlab linux build` builds one" in done.stderr


def test_a_kernel_of_other_sources_is_not_used(monkeypatch, tmp_path):
    monkeypatch.setenv("ECNLAB_LINUX", str(tmp_path))
    (tmp_path / "current").write_text("linux-1\n")
    (tmp_path / "linux-1").mkdir()
    write_json(tmp_path / "linux-1" / "about.json", {"version": "1", "config": "x", "guest": "y"})
    with pytest.raises(EcnlabError, match="built by another ecnlab"):
        kernel.find()


def test_the_binary_of_a_kernel_is_all_that_runs(tmp_path):
    files = [tmp_path / name for name in ("linux", "entropy.so", "root/init", "root/lib/libc.so.6")]
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a")
    before = kernel.binary_digest(tmp_path)
    (tmp_path / "log").write_text("of the build")
    assert kernel.binary_digest(tmp_path) == before
    for path in files:
        path.write_text("b")
        assert kernel.binary_digest(tmp_path) != before, path
        path.write_text("a")


def test_the_kernels_configuration_has_what_laws_need():
    kinds = {kind for law in laws.queues().values() for kind in law.kernel if "fifo" not in kind}
    windows = {law.kernel for law in laws.windows().values()} - {"", "reno"}  # Reno is always there
    asked = {f"CONFIG_NET_SCH_{kind.upper()}=y" for kind in kinds}
    asked |= {f"CONFIG_TCP_CONG_{window.upper()}=y" for window in windows} | {"CONFIG_NET_SCH_FIFO=y"}
    assert asked < set(kernel.config())


def test_neither_comments_nor_order_of_the_configuration_make_another_kernel(monkeypatch, tmp_path):
    before = kernel.config_digest()
    lines = [line for line in kernel.CONFIG.read_text().splitlines() if "CONFIG_" in line]
    other = tmp_path / "kernel.config"
    monkeypatch.setattr(kernel, "CONFIG", other)
    other.write_text("# Another order\n" + "\n".join(reversed(lines)))
    assert kernel.config_digest() == before
    other.write_text("\n".join(lines[1:]))
    assert kernel.config_digest() != before


def test_the_page_documents_every_patch_of_the_kernel():
    page = (Path(__file__).parents[2] / "docs/linux.md").read_text()
    section = page.split("## Kernel patches\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    documented = [(name, files, switch) for name, files, _, switch, *_ in rows]
    added = {"line-driver": [name for name, _ in kernel.ADDED]}
    for patch, (name, files, switch) in zip(kernel.PATCHES, documented, strict=True):
        of_patch = [*dict.fromkeys(file for file, *_ in patch.edits), *added.pop(patch.name, [])]
        assert (name, files) == (f"`{patch.name}`", ", ".join(f"`{file}`" for file in of_patch))
        assert switch.startswith(f"`{patch.switch}`" if patch.switch else "none: ")
    assert not added


def test_patches_of_network_code_have_a_switch_that_packets_do_not_give():
    of_network = [patch for patch in kernel.PATCHES if any(file.startswith("net/") for file, *_ in patch.edits)]
    assert {patch.switch for patch in of_network} == {kernel.TBF_LINE, kernel.IPV6}
    assert not {kernel.TBF_LINE, kernel.IPV6} & {*replay.OPTIONS}
    assert kernel.TBF_LINE in engine.OPTIONS
    # Each switch is one that the patched kernel knows.
    patched = "".join(new for *_, new in kernel.EDITS)
    for switch in {patch.switch for patch in kernel.PATCHES if patch.switch}:
        assert f'setup("{switch}", ' in patched


SIX = LINUX.replace('tcp = "ecn"', 'tcp = "ecn"\nip = 6', 1)


@pytest.mark.parametrize(
    ("scenario", "options"),
    [
        (None, ("ecnlab_clock_ns",)),
        (LINUX, ("ecnlab_tbf_line",)),
        (SIX, ("ecnlab_tbf_line", "ecnlab_ipv6")),
    ],
    ids=["replay", "ip 4", "ip 6"],
)
def test_a_kernel_is_booted_with_the_switches_of_its_use(monkeypatch, tmp_path, scenario, options):
    class Booted(Exception):
        pass

    def boot(*_, options=(), **__):
        raise Booted(*options)

    kernel_there = fake_kernel(tmp_path, "")
    monkeypatch.setattr(replay, "boot", boot)
    monkeypatch.setattr(engine, "boot", boot)
    monkeypatch.setattr(engine, "find", lambda: kernel_there)
    with pytest.raises(Booted) as given:
        if scenario is None:
            replay.replay(kernel_there, [replay.Line(Twin("pfifo limit 1"), [replay.Sent(1, 100, 0, 0, 1, 0)], 9)])
        else:
            engine.Linux().tables(Scenario("x.toml", scenario), 1, events=False)
    assert given.value.args == options


def test_everything_missing_is_told_before_anything_starts(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ECNLAB_LINUX", str(tmp_path / "cache"))
    monkeypatch.setattr(build, "SBIN", ())
    with pytest.raises(EcnlabError) as error:
        build.build(None, 1, lambda text: pytest.fail(f"it began: {text}"))
    for told in (
        "gcc is missing",
        "flex is missing: `apt install flex`",
        "tc is missing",
        "--source linux-6.18.tar.xz",
    ):
        assert told in str(error.value)
    assert not (tmp_path / "cache").exists()


def test_what_is_no_kernel_source_is_refused(tmp_path):
    with pytest.raises(EcnlabError, match=r"it has no arch/um/Makefile"):
        source.named(tmp_path, print)
    (tmp_path / "arch/um").mkdir(parents=True)
    (tmp_path / "arch/um/Makefile").touch()
    (tmp_path / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 90\n")
    with pytest.raises(EcnlabError, match=r"is Linux 6.1.90, older than 6.18"):
        source.named(tmp_path, print)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "sources.list.d/debian.sources",
            "Types: deb\nURIs: http://mirror/debian\nSuites: bookworm x\nSigned-By: /key\n",
        ),
        ("sources.list", "# deb http://old/debian sid main\ndeb [signed-by=/key] http://mirror/debian bookworm main\n"),
    ],
)
def test_debians_mirror_is_the_machines_own(monkeypatch, tmp_path, name, text):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / name).write_text(text)
    monkeypatch.setattr(source, "APT", tmp_path)
    assert source._mirror() == ("http://mirror/debian", "bookworm", "/key")


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [([1.0, 1.02, 0.98, 1.01], "agrees"), ([1.3, 1.32, 1.31, 1.3], "differs"), ([1.0, 1.2, 1.05, 1.15], "open")],
)
def test_a_verdict_is_about_the_whole_interval(ours, verdict):
    ratio = ratio_of_means(np.array(ours), np.ones(4), means.LEVEL)
    assert means.judge(ratio, 0.1) == verdict
    assert math.isfinite(ratio.low)


@pytest.mark.parametrize(
    ("theirs", "verdict"), [([0] * 12 + [1] * 4, "open"), ([90, 100, 110, 100] * 4, "differs"), ([0] * 16, "open")]
)
def test_runs_that_counted_nothing_may_have_counted_little(theirs, verdict):
    # Four in sixteen runs against none may be chance (two to the power of -4, and as much the other way round).
    ratio = means.ratio_to(np.zeros(16), np.array(theirs, dtype=float))
    assert means.judge(ratio, 0.1) == verdict


def answer_of(values):
    """What a sweep answers for the metric `marks`, without the kernel."""
    n = len(values)
    rows = {"arm": ["one"] * n, "replicate": list(range(n)), "metric": ["marks"] * n, "value": values}
    manifest = {
        "title": "x",
        "metrics": {"marks": {"table": "queues", "column": "marks", "aggregate": "sum"}},
        "ecnlab": {"version": "1"},
        "wall": {"seconds": 1},
    }
    return SimpleNamespace(axes=(), tables=(), manifest=manifest, metrics=pl.DataFrame(rows))


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict", "shown"),
    [
        ([3.0, 1.0, 2.0], [0.0, 0.0, 0.0], "open", "undefined"),
        ([0.0, 0.0], [0.0, 0.0], "agrees", "undefined"),
        ([1.0, 2.0], [0.0, 1.0], "open", "3.000 (no bound)"),
        ([1.0, 9.0, 2.0], [4.0, 5.0, 6.0], "open", "0.800 (0.000 to "),
    ],
)
def test_an_agreement_without_a_ratio_has_a_page_and_json(ours, theirs, verdict, shown, capsys):
    simulator, linux = answer_of(ours), answer_of(theirs)
    rows = means.compare(simulator, linux, 0.1)
    assert rows["verdict"].to_list() == [verdict]
    assert shown in render(means._page(simulator, linux, rows, 0.1))
    console.write_json({"comparisons": rows.to_dicts()})
    told = json.loads(capsys.readouterr().out)["comparisons"][0]
    assert (told["ratio"] is None) == (shown == "undefined")
    assert (told["ratio_high"] is None) == (shown[-1] != " ")
    assert told["ratio_low"] in (None, 0.0)


def test_a_ratio_to_negative_values_has_its_interval():
    ratio = means.ratio_to(np.zeros(4), np.array([-2.0, -3.0, 0.0, -2.0]))
    assert ratio.low <= 0.0 <= ratio.high
    assert math.isnan(means.ratio_to(np.ones(2), np.array([-1.0, 1.0])).mean)


def test_the_margin_is_stated_once(tmp_path):
    means._state(tmp_path, 0.1)
    means._state(tmp_path, 0.1)
    with pytest.raises(FolderError, match=r"begun with a margin of 0.1"):
        means._state(tmp_path, 0.2)


def test_a_scenario_is_asked_for_its_groups_and_queues(scenario):
    question = means.read_question(scenario)
    assert {"goodput_marked", "timeouts_dropped", "marks_pipe", "queue_pipe"} <= question.metrics.keys()
    resolved = question.runs[0].scenario.resolved
    assert resolved["profile"] == "linux-7"
    # Flows run the laws of the scenario's own profile, and none uses ECN that it does not use there.
    assert {(tcp["congestion"], tcp["ecn_accepts"]) for tcp in resolved["tcp"].values()} == {("reno", "off")}


def test_an_agreement_takes_groups_and_files_with_quotes_and_spaces(scenario):
    odd = scenario.with_name('a "b".toml')
    odd.write_text(SCENARIO.replace('tcp = "ecn"', 'tcp = "ecn"\ngroup = \'a "b" c\'', 1))
    assert 'goodput_a "b" c' in means.read_question(odd).metrics
