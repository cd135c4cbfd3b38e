"""``docs/generated/engines.md``: what each engine does with every key of the schema."""

from __future__ import annotations

import os
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Final

import engine_keys
import pytest
from engine_keys import UNUSED, Key, joined, keys, words_of

from ecnlab.engines.protocol import LINUX

PAGE: Final = Path(__file__).parents[2] / "docs/generated/engines.md"

WRITE: Final = "ECNLAB_WRITE_ENGINES"
"""The environment variable with which the page is written."""

REMEDY: Final = f"write the page anew: {WRITE}=1 pytest -m slow {__file__}"

NOT_USED_BY_LINUX: Final = {
    "[node.NAME] `count`": "1 is what a single node has",
    "[link.NAME] `count`": "1 is what a single link has",
    "[flow.NAME] `count`": "1 is what a single flow has",
    "[capture.NAME] `end`": "from is the default",
    "Traffic `web`: `object_size`": "3 kB is the default size in whole packets",
    "[queue.NAME] `droptail`: `ecn`": "drop-tail marks nothing",
    "[queue.NAME] `red`: `limit`": "40 packets have the bytes of the limit before",
    "[queue.NAME] `red`: `target_delay`": "only automatic thresholds use it, and Linux refuses these",
    "[queue.NAME] `pie`: `bytemode`": "false is the default",
    "[tcp.NAME] `gso_max_segs`": "Reno does not pace",
}
"""Keys that Linux accepts and does not use, with the reason why nothing is substituted."""


SAMPLE: Final = 5
"""`make test` compares one key in so many, `make slow` all."""


@cache
def stored() -> list[tuple[Key, tuple[str, ...]]]:
    """Every key of the schema, and what each engine does with it in words, as the page has them in the same order."""
    left, found = keys(), []
    for line in PAGE.read_text().split("\n## ", 1)[1].splitlines():
        if line.startswith("| `"):
            names, *words = line.removeprefix("| ").removesuffix(" |").split(" | ")
            alike = list(islice(left, names.count(", ") + 1))
            assert names == ", ".join(joined([key.name for key in alike])), f"no key in this order: {REMEDY}"
            found += [(key, tuple(words)) for key in alike]
    assert not list(left), f"these keys are not in the page: {REMEDY}"
    return found


@pytest.mark.slow
def test_the_page_is_that_of_the_schema_and_the_engines() -> None:
    # Before the tests that read the page: with `WRITE` this one writes it.
    made = engine_keys.page()
    if os.environ.get(WRITE):
        PAGE.write_text(made)
    assert PAGE.read_text() == made, REMEDY


def test_the_page_has_what_the_engines_do_with_some_keys() -> None:
    for key, words in stored()[::SAMPLE]:
        assert words_of(key) == words, f"{key.section} {key.name}: {REMEDY}"


def test_every_section_of_the_schema_is_in_the_page() -> None:
    tables = {name for name, about in engine_keys.root()["properties"].items() if about.get("type") == "object"}
    assert tables == {*engine_keys.SECTIONS, "queue", "tcp"}


def test_linux_uses_substitutes_or_refuses_every_key() -> None:
    at = engine_keys.ENGINES.index(LINUX)
    unused = {f"{key.section} {key.name}" for key, words in stored() if UNUSED in words[at]}
    assert unused == set(NOT_USED_BY_LINUX)


def test_answers_of_some_keys() -> None:
    words = {key.name: words for key, words in stored()}
    assert words["`cubic`: `profile`"][1] == 'substituted by `"linux"`: `"rfc9438"`; same: `"linux"`'
    assert words["`prague`"] == ("same", "refused", "refused", "refused")
    assert words["`red`: `count_reset`"][1] == 'substituted by `"forced"`: `"signals"`, `"all"`; same: `"forced"`'
