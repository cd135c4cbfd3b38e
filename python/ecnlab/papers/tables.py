"""The data files of a paper, as types: ``published.toml``, ``metrics.toml``, ``report.toml``, ``reasons.toml``, ``checklist.toml``.

`ecnlab.papers.published` reads a file as one of them. ``schema/*.schema.json`` are JSON schemas of the same types for editors. Names that
must exist elsewhere, such as that of a metric, are checked where they are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from ecnlab.base.stats import Bounds

Where = Mapping[str, str | list[str]]
"""A place in the grid: axis to label, or to several labels."""


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a data file."""


class File(Part, frozen=True, kw_only=True):
    """A data file."""

    format: Literal[1]


# --------------------------------------------------------------- published.toml


class Printed(Part, frozen=True, kw_only=True):
    """A printed value of a paper, its source, and the metric and place of the grid with which it is compared."""

    id: str
    row: str
    """Id of its row in ``checklist.toml``."""
    metric: str
    where: Where
    """Its place in the grid, in addition to that of the whole file."""
    section: str = ""
    page: int = 0
    figure: str = ""
    slide: int = 0

    @property
    def source(self) -> str:
        """Return the printed location, as far as the entry gives it."""
        section = "§" if self.section[:1].isdigit() else ""
        marks = (
            (section, self.section),
            ("Fig.\u00a0", self.figure),
            ("p.\u00a0", self.page),
            ("slide\u00a0", self.slide),
        )
        return ", ".join(f"{mark}{value}" for mark, value in marks if value)


class Number(Printed, frozen=True, kw_only=True):
    """A printed number."""

    value: float
    unit: str = ""
    about: bool = False
    """The paper prints it as approximate."""
    margin: float | None = None
    """How far it was rounded, if that is not the margin of its metric."""

    def within(self, metric: Metric) -> float:
        """The margin: its own, or that of its metric."""
        return metric.margin if self.margin is None else self.margin


class Claim(Printed, frozen=True, kw_only=True, tag_field="test"):
    """A printed statement without a number, and the test that decides it."""

    statement: str

    @property
    def test(self) -> str:
        """The name of the test."""
        return str(self.__struct_config__.tag)


class Along(Claim, frozen=True, kw_only=True):
    """A claim about an axis."""

    axis: str


class Trend(Along, frozen=True, kw_only=True, tag="trend"):
    """The metric grows or falls along the axis."""

    expected: Literal["increasing", "decreasing"]


class NoTrend(Along, frozen=True, kw_only=True, tag="no-trend"):
    """The metric does not grow, or does not fall, along the axis by more than ``tolerance`` per doubling."""

    excluded: Literal["increasing", "decreasing"]
    tolerance: float


class Below(Claim, frozen=True, kw_only=True, tag="below"):
    """The metric is below ``limit``."""

    limit: float


class Above(Claim, frozen=True, kw_only=True, tag="above"):
    """The metric is above ``limit``."""

    limit: float


class Near(Claim, frozen=True, kw_only=True, tag="near"):
    """The metric is within ``tolerance`` of ``target``."""

    target: float
    tolerance: float


class PublishedFile(File, frozen=True, kw_only=True):
    """``published.toml``: every printed number and claim that a run can answer."""

    paper: str
    title: str
    authors: str
    date: str
    number: list[Number]
    claim: list[Trend | NoTrend | Below | Above | Near]
    where: Where = {}
    """Place of all measurements, except for entries that give another."""
    together: bool = False
    """All tests of claims are one family, whose intervals are corrected for their number."""


# --------------------------------------------------------------- metrics.toml


class Recipe(Part, frozen=True, rename={"in_step": "in"}, kw_only=True):
    """How a quantity, one number of a run, is computed: from rows of a table, or of other quantities. Expressions are SQL."""

    table: str = ""
    """The table of the run."""
    where: Mapping[str, str | bool | list[str]] = {}
    """Rows with these values."""
    filter: str = ""
    """Rows, or runs, for which this expression holds."""
    place: Mapping[str, str] = {}
    """Labels on axes that the table does not have; expressions see them."""
    by: list[str] = []
    """Columns that distinguish runs, in addition to those of the grid."""
    value: str = ""
    """Expression of the one remaining row, or of the quantities ``of``."""
    over: str = ""
    """Expression over all remaining rows."""
    each: str | list[str] = []
    """With ``over``: columns; first over the rows with the same value of these, then the mean."""
    mean: str = ""
    """In place of ``over``: expression whose mean is rounded once."""
    jain: str = ""
    """In place of ``over``: column of which Jain's index is taken."""
    correlation: str = ""
    """In place of ``over``: column whose mean correlation of two flows is taken."""
    of: str | list[str] = []
    """A quantity of the run, or several, which ``value`` combines by their names."""
    other: str = ""
    """The quantity of the same run that a gain, ratio or difference is taken to."""
    in_step: str = ""
    """The step of ``other``, at the same seed and the same place on the axes of both."""
    beside: str = ""
    """The comparison, [beside.NAME], with the same quantity of another run of the seed."""

    @property
    def parts(self) -> list[str]:
        """The quantities ``of`` which it is computed."""
        return [self.of] if isinstance(self.of, str) else self.of


class Beside(Part, frozen=True):
    """Runs with the same seed that are compared: by ``pairs`` of labels, or each label with the label ``to``."""

    key: str
    """The axis on which they differ."""
    of: list[str] = []
    """The labels that are compared with ``to``: without it, all others."""
    to: str = ""
    pairs: list[tuple[str, str]] = []
    at: Literal["of", "to", "both", ""] = "of"
    """The label of the sample: the first, the second, both (the second as ``against``), or none."""

    def compared(self, labels: Iterable[str]) -> list[tuple[str, str]]:
        """Return the pairs of labels that are compared; ``labels`` are all of the axis."""
        return self.pairs or [(one, self.to) for one in self.of or labels if self.of or one != self.to]


class Metric(Part, frozen=True):
    """A measured quantity: its definition, and the condition for agreement with a printed value."""

    name: str
    definition: str
    kind: Literal["mean", "gain", "ratio", "difference"]
    margin: float = 0.0
    """Distance from the printed value within which a mean agrees."""
    neutral: float | None = None
    """The value of no effect."""
    percent: bool = False
    digits: int = 3
    """Significant digits of a value that is no percentage."""
    bounds: tuple[float, float] | None = None
    """The least and the largest value there can be; ``inf`` for none."""
    apart: bool = False
    """Its printed numbers are easy to meet and counted separately."""
    steps: Sequence[str] = ()
    """The steps in which it is measured."""
    measure: Recipe | None = None
    """How; without it, as the quantity of the metric's name."""

    def __post_init__(self) -> None:
        """Raise ValueError for bounds that leave no room."""
        Bounds(*(self.bounds or ()))

    @property
    def limits(self) -> Bounds:
        """Between which values its intervals stay."""
        return Bounds(*(self.bounds or ()))


class MetricsFile(File, frozen=True, kw_only=True):
    """``metrics.toml``: the metrics, quantities that are not metrics, and comparisons of runs."""

    metric: Mapping[str, Metric]
    quantity: Mapping[str, Recipe] = {}
    beside: Mapping[str, Beside] = {}


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
