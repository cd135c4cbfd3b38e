"""The page of many cards of one kind: ``index.html``, with a row for each law and links to the cards."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote

from ecnlab.folder.outputs import PAGE, write_named
from ecnlab.folder.verified import refuse_other_kind, write_files
from ecnlab.report import Page, Section, Table, Tally, render
from ecnlab.report.page import Cell
from ecnlab.report.words import counted
from ecnlab.scoring.card import Card, kind_of, word
from ecnlab.scoring.criteria import TONES
from ecnlab.scoring.judging import VERDICTS
from ecnlab.scoring.page import FILE as CARD

FILE: Final = "index.html"

STORED: Final = "cards"
"""Value of `kind` in the ``files.json`` of many cards."""


def write_index(cards: Mapping[str, Card], folder: Path) -> Path:
    """Write the page of ``cards``, by the names of their folders in ``folder``, and return its path. Raises OSError."""
    path = folder / FILE
    refuse_other_index(folder)
    write_named(path, render(index(cards)).encode("utf-8", "surrogatepass"), PAGE, own=folder)
    kind = kind_of(next(iter(cards.values())))
    write_files(folder, STORED, [FILE], shlex.join(["ecnlab", "score", "all", kind, "--out", str(folder)]))
    return path


def refuse_other_index(folder: Path) -> None:
    """Raise FolderError if ``folder`` has another result than cards of many laws."""
    refuse_other_kind(folder, STORED)


def index(cards: Mapping[str, Card]) -> Page:
    """The page of at least one card of one kind and size."""
    one = next(iter(cards.values()))
    without = sum(not card["verdicts"]["fails"] for card in cards.values())
    what = counted(len(cards), word(one))
    return Page(
        title=f"{what} in {one['source']}",
        kicker=f"ecnlab {one['kind']}, {one['size']} size, {counted(one['replicates'], 'seed')}",
        answer=f"{without} of {what} fail no scenario.",
        lede="",
        tallies=[_tally(cards)],
        findings=(),
        sections=[Section("laws", "Cards", "In the order of the registry.", [_table(cards)])],
        footer="Every number is in card.json in the folder of a card (`ecnlab docs score`).",
    )


def _tally(cards: Mapping[str, Card]) -> Tally:
    counts = [(kind, TONES[kind], sum(card["verdicts"][kind] for card in cards.values())) for kind in VERDICTS]
    return Tally("verdicts of all cards:", [one for one in counts if one[2]])


def _table(cards: Mapping[str, Card]) -> Table:
    rows = [
        [
            Cell(card["subject"]["label"], link=f"{quote(name)}/{CARD}"),
            *(Cell(str(card["verdicts"][kind]), numeric=True) for kind in VERDICTS),
            Cell(", ".join(one["name"] for one in card["scenarios"] if one["verdict"] == "fails")),
        ]
        for name, card in cards.items()
    ]
    return Table("Verdicts by law", (word(next(iter(cards.values()))), *VERDICTS, "fails in"), rows)
