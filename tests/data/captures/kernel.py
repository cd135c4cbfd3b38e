"""Captures of the real Linux TCP: two network namespaces, and between them a router of a few lines.

    python tests/data/captures/kernel.py OUT_FOLDER [CASE ...]

The router is this process: it reads packets from one TUN device, writes them down as the kernel sent them, loses or marks
the ones it is told to, and hands the others to the other device 10 ms later. It needs root, iproute2 and /dev/net/tun.
"""

from __future__ import annotations

import contextlib
import fcntl
import heapq
import os
import select
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DELAY = 0.010
SNAP = 96
PORT = 5001
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000


@dataclass(frozen=True)
class Case:
    """One transfer of ``size`` bytes. ``lose`` and ``mark`` count the client's data packets from 1, sent again or not."""

    ecn: tuple[int, int] = (1, 1)
    sack: int = 1
    lose: frozenset[int] = frozenset()
    mark: frozenset[int] = frozenset()
    size: int = 400_000


CASES = {
    "ecn": Case(mark=frozenset({30, 31, 90, 150})),
    "refused": Case(ecn=(1, 0)),
    "off": Case(ecn=(0, 0), lose=frozenset({40, 120})),
    "sack": Case(lose=frozenset({40, 42, 43, 150}), mark=frozenset({100})),
    "no-sack": Case(sack=0, lose=frozenset({40, 42, 150}), mark=frozenset({100})),
    "tail": Case(lose=frozenset({14}), size=20_000),
}

CLIENT = f"""
import socket, sys
s = socket.create_connection(("10.9.0.2", {PORT}))
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
s.sendall(bytes(int(sys.argv[1])))
s.shutdown(socket.SHUT_WR)
s.recv(1)
"""

SERVER = f"""
import socket
s = socket.create_server(("10.9.0.2", {PORT}))
print("ready", flush=True)
c, _ = s.accept()
while c.recv(1 << 16):
    pass
"""


def available() -> str:
    """Why captures cannot be made here; empty if they can."""
    if os.geteuid() != 0:
        return "needs root"
    if not Path("/dev/net/tun").exists():
        return "needs /dev/net/tun"
    try:
        with namespaces(("ecnlab-try",)):
            return ""
    except (OSError, subprocess.CalledProcessError) as error:
        return f"network namespaces cannot be made: {error}"


@contextlib.contextmanager
def namespaces(names: tuple[str, ...]) -> Iterator[None]:
    """Namespaces that vanish when the block ends."""
    try:
        for name in names:
            _ip("netns", "add", name)
        yield
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def record(case: Case, path: Path) -> None:
    """Do one transfer and write down what came to the router."""
    tag = f"{os.getpid() % 100_000}"
    here, there = f"ecnlab-c{tag}", f"ecnlab-s{tag}"
    with namespaces((here, there)), contextlib.ExitStack() as stack:
        ends = []
        for space, device, address, ecn in ((here, f"ec{tag}", 1, case.ecn[0]), (there, f"es{tag}", 2, case.ecn[1])):
            ends.append(stack.enter_context(_tun(device)))
            _ip("link", "set", device, "netns", space)
            _inside(space, "ip", "addr", "add", f"10.9.0.{address}", "peer", f"10.9.0.{3 - address}", "dev", device)
            _inside(space, "ip", "link", "set", device, "up")
            _set(space, "tcp_ecn", ecn)
            _set(space, "tcp_sack", case.sack)
            _set(space, "tcp_no_metrics_save", 1)
        server = stack.enter_context(_python(there, SERVER))
        assert server.stdout is not None
        server.stdout.readline()
        client = stack.enter_context(_python(here, CLIENT, str(case.size)))
        with path.open("wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, SNAP, 101))
            _route(ends, case, file, (client, server))


def _route(ends: list[int], case: Case, file, processes) -> None:  # type: ignore[no-untyped-def]
    """Forward until both processes have ended and nothing is under way."""
    waiting: list[tuple[float, int, int, bytes]] = []
    count = data = 0
    quiet = time.monotonic() + 20
    while waiting or any(process.poll() is None for process in processes):
        if time.monotonic() > quiet:
            raise TimeoutError("the transfer does not end")
        timeout = max(0.0, waiting[0][0] - time.monotonic()) if waiting else 0.2
        for fd in select.select(ends, [], [], timeout)[0]:
            packet = os.read(fd, 65_536)
            if packet[0] >> 4 != 4:
                continue
            now = time.clock_gettime_ns(time.CLOCK_REALTIME)
            file.write(struct.pack("<IIII", now // 10**9, now % 10**9, min(len(packet), SNAP), len(packet)))
            file.write(packet[:SNAP])
            if fd == ends[0] and _payload(packet):
                data += 1
                if data in case.lose:
                    continue
                if data in case.mark and packet[1] & 3:
                    packet = _marked(packet)
            count += 1
            heapq.heappush(waiting, (time.monotonic() + DELAY, count, ends[1] if fd == ends[0] else ends[0], packet))
        while waiting and waiting[0][0] <= time.monotonic():
            os.write(waiting[0][2], heapq.heappop(waiting)[3])


def _payload(packet: bytes) -> int:
    """Bytes of TCP data."""
    header = (packet[0] & 15) * 4
    return len(packet) - header - (packet[header + 12] >> 4) * 4 if packet[9] == 6 else 0


def _marked(packet: bytes) -> bytes:
    """The packet with CE, and its IP checksum."""
    header = bytearray(packet[:20])
    header[1] |= 3
    header[10:12] = b"\0\0"
    total = sum(struct.unpack(">10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    header[10:12] = struct.pack(">H", ~(total + (total >> 16)) & 0xFFFF)
    return bytes(header) + packet[20:]


@contextlib.contextmanager
def _tun(name: str) -> Iterator[int]:
    fd = os.open("/dev/net/tun", os.O_RDWR)
    try:
        fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def _python(space: str, code: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    command = ["ip", "netns", "exec", space, sys.executable, "-c", code, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def _inside(space: str, *command: str) -> None:
    subprocess.run(["ip", "netns", "exec", space, *command], check=True, capture_output=True)


def _set(space: str, key: str, value: int) -> None:
    _inside(space, "sh", "-c", f"echo {value} > /proc/sys/net/ipv4/{key}")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or CASES:
        record(CASES[name], folder / f"{name}.pcap")
