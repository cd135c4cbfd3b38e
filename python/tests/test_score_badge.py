"""The badge of a card: its text, colour and title."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from ecnlab.scoring import write_badge
from ecnlab.scoring.badge import COLOURS, badge
from ecnlab.scoring.card import Card

SVG = "{http://www.w3.org/2000/svg}"


def card(
    meets: int = 0, fails: int = 0, inconclusive: int = 0, none: int = 0, label: str = "CoDel", weight: str = "must"
) -> Card:
    verdicts = {"meets": meets, "fails": fails, "inconclusive": inconclusive, "not applicable": none}
    scenarios = [{"verdict": kind, "weight": weight} for kind, count in verdicts.items() for _ in range(count)]
    return {"source": "RFC 7928", "subject": {"label": label}, "verdicts": verdicts, "scenarios": scenarios}


def colour(made: str) -> str:
    """The verdict in whose colour a badge is."""
    return next(kind for kind, one in COLOURS.items() if one in made)


def test_the_badge_has_the_rfc_and_the_counts(tmp_path: Path) -> None:
    root = ElementTree.parse(write_badge(card(8, 1, 1), tmp_path)).getroot()
    assert [one.text for one in root.iter(f"{SVG}text")] == ["RFC 7928", "8 of 10 meet, 1 fails, 1 inconclusive"]
    title = "CoDel in RFC 7928: 8 of 10 meet, 1 fails, 1 inconclusive"
    assert (root.attrib["role"], root.attrib["aria-label"], root.findtext(f"{SVG}title")) == ("img", title, title)
    assert [path.name for path in tmp_path.iterdir()] == ["badge.svg"]


@pytest.mark.parametrize(
    ("counts", "worst"),
    [
        ((8, 1, 1, 1), "fails"),
        ((8, 0, 1, 1), "inconclusive"),
        ((8, 0, 0, 1), "meets"),
        ((0, 0, 0, 1), "not applicable"),
        ((0, 0, 0, 0), "not applicable"),
    ],
)
def test_its_colour_is_that_of_the_worst_verdict(counts: tuple[int, int, int, int], worst: str) -> None:
    assert colour(badge(card(*counts))) == worst


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ((1,), "1 of 1 meets"),
        ((18,), "18 of 18 meet"),
        ((11, 6, 1), "11 of 18 meet, 6 fail, 1 inconclusive"),
        ((0, 1, 0, 2), "0 of 3 meet, 1 fails, 2 not applicable"),
        ((0, 0, 0, 0), "0 of 0 meet"),
    ],
)
def test_the_text_has_the_counts_and_the_total(counts: tuple[int, ...], text: str) -> None:
    assert f">{text}</text>" in badge(card(*counts))


def test_own_limits_are_grey_and_named() -> None:
    own = badge({**card(18), "criteria": "mine.toml"})
    assert ">18 of 18 meet, own limits</text>" in own and colour(own) == "not applicable"


@pytest.mark.parametrize("weight", ["report", "may"])
def test_scenarios_of_some_weights_are_counted_and_do_not_colour(weight: str) -> None:
    made = card(3, 2)
    for one in made["scenarios"][3:]:
        one["weight"] = weight
    assert "3 of 5 meet, 2 fail" in badge(made) and colour(badge(made)) == "meets"


def test_white_text_is_readable_on_each_colour() -> None:
    def linear(part: str) -> float:
        value = int(part, 16) / 255
        return value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4

    for colour in COLOURS.values():
        red, green, blue = (linear(colour[at : at + 2]) for at in (1, 3, 5))
        assert 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) >= 4.5, colour


def test_text_of_a_user_is_escaped() -> None:
    made = badge(card(1, label='<script>"&'))
    assert "<script>" not in made and ElementTree.fromstring(made).findtext(f"{SVG}title", "").startswith(
        '<script>"& in'
    )
