"""Two captures of one path: packets without a partner, and segments that a host's offload splits or merges."""

from __future__ import annotations

import json
from typing import Any

import pytest
from segments import CE, ECT0, NOT_ECT, Hosts, read

MSS = 1400
LATE_MS = 7.0
"""The second clock less the first, plus the time between."""


def between(cli: Any, tmp_path: Any, first: Hosts, second: Hosts) -> tuple[dict[tuple[str, str, int], int], Any]:
    """The changes of the client's packets, and the path of each direction."""
    second.packets = [(ms + LATE_MS, packet) for ms, packet in second.packets]
    one, other = first.save(tmp_path / "first.pcap"), second.save(tmp_path / "second.pcap")
    found = read(cli, one, "--against", other)
    changes: dict[tuple[str, str, int], int] = {}
    for row in found["changes"]:
        if row["from"].endswith(":49152"):
            changes[row["before"], row["after"], row["flags_changed"]] = row["packets"]
    return changes, {row["from"].rsplit(":", 1)[-1]: row for row in found["paths"]}


def segments(hosts: Hosts, marked: tuple[int, ...] = (), lost: tuple[int, ...] = (), count: int = 6) -> None:
    for n in range(count):
        if n not in lost:
            hosts.send(40 + n / 10, 0, 1 + n * MSS, 1, "A", MSS, CE if n in marked else ECT0)


def test_a_large_packet_is_compared_with_its_segments(cli, tmp_path):
    sender, receiver = Hosts().shake(), Hosts().shake()
    sender.send(40, 0, 1, 1, "A", 6 * MSS, ECT0)
    segments(receiver, marked=(3,))
    changes, paths = between(cli, tmp_path, sender, receiver)
    assert changes["ECT(0)", "CE", 0] == 1 and changes["ECT(0)", "ECT(0)", 0] == 5
    row = paths["49152"]
    assert (row["only_first"], row["only_second"], row["only_first_bytes"], row["only_second_bytes"]) == (0, 0, 0, 0)
    assert row["delay_min_s"] == pytest.approx(0.007)


def test_segments_that_the_receiver_merges_and_one_that_is_lost(cli, tmp_path):
    sender, receiver = Hosts().shake(), Hosts().shake()
    segments(sender)
    # Merged: 0 with 1, and 3 to 5 with CE; 2 is lost.
    receiver.send(40.1, 0, 1, 1, "A", 2 * MSS, ECT0)
    receiver.send(40.5, 0, 1 + 3 * MSS, 1, "PA", 3 * MSS, CE)
    changes, paths = between(cli, tmp_path, sender, receiver)
    assert changes == {("Not-ECT", "Not-ECT", 0): 2, ("ECT(0)", "ECT(0)", 0): 2, ("ECT(0)", "CE", 0): 3}
    row = paths["49152"]
    assert (row["only_first"], row["only_first_bytes"], row["only_second"]) == (1, MSS, 0)


def test_sizes_that_overlap_in_part_and_a_bleached_one(cli, tmp_path):
    sender, receiver = Hosts().shake(), Hosts().shake()
    for n in range(2):
        sender.send(40 + n, 0, 1 + n * 3 * MSS, 1, "A", 3 * MSS, ECT0)
    # Three of two segments each; the second spans both large packets.
    for n in range(3):
        receiver.send(42 + n, 0, 1 + n * 2 * MSS, 1, "A", 2 * MSS, NOT_ECT if n == 1 else ECT0)
    changes, paths = between(cli, tmp_path, sender, receiver)
    assert changes["ECT(0)", "Not-ECT", 0] == 2 and changes["ECT(0)", "ECT(0)", 0] == 2
    assert (paths["49152"]["only_first"], paths["49152"]["only_second_bytes"]) == (0, 0)


def test_cwr_of_a_large_packet_is_on_its_first_segment(cli, tmp_path):
    sender, receiver = Hosts().shake(), Hosts().shake()
    sender.send(40, 0, 1, 1, "AC", 3 * MSS, ECT0)
    for n in range(3):
        receiver.send(40 + n / 10, 0, 1 + n * MSS, 1, "A" if n else "AC", MSS, ECT0)
    changes, _ = between(cli, tmp_path, sender, receiver)
    assert changes["ECT(0)", "ECT(0)", 0] == 3 and not any(flags for _, _, flags in changes)


def test_an_original_lost_and_sent_again_is_paired_once(cli, tmp_path):
    sender, receiver = Hosts().shake(), Hosts().shake()
    sender.send(40, 0, 1, 1, "A", 4 * MSS, ECT0)
    segments(receiver, lost=(1,), count=4)
    for hosts in (sender, receiver):
        hosts.send(90, 0, 1 + MSS, 1, "A", MSS, NOT_ECT)
    changes, paths = between(cli, tmp_path, sender, receiver)
    assert changes == {("Not-ECT", "Not-ECT", 0): 3, ("ECT(0)", "ECT(0)", 0): 3}
    assert (paths["49152"]["only_first"], paths["49152"]["only_first_bytes"]) == (0, MSS)


def test_packets_found_only_at_one_place_are_listed_with_their_marks(cli, tmp_path):
    first, second = Hosts().shake(), Hosts().shake()
    segments(first, marked=(2,), lost=(4,))
    segments(second, marked=(4,), lost=(0, 2))
    first.send(60, 1, 1, 1 + 6 * MSS, "A")
    first.send(61, 1, 1, 1 + 6 * MSS, "AE")
    _, paths = between(cli, tmp_path, first, second)
    client, server = paths["49152"], paths["443"]
    assert [client[f"only_first{part}"] for part in ("", "_bytes", "_ce")] == [2, 2 * MSS, 1]
    assert [client[f"only_second{part}"] for part in ("", "_bytes", "_ce")] == [1, MSS, 1]
    assert (client["paired"], server["only_first"], server["only_first_bytes"], server["paired"]) == (5, 2, 0, 1)
    shown = cli("trace", "first.pcap", "--against", "second.pcap").stdout
    assert "packets found at both places, or only at one" in shown


def test_the_packets_without_partner_are_listed_with_number_and_codepoint(cli, tmp_path):
    first, second = Hosts().shake(), Hosts().shake()
    first.send(40, 0, 1, 1, "A", 2 * MSS, CE)
    segments(second, lost=(0, 2, 3, 4, 5))
    first.send(60, 1, 1, 1 + 6 * MSS, "A")
    second.send(70, 0, 1 + 6 * MSS, 1, "A", 10, ECT0)
    _, paths = between(cli, tmp_path, first, second)
    assert paths["49152"]["only_first"] == 0 and paths["443"]["only_first"] == 1
    rows = json.loads(cli("trace", "first.pcap", "--against", "second.pcap", "--json").stdout)["lost"]
    listed = [[row[key] for key in ("side", "packet", "codepoint", "len", "missing_bytes")] for row in rows]
    # Half of the large packet was found; of a pure ACK no bytes are missing.
    assert listed == [
        ["first", 4, "CE", 2 * MSS, MSS],
        ["first", 5, "Not-ECT", 0, 0],
        ["second", 5, "ECT(0)", 10, 10],
    ]
    starts = [min(ms for ms, _ in hosts.packets) for hosts in (first, second)]
    assert rows[0]["time_s"] == pytest.approx((40 - starts[0]) / 1000)
    assert rows[2]["time_s"] == pytest.approx((70 + LATE_MS - starts[1]) / 1000)
    assert rows[0]["from"].endswith(":49152") and rows[1]["from"].endswith(":443")
    assert "packets found only at one place" in cli("trace", "first.pcap", "--against", "second.pcap").stdout


def test_the_list_of_packets_without_partner_is_short_and_has_the_marked_ones(cli, tmp_path):
    first, second = Hosts().shake(), Hosts().shake()
    segments(first, marked=(299,), count=300)
    _, paths = between(cli, tmp_path, first, second)
    assert paths["49152"]["only_first"] == 300
    rows = json.loads(cli("trace", "first.pcap", "--against", "second.pcap", "--json").stdout)["lost"]
    assert [row["packet"] for row in rows] == [*range(4, 4 + 255), 303]
    assert rows[-1]["codepoint"] == "CE"
