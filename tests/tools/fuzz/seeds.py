"""Writes the captures of the corpus.

Captures of a run in every format that `text2pcap` and `editcap` (Debian's package `tshark`) can make of it; the headers and
options of its packets.

    .venv/bin/python tests/tools/fuzz/seeds.py

Seeds that need no other program are not stored: crates/fuzz/src/seeds.rs makes them. What libFuzzer found stays as it is (fuzz.py).
"""

from __future__ import annotations

import gzip
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import archive

ROOT = Path(__file__).parents[3]

SCENARIO = """format = 1
duration = "3 s"

link.a = { from = "x", to = "r", rate = "10 Mbps", delay = "1 ms" }
link.b = { from = "r", to = "y", rate = "1 Mbps", delay = "10 ms", queue = "q", loss = 0.02 }
queue.default = { discipline = "droptail", limit = "100 packets" }
queue.q = { discipline = "red", limit = "20 packets", min_th = "2 packets", max_th = "6 packets", weight = 0.2, ecn = true }
tcp.default = { ecn = "rfc3168" }
flow.f = { count = 2, from = "x", to = "y", traffic = "ftp" }
flow.u = { from = "x", to = "y", traffic = { kind = "cbr", rate = "64 kbps", packet = "200 B" } }
capture.c = { link = "b", snap = "80 B", format = "FORMAT" }
"""
"""A run whose captures are seeds: losses, marks, two connections and UDP."""


def main() -> None:
    """Stores every seed in the archive of its target; what else is there stays."""
    made: dict[str, dict[str, bytes]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for target, name, content in captures(Path(scratch)):
            made.setdefault(target, {})[name] = content
    for target, inputs in made.items():
        archive.write(target, archive.read(target) | inputs)


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
