"""Writes the part of the corpus that has names.

Scenarios and experiments of the repository; captures of a run in every format that `text2pcap` and `editcap` (Debian's
package `tshark`) can make of it; the headers and options of its packets; settings of queues and endpoints with bytes
behind them.

    .venv/bin/python tests/fuzz/seeds.py

What libFuzzer found stays as it is (fuzz.py).
"""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "fuzz" / "corpus"

SCENARIO = """format = 1
duration = "3 s"
[link.a]
from = "x"
to = "r"
rate = "10 Mbps"
delay = "1 ms"
[link.b]
from = "r"
to = "y"
rate = "1 Mbps"
delay = "10 ms"
queue = "q"
loss = 0.02
[queue.default]
discipline = "droptail"
limit = "100 packets"
[queue.q]
discipline = "red"
limit = "20 packets"
min_th = "2 packets"
max_th = "6 packets"
weight = 0.2
ecn = true
[tcp.default]
ecn = "rfc3168"
[flow.f]
count = 2
from = "x"
to = "y"
traffic = "ftp"
[flow.u]
from = "x"
to = "y"
traffic = { kind = "cbr", rate = "64 kbps", packet = "200 B" }
[capture.c]
link = "b"
snap = "80 B"
format = "FORMAT"
"""
"""A run whose captures are seeds: losses, marks, two connections and UDP."""

QUEUES = {
    "droptail": 'discipline = "droptail"\nlimit = "10 packets"',
    "droptail-bytes": 'discipline = "droptail"\nlimit = "15 kB"\nfull = "front"\nadmit = "below"',
    "droptail-random": 'discipline = "droptail"\nlimit = "3 packets"\nfull = "random"',
    "red": 'discipline = "red"\nlimit = "60 packets"\nmin_th = "5 packets"\nmax_th = "15 packets"\nmax_p = 0.1\necn = true',
    "red-bytes": 'discipline = "red"\nlimit = "30 kB"\nmin_th = "5 kB"\nmax_th = "15 kB"\nmean_packet = "500 B"\n'
    'probability = "bytes"\nspacing = "geometric"\ngentle = true\nidle = "ns2"\nmark_at = "front"\necn = true',
    "red-auto": 'discipline = "red"\nlimit = "60 packets"\nmin_th = "auto packets"\nmax_th = "auto packets"\n'
    'weight = "auto"\nadaptive = {}\ngentle = true\necn = true',
    "red-feng": 'discipline = "red"\nlimit = "60 packets"\nmin_th = "5 packets"\nmax_th = "15 packets"\nfeng = {}\n'
    'count_reset = "all"\nspacing = "wait"\nforced = "full"\nfull = "random"',
    "red-becn": 'discipline = "red"\nlimit = "90 packets"\nmin_th = "15 packets"\nmax_th = "45 packets"\nweight = 1.0\n'
    'above = "mark"\nmark_p = 0.5\necn = true\nfirst_passes = true\nspare_short = true\n'
    'becn = { thresh = "20 packets", quench_size = "40 B" }',
    "codel": 'discipline = "codel"\nlimit = "60 packets"\ntarget = "1 ms"\ninterval = "5 ms"\nsqrt = "linux"\necn = true\n'
    'ce_threshold = "3 ms"\nquantiles = true',
    "fq_codel": 'discipline = "fq_codel"\nlimit = "20 packets"\nflows = 8\nsalt = 1\nquantum = "300 B"\nmemory = "20 kB"\n'
    'drop_batch = 3\ntarget = "1 ms"\ninterval = "5 ms"',
    "fq": 'discipline = "fq"\nlimit = "15 kB"\nfull = "fattest"\nflows = 4\nrounds = "drr"\n[queue.q.class.each]\n'
    'discipline = "red"\nlimit = "10 packets"\nmin_th = "2 packets"\nmax_th = "6 packets"\nweight = 0.5',
    "classes": 'discipline = "classes"\nschedule = "wrr"\nlimit = "30 packets"\n[queue.q.class.l]\n'
    'codepoints = ["ect1", "ce"]\nshare = 9\ndiscipline = "droptail"\nlimit = "9 packets"\nfull = "random"\n'
    '[queue.q.class.rest]\norder = 1\ndiscipline = "fq_codel"\nlimit = "12 packets"\nflows = 4',
    "tbf": 'discipline = "tbf"\nlimit = "15 kB"\nrate = "2 Mbps"\nburst = "3 kB"\npeakrate = "5 Mbps"\n[queue.q.class.inner]\n'
    'discipline = "codel"\nlimit = "9 packets"\ntarget = "1 ms"\ninterval = "5 ms"\nfull = "front"',
    "htb": 'discipline = "htb"\nlimit = "30 packets"\n[queue.q.class.l]\ncodepoints = ["ect1", "ce"]\ndiscipline = "droptail"\n'
    'limit = "9 packets"\n[queue.q.class.rest]\norder = 1\ndiscipline = "tbf"\nrate = "1 Mbps"\nburst = "0 B"\nlimit = "9 packets"\n'
    '[queue.q.sharing]\nline = { rate = "5 Mbps" }\nl = { parent = "line", rate = "1 Mbps", ceil = "4 Mbps" }\n'
    'rest = { parent = "line", rate = "2 Mbps", ceil = "3 Mbps", priority = 1 }',
    "cbq": 'discipline = "cbq"\nlimit = "30 packets"\ntimer = "1 ms"\nfull = "fattest"\n[queue.q.class.l]\n'
    'codepoints = ["ect1", "ce"]\ndiscipline = "droptail"\nlimit = "9 packets"\n[queue.q.class.rest]\norder = 1\n'
    'discipline = "fq_codel"\nlimit = "12 packets"\nflows = 4\n[queue.q.sharing]\n'
    'l = { rate = "1 Mbps", bounded = true, maxburst = 2 }\nrest = { rate = "2 Mbps", isolated = true, minburst = 1 }',
    "classes-dscp": 'discipline = "classes"\nschedule = "time-shifted"\ntshift = "5 ms"\nlimit = "30 packets"\n'
    '[queue.q.class.fast]\ndscp = [2, "NQB"]\ndiscipline = "droptail"\nlimit = "9 packets"\n'
    '[queue.q.class.rest]\norder = 1\ndiscipline = "pi2"\nlimit = "20 packets"\ntarget = "1 ms"\ntupdate = "1 ms"',
    "pie": 'discipline = "pie"\nlimit = "40 packets"\ntarget = "1 ms"\ntupdate = "1 ms"\nbeta = 100.0\nbytemode = true\necn = true',
    "pie-rfc8033": 'discipline = "pie"\nprofile = "rfc8033"\nlimit = "60 kB"\ntarget = "1 ms"\ntupdate = "1 ms"\nbeta = 100.0\n'
    'dq_rate_estimator = true\nmax_burst = "5 ms"\nactive_threshold = "9 kB"\nmark_ecnth = 0.5\necn = true',
    "fq_pie": 'discipline = "fq_pie"\nlimit = "30 packets"\nflows = 4\nsalt = 1\nquantum = "300 B"\ntarget = "1 ms"\ntupdate = "1 ms"\n'
    'beta = 100.0\necn_prob = 50\necn = true',
    "docsis_pie": 'discipline = "docsis_pie"\nlimit = "15 kB"\ntarget = "1 ms"\nmsr = "2 Mbps"\npeak_rate = "5 Mbps"\nburst = "3 kB"',
    "cobalt": 'discipline = "cobalt"\nlimit = "20 packets"\ntarget = "1 ms"\ninterval = "5 ms"\np_inc = 0.1\necn = true',
    "cake": 'discipline = "cake"\nsalt = 1\nrate = "5 Mbps"\nrtt = "5 ms"\nmemory = "30 kB"\ndiffserv = "diffserv4"\noverhead = 20\n'
    'framing = "atm"\ningress = true',
    "cake-unlimited": 'discipline = "cake"\nsalt = 1\nmemory = "20 kB"\ndiffserv = "precedence"\nisolation = "hosts"',
    "dualpi2": 'discipline = "dualpi2"\nlimit = "40 packets"\ntarget = "1 ms"\ntupdate = "2 ms"\nbeta = 90.0',
    "dualpi2-rfc9332": 'discipline = "dualpi2"\nprofile = "rfc9332"\nlimit = "60 kB"\ntarget = "1 ms"\nbeta = 90.0\n'
    'l4s = { codepoints = ["ect1"], dscp = [1, 2] }\ntshift = "2 ms"',
    "step": 'discipline = "step"\nlimit = "9 packets"\nthreshold = "3 packets"\necn = true',
    "pi": 'discipline = "pi"\nlimit = "15 kB"\nq_ref = "3 kB"\na = 0.5\nb = 0.25\nfrequency = 1000.0',
    "rem": 'discipline = "rem"\nlimit = "9 packets"\ntarget = "1 packets"\ngamma = 0.5\nphi = 2.0\necn = true',
    "blue": 'discipline = "blue"\nlimit = "5 packets"\nincrement = 0.5\ndecrement = 0.1\nfreeze_time = "1 ms"',
    "avq": 'discipline = "avq"\nlimit = "9 packets"\nbuffer = "2 packets"\nalpha = 1.0\necn = true',
    "choke": 'discipline = "choke"\nlimit = "9 packets"\nmin_th = "1 packets"\nmax_th = "4 packets"\nweight = 0.5\nfull = "random"',
    "fq-choke": 'discipline = "fq"\nlimit = "15 kB"\nfull = "fattest"\nflows = 4\nrounds = "drr"\n[queue.q.class.each]\n'
    'discipline = "choke"\nlimit = "9 packets"\nmin_th = "1 packets"\nmax_th = "4 packets"\nweight = 1.0',
    "tbf-choke": 'discipline = "tbf"\nlimit = "15 kB"\nrate = "2 Mbps"\nburst = "3 kB"\n[queue.q.class.inner]\n'
    'discipline = "choke"\nlimit = "9 packets"\nmin_th = "1 packets"\nmax_th = "4 packets"\nweight = 1.0',
    "sfb": 'discipline = "sfb"\nlimit = "9 packets"\nbin_size = 1\nmax = 4\nincrement = 0.5\nrehash = "10 ms"\nwarmup = "5 ms"',
    "classes-sfb": 'discipline = "classes"\nschedule = "drr"\nlimit = "9 packets"\nfull = "fattest"\n[queue.q.class.a]\n'
    'discipline = "sfb"\nlimit = "20 packets"\nbin_size = 1\nmax = 4\nincrement = 0.5',
    "gred": 'discipline = "gred"\nlimit = "9 packets"\naverage = "grio"\nweight = 0.5\necn = true\n[queue.q.virtual.a]\ndscp = [0, 1, 2]\n'
    'min_th = "1 packets"\nmax_th = "4 packets"\n[queue.q.virtual.b]\nmin_th = "1 kB"\nmax_th = "3 kB"\nprio = 1',
    "gsp": 'discipline = "gsp"\nlimit = "5 packets"\nthreshold = "2 ms"\ninterval = "5 ms"',
}  # fmt: skip
TCPS = {
    "modern": 'profile = "modern"',
    "linux-7": 'profile = "linux-7"\necn = "rfc3168"',
    "linux-2.0": 'profile = "linux-2.0"',
    "ns-2.35": 'profile = "ns-2.35"\necn = "rfc3168"',
    "tahoe": 'recovery = "tahoe"\ntimestamps = false\nsack = false\necn = "rfc2481"',
    "fack": 'profile = "linux-2.2"\nack_every = 1\nmss = "500 B"',
    "becn": 'ecn = "ecn-becn-both"\nrecovery = "sack"',
}
ACTS = bytes([0x01, 0x04, 0x01, 0x20, 0x00] + [0x06, 0x04, 0x01, 0x00] * 6 + [0x07, 0x05, 0x02, 0x03, 0x01] * 4
             + [0x00, 0x00, 0x0A, 0x20, 0x05, 0x10, 0x00, 0x00, 0x00, 0x10, 0x02, 0x00])  # fmt: skip
"""What an endpoint is made to do: open, write, hear ACKs, blocks and echoes, time out, hear anything."""
WIRE = bytes([0x40, 0x00, 0x05]) + bytes([0, 0, 1, 0, 8, 0, 0x83, 0x01, 0x00, 2, 0, 0, 0x88, 0x10, 0x00] * 8)
"""What a wire does to a transfer of 16384 bytes."""
ARRIVALS = (
    bytes([0x02, 0x00, 0x10, 0x3E, 0x00, 0x00, 0x80, 0x01, 0x00, 0x40, 0x00, 0x05, 0x02, 0x00] * 6) + b"\x8f\x20\x00"
)
"""Packets in ones and bursts, and departures."""
FILTERS = {
    "ends": "host 192.0.2.1 and port 80",
    "nets": "not (net 10.0.0.0/8 or net 2001:db8::/32) and interface 0",
    "wrong": "host 1.2.3 or port 99999 )",
}


def main() -> None:
    """Writes every seed."""
    with tempfile.TemporaryDirectory() as scratch:
        for target, name, content in seeds(Path(scratch)):
            (CORPUS / target).mkdir(parents=True, exist_ok=True)
            (CORPUS / target / name).write_bytes(content)


def seeds(scratch: Path) -> Iterator[tuple[str, str, bytes]]:
    """Target, name and content of each."""
    yield from texts()
    for name, text in QUEUES.items():
        yield "queue", name, text.encode() + b"\n---\n" + ARRIVALS
    for name, text in TCPS.items():
        yield "endpoint", name, text.encode() + b"\n---\n" + ACTS
        yield "pair", name, text.encode() + b"\n---\n" + WIRE
    for name, text in FILTERS.items():
        yield "filter", name, text.encode()
    yield from captures(scratch)


def texts() -> Iterator[tuple[str, str, bytes]]:
    """Scenarios and experiments of the repository, without their comments."""
    for path in sorted([*(ROOT / "examples").glob("*.toml"), *(ROOT / "papers").glob("*/*.toml")]):
        text = re.sub(r"^\s*#.*\n|\s+#[^\"\n]*$", "", path.read_text(), flags=re.MULTILINE)
        name = f"{path.parent.name}-{path.stem}"
        if len(text) > 4000:
            continue
        if re.search(r"^\[link", text, re.MULTILINE):
            yield "scenario", name, text.encode()
            yield "simulation", name, text.encode()
        elif re.search(r"^scenario = ", text, re.MULTILINE):
            yield "experiment", name, text.encode()


def captures(scratch: Path) -> Iterator[tuple[str, str, bytes]]:
    """A run's packets in every format and link layer, cut, doubled, moved and annotated; their headers and options."""
    ours = {form: run(scratch, form) for form in ("pcap", "pcapng")}
    for form, path in ours.items():
        yield form, "ours", path.read_bytes()
        yield form, "ours-gzip", gzip.compress(path.read_bytes(), mtime=0)
    for form in ("pcap", "nsecpcap", "modpcap", "nokiapcap"):
        yield "pcap", f"editcap-{form}", edit(scratch, ours["pcap"], "-F", form)
    for name, options in {
        "plain": [], "cut": ["-s", "60"], "doubled": ["-E", "0.02", "--seed", "7"], "moved": ["-t", "-3600.5"],
        "annotated": ["-a", "1:first"], "adjusted": ["-S", "0.001"],
    }.items():  # fmt: skip
        yield "pcapng", f"editcap-{name}", edit(scratch, ours["pcapng"], "-F", "pcapng", *options)
    packets = raw(ours["pcap"])
    dump = scratch / "hex.txt"
    dump.write_text("".join(hexdump(packet) for packet in packets))
    for name, options in {"raw": ["-l", "101"], "ipv4": ["-l", "228"], "ethernet": ["-e", "0x0800"]}.items():
        for form in ("pcap", "pcapng"):
            yield form, f"text2pcap-{name}", convert(scratch, dump, "-F", form, *options)
    six = scratch / "six.txt"
    six.write_text(hexdump(b"what a segment carries"))
    for name, options in {
        "ipv6-tcp": ["-6", "2001:db8::1,2001:db8::2", "-T", "40000,80"], "udp": ["-u", "1000,53"],
        "ipv4-tcp": ["-4", "192.0.2.1,192.0.2.2", "-T", "40000,80"], "sctp": ["-s", "1,2,3"],
    }.items():  # fmt: skip
        yield "pcapng", f"text2pcap-{name}", convert(scratch, six, "-F", "pcapng", *options)
    for i, packet in enumerate(packets[:12]):
        header = 4 * (packet[0] & 15)
        yield "headers", f"ipv4-{i}", packet
        yield "headers", f"tcp-{i}", packet[header:]
        if packet[9] == 6:
            yield "options", f"tcp-{i}", packet[header + 20 : header + 4 * (packet[header + 12] >> 4)]


def run(scratch: Path, form: str) -> Path:
    """The first packets of a capture that a run writes."""
    file = scratch / f"{form}.toml"
    file.write_text(SCENARIO.replace("FORMAT", form))
    out = scratch / form
    subprocess.run([ROOT / ".venv/bin/ecnlab", "run", file, "--out", out], check=True, capture_output=True)
    (capture,) = out.rglob(f"*.{form}")
    short = scratch / f"short.{form}"
    kept = ["editcap", "-r", "-F", form, capture, short, "1-30"]
    subprocess.run(kept, check=True, capture_output=True)
    return short


def edit(scratch: Path, path: Path, *options: str) -> bytes:
    """What editcap makes of a capture."""
    out = scratch / "edited"
    subprocess.run(["editcap", *options, path, out], check=True, capture_output=True)
    return out.read_bytes()


def convert(scratch: Path, dump: Path, *options: str) -> bytes:
    """What text2pcap makes of a hex dump."""
    out = scratch / "converted"
    subprocess.run(["text2pcap", *options, dump, out], check=True, capture_output=True)
    return out.read_bytes()


def raw(path: Path) -> list[bytes]:
    """The packets of a pcap without link layer."""
    data, at, packets = path.read_bytes(), 24, []
    order = "little" if data[0] in (0xD4, 0x4D) else "big"
    while at < len(data):
        length = int.from_bytes(data[at + 8 : at + 12], order)  # type: ignore[arg-type]
        packets.append(data[at + 16 : at + 16 + length])
        at += 16 + length
    return packets


def hexdump(packet: bytes) -> str:
    """As `od -Ax -tx1` writes it."""
    rows = range(0, len(packet), 16)
    return "".join(f"{at:06x} {packet[at : at + 16].hex(' ')}\n" for at in rows) + "\n"


if __name__ == "__main__":
    sys.exit(main())
