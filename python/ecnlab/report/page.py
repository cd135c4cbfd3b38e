"""The blocks a report is made of, and their rendering."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Literal, Protocol

import jinja2
from markupsafe import Markup

from ecnlab.base.safe_text import visible
from ecnlab.report.chart import Chart, Multiples
from ecnlab.report.figure import Figure
from ecnlab.report.forest import Forest
from ecnlab.report.heat import Maps
from ecnlab.report.rows import Rows
from ecnlab.report.strips import Strips
from ecnlab.report.svg import DEFINITIONS
from ecnlab.report.tone import SIGNS, Tone
from ecnlab.report.topology import Topology


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence of the summary, with its answer and, unless "", the numbers behind it."""

    answer: str
    tone: Tone
    statement: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Tally:
    """How many there are of each kind: a bar with its legend, the kinds as (name, tone, count)."""

    caption: str
    counts: Sequence[tuple[str, Tone, int]]

    @property
    def total(self) -> int:
        """Return the number of all kinds together."""
        return sum(count for _, _, count in self.counts)


@dataclass(frozen=True, slots=True)
class Cell:
    """A table cell: text, how it is set, a chip's tone where it is one, a name set in front of the text, and a link.

    ``anchor`` is the identifier of the row, for links to it; it belongs to the first cell.
    """

    text: str
    numeric: bool = False
    tone: Tone | None = None
    lead: str = ""
    link: str = ""
    anchor: str = ""

    @property
    def sign(self) -> str:
        """Return the sign that accompanies the chip's colour."""
        return SIGNS[self.tone] if self.tone else ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption.

    If ``folded``, the rows are shown when the reader opens it. On a phone its rows become cards.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell | str]]
    folded: bool = False
    kind: Literal["table"] = "table"

    def cells(self) -> list[list[Cell]]:
        """All cells as `Cell`; text that reads as a number is set as one."""
        return [[c if isinstance(c, Cell) else Cell(c, _reads_as_number(c)) for c in row] for row in self.rows]


class Drawing(Protocol):
    """A drawing with its words and numbers, set as a chart is."""

    @property
    def kind(self) -> Literal["chart"]:
        """How it is set."""

    @property
    def title(self) -> str:
        """Its heading."""

    @property
    def unit(self) -> str:
        """Unit of the y axis."""

    @property
    def caption(self) -> str:
        """Its caption."""

    @property
    def source(self) -> str:
        """The figure of a paper that it answers; "" for none."""

    def svg(self) -> Markup:
        """Return the drawing."""

    def legend(self) -> list[tuple[str, str, str]]:
        """Return name, colour and marker of each entry."""

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return its numbers: column names and rows."""


@dataclass(frozen=True, slots=True)
class Group:
    """Figures side by side if there is space."""

    figures: Sequence[Figure | Drawing]
    kind: Literal["figures"] = "figures"


Block = Table | Rows | Group | Chart | Multiples | Maps | Strips | Topology | Drawing | str


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of the page: an introduction and blocks. Text blocks are plain paragraphs.

    If ``folded``, the introduction and the blocks are shown when the reader opens the section; "narrow" is folded on a phone
    only.
    """

    name: str
    title: str
    intro: str
    blocks: Sequence[Block]
    folded: bool | Literal["narrow"] = False

    @property
    def contents(self) -> str:
        """Return the numbers of figures and tables in words."""
        figures = sum(len(block.figures) if isinstance(block, Group) else not isinstance(block, Table | Rows | str)
                      for block in self.blocks)  # fmt: skip
        counts = (("figure", figures), ("table", sum(isinstance(block, Table | Rows) for block in self.blocks)))
        return ", ".join(f"{n} {what}{'s' if n > 1 else ''}" for what, n in counts if n) or "Text"


@dataclass(frozen=True, slots=True)
class Page:
    """A whole report. ``answer`` is its result in one sentence; ``forest`` compares printed numbers with measured ones."""

    title: str
    kicker: str
    lede: str
    tallies: Sequence[Tally]
    findings: Sequence[Finding]
    sections: Sequence[Section]
    footer: str
    facts: Sequence[tuple[str, str]] = field(default_factory=tuple)
    answer: str = ""
    forest: Forest | None = None

    @property
    def in_short(self) -> bool:
        """Whether the page has anything for the box on top."""
        return bool(self.findings or self.facts or self.forest or any(tally.total for tally in self.tallies))


def shown(value: object) -> object:
    """Return a value for a template, with markup in foreign text escaped."""
    return visible(value) if type(value) is str else value


def render(page: Page) -> str:
    """Return the page as HTML text.

    The same page gives identical bytes: it depends on no clock and no host.
    """
    script = _asset("page.js")
    return template().render(
        page=page,
        style=Markup(_asset("page.css")),
        drawing=Markup(_asset("plot.css")),
        script=Markup(script),
        digest=_digest(script),
        markers=DEFINITIONS,
    )


@cache
def template() -> jinja2.Template:
    """Return the template of pages, which takes longer to compile than a small page takes to render."""
    environment = jinja2.Environment(
        autoescape=True, finalize=shown, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["sign"] = lambda tone: SIGNS[tone]
    return environment.from_string(_asset("page.html.j2"))


def _digest(script: str) -> str:
    """The hash of an inline script, as a Content-Security-Policy names the only script that a browser may run."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _asset(name: str) -> str:
    return resources.files("ecnlab.report").joinpath("assets", name).read_text(encoding="utf-8")


def _reads_as_number(text: str) -> bool:
    return bool(text) and (text[0].isdigit() or text[0] in "−+") and len(text) < 24
