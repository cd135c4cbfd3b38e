"""`make unchanged` accepts a difference only where a stated change altered what it may, and nothing else."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import polars as pl
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "tools" / "unchanged"))
import unchanged
from changes import CHANGES, without_echoed_times, without_never_set

NEVER, TIMES = CHANGES


def capture(sequence: int, echoed: int) -> bytes:
    """A capture of one segment with 10 bytes of payload, as Wireshark would write it."""
    options = bytes([1, 1, 8, 10]) + struct.pack(">II", 7, echoed)
    header = struct.pack(">HHIIBBHHH", 5001, 80, sequence, 0, 8 << 4, 0x10, 1000, 0, 0) + options
    words = sum(word for (word,) in struct.iter_unpack(">H", header))
    checksum = 0xFFFF - ((words & 0xFFFF) + (words >> 16))
    tcp = header[:16] + struct.pack(">H", checksum) + header[18:] + bytes(10)
    ip = bytes([0x45]) + bytes(8) + bytes([6]) + bytes(10)
    packet = ip + tcp + bytes(-len(ip + tcp) % 4)
    block = struct.pack("<IIIIIII", 6, 32 + len(packet), 0, 0, 0, len(ip + tcp), len(ip + tcp)) + packet
    return struct.pack("<III", 1, 12, 12) + block + struct.pack("<I", 32 + len(packet))


def test_a_capture_without_tsecr_is_the_one_with_tsecr_zero() -> None:
    # 0x9207 and 0x9107 and 0xFFFF: the checksum carries over in some.
    for echoed in (1, 0x9207, 0xF0739107, 0xFFFF_FFFF):
        assert without_echoed_times(capture(1, echoed)) == capture(1, 0)


def test_what_else_differs_in_a_capture_differs_without_tsecr() -> None:
    assert without_echoed_times(capture(1, 5)) != without_echoed_times(capture(2, 5))


def test_thresholds_never_set_are_missing_and_others_stay() -> None:
    before = pl.Series([2**64 - 1, 20_000, None], dtype=pl.UInt64)
    after = pl.Series([None, 20_000.0, None])
    assert without_never_set(before).equals(without_never_set(after))
    assert without_never_set(before).to_list() == [None, 20_000.0, None]


def digests(**columns: str) -> unchanged.Digests:
    """The digests of a run, with those that leave out a change."""
    return {"paper/run": {name.replace("_but_", " but for "): digest for name, digest in columns.items()}}


@pytest.mark.parametrize(
    ("after", "code", "lines"),
    [
        (
            {"a": "1", "b": "1", f"b_but_{TIMES.commit}": "2"},
            0,
            ["0 differ", "0 by ba74f779", "0 for no stated reason"],
        ),
        (
            {"a": "1", "b": "3", f"b_but_{TIMES.commit}": "2"},
            0,
            ["1 differ", "1 by ba74f779", "0 for no stated reason"],
        ),
        (
            {"a": "1", "b": "3", f"b_but_{TIMES.commit}": "4"},
            1,
            ["1 differ", "0 by ba74f779", "1 for no", "paper/run: b"],
        ),
        ({"a": "2", "b": "1", f"b_but_{TIMES.commit}": "2"}, 1, ["1 differ", "1 for no stated reason", "paper/run: a"]),
    ],
)
def test_a_difference_is_explained_by_a_change_that_leaves_nothing_else(
    after: dict[str, str],
    code: int,
    lines: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unchanged, "lies_between", lambda commit, base: base == "older")
    before = digests(a="1", b="1", **{f"b_but_{TIMES.commit}": "2"})
    assert unchanged.report("older", before, digests(**after)) == code
    printed = capsys.readouterr().out
    assert printed.startswith("1 runs, 2 columns and captures compared:")
    assert [line for line in lines if line not in printed] == []


def test_a_change_explains_nothing_where_the_base_has_it_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unchanged, "lies_between", lambda commit, base: False)
    before = digests(b="1", **{f"b_but_{TIMES.commit}": "2"})
    assert unchanged.report("newer", before, digests(b="3", **{f"b_but_{TIMES.commit}": "2"})) == 1
