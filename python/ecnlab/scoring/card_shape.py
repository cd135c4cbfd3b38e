"""The shape of ``card.json``: the keys that a comparison of cards needs, and the types of the others. It is checked when a card is read. ``docs/score.md`` defines its keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal, NotRequired, TypedDict

from ecnlab.base.errors import FolderError
from ecnlab.base.stats import Answer
from ecnlab.folder.shapes import Maker, insist
from ecnlab.scoring.judging import Verdict

Number = float | None


class Measured(TypedDict):
    """A mean with its interval."""

    case: str
    measure: str
    mean: Number
    low: Number
    high: Number
    n: int
    queue: NotRequired[str]
    sender: NotRequired[str]


class Criterion(TypedDict):
    """A criterion with its outcome."""

    name: str
    case: str
    measure: str
    against: str
    at_most: NotRequired[float]
    at_least: NotRequired[float]
    mean: Number
    low: Number
    high: Number
    n: int
    outcome: Answer
    reason: str
    values: list[Number]


class Point(TypedDict):
    """A run in the plane of goodput over delay."""

    case: str
    queue: NotRequired[str]
    sender: NotRequired[str]
    delay_mean_s: Number
    goodput_bps: Number


class Incumbent(TypedDict):
    """The scores of a sender that the subject is compared with."""

    verdict: Verdict
    criteria: list[Criterion]


class Scored(TypedDict):
    """A scenario of a card."""

    name: str
    section: NotRequired[str]
    quote: NotRequired[str]
    title: str
    weight: NotRequired[str]
    about: NotRequired[str]
    stands: NotRequired[list[Any]]
    limit_packets: NotRequired[dict[str, list[int]]]
    paths: NotRequired[dict[str, list[dict[str, float]]]]
    experiment: NotRequired[Any]
    verdict: Verdict
    why_not: NotRequired[str]
    criteria: list[Criterion]
    measures: NotRequired[list[Measured]]
    points: NotRequired[list[Point]]
    incumbents: NotRequired[dict[str, Incumbent]]


class Law(TypedDict):
    """The subject, the reference or an incumbent."""

    name: NotRequired[str]
    argument: str
    label: str
    source: str
    given: NotRequired[dict[str, Any]]
    parameters: dict[str, Any]


class Other(TypedDict):
    """The reference of a card, of which comparisons read the label."""

    label: str
    name: NotRequired[str]
    argument: NotRequired[str]
    source: NotRequired[str]


class CardShape(TypedDict):
    """``card.json``."""

    format: int
    kind: str
    ecnlab: Maker
    engine: NotRequired[dict[str, Any]]
    instead: NotRequired[list[dict[str, Any]]]
    source: str
    size: Literal["quick", "full"]
    seed: int
    replicates: int
    left_out: NotRequired[int]
    criteria: NotRequired[str | None]
    incumbents: NotRequired[list[str]]
    subject: Law
    reference: Other
    verdicts: dict[Verdict, int]
    scenarios: list[Scored]
    not_covered: NotRequired[dict[str, str]]
    summary: NotRequired[list[str]]


REMEDY: Final = "score the law again into another folder"


def insist_on_card(path: Path, card: dict[str, Any], word: str) -> None:
    """Raise FolderError unless ``card``, the JSON in ``path``, has the shape of one whose arms have the key ``word``."""
    insist(path, card, CardShape, REMEDY)
    arms = card.get("incumbents", [])
    insist(path, {arm: card.get(arm) for arm in arms}, dict[str, Law], REMEDY)
    for number, one in enumerate(card["scenarios"]):
        for key in ("measures", "points"):
            if any(word not in row for row in one.get(key, ())):
                raise FolderError(f"{path} is damaged (`scenarios[{number}].{key}` lacks `{word}`): {REMEDY}")
        if any(("at_most" in row) == ("at_least" in row) for row in one["criteria"]):
            raise FolderError(f"{path} is damaged (`scenarios[{number}].criteria` lacks a limit): {REMEDY}")
        if any(arm not in one.get("incumbents", dict.fromkeys(arms)) for arm in arms):
            raise FolderError(f"{path} is damaged (`scenarios[{number}].incumbents` lacks a sender): {REMEDY}")
