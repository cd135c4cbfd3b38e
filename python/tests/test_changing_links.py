"""Links that change: traces in files, their errors, refusals by engines, words on pages, and tables."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from one_link import TAIL, one_link

import ecnlab
from ecnlab.base.errors import SpecError
from ecnlab.scenario.files import read_scenario
from ecnlab.scenario.words import bits, delay

Written = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Write a scenario whose link has these lines, and files."""

    def write(link: str, queue: str = TAIL, **files: str) -> Path:
        for name, text in files.items():
            (tmp_path / f"{name}.csv").write_text(text)
        path = tmp_path / "scenario.toml"
        path.write_text(one_link(link, queue, duration="20 s", warmup="4 s", sample="100 ms"))
        return path

    return write


def test_a_transfer_fills_a_link_that_follows_a_trace(written: Written) -> None:
    # 2 Mbit/s and 1 Mbit/s for 4 s each: from 4 to 20 s 1.5 Mbit/s on average.
    trace = "time_s,rate_mbps\n0,2\n4,1\n"
    scenario = read_scenario(written('rate = { csv = "fade.csv", every = "8 s" }\ndelay = "10 ms"', fade=trace))
    run = ecnlab.run(scenario, seed=1)
    link = run.table("links").row(0, named=True)
    assert link["rate_bps"] == 1.5e6
    assert 0.97 <= link["utilisation"] <= 1.0
    rate = scenario.resolved["link"]["pipe"]["rate"]
    assert rate["sha256"] == hashlib.sha256(trace.encode()).hexdigest()
    assert rate["highest"] == "2 Mbps"


def test_another_trace_of_the_same_name_is_another_scenario(written: Written) -> None:
    link = 'rate = { csv = "fade.csv" }\ndelay = "10 ms"'
    one = read_scenario(written(link, fade="time_s,rate_mbps\n0,2\n"))
    two = read_scenario(written(link, fade="time_s,rate_mbps\n0,3\n"))
    assert one.hash != two.hash


@pytest.mark.parametrize(
    ("trace", "parts"),
    [
        ("time_s,rate_mbps\n0,2\n4;1\n", ["fade.csv:3: is not a time and a value", "two numbers with a comma"]),
        ("0,2\n4,1\n", ["fade.csv:1: the header is not that of a trace", "`rate_mbps`"]),
        ("", ["fade.csv:1", "time_s"]),
    ],
)
def test_a_wrong_trace_is_refused_with_file_and_line(written: Written, trace: str, parts: list[str]) -> None:
    with pytest.raises(SpecError) as refused:
        read_scenario(written('rate = { csv = "fade.csv" }\ndelay = "10 ms"', fade=trace))
    assert all(part in str(refused.value) for part in ["link.pipe.rate.csv", *parts])


def test_a_missing_trace_is_refused_with_its_path(written: Written) -> None:
    with pytest.raises(SpecError, match=r"none\.csv.*folder of the scenario"):
        read_scenario(written('rate = { csv = "none.csv" }\ndelay = "10 ms"'))


FQ_CODEL = 'discipline = "fq_codel"\nlimit = "10240 packets"\necn = true'


def _longest_rtt(path: Path, settings: dict[str, str]) -> pl.DataFrame:
    """Return the smoothed RTT after the rate falls from 50 to 1 Mbit/s at 10 s, behind FQ-CoDel that marks."""
    run = ecnlab.run(path, seed=1, overrides={"duration": "40 s"} | settings)
    return run.table("flow_series").filter(pl.col("time_s") > 11)


def test_after_a_fall_to_a_fiftieth_prague_fills_fq_codel_for_long_and_a_halving_sender_does_not(
    written: Written,
) -> None:
    link = 'rate = [["0 s", "50 Mbps"], ["10 s", "1 Mbps"]]\ndelay = "40 ms"'
    reno = {"profile": "linux-7", "tcp.default.congestion": "reno"}
    prague, halving = (_longest_rtt(written(link, FQ_CODEL), settings) for settings in ({"profile": "l4s"}, reno))
    # heistp/l4s-tests reports RTTs above 4 s for such a fall: alpha grows slowly while an RTT takes seconds.
    assert prague["srtt_s"].max() > 4.0
    assert prague.filter(pl.col("srtt_s") > 3.0).height > 150  # samples of 0.1 s
    assert halving.filter(pl.col("time_s") > 16)["srtt_s"].max() < 0.5


@pytest.mark.parametrize(
    "link",
    [
        'rate = [["0 s", "2 Mbps"], ["1 s", "1 Mbps"]]\ndelay = "10 ms"',
        'rate = "2 Mbps"\ndelay = { square = ["10 ms", "20 ms"], every = "1 s" }',
        'rate = "2 Mbps"\ndelay = "10 ms"\noutages = { times = [["1 s", "1 s"]] }',
    ],
)
def test_models_refuse_such_links(written: Written, link: str) -> None:
    path = written(link, 'discipline = "codel"\nlimit = "100 packets"')
    with pytest.raises(ecnlab.EcnlabError, match=r"link pipe|link\.pipe"):
        ecnlab.run(path, engine="model")


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        ("2 Mbps", "2 Mb/s"),
        ([["0 s", "50 Mbps"], ["10 s", "1 Mbps"]], "50 Mb/s, then 1 Mb/s"),
        ([[f"{i} s", f"{i + 1} Mbps"] for i in range(9)], "1 Mb/s, then 2 Mb/s, then 3 Mb/s, then …, then 9 Mb/s"),
        ({"square": ["100 Mbps", "10 Mbps"], "every": "40 s"}, "100 Mb/s and 10 Mb/s in turn every 40 s"),
        ({"walk": ["1 Mbps", "9 Mbps"], "step": "1 s", "change": 0.1}, "walk from 1 Mb/s to 9 Mb/s"),
        ({"csv": "fade.csv", "highest": "2 Mbps"}, "trace fade.csv"),
    ],
)
def test_drawings_and_tables_name_what_changes(rate: object, words: str) -> None:
    assert bits({"rate": rate}) == words


def test_a_delay_that_changes_has_other_words_than_one_that_is_drawn() -> None:
    assert delay({"uniform": ["1 ms", "5 ms"]}) == "1 to 5 ms"
    assert delay({"sine": ["20 ms", "30 ms"], "every": "5 s", "step": "50 ms"}) == "sine from 20 ms to 30 ms every 5 s"
