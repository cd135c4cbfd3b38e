"""Queues of the Linux engine: their settings in the words of tc, and what is refused."""

from __future__ import annotations

import pytest
from linux_plans import LINUX, refused, the_plan


def test_a_token_bucket_filter_is_the_kernels_around_a_fifo_in_bytes():
    keys = 'discipline = "tbf"\nrate = "500 kbps"\nburst = "3 kB"\nlimit = "90 kB"\npeakrate = "800 kbps"\n[tcp'
    text = LINUX.replace('queue = "red"', 'queue = "bucket"').replace("[tcp", f"[queue.bucket]\n{keys}", 1)
    lines = "".join(the_plan(text).files.values())
    # A byte, and what 64 ns may round away, less than a byte.
    assert "tbf rate 500000bit burst 3002 limit 90000 peakrate 800000bit mtu 1516\n" in lines
    assert "in `tbf` is in bytes" in refused(text.replace('"90 kB"', '"90 packets"'))
    assert 'write at least "1514 B"' in refused(text.replace('"3 kB"', '"0 B"').replace('peakrate = "800 kbps"\n', ""))


def test_pie_is_the_kernels_with_gains_in_sixteenths():
    keys = 'discipline = "pie"\nlimit = "250 packets"\ntarget = "20 ms"\necn = true\n[tcp'
    text = LINUX.replace('queue = "red"', 'queue = "pie"').replace("[tcp", f"[queue.pie]\n{keys}", 1)
    lines = "".join(the_plan(text).files.values())
    # 0.125 and 1.25 Hz are 2/16 and 20/16.
    assert "pie limit 250 target 20000us tupdate 15000us alpha 2 beta 20 ecn\n" in lines
    more = text.replace("ecn = true\n[tcp", "bytemode = true\ndq_rate_estimator = true\nalpha = 2.0\n[tcp", 1)
    found = the_plan(more)
    assert "alpha 32 beta 20 bytemode dq_rate_estimator\n" in "".join(found.files.values())
    for here, (there, says) in {
        'limit = "250 packets"': ('limit = "90 kB"', 'write such as "1000 packets"'),
        'target = "20 ms"': ('target = "20000.5 us"', "whole microseconds"),
        "ecn = true\n[tcp": ("alpha = 2.0625\n[tcp", "at most 2 Hz"),
    }.items():
        assert says in refused(text.replace(here, there, 1))
    for key, only in {'profile = "rfc8033"': "linux", "mark_ecnth = 0.2": "0.1", 'mtu = "1500 B"': "1514 B"}.items():
        assert f"its PIE has {only}" in refused(text.replace("ecn = true\n[tcp", f"{key}\n[tcp", 1))


def queue_line(keys: str) -> str:
    """What stands behind the handle of the pipe's queue, in place of RED a queue with these keys."""
    text = LINUX.replace('queue = "red"', 'queue = "other"').replace("[tcp", f"[queue.other]\n{keys}\n[tcp", 1)
    lines = [line for file in the_plan(text).files.values() for line in file.splitlines()]
    return next(line for line in lines if " 10: " in line and "pfifo" not in line).partition(" 10: ")[2]


def refused_queue(keys: str) -> str:
    return refused(LINUX.replace('queue = "red"', 'queue = "other"').replace("[tcp", f"[queue.other]\n{keys}\n[tcp", 1))


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (
            'discipline = "codel"\nlimit = "200 packets"\ntarget = "7 ms"\nce_threshold = "1 ms"\necn = true',
            "codel limit 200 target 7000us interval 100000us ce_threshold 1000us ecn",
        ),
        (
            'discipline = "fq_codel"\nflows = 64\nquantum = "300 B"',
            "fq_codel limit 10240 flows 64 quantum 300 target 5000us interval 100000us ecn memory_limit 33554432 "
            "drop_batch 64",
        ),
        # 0.25 and 1.25 Hz are 4/16 and 20/16.
        (
            'discipline = "fq_pie"\necn = true\nbytemode = true\nalpha = 0.25\necn_prob = 20',
            "fq_pie limit 10240 flows 1024 quantum 1514 target 15000us tupdate 15000us alpha 4 beta 20 ecn_prob 20 ecn "
            "bytemode",
        ),
        (
            'discipline = "sfb"\nlimit = "1000 packets"\nincrement = 0.002\ndecrement = 0.001',
            "sfb limit 1000 target 20 max 25 rehash 600000 db 60000 increment 0.002000000 decrement 0.001000000 "
            "penalty_rate 10 penalty_burst 20",
        ),
        # tc's condition for the weight 2^-9 with 10 packets: burst 71 gives 2^-8, 72 the first 2^-9.
        (
            'discipline = "choke"\nlimit = "100 packets"\nmin_th = "10 packets"\nmax_th = "30 packets"\nmax_p = 0.1\n'
            'weight = 0.001953125\nmean_packet = "1500 B"\necn = true',
            "choke limit 100 min 10 max 30 avpkt 1500 burst 72 probability 0.1 bandwidth 2000000bit ecn",
        ),
        # 18 bytes beside the 14 of Ethernet, which the kernel takes off where an overhead is given.
        (
            'discipline = "cake"\nrate = "1 Mbps"\nrtt = "50 ms"\noverhead = 18\nmpu = 64\nframing = "atm"\nmemory = "2 MB"\n'
            'isolation = "dual-srchost"\ndiffserv = "besteffort"\ningress = true',
            "cake bandwidth 1000000bit besteffort dual-srchost rtt 50000us overhead 32 mpu 64 atm nowash "
            "no-ack-filter memlimit 2000000 ingress",
        ),
        # TCA_DUALPI2_*: 1 limit, 3 target, 4 tupdate, 8 step_thresh in us, 5 and 6 gains in 1/256 Hz, 10 coupling,
        # 11 drop in overload, 12 drop on arrival, 13 share of C, 14 mask of L.
        (
            'discipline = "dualpi2"\nlimit = "500 packets"\ntupdate = "20 ms"\nstep_thresh = "2 ms"\nalpha = 0.25\nbeta = 2.0\n'
            "coupling_factor = 3\ndrop_on_overload = false\ndrop_enqueue = true\nclassic_protection = 20",
            "dualpi2 1:4:500 3:4:15000 4:4:20000 8:4:2000 5:4:64 6:4:512 10:1:3 11:1:0 12:1:1 13:1:20 14:1:1",
        ),
    ],
)
def test_queues_are_the_kernels_setting_by_setting(keys, line):
    assert queue_line(keys) == line


CHOKE = 'discipline = "choke"\nlimit = "100 packets"\nmin_th = "10 packets"\nmax_th = "30 packets"'


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ('discipline = "codel"\nlimit = "30 kB"', "the kernel counts packets here"),
        ('discipline = "codel"\nlimit = "30 packets"\ntarget = "1500 ns"', "tc reads whole microseconds"),
        ('discipline = "fq_codel"\nmemory = "1 MB"', "packets differ in memory"),
        ('discipline = "fq_pie"\nbeta = 2.5', "at most 2 Hz"),
        ('discipline = "sfb"\nlimit = "100 packets"\necn = false', "write ecn = true"),
        ('discipline = "sfb"\nlimit = "100 packets"\nwarmup = "1500 us"', "whole milliseconds"),
        (CHOKE.replace("100 packets", "90 kB"), "the kernel's CHOKe counts packets"),
        (CHOKE.replace("100 packets", "29 packets"), "min_th < max_th <= limit <= 131071 packets"),
        (CHOKE + '\necn = true\nabove = "drop"', 'write above = "mark"'),
        ('discipline = "cake"\ntarget = "7 ms"', "tc sets a twentieth of `rtt`"),
        ('discipline = "cake"\noverhead = 243', "write at most 242"),
        ('discipline = "cake"\necn = false', "its CAKE has no such setting"),
        ('discipline = "dualpi2"\nprotection = {}', "the kernel's DualPI2 has no such setting"),
        ('discipline = "dualpi2"\nnqb = ["NQB"]', "the kernel's DualPI2 has no such setting"),
        ('discipline = "dualpi2"\ntshift = "50 ms"', "the kernel's DualPI2 has no such setting"),
        ('discipline = "dualpi2"\nprofile = "rfc9332"', "its DualPI2 has linux"),
        ('discipline = "dualpi2"\nl4s = { dscp = ["EF"] }', "classifies packets into L by codepoint only"),
    ],
)
def test_what_the_kernels_queues_do_not_have_is_refused(keys, says):
    assert says in refused_queue(keys)


@pytest.mark.parametrize(
    "keys",
    [
        'discipline = "cobalt"\nlimit = "100 packets"',
        'discipline = "rem"\nlimit = "100 packets"',
        'discipline = "avq"\nlimit = "100 packets"',
        'discipline = "blue"\nlimit = "100 packets"',
        'discipline = "gsp"\nlimit = "100 packets"\nthreshold = "20 packets"',
        'discipline = "policer"\nlimit = "100 packets"\nrate = "1 Mbps"\nburst = "15 kB"',
        'discipline = "pi2"',
        # Its hosts set no DSCP: all packets would be of one virtual queue.
        'discipline = "gred"\nlimit = "100 packets"\n[queue.other.virtual.rest]\nmin_th = "5 packets"\nmax_th = "15 packets"',
    ],
)
def test_queues_that_the_kernel_has_not_are_refused_with_those_that_it_has(keys):
    law = keys.split('"')[1]
    has = "droptail, red, codel, pie, choke, fq_codel, fq_pie, tbf, cake, dualpi2 and sfb"
    assert f"`queue.other`: the Linux engine has no `{law}`; it has {has}" in refused_queue(keys)


def test_the_guest_attaches_what_tc_does_not_know():
    text = LINUX.replace('queue = "red"', 'queue = "dual"').replace(
        "[tcp", '[queue.dual]\ndiscipline = "dualpi2"\n[tcp', 1
    )
    files = the_plan(text).files
    name = next(name for name in files if name.endswith(".attached"))
    node = name.removesuffix(".attached")
    plan_lines = files["plan"].splitlines()
    # Below tbf, so after tc has made it.
    tc, attach = (
        plan_lines.index(f"{line}") for line in (f"exec {node} /bin/tc -batch /{node}.tc", f"attach {node} /{name}")
    )
    assert tc < attach
    device = files[name].split()[0]
    assert f"dev {device} stab overhead -14 linklayer ethernet root handle 1: tbf" in files[f"{node}.tc"]
    assert files[name].startswith(f"{device} 1:1 10: dualpi2 ")
