"""The page of a card: its sentences, strips, maps and figures, of a card that is written, not run."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from browser import DESKTOP, OPEN_ALL, PHONE, Windows, browser, opened

from ecnlab.folder.verified import verify
from ecnlab.scoring import criteria, store, write_badge, write_page
from ecnlab.scoring.card import Card, summary
from ecnlab.scoring.page_figures import MAPS, maps, planes, strips

__all__ = ["browser"]

CLASSES = ("BDP below 35", "BDP above 160")
PATHS = [
    {"rate_bps": rate, "rtt_s": rtt, "buffer_bdp": 1.0, "flows": 4, "spread_s": 1.0}
    for rate, rtt in ((4e6, 0.03), (12e6, 0.1), (96e6, 0.12))
]


def row(name: str, values: Sequence[float | None], outcome: str, case: str = "", **other: Any) -> dict[str, Any]:
    """A criterion whose limit is at most 0.5, with an interval of a tenth around the mean of its values."""
    known = [value for value in values if value is not None]
    mean = sum(known) / len(known) if len(known) == len(values) else None
    low, high = (None, None) if mean is None else (0.9 * mean, 1.1 * mean)
    made = {"name": name, "case": case, "measure": "delay_p99_s", "against": "reference", "at_most": 0.5}
    return {**made, "mean": mean, "low": low, "high": high, "n": len(known), "outcome": outcome, "reason": "why",
            "values": list(values), **other}  # fmt: skip


def entry(
    name: str, verdict: str, rows: Sequence[dict[str, Any]], *, drawn: bool = True, **other: Any
) -> dict[str, Any]:
    cases = CLASSES if drawn else ("",)
    points = [{"case": case, "queue": arm, "delay_mean_s": 0.01 * (number + 1), "goodput_bps": 3e6}
              for case in cases for arm in ("subject", "reference") for number in range(3)]  # fmt: skip
    return {
        "name": name, "section": "5.1", "title": f"The scenario {name}", "weight": "must", "about": "Traffic.", "stands": [],
        "limit_packets": {case: [10, 50, 480] if drawn else [83] for case in cases},
        "paths": dict.fromkeys(cases, PATHS) if drawn else {}, "experiment": f"{name}.toml", "verdict": verdict,
        "why_not": "", "criteria": list(rows), "measures": [], "points": points, **other,
    }  # fmt: skip


def card(scenarios: Sequence[dict[str, Any]], **other: Any) -> Card:
    law = {"name": "codel", "label": "CoDel", "source": "the defaults", "argument": "codel", "parameters": {}}
    kinds = ("meets", "fails", "inconclusive", "not applicable")
    return {
        "format": 2, "kind": "score aqm", "ecnlab": {"version": "1.0", "build": "b", "commit": ""}, "source": "RFC 7928",
        "engine": {"name": "packets"}, "size": "quick", "seed": 1, "replicates": 8, "left_out": 0, "criteria": None,
        "subject": law, "reference": {**law, "name": "droptail", "label": "drop-tail"},
        "verdicts": {kind: sum(one["verdict"] == kind for one in scenarios) for kind in kinds},
        "scenarios": list(scenarios), **other,
    }  # fmt: skip


GOOD = entry(
    "good",
    "meets",
    [row("delay", [0.1, 0.2, 0.3], "yes", CLASSES[0]), row("delay", [0.01, 0.02, 0.03], "yes", CLASSES[1])],
)
BAD = entry(
    "bad",
    "fails",
    [row("delay", [0.6, 9.0, 30.0], "no", CLASSES[0]), row("delay", [0.3, 0.5, 0.7], "undecided", CLASSES[1])],
)
OPEN = entry("open", "inconclusive", [row("loss", [0.4, 0.5, 0.6], "undecided"), row("use", [0.4, None, 0.6], "undecided")],
             drawn=False)  # fmt: skip
NONE = entry("none", "not applicable", [], drawn=False, points=[], why_not="the queue does not mark")


def test_three_sentences_have_what_is_good_bad_and_unknown_with_numbers() -> None:
    assert summary(card([GOOD, BAD, OPEN, NONE], left_out=2)) == [
        "CoDel in 4 scenarios of RFC 7928: 1 meets; widest margin to a limit: delay p99 0.02 times drop-tail's in good "
        "(BDP above 160), where at most 0.5 meets",
        "1 fails: bad (delay 13.2, at most 0.5; BDP below 35)",
        "1 inconclusive: open (use not defined, at most 0.5); 1 not applicable: none; 2 not run",
        "all limits are ecnlab's: RFC 7928 has none; 3 of 6 scenarios with 3 drawn paths or 8 seeds in each case "
        "(30 runs, simulator, quick size)",
    ]
    assert summary(card([GOOD]))[1:3] == ["no scenario fails", "no scenario is inconclusive, and all were run"]


def test_at_most_eight_failed_scenarios_are_named_and_the_worst_first() -> None:
    rows = [entry(f"s{i}", "fails", [row("delay", [1.0 + i] * 3, "no", CLASSES[0])]) for i in range(10)]
    reported = entry("late", "fails", [row("delay", [99.0] * 3, "no", CLASSES[0])], weight="report")
    bad = summary(card([reported, *rows]))[1]
    assert bad.startswith("11 fail: s9 (delay 10, ") and bad.endswith(
        "s2 (delay 3, at most 0.5; BDP below 35) and 3 more"
    )


@pytest.mark.parametrize(
    ("bound", "value", "margin"),
    [
        ({"at_most": 0.5}, 0.25, 2.0),
        ({"at_most": 0.5}, 0.0, float("inf")),
        ({"at_most": 0.0}, 0.1, 0.0),
        ({"at_least": 0.5}, 0.25, 0.5),
        ({"at_least": 0.5}, -1.0, 0.0),
        ({"at_least": 0.0}, 0.1, float("inf")),
    ],
)
def test_a_margin_is_above_one_where_the_criterion_holds(bound: dict[str, float], value: float, margin: float) -> None:
    assert criteria.margin(bound, value) == margin


def test_a_strip_has_the_worst_case_its_interval_and_ticks_and_an_arrow_beyond_the_axis() -> None:
    ((weight, found),) = strips(card([GOOD, BAD, OPEN])).groups
    assert (weight, [one.name for one in found]) == (
        "must",
        ["bad: delay (BDP below 35)", "open: use", "open: loss", "good: delay (BDP below 35)"],
    )
    bad, undefined, _open, good = found
    assert (bad.tone, undefined.tone, good.tone) == ("no", "open", "yes")
    assert good.ticks == pytest.approx((0.5 / 0.3, 2.5)) and good.value == pytest.approx(2.5)
    assert "◂" in bad.svg() and "▸" not in bad.svg() and "◂" not in good.svg()
    # One end of the interval is beyond the axis, too: it is drawn at the edge. An undefined mean has no marker.
    assert 'x1="0%"' in bad.svg() and "<use" not in undefined.svg() and 'class="tick"' in undefined.svg()


def test_the_worst_path_is_named_with_rate_rtt_and_buffer() -> None:
    assert criteria.spread(BAD, BAD["criteria"][0]) == "worst 30 at 96 Mb/s, 120 ms, 0.5 BDP; median 9"
    assert criteria.spread(OPEN, OPEN["criteria"][1]) == "worst 0.6; median 0.5"
    assert criteria.spread(OPEN, {**OPEN["criteria"][1], "values": [None]}) == ""


def test_a_map_has_a_mark_for_each_path_of_all_classes_by_its_own_value() -> None:
    bad, good = maps(card([GOOD, BAD, OPEN]))
    assert (bad.title, good.title) == ("bad: delay", "good: delay")
    assert [(one.x, one.tone) for one in bad.marks] == [
        (4, "no"),
        (12, "no"),
        (96, "no"),
        (4, "yes"),
        (12, "yes"),
        (96, "no"),
    ]
    assert bad.marks[2].label == "30 at 96 Mb/s, 120 ms, 0.5 BDP" and bad.across == (4, 96)
    assert bad.table()[1][0] == ["4 Mb/s", "30 ms", "1 BDP", "0.6"]


def test_goodput_over_delay_of_drawn_paths_is_in_units_of_the_path_and_comes_first() -> None:
    first, second = planes(card([OPEN, GOOD]))
    assert "good" in first.title and (first.clouds[0].points[0]) == pytest.approx((0.01 / 0.03, 3e6 / 4e6))
    assert "open" in second.title and second.clouds[0].points[0] == pytest.approx((10.0, 3.0)) and not second.log


def test_the_page_has_one_vocabulary_and_links_strips_to_rows(tmp_path: Path) -> None:
    page = write_page(card([GOOD, BAD, OPEN, NONE]), tmp_path).read_text()
    links, anchors = (set(re.findall(found, page)) for found in (r'href="#([\w.-]+\.\d)"', r'id="([\w.-]+\.\d)"'))
    assert links == {"good.0", "bad.0", "open.0", "open.1"} and links <= anchors
    assert not re.search(r">\s*(yes|no|undecided)\s*<", page)


def test_part_of_a_card_has_no_badge_and_removes_that_of_the_whole_card(tmp_path: Path) -> None:
    store(card([GOOD]), tmp_path)
    assert "badge.svg" in json.loads((tmp_path / "files.json").read_text())["files"]
    store(card([GOOD], left_out=17), tmp_path)
    assert not (tmp_path / "badge.svg").exists() and "badge.svg" not in (tmp_path / "files.json").read_text()
    assert verify(tmp_path)[1] == []
    # A file of that name that no card has written stays.
    write_badge(card([GOOD]), tmp_path)
    store(card([GOOD], left_out=17), tmp_path)
    assert (tmp_path / "badge.svg").exists()


@pytest.mark.slow
def test_the_page_fits_a_phone_and_a_desktop_in_dark_mode(browser: Windows, tmp_path: Path) -> None:
    # As many scenarios as the largest sheet has, with long names.
    many = [{**one, "name": f"{one['name']}-with-a-long-name-{i}"} for i in range(7) for one in (GOOD, BAD, OPEN, NONE)]
    path = write_page(card(many), tmp_path)
    for size in (PHONE, DESKTOP):
        page = opened(browser, path, size, color_scheme="dark")
        assert page.eval("document.documentElement.scrollHeight") <= 25_000
        page.eval(OPEN_ALL)
        assert page.eval("document.documentElement.scrollWidth") <= size[0]
        wide = "[...document.querySelectorAll('.bars li > *, .findings p')].filter(one => one.getBoundingClientRect().right > innerWidth).length"
        assert page.eval(wide) == 0 and page.eval("document.querySelectorAll('#map figure').length") == MAPS
        assert page.messages == []


def test_a_scenario_whose_goodput_or_delay_is_nowhere_defined_has_no_plane(tmp_path: Path) -> None:
    none = [{"case": case, "queue": "subject", "delay_mean_s": None, "goodput_bps": 0.0} for case in CLASSES]
    zero = [{"case": case, "queue": "subject", "delay_mean_s": 0.0, "goodput_bps": 3e6} for case in CLASSES]
    rows = [row("load", [0.1, 0.1, 0.1], "yes", case) for case in CLASSES]
    made = card([entry("no-feedback", "meets", rows, points=none), entry("idle", "meets", rows, points=zero)])
    assert not planes(made)
    assert "no-feedback" in write_page(made, tmp_path).read_text()
