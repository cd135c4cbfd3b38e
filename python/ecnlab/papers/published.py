"""The printed values and the metrics of a paper, ``published.toml`` and ``metrics.toml``, as types, and their reading.

``schema/*.schema.json`` are JSON schemas of the same types for editors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from msgspec.structs import replace

from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import unknown
from ecnlab.base.stats import Bounds
from ecnlab.scenario.data_files import File, Part, read_file

Where = Mapping[str, str | list[str]]
"""A place in the grid: axis to label, or to several labels."""


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


class Reading(Part, frozen=True):
    """Another reading of what a paper leaves unstated."""

    text: str
    """The description."""
    labels: Mapping[str, str] = {}
    """Its label for each claimed one; without them its name is the label."""


class Readings(Part, frozen=True):
    """Readings of what a paper leaves unstated, under which its numbers and claims are judged again."""

    key: str
    """The axis of the grid on which they differ."""
    claimed: str | list[str]
    """The label under which numbers and claims are judged, or several."""
    others: Mapping[str, Reading]
    """The other readings by name."""

    @property
    def of_claims(self) -> list[str]:
        """The labels under which numbers and claims are judged."""
        return [self.claimed] if isinstance(self.claimed, str) else self.claimed

    def labels(self, name: str) -> Mapping[str, str]:
        """Return the label of a reading for each claimed one that it has."""
        return self.others[name].labels or dict.fromkeys(self.of_claims, name)

    def cover(self, entry: Printed) -> bool:
        """Return whether ``entry`` is judged under the claimed reading."""
        labels = entry.where.get(self.key)
        return labels is not None and {*([labels] if isinstance(labels, str) else labels)} <= {*self.of_claims}


class PublishedFile(File, frozen=True, kw_only=True):
    """``published.toml``: every printed number and claim that a run can answer."""

    paper: str
    title: str
    authors: str
    date: str
    number: list[Number] = []
    claim: list[Trend | NoTrend | Below | Above | Near] = []
    where: Where = {}
    """Place of all measurements, except for entries that give another."""
    together: bool = False
    """A claim holds if it does at each of its places alone, and is refuted as one of several (Holm)."""
    readings: Readings | None = None


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
    events: bool = False
    """A count of events: a place without any, on either side and in all runs, is left out."""
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


# --------------------------------------------------------------- both

T = TypeVar("T", bound=Printed)


@dataclass(frozen=True, slots=True)
class Published:
    """All that a paper printed and a run can answer."""

    paper: str
    title: str
    authors: str
    date: str
    metrics: Mapping[str, Metric]
    numbers: tuple[Number, ...]
    claims: tuple[Claim, ...]
    where: Where = field(default_factory=dict)
    """Place of all measurements, except for entries that give another."""
    quantities: Mapping[str, Recipe] = field(default_factory=dict)
    beside: Mapping[str, Beside] = field(default_factory=dict)
    together: bool = False
    """Whether the places of a claim are judged together: `ecnlab.papers.judge`."""
    readings: Readings | None = None

    def number(self, name: str) -> Number:
        """The printed number of that id. Raises KeyError if there is none."""
        return {number.id: number for number in self.numbers}[name]

    def claim(self, name: str) -> Claim:
        """The claim of that id. Raises KeyError if there is none."""
        return {claim.id: claim for claim in self.claims}[name]

    @property
    def apart(self) -> list[str]:
        """The metrics whose printed numbers have a tally of their own."""
        return [name for name, metric in self.metrics.items() if metric.apart]

    def ids(self) -> list[str]:
        """Return the ids of all numbers and claims."""
        return [entry.id for entry in (*self.numbers, *self.claims)]

    def recipe(self, name: str) -> Recipe:
        """Return the recipe of the metric or quantity ``name``; an empty one if code computes it."""
        metric = self.metrics.get(name)
        return (metric.measure if metric else None) or self.quantities.get(name) or Recipe()


def read_published(folder: Path) -> Published:
    """Read and check ``published.toml`` and ``metrics.toml`` of a paper's folder.

    Raises EcnlabError naming the entry that is wrong; OSError if the file cannot be read.
    """
    path = folder / "published.toml"
    table, measured = read_file(path, PublishedFile), read_file(folder / "metrics.toml", MetricsFile)
    found = Published(
        table.paper,
        table.title,
        table.authors,
        table.date,
        measured.metric,
        tuple(_placed(table.number, table.where)),
        tuple(_placed(table.claim, table.where)),
        table.where,
        measured.quantity,
        measured.beside,
        table.together,
        table.readings,
    )
    for entry in (*found.numbers, *found.claims):
        if entry.metric not in found.metrics:
            raise EcnlabError(f"{path}: {entry.id}: {unknown('metric', entry.metric, found.metrics)}")
    ids = found.ids()
    if twice := {i for i in ids if ids.count(i) > 1}:
        raise EcnlabError(f"{path}: {min(twice)} appears twice")
    if found.readings:
        _check_readings(path, found.readings, (*found.numbers, *found.claims))
    return found


def _check_readings(path: Path, readings: Readings, entries: Sequence[Printed]) -> None:
    """Raise EcnlabError for a key or label that no number or claim has, and for a reading without labels."""
    there = [entry.where[readings.key] for entry in entries if readings.key in entry.where]
    if not there:
        keys = sorted({key for entry in entries for key in entry.where})
        raise EcnlabError(f"{path}: readings.key: {unknown('key of a number or claim', readings.key, keys)}")
    labels = {label for where in there for label in ([where] if isinstance(where, str) else where)}
    for claimed in readings.of_claims:
        if claimed not in labels:
            raise EcnlabError(
                f"{path}: readings.claimed: {unknown(f'label of {readings.key}', claimed, sorted(labels))}"
            )
    for name, reading in readings.others.items():
        at = f"{path}: readings.others.{name!r}: labels"
        if len(readings.of_claims) > 1 and not reading.labels:
            raise EcnlabError(f"{at}: missing: give the label for each of {', '.join(readings.of_claims)}")
        for label in reading.labels:
            if label not in readings.of_claims:
                raise EcnlabError(f"{at}: {unknown('claimed label', label, readings.of_claims)}")


def _placed(entries: Sequence[T], where: Where) -> Iterator[T]:
    """Yield ``entries`` with the place of the whole file."""
    return (replace(entry, where={**where, **entry.where}) for entry in entries)
