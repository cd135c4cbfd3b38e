"""References in texts: each gives what was measured, and none holds where nothing was."""

from __future__ import annotations

import math

import polars as pl
import pytest

from ecnlab.base.errors import EcnlabError
from ecnlab.papers.grid import MEANS, Grid
from ecnlab.papers.published import Metric, Published
from ecnlab.papers.readme import typed
from ecnlab.papers.references import Evidence, fill
from ecnlab.papers.written import with_interval

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
    published = Published("P", "t", "a", "d", {"gain": GAIN, "rate": RATE, "share": share}, (), ())
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


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{gain load=low maxp=0.1}", "18% (12% to 24%)"),
        ("{gain load=high maxp=0.1 : mean} at {gain load=high maxp=0.1 : load}", "60% at high load"),
        ("{gain load=high maxp=0.1 : mean +1}", "60.0%"),
        ("{gain load=high maxp=0.5 : size}", "63% (60% to 66%)"),
        ("{gain load=high maxp=0.5 : mean}", "−63%"),
        ("{gain pick=max}", "60% (53% to 66%)"),
        ("{gain pick=nearest to=0.2 : load}", "low"),
        ("{linux/gain : mean}", "20%"),
        ("{range gain maxp=0.1}", "18% to 60%"),
        ("{count gain} places, {count gain more=0} of them above", "3 places, 2 of them above"),
        ("{count gain more=0 less=0.3}", "1"),
        ("{share load=high}", "100% (nothing varied)"),
        ("{rate load=low}", "13.490 (13.487 to 13.493)"),
        ("{rate load=high : interval}", "unbounded to unbounded"),
        ("{number R1 : printed}, {number R1}", "50%, 60% (53% to 66%)"),
        ("{claim C1 : answer}; {claim C1 place=low : interval}", "no (of 2 places 1 yes, 1 no); 12% to 24%"),
        ("{tally numbers agrees} of {tally numbers}", "3 of 4"),
        (
            "{tally numbers of=gain} of gains, {tally numbers agrees but=gain} of {tally numbers but=gain}",
            "1 of gains, 2 of 3",
        ),
        ("{runs} runs, {runs bulk : seeds} seeds", "20,571 runs, 30 seeds"),
        ("{given 90%}", "90%"),
        ('{"hardly any" hardly share load=low}', "hardly any"),
        ('{"about three fifths" about=0.6 gain load=high maxp=0.1}', "about three fifths"),
        ('{"alike" alike rate}, {"the same" same rate}', "alike, the same"),
        ('{"more" apart gain}; {"the same" plain} seeds', "more; the same seeds"),
    ],
)
def test_a_reference_gives_what_was_measured(evidence, text, filled) -> None:
    assert fill(text, evidence) == filled


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{gain}", "3 measured points, need 1"),
        ("{gian load=low}", "no metric is called 'gian'"),
        ("{gain load=none}", "nothing was measured there"),
        ("{gain laod=low}", "'laod' is neither"),
        ("{gain load=low : means}", "no form 'means'"),
        ("{gain load=low : size}", "needs a value below zero"),
        ("{other/gain}", "no table 'other'"),
        ("{gain pick=best}", "none of min, max, nearest"),
        ("{range gain load=low}", "two points"),
        ("{number R9}", "no number 'R9'"),
        ("{claim C1}", "name one"),
        ("{tally numbers but=rate}", "no number has the metric 'rate'"),
        ("{tally claims of=gain}", "`of` and `but`"),
        ('{"hardly" hardly gain load=low}', "the rule 'hardly' of the word 'hardly' does not hold: 18%"),
        ('{"alike" alike gain maxp=0.1}', "does not hold"),
        ('{"alike" alike gain load=low}', "two points"),
        ('{"the same" same gain maxp=0.1}', "does not hold"),
        ('{"about half" about=0.5 gain load=high maxp=0.1}', "does not hold"),
        ('{"more" more=0 gain}', "does not hold"),
        ('{"alike" gain}', "needs one rule"),
    ],
)
def test_a_reference_that_is_wrong_is_told_with_its_text(evidence, text, told) -> None:
    with pytest.raises(EcnlabError, match=told) as error:
        fill(f"So {text}.", evidence)
    assert text in str(error.value)


def test_ends_that_differ_are_never_written_alike() -> None:
    row = {"mean": 0.99962, "low": 0.99958, "high": 0.99966}
    assert with_interval(row, Metric("", "", "mean", percent=True)) == "99.96% (99.96% to 99.97%)"


def test_what_has_been_quoted_is_noted_once(evidence) -> None:
    fill("{gain load=low : mean} {gain load=low} {number R1 : printed}", evidence)
    assert {name: len(rows) for name, rows in evidence.seen.items()} == {"points": 1, "numbers": 1}


def test_typed_measurements_and_unruled_words_are_found() -> None:
    text = (
        "# P\n\n## What holds\n\nIt gains {gain load=low}, 18% (12% to 24%; printed 42% and 0.62) `max_p 0.1`,\n"
        'hardly 0.5 of "about 3%" in section 5.1, ns-2.29, with the same seeds and 0.7. and max_p 0.1.\n\n## What was chosen\n\n0.02 is alike\n'
    )
    found = typed(text)
    assert [line.split("'")[1] for line in found] == ["18%", "12%", "24%", "0.5", "0.7", "hardly"]
    assert all(line.startswith("What holds") for line in found)
