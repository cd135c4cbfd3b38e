"""ECN today: statements about many places, and the cells of the atlas."""

from __future__ import annotations

from dataclasses import replace
from itertools import product, takewhile

import numpy as np
import polars as pl
import pytest
from analysed import given, quantity
from scipy import stats
from scipy.special import logit

import ecnlab
from ecnlab.base.stats import Interval
from ecnlab.papers import blocks
from ecnlab.papers.ecn_today import atlas
from ecnlab.papers.ecn_today.grid import GRID, QUEUES
from ecnlab.papers.judge import FULL, QUICK, Rules, judge_claims
from ecnlab.papers.published import read_published
from ecnlab.papers.references import confidence
from ecnlab.papers.registry import find

PUBLISHED = read_published(find("ecn-today")[1])


SEEDS = 6
RNG = np.random.default_rng(76)
SHARES = {
    (rate, rtt): (mean + RNG.normal(0.0, 0.04, SEEDS)).clip(0.01, 0.99)
    for (rate, rtt), mean in zip(
        product(("1.5", "10", "20", "100"), ("5", "20", "100")), np.linspace(0.5, 0.85, 12), strict=True
    )
}
"""Shares of Prague behind DualPI2 by rate and round trip, one a seed."""


def judged(rules: Rules, *, together: bool = True) -> pl.DataFrame:
    """The claim that Prague has between a third and two thirds, tested with `SHARES`."""
    rows = [
        {"replicate": i, "value": float(x), "queue": "dualpi2", "host": "prague", "rate": rate, "rtt": rtt}
        for (rate, rtt), values in SHARES.items()
        for i, x in enumerate(values)
    ]
    samples = GRID.samples("share", pl.DataFrame(rows))
    published = replace(PUBLISHED, claims=(PUBLISHED.claim("T09.dualpi2"),), together=together)
    return judge_claims(published, samples, GRID.points(samples, PUBLISHED.metrics, rules.level), GRID, rules)


def p_of_a_refutation(values: np.ndarray) -> float:
    """The least error rate at which the interval of the share is above two thirds, or below a third: that of the logit."""
    mean, error = values.mean(), values.std(ddof=1) / np.sqrt(SEEDS)
    nearest = float(np.clip(mean, 0.5 - 0.167, 0.5 + 0.167))
    t = (logit(mean) - logit(nearest)) / (error / (mean * (1.0 - mean)))
    return float(2.0 * stats.t.sf(abs(t), SEEDS - 1))


@pytest.mark.parametrize("rules", [FULL, QUICK])
def test_a_statement_about_many_places_is_refuted_by_holms_procedure(rules: Rules) -> None:
    assert PUBLISHED.together
    ps = sorted((p_of_a_refutation(values), ", ".join(place)) for place, values in SHARES.items())
    steps = enumerate(ps)
    refuted = {
        place for _, (_, place) in takewhile(lambda step: step[1][0] <= (1 - rules.level) / (12 - step[0]), steps)
    }
    alone = {place for p, place in ps if p <= 1 - rules.level}
    bonferroni = {place for p, place in ps if p <= (1 - rules.level) / 12}
    found = judged(rules)
    assert set(found.filter(outcome="no")["place"]) == refuted and set(found["answer"]) == {"no"}
    assert set(judged(rules, together=False).filter(outcome="no")["place"]) == alone
    assert bonferroni < refuted < alone  # so that the steps matter


def test_a_statement_holds_at_the_places_whose_own_interval_shows_it() -> None:
    shown = judged(FULL).filter(outcome="yes")["place"].to_list()
    assert shown and shown == judged(FULL, together=False).filter(outcome="yes")["place"].to_list()


def test_the_report_shows_the_median_and_the_worst_of_many_places() -> None:
    (rows,) = blocks.claim_rows(judged(FULL), PUBLISHED, GRID, {})
    facts = dict(rows.rows[0].facts)
    means = {place: values.mean() for place, values in SHARES.items()}
    worst = max(means, key=lambda place: abs(means[place] - 0.5))
    assert facts["median of the places"] == f"{np.median(list(means.values())):.3f}"
    assert facts["worst place"].startswith(f"{means[worst]:.3f} (") and facts["worst place"].endswith(
        ": " + ", ".join(worst)
    )


@pytest.mark.parametrize(("with_ecn", "without", "counts"), [(0, 0, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1)])
def test_a_place_without_a_timeout_on_either_side_does_not_count(with_ecn: int, without: int, counts: int) -> None:
    rows = {"replicate": [0, 1], "value": [0.0, with_ecn], "other": [without, 0.0], "queue": "cake"}
    samples = GRID.samples("timeouts_change", pl.DataFrame(rows, strict=False))
    assert GRID.points(samples, PUBLISHED.metrics).height == counts


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


SLOW = {
    "link.bottleneck.rate": "1.5 Mbps",
    "link.bottleneck.delay": "50 ms",
    "link.bottleneck.queue": "codel",
    "queue.codel.ecn": True,
}


@pytest.mark.parametrize("host", ["cubic", "cubic-ecn"])
def test_the_codel_of_which_parts_are_changed_is_the_built_in_one(host: str) -> None:
    folder = find("ecn-today")[1]
    laws = [{"queue.codel.target": "12 ms"}, {"queue.codel": {"discipline": {"python": "codel.py:Codel"}}}]
    built_in, own = (
        ecnlab.run(folder / "testbed.toml", seed=8, overrides={**SLOW, "flow.bulk.tcp": host, **law}) for law in laws
    )
    assert built_in.queues["marks"].sum() + built_in.queues["dropped"].sum() > 100
    assert own.flows.equals(built_in.flows) and own.queues.equals(built_in.queues)
