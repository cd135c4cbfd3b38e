"""References in the texts of papers: their values, and the errors of wrong ones."""

from __future__ import annotations

import math
import re
from pathlib import Path

import polars as pl
import pytest

from ecnlab.base.errors import EcnlabError
from ecnlab.papers.judge import MEANS, Grid
from ecnlab.papers.published import Below, Metric, Published
from ecnlab.papers.quoted import Evidence
from ecnlab.papers.references import fill, start_of, with_interval
from ecnlab.papers.typed import typed

GRID = Grid(("load", "maxp"), names={"high": "high load"})
GAIN = Metric("gain", "", "gain", neutral=0.0, percent=True)
RATE = Metric("rate", "", "mean")
POINTS = [
    ("gain", "low", "0.1", 0.18, 0.12, 0.24, 20),
    ("gain", "high", "0.1", 0.60, 0.53, 0.66, 20),
    ("gain", "high", "0.5", -0.63, -0.66, -0.60, 20),
    ("share", "low", "0.1", 0.01, 0.005, 0.015, 20),
    ("share", "high", "0.1", 1.0, 1.0, 1.0, 20),
    ("rate", "low", "0.1", 13.49, 13.487, 13.493, 20),
    ("rate", "high", "0.1", 13.5, -math.inf, math.inf, 1),
]
NUMBERS = {
    "id": ["R1"],
    "metric": ["gain"],
    "verdict": ["agrees"],
    "printed": [0.5],
    "mean": [0.6],
    "low": [0.53],
    "high": [0.66],
    "n": [20],
}
CLAIM = Below(id="C1", row="C", metric="gain", where={}, statement="", limit=0.3)
CLAIMS = {
    "id": ["C1", "C1"],
    "metric": ["gain"] * 2,
    "place": ["low", "high"],
    "answer": ["no"] * 2,
    "outcome": ["yes", "no"],
}
SPAN = {"mean": [0.18, 0.6], "low": [0.12, 0.53], "high": [0.24, 0.66], "values": [[0.18], [0.6]], "n": [20, 20]}


@pytest.fixture
def evidence() -> Evidence:
    share = Metric("share", "", "mean", percent=True)
    published = Published("P", "t", "a", "d", {"gain": GAIN, "rate": RATE, "share": share}, (), (CLAIM,))
    schema = {"metric": pl.String, **dict.fromkeys(GRID.keys, pl.String), **MEANS}
    tables = {
        "points": pl.DataFrame(POINTS, schema=schema, orient="row"),
        "linux": pl.DataFrame(POINTS[:1], schema=schema, orient="row").with_columns(mean=pl.lit(0.2)),
        "numbers": pl.DataFrame(NUMBERS),
        "claims": pl.DataFrame(CLAIMS | SPAN),
    }
    tally = {"numbers": {"agrees": 3, "same direction": 1}, "claims": {"partly": 1}}
    about = {"runs": 20571, "experiments": {"bulk": {"runs": 540, "replicates": 30}}, "tally": tally}
    return Evidence(published, GRID, tables, about)


FILE = Path("README.in.md")


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ('{{ point("gain", load="low", maxp=0.1) }}', "18% (12% to 24%)"),
        ('{% set high = point("gain", load="high", maxp=0.1) %}{{ high.mean }} at {{ high.load }}', "60% at high load"),
        ('{{ point("gain", load="high", maxp="0.1").digits(1).mean }}', "60.0%"),
        ('{{ point("gain", load="high", maxp=0.5).magnitude }}', "63% (60% to 66%)"),
        ('{{ point("gain", load="high", maxp=0.5).magnitude.bare.mean }}', "63"),
        ('{{ point("gain", load="high", maxp=0.5).mean }}', "−63%"),
        ('{{ point("gain", pick="max") }}', "60% (53% to 66%)"),
        ('{{ point("gain", pick="nearest", to=0.2).load }}', "low"),
        ('{{ point("linux/gain").mean }}', "20%"),
        ('{{ extent("gain", maxp=0.1) }}, {{ extent("gain", maxp=0.1).bare }}', "18% to 60%, 18 to 60"),
        ('{{ extent("gain", load=["low", "high"], maxp=0.1).digits(1) }}', "18.0% to 60.0%"),
        ('{{ count("gain") }} places, {{ count("gain", more=0) }} above', "3 places, 2 above"),
        ('{{ count("gain", more=0, less=0.3) }}', "1"),
        ('{{ point("share", load="high") }}', "100% (nothing varied)"),
        ('{{ point("rate", load="low") }}', "13.490 (13.487 to 13.493)"),
        ('{{ point("rate", load="high").interval }}', "no interval"),
        ('{{ number("R1").printed }}, {{ number("R1") }}', "50%, 60% (53% to 66%)"),
        (
            '{{ claim("C1").answer }}; {{ claim("C1", place="low").interval }}',
            "no (of 2 places 1 yes, 1 no); 12% to 24%",
        ),
        ('{{ claim("C1").holds }}, {{ claim("C1").refuted }} refute it', "1 of 2, 1 refute it"),
        ('{{ claim("C1").median }}; {{ claim("C1").worst }}', "39%; 60% (53% to 66%): high load"),
        ('{{ tally("numbers", "agrees") }} of {{ tally("numbers") }}', "3 of 4"),
        ('{{ tally("numbers", of="gain") }} of gains', "1 of gains"),
        ('{{ tally("numbers", "agrees", but="gain") }} of {{ tally("numbers", but="gain") }}', "2 of 3"),
        (
            '{{ runs() }} runs, {{ runs("bulk") }} of them with {{ seeds("bulk") }} seeds',
            "20,571 runs, 540 of them with 30 seeds",
        ),
        ('{{ given("90%", "page 4") }} and { braces }\n', "90% and { braces }\n"),
        ('{{ word("hardly any", "share", hardly=true, load="low") }}', "hardly any"),
        ('{{ word("about three fifths", "gain", about=0.6, load="high", maxp=0.1) }}', "about three fifths"),
        ('{{ word("alike", "rate", alike=true) }}, {{ word("the same", "rate", same=true) }}', "alike, the same"),
        ('{{ word("more", "gain", apart=true) }}', "more"),
    ],
)
def test_a_reference_is_replaced_by_the_measured_value(evidence, text, filled) -> None:
    assert fill(text, evidence, FILE) == filled


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('point("gain")', "3 measured points, need 1"),
        ('point("gian", load="low")', "no metric is called 'gian'; did you mean 'gain'?"),
        ('point("gain", load="lowe")', "no label of load is called 'lowe'; did you mean 'low'?"),
        ('extent("gain", load=["low", "highest"])', "no label of load is called 'highest'; did you mean 'high'?"),
        ('point("gain", load="low", maxp=0.5)', "nothing was measured there"),
        ('point("gain", laod="low")', "no key of the grid or option is called 'laod'; did you mean 'load'?"),
        ('point("gain", load="low").means', "no form is called 'means'; did you mean 'mean'?"),
        ('extent("gain", maxp=0.1).bar', "no form is called 'bar'; did you mean 'bare'?"),
        ('point("gain", load="low").magnitude', "needs a value below zero"),
        ('point("linus/gain")', "no table is called 'linus'; did you mean 'linux'?"),
        ('point("gain", pick="best")', "none of min, max, nearest"),
        ('extent("gain", load="low")', "two points"),
        ('number("R2")', "no number is called 'R2'; did you mean 'R1'?"),
        ('claim("C1")', "C1 has 2 tests: name one"),
        ('claim("C1").mean', "C1 has 2 tests: name one"),
        ('claim("C1", place="lows")', "no place of C1 is called 'lows'; did you mean 'low'?"),
        ('tally("numbers", but="rate")', "no metric of a number is called 'rate'; there are gain"),
        ('tally("claims", of="gain")', "`of` or `but`"),
        ('seeds("bulky")', "no experiment is called 'bulky'; did you mean 'bulk'?"),
        (
            'word("hardly", "gain", hardly=true, load="low")',
            "the rule 'hardly' of the word 'hardly' does not hold: 18%",
        ),
        ('word("alike", "gain", alike=true, maxp=0.1)', "does not hold"),
        ('word("alike", "gain", alike=true, load="low")', "two points"),
        ('word("the same", "gain", same=true, maxp=0.1)', "does not hold"),
        ('word("about half", "gain", about=0.5, load="high", maxp=0.1)', "does not hold"),
        ('word("more", "gain", more=0)', "does not hold"),
        ('word("alike", "gain", alik=true)', "no key of the grid or option is called 'alik'; did you mean 'alike'?"),
        ('word("alike", "gain")', "needs one rule"),
        ('pont("gain")', "no function or fact is called 'pont'; did you mean 'point'?"),
        ('point("gain"', "unexpected"),
        ("point()", "missing 1 required positional argument: 'metric'"),
        ('given("90%")', "missing 1 required positional argument: 'source'"),
        ('given("90%", "arithmetic: 1 - 0.2")', "'90%' is not 1 - 0.2 = 0.8"),
    ],
)
def test_the_error_of_a_wrong_reference_names_its_file_and_line(evidence, text, message) -> None:
    with pytest.raises(EcnlabError, match=re.escape(message)) as error:
        fill(f"So\n{{{{ runs() }}}} of\n{{{{ {text} }}}}.", evidence, FILE, start=10)
    assert str(error.value).startswith("README.in.md:12: ")


def test_the_start_of_a_text_is_its_line_in_the_toml_file() -> None:
    source = 'format = 1\ntext = """\nA \\"word\\"\nand more"""\nlast = "one"\n'
    assert [start_of(text, source) for text in ('A "word"\nand more', "one", "none")] == [3, 5, 1]


def test_ends_that_differ_are_never_written_alike() -> None:
    row = {"mean": 0.99962, "low": 0.99958, "high": 0.99966}
    assert with_interval(row, Metric("", "", "mean", percent=True)) == "99.96% (99.96% to 99.97%)"


def test_what_has_been_quoted_is_noted_once(evidence) -> None:
    fill('{{ point("gain", load="low").mean }} {{ point("gain", load="low") }} {{ number("R1") }}', evidence, FILE)
    assert {name: len(rows) for name, rows in evidence.seen.items()} == {"points": 1, "numbers": 1}


def test_typed_measurements_and_unruled_words_are_found() -> None:
    text = (
        '# P\n\n## What holds\n\nIt gains {{ point("gain", about=0.5) }}, 18% (12% to 24%; printed 42% and 0.62) `max_p 0.1`,\n'
        'hardly 0.5 of "about 3%" in section 5.1, ns-2.29, with the same seeds and 0.7. and max_p 0.1, to the end of the run, at every load.\n\n## What was chosen\n\n0.02 is alike\n'
    )
    found = typed(text)
    assert [line.split("'")[1] for line in found] == ["18%", "12%", "24%", "0.5", "0.7", "hardly", "at every"]
    assert all(line.startswith("What holds") for line in found)
