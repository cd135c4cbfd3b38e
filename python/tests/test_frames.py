"""Tables of the simulator as Polars frames: few values arrive as lists, many as bytes."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping

import polars as pl
import pytest

from ecnlab.base.types import Column
from ecnlab.engines.frames import frame
from ecnlab.scenario.files import read_scenario

SCENARIO = """
format = 1
duration = "{seconds} s"
sample = "10 ms"

link.l = {{ from = "a", to = "b", rate = "1 Mbps", delay = "1 ms" }}
flow.f = {{ from = "a", to = "b", traffic = "ftp" }}
"""


def test_none_in_a_list_is_missing_and_an_empty_list_has_its_type() -> None:
    made = frame({"text": ("String", ["a"]), "value": ("Float64", [None]), "count": ("UInt64", [2**64 - 1])})
    assert made.schema == {"text": pl.String, "value": pl.Float64, "count": pl.UInt64}
    assert made.rows() == [("a", None, 2**64 - 1)]
    assert frame({"index": ("UInt32", []), "flag": ("Boolean", [])}).schema == {"index": pl.UInt32, "flag": pl.Boolean}


def test_nan_in_bytes_is_missing_and_codes_in_bytes_are_names() -> None:
    floats, counts, codes = (
        struct.pack("<2d", 0.5, math.nan),
        struct.pack("<2Q", 0, 2**64 - 1),
        struct.pack("<2I", 1, 0),
    )
    made = frame({"text": (codes, ["a", "b"]), "value": ("Float64", floats), "count": ("UInt64", counts)})
    assert made.schema == {"text": pl.String, "value": pl.Float64, "count": pl.UInt64}
    assert made.rows() == [("b", 0.5, 0), ("a", None, 2**64 - 1)]
    assert frame({"index": ("UInt32", codes)})["index"].to_list() == [1, 0]
    assert frame({"flag": ("Boolean", b"\0\1\0")})["flag"].to_list() == [False, True, False]


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> list[Mapping[str, Column]]:
    """Columns of ``flow_series`` in runs of 5 and 100 s: 500 and 10,000 rows."""
    found = []
    for seconds in (5, 100):
        path = tmp_path_factory.mktemp("run") / "x.toml"
        path.write_text(SCENARIO.format(seconds=seconds))
        found.append(read_scenario(path).run(1)["flow_series"])
    return found


def kinds(columns: Mapping[str, Column]) -> set[type]:
    """The types of the values of ``columns``."""
    return {type(values[-1]) for values in columns.values()}


def test_lists_and_bytes_give_the_same_rows(series: list[Mapping[str, Column]]) -> None:
    few, many = series
    assert kinds(few) == {list}
    assert kinds(many) == {bytes, list}, "names are a list"
    assert frame(few).equals(frame(many).head(frame(few).height))
    assert frame(few).schema == frame(many).schema
