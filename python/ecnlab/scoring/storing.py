"""The folder of a card: its files, which `ecnlab verify` checks."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

from ecnlab.folder.verified import lists, write_files
from ecnlab.report import render
from ecnlab.scoring import badge, card, engines, page
from ecnlab.scoring.card import Card

PAGE: Final = page.FILE

STORED: Final = card.STORED


def store(found: Card, folder: Path) -> Path:
    """Write the card ``found``, its badge, its page and their digests into ``folder``, and return the page's path.

    Part of a card has no badge: that of an earlier card in ``folder`` is removed. Raises EcnlabError for a link out of the folder; OSError.
    """
    card.write(found, folder)
    badges = [] if found["left_out"] else [badge.write_badge(found, folder).name]
    if not badges and lists(folder, badge.FILE):
        (folder / badge.FILE).unlink(missing_ok=True)
    path = page.write_page(found, folder)
    questions = sorted(one.relative_to(folder).as_posix() for one in folder.glob(f"{engines.RUNS}-*/*.toml"))
    names = [card.FILE, *badges, page.FILE, *questions]
    write_files(folder, STORED, names, shlex.join(page.remake(found, folder)))
    return path


def stored_page(folder: Path) -> str:
    """The page of the card in ``folder`` as HTML text, drawn again from ``card.json``. Raises FolderError, OSError."""
    return render(page.page(card.read(folder, None), folder))
