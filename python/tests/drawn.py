"""Sheets of cards with few drawn paths, for tests."""

from __future__ import annotations

from dataclasses import replace

from ecnlab.scoring.sheet import Sheet


def drawing(sheet: Sheet, number: int) -> Sheet:
    """The sheet with ``number`` paths of the second class of BDPs, and none of the others."""
    assert sheet.draws is not None
    name, within = list(sheet.draws.classes.items())[1]
    return replace(sheet, draws=replace(sheet.draws, classes={name: within}, number={"quick": [number]}))
