"""``ecnlab score compare``: two cards side by side, which are written, not run. ``ecnlab score all``: the page with links to cards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from browser import PHONE, Windows, browser, opened

from ecnlab.base.errors import EcnlabError, FolderError
from ecnlab.scoring import compare, names, write, write_comparison
from ecnlab.scoring.card import Card

__all__ = ["browser"]


def row(name: str, low: float | None, high: float | None, outcome: str = "yes", **other: Any) -> dict[str, Any]:
    """A criterion of a card."""
    ends = [end for end in (low, high) if end is not None]
    mean = sum(ends) / len(ends) if ends else None
    made = {"name": name, "case": "", "measure": "delay_p99_s", "against": "reference", "at_most": 0.5, "mean": mean}
    return {
        **made,
        "low": low,
        "high": high,
        "n": 3 if ends else 0,
        "outcome": outcome,
        "reason": "",
        "values": [],
        **other,
    }


def entry(name: str, verdict: str, criteria: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"name": name, "title": f"The scenario {name}", "verdict": verdict, "criteria": list(criteria)}


def card(scenarios: Sequence[dict[str, Any]], label: str = "A", **other: Any) -> Card:
    law = {"label": label, "source": "the defaults", "argument": label.lower(), "parameters": {}}
    verdicts = {"meets": len(scenarios), "fails": 0, "inconclusive": 0, "not applicable": 0}
    return {
        "format": 2,
        "kind": "score aqm",
        "ecnlab": {"version": "1.0", "build": "b", "commit": ""},
        "source": "RFC 7928",
        "size": "quick",
        "seed": 1,
        "replicates": 3,
        "subject": law,
        "reference": {**law, "label": "drop-tail"},
        "verdicts": verdicts,
        "scenarios": list(scenarios),
        **other,
    }


def compared(folder: Path, one: Card, two: Card) -> list[str]:
    """The lines of two cards."""
    for name, made in (("one", one), ("two", two)):
        (folder / name).mkdir(exist_ok=True)
        write(made, folder / name)
    return compare(folder / "one", folder / "two" / "card.json").lines


def test_three_lines_have_verdicts_intervals_and_what_is_not_comparable(tmp_path: Path) -> None:
    one = card([entry("a", "meets", [row("delay", 0.1, 0.2), row("loss", 0.1, 0.3)]), entry("b", "meets", [])])
    two = card([entry("a", "fails", [row("delay", 0.3, 0.5, "no"), row("loss", 0.3, 0.4)])], "B")
    assert compared(tmp_path, one, two) == [
        "A and B: verdicts differ in 1 of 1 scenario: a (meets; fails)",
        "intervals do not overlap for 1 of 2 criteria: a: delay (0.15; 0.4)",
        "not comparable: scenario b (only in the card of A)",
    ]


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        ((0.1, 0.2), (0.2, 0.3), False),
        ((0.1, 0.2), (0.21, 0.3), True),
        ((0.21, 0.3), (0.1, 0.2), True),
        ((0.1, 0.2), (0.21, None), True),
        ((0.1, 0.2), (None, 0.3), False),
        ((0.1, None), (0.3, 0.4), False),
        ((None, None), (0.3, 0.4), False),
    ],
)
def test_an_end_without_bound_overlaps_with_all_on_its_side(
    first: tuple[float | None, float | None], second: tuple[float | None, float | None], apart: bool, tmp_path: Path
) -> None:
    one, two = (card([entry("a", "meets", [row("delay", *ends)])]) for ends in (first, second))
    compared(tmp_path, one, two)
    assert [pair.apart for pair in compare(tmp_path / "one", tmp_path / "two").pairs] == [apart]


@pytest.mark.parametrize(
    ("changed", "criterion", "said"),
    [
        ({"size": "full"}, {}, ["the cards differ in size (quick; full)", "a: delay (other size)"]),
        ({"ecnlab": {"version": "2.0", "build": "b", "commit": ""}}, {}, ["version of ecnlab (1.0 (b); 2.0 (b))"]),
        ({"replicates": 8}, {}, ["the cards differ in seeds (3; 8)"]),
        ({}, {"at_most": 0.7}, ["a: delay (other limit)"]),
        ({}, {"against": "itself"}, ["a: delay (other measure)"]),
        ({}, {"n": 2}, ["a: delay (fewer than 3 seeds)"]),
        ({}, {"mean": None}, ["a: delay (not defined)"]),
        ({}, {"case": "far"}, ["a: delay (only in the card of A", "a: delay (far) (only in the card of A"]),
        ({"reference": {"label": "RED", "parameters": {"min_th": "5 packets"}}}, {}, ["a: delay (other reference)"]),
    ],
)
def test_what_is_not_comparable_is_stated(
    changed: dict[str, Any], criterion: dict[str, Any], said: list[str], tmp_path: Path
) -> None:
    one = card([entry("a", "meets", [row("delay", 0.1, 0.2)])])
    two = card([entry("a", "meets", [row("delay", 0.1, 0.2, **criterion)])], **changed)
    line = compared(tmp_path, one, two)[2]
    assert line.startswith("not comparable: ") and all(text in line for text in said), line
    same = compared(tmp_path, one, one)[2]
    assert same == "everything is comparable: same criteria, size and version"


def test_cards_of_other_kinds_or_none_are_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(EcnlabError, match=r"score aqm.*score cc.*: compare cards of the same command"):
        compared(tmp_path, card([]), card([], kind="score cc"))
    with pytest.raises(FolderError, match="is no card of format 2: score the law again"):
        compared(tmp_path, card([]), card([], format=1))
    with pytest.raises(FolderError, match=r"none has no card\.json: `ecnlab score KIND NAME"):
        compare(tmp_path / "none", tmp_path / "one")


def test_the_command_prints_three_lines_and_writes_a_page(cli, tmp_path: Path) -> None:
    lines = compared(tmp_path, card([entry("a", "meets", [])]), card([entry("a", "fails", [])], "B"))
    done = cli("score", "compare", "one", "two", "--out", "both.html")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == lines and done.stderr.endswith("page: both.html\n")
    assert "A and B: cards of RFC 7928" in (tmp_path / "both.html").read_text()
    refused = cli("score", "compare", "one", "none")
    assert refused.returncode == 2 and "none has no card.json" in refused.stderr


@pytest.mark.slow
def test_the_page_of_two_cards_fits_a_phone(browser: Windows, tmp_path: Path) -> None:
    # As many scenarios and criteria as the largest sheet has.
    def full(label: str, low: float, outcome: str) -> Card:
        rows = [row(f"criterion-{i}", low, low + 0.1, outcome, reason="one of many") for i in range(4)]
        return card([entry(f"s{i}", "meets" if low < 0.5 else "fails", rows) for i in range(18)], label)

    compared(tmp_path, full("<b>A", 0.1, "yes"), full("B", 0.8, "no"))
    write_comparison(compare(tmp_path / "one", tmp_path / "two"), tmp_path / "compare.html")
    page = opened(browser, tmp_path / "compare.html", PHONE)
    assert page.eval("document.documentElement.scrollHeight") <= 12_000
    assert page.eval("document.documentElement.scrollWidth") <= PHONE[0]
    assert page.messages == [] and page.page.locator("b", has_text="A").count() == 0


@pytest.mark.slow
def test_the_page_of_all_laws_links_to_their_cards(cli, tmp_path: Path, browser: Windows) -> None:
    done = cli("score", "all", "l4s", "--scenario", "codepoint", "--jobs", 1, "--out", "all")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(names("l4s")) and "Prague in 1 scenario of RFC 9331: 1 meets" in lines
    page = opened(browser, tmp_path / "all" / "index.html", PHONE)
    links = page.eval("[...document.querySelectorAll('table a')].map(one => one.getAttribute('href'))")
    assert links == [f"{name}/card.html" for name in names("l4s")]
    assert all((tmp_path / "all" / link).is_file() for link in links) and page.messages == []
    assert f"1 of {len(links)} senders fail no scenario" in page.page.content()
    assert page.eval("document.documentElement.scrollHeight") <= 12_000
