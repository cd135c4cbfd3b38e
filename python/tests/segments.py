"""Captures made segment by segment: two hosts, a client (0) and a server (1), raw IPv4."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

BITS: Final = {"F": 1, "S": 2, "R": 4, "P": 8, "A": 16, "E": 64, "C": 128, "N": 256}
NOT_ECT, ECT1, ECT0, CE = range(4)
PLAIN: Final = bytes([2, 4, 5, 0xB4, 1, 3, 3, 2])
"""MSS 1460 and window scale 2."""
SACK: Final = PLAIN + bytes([4, 2, 1, 1])


@dataclass
class Hosts:
    """Two hosts; ``say`` adds a packet. Sequence numbers are relative to the two initial ones."""

    isn: tuple[int, int] = (0xFFFF_FF00, 77_000)
    options: bytes = PLAIN
    packets: list[tuple[float, bytes]] = field(default_factory=list)

    def send(
        self,
        ms: float,
        end: int,
        seq: int,
        ack: int,
        flags: str,
        size: int = 0,
        ecn: int = NOT_ECT,
        *,
        window: int = 16_000,
        options: bytes = b"",
        ident: int = 0,
    ) -> None:
        """Add a packet of ``end`` with ``size`` bytes at ``ms``."""
        mine, theirs = self.isn[end], self.isn[1 - end]
        addresses = [bytes([198, 51, 100, 1]), bytes([203, 0, 113, 9])]
        ports = (49_152, 443)
        code = sum(BITS[flag] for flag in flags)
        tcp = struct.pack(
            ">HHIIHHHH",
            ports[end],
            ports[1 - end],
            (mine + seq) % 2**32,
            (theirs + ack) % 2**32 if "A" in flags else 0,
            (5 + len(options) // 4) << 12 | code,
            window,
            0,
            0,
        )
        total = 20 + len(tcp) + len(options) + size
        ip = struct.pack(">BBHHHBBH", 0x45, ecn, total, ident, 0x4000, 61, 6, 0) + addresses[end] + addresses[1 - end]
        self.packets.append((ms, ip + tcp + options + bytes(size)))

    def shake(self, rtt: float = 20) -> Self:
        """Adds a handshake that negotiates ECN, and returns itself."""
        self.send(0, 0, 0, 0, "SEC", options=self.options)
        self.send(rtt, 1, 0, 1, "SAE", options=self.options)
        self.send(rtt + 0.05, 0, 1, 1, "A")
        return self

    def save(self, path: Path, order: list[int] | None = None) -> Path:
        """Write a pcap, with the packets in ``order`` of the file."""
        chosen = self.packets if order is None else [self.packets[i] for i in order]
        out = [struct.pack("<IHHiIII", 0xA1B2_3C4D, 2, 4, 0, 0, 65_535, 101)]
        for ms, packet in chosen:
            ns = 1_700_000_000 * 10**9 + round(ms * 1e6)
            out.append(struct.pack("<IIII", ns // 10**9, ns % 10**9, len(packet), len(packet)) + packet)
        path.write_bytes(b"".join(out))
        return path


def read(cli: Any, *arguments: object) -> Any:
    """The tables of ``ecnlab trace --json``."""
    done = cli("trace", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def sack(*blocks: tuple[int, int], isn: int = 0xFFFF_FF00) -> bytes:
    """A SACK option for relative numbers of the client's data."""
    ends = b"".join(struct.pack(">II", (low + isn) % 2**32, (high + isn) % 2**32) for low, high in blocks)
    return bytes([1, 1, 5, 2 + len(ends)]) + ends
