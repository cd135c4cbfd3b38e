"""Shapes of the JSON that ecnlab stores: keys with the types of their values, which are checked once, when a file is read.

A digest shows that a file is as it was written, not that ecnlab wrote it, or this version. Additional keys are allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, NotRequired, TypedDict

from ecnlab.base.errors import FolderError
from ecnlab.base.types import Departure
from ecnlab.folder.columns import TABLES

REMEDY: Final = "remove the folder and run again, or use the version of ecnlab that wrote it"


class Maker(TypedDict):
    """The ecnlab that made a result."""

    version: str
    build: NotRequired[str]
    commit: NotRequired[str | None]


class WholeMaker(TypedDict):
    """The same, with all that a page shows of it."""

    version: str
    build: str
    commit: str | None


class Wall(TypedDict):
    """What differs between two equal results."""

    began: NotRequired[str]
    seconds: NotRequired[float]
    file: NotRequired[str | None]
    remake: NotRequired[str]


class About(TypedDict):
    """A table in a manifest."""

    rows: int
    types: dict[str, str]
    units: dict[str, str]


class Instead(TypedDict):
    """A value that an engine replaced by its own."""

    key: NotRequired[str]


_Link = TypedDict(
    "_Link",
    {
        "from": str,
        "to": str,
        "rate": str | dict[str, Any],
        "delay": Any,
        "queue": NotRequired[str],
        "loss": NotRequired[float],
    },
)

_Flow = TypedDict("_Flow", {"from": str | list[str], "to": str | list[str], "group": str, "traffic": dict[str, Any]})


class Spec(TypedDict):
    """A resolved scenario, as far as pages read it."""

    duration: str
    node: dict[str, dict[str, Any]]
    link: dict[str, _Link]
    queue: dict[str, dict[str, Any]]
    flow: dict[str, _Flow]
    tcp: NotRequired[dict[str, dict[str, Any]]]
    profile: NotRequired[str | None]
    packets: NotRequired[bool]


class Manifest(TypedDict):
    """Keys of the manifests of runs and sweeps."""

    format: int
    kind: Literal["run", "sweep"]
    engine: NotRequired[str]
    title: str | None
    ecnlab: Maker
    tables: dict[str, About]
    instead: NotRequired[list[dict[str, Any]]]
    linux: NotRequired[dict[str, Any] | None]


class RunManifest(Manifest):
    """The manifest of a run."""

    files: dict[str, str]
    wall: Wall
    seed: int | None
    events: bool
    spec_hash: str
    spec: Spec
    in_force: NotRequired[dict[str, Any]]
    departures: NotRequired[list[Departure]]


class Metric(TypedDict):
    """A metric of an experiment: of a table, or a ratio or difference of two others."""

    table: NotRequired[str]
    column: NotRequired[str]
    aggregate: NotRequired[str]
    where: NotRequired[dict[str, Any]]
    ratio: NotRequired[list[str]]
    difference: NotRequired[list[str]]
    minus_one: NotRequired[bool]


class Report(TypedDict):
    """Top of the page of a sweep: ``[report]`` of the experiment, and the order of its names."""

    primary: str | None
    reference: str | None
    smallest: dict[str, float | str]
    arms: list[str]
    metrics: list[str]


class Decided(TypedDict):
    """The answer to a question at one point; the axes are further keys."""

    until: str
    metric: str
    arm: str | None
    answer: str  # "yes", "no", "inconclusive" or the best arm
    mean: float | None
    low: float | None
    high: float | None
    n: int
    reason: str


class Stop(TypedDict):
    """The answers of a sweep that stopped when decided."""

    answers: list[Decided]


class SweepManifest(Manifest):
    """The manifest of a sweep."""

    seed: int
    replicates: int
    complete: bool
    axes: list[str]
    metrics: dict[str, Metric]
    report: NotRequired[Report]
    keep: list[str]
    seeds: NotRequired[list[int]]
    stop: NotRequired[Stop]


class FinishedManifest(SweepManifest):
    """The manifest of a complete sweep."""

    files: dict[str, str]
    wall: Wall


class OneSpec(TypedDict):
    """An entry of ``specs.json``."""

    spec: Spec
    in_force: NotRequired[dict[str, Any]]
    departures: list[Departure]


class FilesList(TypedDict):
    """``files.json`` of a reproduction or an agreement."""

    format: int
    kind: str
    files: dict[str, str]
    wall: Wall


class Made(TypedDict):
    """``made.json`` of merged tables or of parts."""

    build: str
    asked: list[str]
    files: NotRequired[dict[str, str]]
    captures: NotRequired[dict[str, dict[str, str]]]


class Margin(TypedDict):
    """``margin.json`` of an agreement."""

    margin: float
    level: float


class PaperName(TypedDict):
    """The paper of ``results.json``."""

    name: str
    title: str
    authors: str
    date: str


class Results(TypedDict):
    """``results.json`` of a reproduction."""

    format: Literal[1]
    paper: PaperName
    ecnlab: WholeMaker
    full: bool
    looked: NotRequired[bool]
    seed: int
    runs: int
    simulated_s: float
    ecn_fallback: dict[str, str]
    replicates: str
    linux: NotRequired[dict[str, Any] | None]
    numbers: list[dict[str, Any]]
    claims: list[dict[str, Any]]
    apart: NotRequired[list[str]]
    tables: NotRequired[dict[str, dict[str, str]]]


def insist_on_metrics(path: Path, metrics: Mapping[str, Metric]) -> None:
    """Raise FolderError unless each of ``metrics``, from the manifest ``path``, has a table or two other metrics."""
    for name, metric in metrics.items():
        if "table" in metric:
            whole = metric["table"] in TABLES and ("column" in metric or metric.get("aggregate") == "count")
        else:
            whole = _two_others(metrics, name, len(metrics))
        if not whole:
            raise FolderError(f"{path} is damaged (`metrics.{name}` is no metric): {REMEDY}")


def _two_others(metrics: Mapping[str, Metric], name: str, depth: int) -> bool:
    """Return whether the metric ``name`` depends on two others, and not on itself."""
    metric = metrics[name]
    if "table" in metric:
        return True
    of = metric.get("ratio") or metric.get("difference") or []
    return depth > 0 and len(of) == 2 and all(one in metrics and _two_others(metrics, one, depth - 1) for one in of)


def insist(path: Path, value: dict[str, Any], shape: Any, remedy: str = REMEDY) -> dict[str, Any]:
    """Return ``value``, the JSON in ``path``, if it has ``shape``. Raises FolderError, naming the key, if it does not."""
    import msgspec  # only needed where a folder is read

    try:
        msgspec.convert(value, type=shape)
    except msgspec.ValidationError as error:
        raise FolderError(f"{path} is damaged ({_place(str(error))}): {remedy}") from error
    return value


def _place(message: str) -> str:
    """Return the message of msgspec with the key in front, as in a path of keys: "`wall.remake`: expected `str`, got `int`"."""
    what, _, place = message.partition(" - at `$")
    key = place.removesuffix("`").removeprefix(".")
    if what.startswith("Object missing required field `"):
        missing = what.split("`")[1]
        return f"it lacks `{key}.{missing}`" if key else f"it lacks `{missing}`"
    return f"`{key or 'the whole'}` is wrong: {what[:1].lower()}{what[1:]}"
