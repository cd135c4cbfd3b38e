"""ECN today: the correction for the number of tests, and the cells of the atlas."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from analysed import given, quantity

from ecnlab.base.stats import Interval
from ecnlab.papers.ecn_today import atlas
from ecnlab.papers.ecn_today.grid import GRID, QUEUES
from ecnlab.papers.judge import FULL, QUICK, judge_claims, size_of_family
from ecnlab.papers.published import read_published
from ecnlab.papers.references import confidence
from ecnlab.papers.registry import find

PUBLISHED = read_published(find("ecn-today")[1])


def test_all_tests_of_the_page_are_one_family() -> None:
    assert PUBLISHED.together
    assert FULL.of(PUBLISHED, 100).level == pytest.approx(0.9995)  # 1 - 0.05 / 100
    assert QUICK.of(PUBLISHED, 100).level == pytest.approx(0.9999)
    assert FULL.of(replace(PUBLISHED, together=False), 100) == FULL
    assert FULL.of(PUBLISHED, 100).trends and not QUICK.of(PUBLISHED, 100).trends


def test_the_number_of_tests_is_that_of_the_judged_rows() -> None:
    claim = PUBLISHED.claim("T09.dualpi2")
    trend = PUBLISHED.claim("T05.red")
    places = [("1.5", "5"), ("1.5", "20"), ("100", "5")]
    samples = pl.concat(
        [
            GRID.samples("share", pl.DataFrame({"replicate": [0, 1], "value": [0.5, 0.51], "queue": "dualpi2",
                                                "host": "prague", "rate": rate, "rtt": rtt}))
            for rate, rtt in places
        ] + [
            GRID.samples("load_change", pl.DataFrame({"replicate": [0, 1], "value": [1.1, 1.2], "other": [1.0, 1.0],
                                                      "queue": "red", "host": "cubic-ecn", "against": "cubic", "flows": n}))
            for n in ("2", "4")
        ]
    )  # fmt: skip
    points = GRID.points(samples, PUBLISHED.metrics)
    few = replace(PUBLISHED, claims=(claim, trend))
    assert (
        size_of_family(few, points) == 4 == judge_claims(few, samples, points, GRID).height
    )  # three places and a trend


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.61, 0.7, "more than CUBIC"),
        (0.59, 0.7, "not decided"),
        (0.41, 0.59, "equal"),
        (0.39, 0.59, "not decided"),
        (0.1, 0.39, "less than CUBIC"),
        (0.3, 0.7, "not decided"),
    ],
)
def test_a_cell_is_decided_by_its_whole_interval(low: float, high: float, said: str) -> None:
    interval = Interval((low + high) / 2, low, high, 20)
    assert atlas.verdict({"low": interval.low, "high": interval.high}) == said


def test_the_atlas_states_quantity_unit_and_runs_in_its_title_caption_and_cells() -> None:
    row = {"host": "dctcp", "rate": "10", "rtt": "20", "mean": 0.25, "low": 0.2, "high": 0.3, "n": 7, "runs": "a b"}
    cells = pl.DataFrame([row | {"queue": queue} for queue in QUEUES])
    maps = atlas._maps("dctcp", cells, 0.95, 4711)
    assert "share of the goodput of DCTCP in %, mean of 7 runs" in maps.title
    assert "divided by that of all four flows" in maps.caption and "derived from 4711" in maps.caption
    (field,) = maps.maps[0].fields
    assert (
        field.text == "25"
        and "25.0% of the goodput of all four flows, interval 20.0% to 30.0%, n = 7" in field.description
    )


def test_a_level_of_confidence_is_written_with_enough_digits() -> None:
    assert confidence(0.95) == "95%" and confidence(0.99) == "99%"
    assert confidence(1 - 0.05 / 970) == "99.994845%"  # 100 - 5 / 970 = 99.9948454


def page(number: int, asked: float, took: float, *, objects: int = 20, missing: int = 0) -> list[dict[str, object]]:
    """Objects of a page, of which ``missing`` are never complete; the last one is complete after ``took`` seconds."""
    ends = [asked + took - 0.1 * k for k in range(objects - missing)] + [None] * missing
    where = {"queue": "codel", "path": "20 Mb/s, 20 ms", "replicate": 0, "group": "ecn", "name": "ecn[0]", "session": 0}
    return [{**where, "page": number, "asked_s": asked + 0.01 * k, "transferred_s": end} for k, end in enumerate(ends)]


def test_the_time_of_a_page_is_that_of_all_its_objects_and_at_most_a_minute() -> None:
    whole = [page(0, 10.0, 4.0), page(1, 20.0, 70.0), page(2, 100.0, 3.0, missing=1)]
    apart = [page(3, 9.9, 1.0), page(4, 139.9, 1.0), page(5, 141.0, 1.0)]  # begun before 10 s, or not asked by 140 s
    table = pl.DataFrame([row for one in (*whole, *apart) for row in one])
    (found,) = quantity("ecn-today", "page", given(objects=table))["value"]
    assert found == pytest.approx((4.0 + 60.0 + 60.0) / 3)
