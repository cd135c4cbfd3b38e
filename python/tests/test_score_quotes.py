"""Scenarios quote the sentence that they test, with the weight that the RFC has, and what no scenario tests is named.

``tests/data/cards/rfcNNNN.toml`` has the sentences, copied from the RFCs. ``requirement`` is the text that gives the weight: of RFC 7928
from the table of §13, or §8.2; of the others from the sentence or its section, or §7 of RFC 9743.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ecnlab.scoring.sheet import FILES, Kind, Scenario, built_in

RECORDS = Path(__file__).parents[2] / "tests" / "data" / "cards"

WORDS = {
    "must": ("must", "needs to"),
    "should": ("should", "ought to"),
    "may": ("may",),
    "recommended": ("recommended",),
    "discuss": ("discussed",),
    "report": ("may allow", "opportunity", "no normative requirement"),
}
"""Words of a requirement by the weight that they give; "report" also has none."""


def record(kind: Kind) -> dict[str, Any]:
    """The record of the RFC whose scenarios ``kind`` has, with white space folded."""
    found = tomllib.loads((RECORDS / FILES[kind].name).read_text(encoding="utf-8"))
    return found | {"rule": [rule | {"quote": " ".join(rule["quote"].split())} for rule in found["rule"]]}


def sections(scenario: Scenario) -> list[str]:
    """The sections of a scenario, such as 8.2.2 to 8.2.4 of "8.2.2-8.2.4"."""
    first, _, last = scenario.section.partition("-")
    part, _, number = first.rpartition(".")
    return [f"{part}.{n}" for n in range(int(number), int((last or first).rpartition(".")[2]) + 1)]


@pytest.mark.parametrize("kind", FILES)
def test_each_scenario_quotes_a_sentence_of_its_section_and_each_sentence_is_quoted(kind: Kind) -> None:
    recorded = {(name, rule["section"], rule["quote"]) for rule in record(kind)["rule"] for name in rule["scenarios"]}
    quoted = {(one.name, sections(one)[0], one.quote) for one in built_in(kind).scenarios if one.quote}
    assert quoted == recorded
    assert {one.name for one in built_in(kind).scenarios if not one.quote and one.weight != "ours"} == set()


@pytest.mark.parametrize("kind", FILES)
def test_each_quote_is_one_whole_sentence_and_stands_once(kind: Kind) -> None:
    quotes = [rule["quote"] for rule in record(kind)["rule"]]
    assert len(set(quotes)) == len(quotes)
    for quote in quotes:
        assert re.fullmatch(r"[A-Z](?:(?!\. [A-Z]).)*\.", quote), quote


@pytest.mark.parametrize("kind", FILES)
def test_weights_are_those_of_the_text(kind: Kind) -> None:
    scenarios = {one.name: one for one in built_in(kind).scenarios}
    for rule in record(kind)["rule"]:
        for name in rule["scenarios"]:
            weight, requirement = scenarios[name].weight, rule.get("requirement", "").lower()
            if requirement or weight not in ("ours", "report"):
                assert any(word in requirement for word in WORDS[weight]), (name, weight, requirement)


@pytest.mark.parametrize("kind", FILES)
def test_each_section_has_a_scenario_or_is_named_as_not_covered(kind: Kind) -> None:
    sheet = built_in(kind)
    scored = {section for one in sheet.scenarios for section in sections(one)}
    assert set(record(kind)["sections"]) - scored - set(sheet.not_covered) == set()
    assert all(
        re.fullmatch(r"\d+(\.\d+)*", section) and why.endswith(".") for section, why in sheet.not_covered.items()
    )
