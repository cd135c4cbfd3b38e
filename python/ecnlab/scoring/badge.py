"""The badge of a card, ``badge.svg``: the RFC, and the number of scenarios with each verdict."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Final

from ecnlab.base.safe_text import visible
from ecnlab.folder.outputs import write_named
from ecnlab.scoring.card import Card, number_of
from ecnlab.scoring.engines import on_kernel
from ecnlab.scoring.judging import Verdict

FILE: Final = "badge.svg"

WORST_FIRST: Final[tuple[Verdict, ...]] = ("fails", "inconclusive", "meets", "not applicable")

COLOURS: Final[Mapping[Verdict, str]] = {
    "fails": "#b3261e",
    "inconclusive": "#8a5a00",
    "meets": "#2e7d32",
    "not applicable": "#5f6368",
}
"""Colours of the worst verdict, and of cards with other limits. White text on each has a contrast of at least 4.5."""

UNCOLOURED: Final = ("report", "may")
"""Weights of scenarios that do not decide the colour."""

GREY: Final = "#444"
"""Colour behind the name of the RFC."""

ADVANCE: Final = 6.2
"""Mean width of a character in pixels at 11 px. `textLength` fits the text if the font is of another width."""

PADDING: Final = 6

HEIGHT: Final = 20


def write_badge(card: Card, folder: Path) -> Path:
    """Write the badge of ``card`` into ``folder`` and return its path. Raises OSError."""
    path = folder / FILE
    write_named(path, badge(card).encode("utf-8", "surrogatepass"), (".svg",), own=folder)
    return path


def badge(card: Card) -> str:
    """The badge of ``card`` as an SVG that needs no other file. Its title names the subject, for screen readers."""
    text = _counts(card)
    title = escape(visible(f"{card['subject']['label']} in {card['source']}{on_kernel(card)}: {text}"))
    left, right = _width(card["source"]), _width(text)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}" role="img" aria-label="{title}">'
        f"<title>{title}</title>"
        f'<rect width="{left + right}" height="{HEIGHT}" rx="3" fill="{COLOURS[_decisive(card)]}"/>'
        f'<path d="M{left} 0v{HEIGHT}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="{GREY}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f"{_text(card['source'], 0, left)}{_text(text, left, right)}</g></svg>\n"
    )


def _counts(card: Card) -> str:
    """The number of scenarios with each verdict, the total, and whether the limits are the user's."""
    counts, total = card["verdicts"], len(card["scenarios"])
    meets = f"{counts['meets']} of {total} {'meets' if total == 1 else 'meet'}"
    fails = [number_of(card, "fails")] if counts["fails"] else []
    rest = [f"{counts[kind]} {kind}" for kind in WORST_FIRST[1::2] if counts[kind]]
    return ", ".join([meets, *fails, *rest, *(["own limits"] if card.get("criteria") else [])])


def _decisive(card: Card) -> Verdict:
    """The verdict in whose colour the badge is: the worst one, or "not applicable" for other limits."""
    if card.get("criteria"):
        return "not applicable"
    there = {one["verdict"] for one in card["scenarios"] if one.get("weight") not in UNCOLOURED}
    return next((kind for kind in WORST_FIRST if kind in there), "not applicable")


def _width(text: str) -> int:
    return round(len(text) * ADVANCE) + 2 * PADDING


def _text(text: str, start: int, width: int) -> str:
    return f'<text x="{start + PADDING}" y="14" textLength="{width - 2 * PADDING}" lengthAdjust="spacingAndGlyphs">{escape(visible(text))}</text>'
