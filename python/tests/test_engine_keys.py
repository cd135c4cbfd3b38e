"""``docs/generated/engines.md``: what each engine does with every key of the schema."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import engine_keys
from engine_keys import UNUSED

from ecnlab.engines.protocol import LINUX

PAGE: Final = Path(__file__).parents[2] / "docs/generated/engines.md"

WRITE: Final = "ECNLAB_WRITE_ENGINES"
"""The environment variable with which the page is written."""

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
}
"""Keys that Linux accepts and does not use, with the reason why nothing is substituted."""


def test_the_page_is_that_of_the_schema_and_the_engines() -> None:
    made = engine_keys.page()
    if os.environ.get(WRITE):
        PAGE.write_text(made)
    assert PAGE.read_text() == made, f"write the page anew: {WRITE}=1 pytest {__file__}"


def test_every_section_of_the_schema_is_in_the_page() -> None:
    tables = {name for name, about in engine_keys.root()["properties"].items() if about.get("type") == "object"}
    assert tables == {*engine_keys.SECTIONS, "queue", "tcp"}


def test_linux_uses_substitutes_or_refuses_every_key() -> None:
    at = engine_keys.ENGINES.index(LINUX)
    unused = {f"{row.section} {row.key}" for row in engine_keys.rows() if UNUSED in row.words[at]}
    assert unused == set(NOT_USED_BY_LINUX)


def test_answers_of_some_keys() -> None:
    words = {row.key: row.words for row in engine_keys.rows()}
    assert words["`cubic`: `profile`"][1] == 'substituted by `"linux"`: `"rfc9438"`; same: `"linux"`'
    assert words["`prague`"] == ("same", "refused", "refused", "refused")
    assert words["`red`: `count_reset`"][1] == 'substituted by `"forced"`: `"signals"`, `"all"`; same: `"forced"`'
