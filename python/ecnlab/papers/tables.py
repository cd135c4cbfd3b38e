"""The data files of a paper other than those of numbers, as types: ``report.toml``, ``reasons.toml``, ``checklist.toml``, ``unbuilt.toml``.

`ecnlab.scenario.data_files.read_file` reads a file as one of them. ``schema/*.schema.json`` are JSON schemas of the same types for
editors. Names that must exist elsewhere, such as that of a metric, are checked where they are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ecnlab.papers.published import Where
from ecnlab.scenario.data_files import File, Part

# --------------------------------------------------------------- report.toml


class Page(Part, frozen=True):
    """Texts of the whole page."""

    title: str
    answer: str
    """The result in one sentence."""
    lede: str
    agreement: str
    """When a printed number agrees."""
    context: Mapping[str, str] = {}
    """Properties that all points of a metric share, by metric."""


class Finding(Part, frozen=True):
    """A sentence of the summary: a claim, or one by code."""

    claim: str = ""
    statement: str = ""
    range: str = ""
    """Of a claim about many places: the quantity of which the range is printed."""
    own: str = ""
    """Name of the function in the paper's package that makes it."""

    def __post_init__(self) -> None:
        """Raise ValueError for a finding that is neither a claim nor by code, or both."""
        if bool(self.own) == bool(self.claim):
            raise ValueError("a finding needs either 'claim' with its 'statement', or 'own'")


class Axis(Part, frozen=True):
    """An axis of figures along a key of the grid."""

    key: str
    label: str
    labels: list[str]
    """Labels of the grid, each a number or beginning with one, unless it has ``values``."""
    values: list[int | float] = []
    """Positions of the labels."""
    ticks: list[str] = []
    """Texts at the labels; "" for none."""
    log: bool = False
    joined: bool = True
    """Whether a line joins the points: not for labels without an order."""


class PrintedAt(Part, frozen=True):
    """Printed points of another metric, at one label of the axis."""

    metric: str
    at: str


class Curve(Part, frozen=True):
    """A curve of a figure; what it leaves out is that of the figure."""

    name: str
    metric: str = ""
    where: Where = {}
    printed: bool | PrintedAt | None = None
    style: int | None = None
    """Number of its colour."""


class Change(Part, frozen=True, rename={"start": "from"}):
    """A printed relative change: a point at the measured value of the place ``from``, changed by the printed number."""

    number: str
    start: Mapping[str, str]


class Figure(Part, frozen=True):
    """A figure of a metric along an axis, with a curve for each of ``labels``, and ``curves``."""

    title: str
    axis: str
    metric: str
    caption: str | None = None
    """Without it, the definition of the metric."""
    label: str = ""
    """Label of the vertical axis, if not the name of the metric."""
    where: Where = {}
    by: str = ""
    """The key of the grid with a curve for each of ``labels``."""
    labels: list[str] = []
    name: str = "{}"
    """Name of these curves, with {} for the label."""
    curves: list[Curve] = []
    printed: bool | PrintedAt = False
    """Draw the printed points of the curves, of their own metric or of another."""
    changes: list[Change] = []
    zero: bool = True
    """The vertical axis begins at zero."""
    ceiling: float | None = None
    """Highest value of the vertical axis."""


class Column(Part, frozen=True):
    """A column of a table with one row for each place."""

    metric: str
    name: str = ""
    where: Where = {}


class Table(Part, frozen=True):
    """A table with one row for each point of ``metrics``; or one for each place and a column for each of ``columns``."""

    caption: str
    keys: list[str]
    """Keys of the grid that have columns."""
    metrics: list[str] = []
    columns: list[str | Column] = []
    where: Where = {}
    folded: bool | None = None
    """Without it, only a table of ``metrics`` is folded."""
    places: list[Where] = []
    """Rows in their order: without it, the places measured for the first column."""
    heads: Mapping[str, str] = {}
    """Heads of the columns of keys."""
    names: Mapping[str, str] = {}
    """Names of labels in this table."""

    def __post_init__(self) -> None:
        """Raise ValueError unless it is one of the two kinds, with keys of that kind."""
        if bool(self.metrics) == bool(self.columns):
            raise ValueError("a table needs either 'metrics' or 'columns'")
        if self.metrics and (self.places or self.heads or self.names):
            raise ValueError("'places', 'heads' and 'names' need 'columns'")
        if lacking := [key for place in self.places for key in self.keys if key not in place]:
            raise ValueError(f"a row of 'places' has no {lacking[0]!r}, one of the 'keys'")


class Section(Part, frozen=True):
    """A section of the report: a text, figures and tables."""

    title: str
    text: str
    """A template with references and words of the paper's package."""
    blocks: Sequence[str] = ("figures", "tables")
    """Order of the blocks; other names are functions of the paper's package."""
    figure: list[Figure] = []
    table: list[Table] = []


class ReportFile(File, frozen=True, kw_only=True):
    """``report.toml``: the report in its order."""

    page: Page
    finding: list[Finding] = []
    axis: Mapping[str, Axis] = {}
    section: Mapping[str, Section] = {}


# --------------------------------------------------------------- reasons, checklist, features


class Fact(Part, frozen=True):
    """A measured point that a reason quotes by the fact's name."""

    metric: str
    where: Where = {}
    pick: Literal["min", "max", "nearest"] | None = None
    """Which of several points."""
    to: float = 0.0
    """The value to which ``nearest`` refers."""


class Reason(Part, frozen=True, rename={"ids": "for"}):
    """Why printed values differ from measured ones."""

    ids: list[str]
    """Ids of numbers and claims."""
    text: str
    """A template with references and facts."""
    facts: Mapping[str, Fact] = {}


class ReasonsFile(File, frozen=True, kw_only=True):
    """``reasons.toml``: reasons for differences. A measured number is a reference or a fact, never typed."""

    reason: list[Reason] = []


class ChecklistRow(Part, frozen=True):
    """A statement of the paper and its evidence."""

    id: str
    what: str
    section: str
    state: Literal["shown", "not-run", "not-reproducible"]
    by: list[str]
    """Files that show it."""
    note: str


class ChecklistFile(File, frozen=True, kw_only=True):
    """``checklist.toml``: every statement of the paper."""

    row: list[ChecklistRow]


class Feature(Part, frozen=True):
    """A feature that papers name and ecnlab does not have."""

    names: list[str]
    """Names that it would have in a scenario."""
    text: str
    """The statement about it in READMEs."""


class FeaturesFile(File, frozen=True, kw_only=True):
    """``papers/unbuilt.toml``: features that papers name and ecnlab does not have."""

    feature: Mapping[str, Feature]
