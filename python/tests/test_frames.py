"""Tables of the simulator as Polars frames: few values arrive as lists, many as arrays."""

from __future__ import annotations

import polars as pl
import pytest

from ecnlab.engines.frames import frame
from ecnlab.scenario.files import read_scenario

SCENARIO = """
format = 1
duration = "{seconds} s"
sample = "10 ms"

[link.l]
from = "a"
to = "b"
rate = "1 Mbps"
delay = "1 ms"

[flow.f]
from = "a"
to = "b"
traffic = "ftp"
"""


def test_none_in_a_list_is_missing_and_an_empty_list_has_its_type() -> None:
    made = frame({"text": ("String", ["a"]), "value": ("Float64", [None]), "count": ("UInt64", [2**64 - 1])})
    assert made.schema == {"text": pl.String, "value": pl.Float64, "count": pl.UInt64}
    assert made.rows() == [("a", None, 2**64 - 1)]
    assert frame({"index": ("UInt32", []), "flag": ("Boolean", [])}).schema == {"index": pl.UInt32, "flag": pl.Boolean}


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """Columns of ``flow_series`` in a run of 100 s, with 10,000 rows, and of 400 s, whose tables have over a million values."""
    found = []
    for seconds in (100, 400):
        path = tmp_path_factory.mktemp("run") / "x.toml"
        path.write_text(SCENARIO.format(seconds=seconds))
        found.append(read_scenario(path).run(1)["flow_series"])
    return found


def test_lists_and_arrays_give_the_same_rows(series: list[dict[str, object]]) -> None:
    few, many = series
    assert all(isinstance(values, tuple) and isinstance(values[0], str) for values in few.values())
    assert not any(isinstance(values, tuple) and isinstance(values[0], str) for values in many.values())
    assert frame(few).equals(frame(many).head(frame(few).height))
    assert frame(few).schema == frame(many).schema
