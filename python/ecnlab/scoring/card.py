"""The content of a card: a value of JSON types, stored in ``card.json``, and its summary in three lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ecnlab.base import stats
from ecnlab.base.errors import FolderError
from ecnlab.base.provenance import maker
from ecnlab.base.types import Instead
from ecnlab.base.user_files import refuse_special
from ecnlab.folder import digests
from ecnlab.folder.names import CARD
from ecnlab.folder.outputs import write_named
from ecnlab.folder.sealed_json import read_json
from ecnlab.folder.verified import refuse_other_kind
from ecnlab.report.words import counted
from ecnlab.scoring.building import COUNTS, SUBJECTS, experiment_file
from ecnlab.scoring.card_shape import insist_on_card
from ecnlab.scoring.engines import SIMULATOR, on_kernel
from ecnlab.scoring.judging import VERDICTS, Samples, Verdict, interval_json, judge, mean, verdict
from ecnlab.scoring.sheet import REFERENCE, SUBJECT, Kind, Scenario, Sheet, Size
from ecnlab.scoring.subject import Subject

FORMAT: Final = 1
KINDS: Final[Mapping[Kind, str]] = {"aqm": "score aqm", "cc": "score cc", "l4s": "score l4s"}
"""Values of the card's ``kind``."""

FILE: Final = CARD

STORED: Final = "card"
"""Value of `kind` in the ``files.json`` of a card."""

REPORTED: Final = "report"
"""Weight of a scenario whose failure is reported, and is no reason to reject the subject (RFC 9743 §7)."""

Card = dict[str, Any]
"""``docs/score.md`` lists its keys."""

NOT_PARAMETERS: Final = ("limit", "quantiles")
"""Keys of a queue that the card sets: the limit by the rule of the RFC, and the record of quantiles."""

PLANE: Final = ("delay_mean_s", "goodput_bps")
"""Measures of the axes of goodput over delay (RFC 7928 §2.7)."""


def scored(sheet: Sheet, scenario: Scenario, values: Samples, replicates: int) -> dict[str, Any]:
    """The entry of a scenario that was run."""
    judged = judge(scenario, values)
    return {
        **_about(scenario),
        "verdict": verdict(judged),
        "why_not": "",
        "criteria": [one.as_json() for one in judged],
        "measures": [
            {"case": case, SUBJECTS[sheet.kind]: arm, "measure": measure, **interval_json(mean(found))}
            for (arm, case, measure), found in values.items()
            if measure not in COUNTS
        ],
        **_incumbents(sheet, scenario, values),
        "points": [
            {
                "case": case.name,
                SUBJECTS[sheet.kind]: arm,
                **{name: values[arm, case.name, name][seed] for name in PLANE},
            }
            for case in scenario.cases
            for arm in sheet.arms
            for seed in range(replicates)
        ],
    }


def _incumbents(sheet: Sheet, scenario: Scenario, values: Samples) -> dict[str, Any]:
    """The scores of the senders that the subject is compared with; none for queues."""
    if sheet.kind == "aqm":
        return {}
    judged = {arm: judge(scenario, values, arm) for arm in sheet.arms if arm != SUBJECT}
    found = {arm: {"verdict": verdict(one), "criteria": [row.as_json() for row in one]} for arm, one in judged.items()}
    return {"incumbents": found}


def not_applicable(scenario: Scenario, why: str) -> dict[str, Any]:
    """The entry of a scenario that the subject cannot be in."""
    none: dict[str, list[Any]] = {"criteria": [], "measures": [], "points": []}
    return {**_about(scenario), "verdict": "not applicable", "why_not": why, **none}


def _about(scenario: Scenario) -> dict[str, Any]:
    return {
        "name": scenario.name,
        "section": scenario.section,
        "title": scenario.title,
        "weight": scenario.weight,
        "about": scenario.about,
        "stands": list(scenario.stands),
        "limit_packets": {case.name: scenario.limit(case) for case in scenario.cases},
        "experiment": experiment_file(scenario),
    }


def card(
    sheet: Sheet,
    size: Size,
    subjects: Mapping[str, Subject],
    resolved: Mapping[str, Mapping[str, Any]],
    entries: Sequence[dict[str, Any]],
    left_out: int,
    criteria: str | None = None,
    *,
    engine: Mapping[str, Any] = SIMULATOR,
    instead: Sequence[Instead] = (),
) -> Card:
    """The card of ``entries``. ``subjects`` and their tables with all defaults, ``resolved``, are by arm.

    ``left_out`` scenarios of the sheet were not requested; ``criteria`` is the file with other limits. ``instead`` are the
    values that ``engine`` replaced by its own.
    """
    found: Card = {
        "format": FORMAT,
        "kind": KINDS[sheet.kind],
        "ecnlab": maker(),
        "engine": dict(engine),
        "instead": list(instead),
        "source": sheet.source,
        "size": size,
        "replicates": sheet.replicates[size],
        "left_out": left_out,
        "criteria": criteria,
        **({"incumbents": list(sheet.incumbents)} if sheet.incumbents else {}),
        **{arm: _subject(subjects[arm], resolved[arm]) for arm in sheet.arms},
        "verdicts": {kind: sum(one["verdict"] == kind for one in entries) for kind in VERDICTS},
        "scenarios": list(entries),
    }
    return {**found, "summary": summary(found)}


def _subject(one: Subject, resolved: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": one.name,
        "argument": one.argument,
        "label": one.label,
        "source": one.source,
        "given": dict(one.parameters),
        "parameters": {key: value for key, value in resolved.items() if key not in NOT_PARAMETERS},
    }


def kind_of(card: Card) -> Kind:
    """The command that made ``card``."""
    return next(one for one, name in KINDS.items() if name == card["kind"])


def word(card: Card) -> str:
    """The word for a subject, which is also the key of an arm in ``measures`` and ``points``."""
    return SUBJECTS[kind_of(card)]


def arms(card: Card) -> list[str]:
    """The arms of ``card``: keys of its subjects, the first of which it is about."""
    return [SUBJECT, REFERENCE, *card.get("incumbents", [])]


def write(card: Card, folder: Path) -> Path:
    """Write ``card.json`` into ``folder`` and return its path. Raises OSError."""
    path = folder / FILE
    write_named(path, digests.seal(card), (".json",), own=folder)
    return path


def read(folder: Path, kind: Kind | None = "aqm") -> Card:
    """The card of ``kind`` (None: any) in ``folder``, which may also be the path of the file.

    Raises FolderError if there is none, of another version, or damaged; OSError.
    """
    path = folder / FILE if folder.is_dir() else folder
    refuse_special(path, "a card", twice=True)
    path = path if path.is_file() else folder / FILE
    if not path.is_file():
        command = KINDS[kind] if kind else "score KIND"
        raise FolderError(f"{folder} has no {FILE}: `ecnlab {command} NAME --out {folder}` writes one")
    found = read_json(path)
    kinds = [KINDS[kind]] if kind else list(KINDS.values())
    if found.get("format") != FORMAT or found.get("kind") not in kinds:
        what = SUBJECTS[kind] if kind else "law"
        raise FolderError(f"{path} is no card of format {FORMAT}: score the {what} again into another folder")
    insist_on_card(path, found, word(found))
    return found


def refuse_other(folder: Path, kind: Kind, subjects: Mapping[str, Subject]) -> None:
    """Raise FolderError if ``folder`` has a card of another ``kind``, or of other ``subjects``. A damaged card counts as none. Raises OSError."""
    refuse_other_kind(folder, STORED)
    if not (folder / FILE).is_file():
        return
    try:
        there = read(folder, None)
    except FolderError:
        return
    stored = [there["kind"], *(there[arm]["label"] for arm in (SUBJECT, REFERENCE))]
    requested = [KINDS[kind], *(subjects[arm].label for arm in (SUBJECT, REFERENCE))]
    if stored != requested:
        raise FolderError(
            f"{folder} has a card of `{stored[0]}`, {stored[1]} against {stored[2]}, not of `{requested[0]}`, {requested[1]} against "
            f"{requested[2]}: choose another folder with --out"
        )


def summary(card: Card) -> list[str]:
    """Three lines: the verdicts, the typical effect against the reference, and what did not meet its criteria.

    Lines of incumbents follow, with their verdicts.
    """
    others = [arm for arm in arms(card) if arm != SUBJECT] if kind_of(card) != "aqm" else []
    return [_verdicts(card), _effect(card), _exceptions(card), *(_incumbent(card, arm) for arm in others)]


def _verdicts(card: Card) -> str:
    verdicts = _counts(card["verdicts"])
    of = f"{counted(len(card['scenarios']), 'scenario')} of {card['source']}{on_kernel(card)}"
    return f"{card['subject']['label']} in {of}: {verdicts}"


def _counts(counts: Mapping[Verdict, int]) -> str:
    return ", ".join(f"{one} {count}" for one, count in counts.items() if count)


def _incumbent(card: Card, arm: str) -> str:
    """The verdicts on a sender that the subject is compared with, and the scenarios that it does not meet."""
    scores = {one["name"]: one["incumbents"][arm]["verdict"] for one in card["scenarios"] if "incumbents" in one}
    counts = {kind: list(scores.values()).count(kind) for kind in VERDICTS}
    parts = [_counts(counts) or "no scenario was run"]
    for kind in ("fails", "inconclusive"):
        names = [_weighed(one) for one in card["scenarios"] if scores.get(one["name"]) == kind]
        parts += [f"{kind}: {', '.join(names)}"] if names else []
    return f"{card[arm]['label']} by the same criteria: {'; '.join(parts)}"


def _effect(card: Card) -> str:
    """Means over all scenarios and cases: geometric for delay and goodput, which vary by factors."""
    pairs = {name: _pairs(card, name) for name in ("delay_p99_s", "utilisation", "loss")}
    parts = []
    for name, words in (("delay_p99_s", "p99 of the queueing delay"), ("utilisation", "utilisation")):
        if pairs[name]:
            own, other = zip(*pairs[name], strict=True)
            parts.append(f"{words} {stats.log_ratio(own, other).mean:.2g} times")
    if pairs["loss"]:
        own, other = (100 * sum(one) / len(one) for one in zip(*pairs["loss"], strict=True))
        parts.append(f"loss {own:.2g} % for {other:.2g} %")
    if not parts:
        return f"against {card['reference']['label']}: no scenario was run"
    return f"against {card['reference']['label']}, mean of all cases: {', '.join(parts)}"


def _pairs(card: Card, measure: str) -> list[tuple[float, float]]:
    """The means of ``measure`` of both queues in each case where both are defined; positive, except for losses."""
    found = []
    for one in card["scenarios"]:
        rows = {(row["case"], row[word(card)]): row["mean"] for row in one["measures"] if row["measure"] == measure}
        for case in one["limit_packets"]:
            own, other = (rows.get((case, arm)) for arm in (SUBJECT, REFERENCE))
            if own is not None and other is not None and (measure == "loss" or min(own, other) > 0):
                found.append((own, other))
    return found


def _weighed(scenario: Mapping[str, Any]) -> str:
    """The name of a scenario, behind the part of the RFC if a failure in it is reported only (RFC 9743 §7)."""
    part = scenario["section"].partition(".")[0]
    return f"§{part} {scenario['name']}" if scenario["weight"] == REPORTED else str(scenario["name"])


def _exceptions(card: Card) -> str:
    parts = []
    for outcome, words in (("no", "fails"), ("undecided", "inconclusive")):
        of = {
            _weighed(one): list(dict.fromkeys(row["name"] for row in one["criteria"] if row["outcome"] == outcome))
            for one in card["scenarios"]
        }
        listed = [f"{name} ({', '.join(names)})" for name, names in of.items() if names]
        parts += [f"{words}: {', '.join(listed)}"] if listed else []
    return "; ".join(parts) or "no criterion fails"
