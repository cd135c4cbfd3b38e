"""`ecnlab trace`: sums over all connections, gaps of the capture next to the numbers, and columns by worth on a narrow terminal."""

from __future__ import annotations

import html
import json
import struct
from pathlib import Path

import pytest

from ecnlab.cli.text_tables import Column, laid_out

SYN, ACK, PSH = 0x02, 0x10, 0x08


def packet(port: int, up: bool, seq: int, ack: int, flags: int, payload: int, ecn: int = 0) -> bytes:
    """An IPv4 packet of TCP between 192.0.2.1:port and 192.0.2.2:80."""
    ends = [(bytes([192, 0, 2, 1]), port), (bytes([192, 0, 2, 2]), 80)]
    (source, sport), (to, dport) = ends if up else reversed(ends)
    tcp = struct.pack("!HHIIBBHHH", sport, dport, seq, ack, 5 << 4, flags, 65535, 0, 0) + bytes(payload)
    return struct.pack("!BBHHHBBH", 0x45, ecn, 20 + len(tcp), 0, 0, 64, 6, 0) + source + to + tcp


def connection(port: int, lost: bool, pieces: int = 6) -> list[tuple[float, bytes]]:
    """A transfer in segments of 700 bytes, the third of which the capture lacks if ``lost``."""
    found = [(0.0, packet(port, True, 99, 0, SYN, 0)), (0.02, packet(port, False, 499, 100, SYN | ACK, 0))]
    found.append((0.021, packet(port, True, 100, 500, ACK, 0)))
    for i in range(pieces):
        if not (lost and i == 2):
            found.append(
                (0.03 + 0.1 * i, packet(port, True, 100 + 700 * i, 500, ACK | PSH, 700, ecn=3 if i == 1 else 0))
            )
        found.append((0.05 + 0.1 * i, packet(port, False, 500, 100 + 700 * (i + 1), ACK, 0)))
    return found


def written(file: Path, *connections: list[tuple[float, bytes]]) -> Path:
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    for time, one in sorted(part for each in connections for part in each):
        data += struct.pack("<IIII", int(time), round(time % 1 * 1e6), len(one), len(one)) + one
    file.write_bytes(data)
    return file


@pytest.fixture
def gap(tmp_path: Path) -> Path:
    return written(
        tmp_path / "gap.pcap", connection(4001, True), *(connection(port, False) for port in range(4002, 4006))
    )


def test_the_sums_are_those_of_all_directions_even_if_not_all_are_shown(cli, gap) -> None:
    found = json.loads(cli("trace", str(gap), "--json").stdout)
    for name in ("packets", "data_packets", "bytes", "unique_bytes", "missing_bytes", "retransmits", "ce"):
        assert found["sums"][name] == sum(row[name] for row in found["directions"])
    assert found["sums"]["data_packets"] == 29 and found["sums"]["missing_bytes"] == 700
    shown = " ".join(cli("trace", str(gap), "--rows", "1").stdout.split())
    assert "all connections: data 29 packets, 20.3 kB" in shown and "5 CE" in shown
    # 29 segments of 700 bytes in the 0.55 s from the first packet to the last
    assert f"goodput {29 * 700 * 8 / 0.55 / 1e3:.0f} kb/s over 550 ms" in shown


def test_a_chosen_connection_has_its_own_sums(cli, gap) -> None:
    found = json.loads(cli("trace", str(gap), "--connection", "1", "--json").stdout)["sums"]
    assert (found["data_packets"], found["missing_bytes"]) == (6, 0)


def test_a_gap_is_next_to_the_numbers_of_its_direction(cli, gap, tmp_path) -> None:
    shown = cli("trace", str(gap)).stdout
    for title in ("data", "retransmissions", "round trips", "ecn"):
        head, *rows = shown.split(f"\n{title}\n")[1].split("\n\n")[0].splitlines()
        assert "gap" in head.split()
        (marked,) = (row for row in rows if "missing" in row)
        assert "192.0.2.1:4001" in marked and "700 B missing" in marked
    assert "gap 700 B missing" in " ".join(shown.split())
    page = tmp_path / "gap.html"
    cli("trace", str(gap), "--html", str(page))
    text = html.unescape(page.read_text())
    assert "The capture lacks 700 B of the data that were acknowledged" in text and "700 B missing" in text


def test_a_whole_capture_has_no_column_for_gaps(cli, tmp_path) -> None:
    whole = written(tmp_path / "whole.pcap", connection(4001, False), connection(4002, False))
    shown = cli("trace", str(whole)).stdout
    assert "missing" not in shown and "gap" not in shown.split()


def test_columns_with_only_zeros_are_the_first_to_go(tmp_path) -> None:
    cells = {
        "name": ["flow", "other"],
        "drops": ["0", "0"],
        "wait": ["0 s", "-"],
        "marks": ["0", "7"],
        "rate": ["1 b/s", "0 b/s"],
    }
    columns = [Column(name, values, name != "name") for name, values in cells.items()]
    lines, left_out = laid_out(columns, 20)
    assert lines[0].split() == ["name", "marks", "rate"] and left_out == ["drops", "wait"]
    lines, left_out = laid_out(columns, 80)
    assert lines[0].split() == list(cells) and left_out == []
