"""The shape of ``card.json``, which `ecnlab.folder.shapes` checks when a card is read. ``docs/score.md`` defines its keys."""

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
    section: str
    title: str
    weight: str
    about: str
    stands: list[Any]
    limit_packets: dict[str, Any]
    experiment: Any
    verdict: Verdict
    why_not: str
    criteria: list[Criterion]
    measures: list[Measured]
    points: list[Point]
    incumbents: NotRequired[dict[str, Incumbent]]


class Law(TypedDict):
    """The subject, the reference or an incumbent."""

    name: str
    argument: str
    label: str
    source: str
    given: dict[str, Any]
    parameters: dict[str, Any]


class CardShape(TypedDict):
    """``card.json``."""

    format: int
    kind: str
    ecnlab: Maker
    engine: dict[str, Any]
    instead: list[dict[str, Any]]
    source: str
    size: Literal["quick", "full"]
    replicates: int
    left_out: int
    criteria: str | None
    incumbents: NotRequired[list[str]]
    subject: Law
    reference: Law
    verdicts: dict[Verdict, int]
    scenarios: list[Scored]
    summary: list[str]


REMEDY: Final = "score the law again into another folder"


def insist_on_card(path: Path, card: dict[str, Any], word: str) -> None:
    """Raise FolderError unless ``card``, the JSON in ``path``, has the shape of one whose arms have the key ``word``."""
    insist(path, card, CardShape, REMEDY)
    arms = card.get("incumbents", [])
    insist(path, {arm: card.get(arm) for arm in arms}, dict[str, Law], REMEDY)
    if len(card["summary"]) < 3:
        raise FolderError(f"{path} is damaged (`summary` has {len(card['summary'])} lines, not 3 or more): {REMEDY}")
    for number, one in enumerate(card["scenarios"]):
        for key in ("measures", "points"):
            if any(word not in row for row in one[key]):
                raise FolderError(f"{path} is damaged (`scenarios[{number}].{key}` lacks `{word}`): {REMEDY}")
        if any(("at_most" in row) == ("at_least" in row) for row in one["criteria"]):
            raise FolderError(f"{path} is damaged (`scenarios[{number}].criteria` lacks a limit): {REMEDY}")
        if any(arm not in one.get("incumbents", dict.fromkeys(arms)) for arm in arms):
            raise FolderError(f"{path} is damaged (`scenarios[{number}].incumbents` lacks a sender): {REMEDY}")
