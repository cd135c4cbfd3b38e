"""Frames and capture files made byte by byte, for tests of what ``ecnlab trace`` can read."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

CLIENT, SERVER = bytes([198, 51, 100, 7]), bytes([203, 0, 113, 9])
CLIENT6, SERVER6 = bytes.fromhex("20010db8" + "00" * 11 + "07"), bytes.fromhex("20010db8" + "00" * 11 + "09")
FLAGS = {"F": 1, "S": 2, "A": 16, "E": 64, "C": 128}
START = 1_800_000_000_000_000
"""Microseconds since 1970."""


def tcp(from_client: bool, seq: int, ack: int, flags: str, payload: int = 0) -> bytes:
    ports = (50_123, 443) if from_client else (443, 50_123)
    bits = sum(FLAGS[flag] for flag in flags)
    return struct.pack("!HHIIHHHH", *ports, seq, ack, 5 << 12 | bits, 8000, 0, 0) + bytes(payload)


def ipv4(
    from_client: bool, payload: bytes, *, ecn: int = 0, protocol: int = 6, ident: int = 0, total: int | None = None
) -> bytes:
    ends = (CLIENT, SERVER) if from_client else (SERVER, CLIENT)
    total = 20 + len(payload) if total is None else total
    return struct.pack("!BBHHHBBH", 0x45, ecn, total, ident, 0x4000, 61, protocol, 0) + b"".join(ends) + payload


def ipv6(from_client: bool, payload: bytes, *, ecn: int = 0, following: int = 6, length: int | None = None) -> bytes:
    ends = (CLIENT6, SERVER6) if from_client else (SERVER6, CLIENT6)
    length = len(payload) if length is None else length
    return struct.pack("!IHBB", 6 << 28 | ecn << 20, length, following, 61) + b"".join(ends) + payload


def ethernet(payload: bytes, kind: int = 0x0800) -> bytes:
    return bytes(range(12)) + struct.pack("!H", kind) + payload


def transfer(segments: int = 3, length: int = 700, *, zero: bool = False, six: bool = False) -> list[tuple[int, bytes]]:
    """IP packets with their times in ms: a handshake, data of the client with ECT(0), an ACK of each 20 ms later."""
    made: list[tuple[int, bytes]] = []

    def add(at: int, from_client: bool, segment: bytes, ecn: int = 0) -> None:
        empty = 0 if zero and len(segment) > 20 else None
        packet = (
            ipv6(from_client, segment, ecn=ecn, length=empty)
            if six
            else ipv4(from_client, segment, ecn=ecn, total=empty, ident=(len(made) + 1) % 65_536)
        )
        made.append((at, packet))

    add(0, True, tcp(True, 100, 0, "SEC"))
    add(10, False, tcp(False, 900, 101, "SAE"))
    add(10, True, tcp(True, 101, 901, "A"))
    for i in range(segments):
        add(20 + 30 * i, True, tcp(True, 101 + i * length, 901, "A", length), 2)
        add(40 + 30 * i, False, tcp(False, 901, 101 + (i + 1) * length, "A"))
    return made


def pcap(path: Path, frames: list[tuple[int, bytes]], *, link: int = 1, snap: int = 262_144) -> Path:
    """Write frames with times in ms; times may also be fractions."""
    out = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, snap, link)
    for at, frame in frames:
        seconds, micros = divmod(START + round(at * 1000), 1_000_000)
        out += struct.pack("<IIII", seconds, micros, len(frame[:snap]), len(frame)) + frame[:snap]
    path.write_bytes(out)
    return path


def block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def section(*interfaces: tuple[int, int]) -> bytes:
    """A section header, and an interface of each link type and snap length."""
    head = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    return head + b"".join(block(1, struct.pack("<HHI", link, 0, snap)) for link, snap in interfaces)


def simple(frame: bytes, snap: int) -> bytes:
    """A Simple Packet Block."""
    return block(3, struct.pack("<I", len(frame)) + frame[:snap])


def obsolete(at: int, frame: bytes, snap: int) -> bytes:
    """An obsolete Packet Block of interface 0."""
    time = START + at * 1000
    head = struct.pack("<HHIIII", 0, 0, time >> 32, time & 0xFFFFFFFF, len(frame[:snap]), len(frame))
    return block(2, head + frame[:snap])


def enhanced(interface: int, at: float, frame: bytes) -> bytes:
    """An Enhanced Packet Block."""
    time = START + round(at * 1000)
    head = struct.pack("<IIIII", interface, time >> 32, time & 0xFFFFFFFF, len(frame), len(frame))
    return block(6, head + frame)


def analysed(cli: Any, path: Path, *args: str, code: int = 0) -> Any:
    """The output of ``ecnlab trace --json``."""
    result = cli("trace", path, "--json", *args)
    assert result.returncode == code, result.stderr
    return json.loads(result.stdout)
