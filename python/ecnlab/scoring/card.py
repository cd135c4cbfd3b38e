"""The content of a card: a value of JSON types, stored in ``card.json``, and its summary in three lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ecnlab.base import stats
from ecnlab.base.errors import FolderError
from ecnlab.base.provenance import maker
from ecnlab.folder.sealed_json import read_json, write_json
from ecnlab.scoring.building import ARMS, COUNTS, experiment_file
from ecnlab.scoring.judging import VERDICTS, Samples, Verdict, interval_json, judge, mean, verdict
from ecnlab.scoring.sheet import Scenario, Sheet, Size, limit_packets
from ecnlab.scoring.subject import Subject
from ecnlab.stages.words import counted

FORMAT: Final = 1
KIND: Final = "score aqm"
FILE: Final = "card.json"

Card = dict[str, Any]
"""``docs/score.md`` lists its keys."""

NOT_PARAMETERS: Final = ("limit", "quantiles")
"""Keys of a queue that the card sets: the limit by the rule of the RFC, and the record of quantiles."""

PLANE: Final = ("delay_mean_s", "goodput_bps")
"""Measures of the axes of goodput over delay (RFC 7928 §2.7)."""


def scored(scenario: Scenario, values: Samples, replicates: int) -> dict[str, Any]:
    """The entry of a scenario that was run."""
    judged = judge(scenario, values)
    return {
        **_about(scenario),
        "verdict": verdict(judged),
        "why_not": "",
        "criteria": [one.as_json() for one in judged],
        "measures": [
            {"case": case, "queue": arm, "measure": measure, **interval_json(mean(found))}
            for (arm, case, measure), found in values.items()
            if measure not in COUNTS
        ],
        "points": [
            {"case": case.name, "queue": arm, **{name: values[arm, case.name, name][seed] for name in PLANE}}
            for case in scenario.cases
            for arm in ARMS
            for seed in range(replicates)
        ],
    }


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
        "limit_packets": {case.name: limit_packets(scenario.rate, case.rtt) for case in scenario.cases},
        "experiment": experiment_file(scenario),
    }


def card(
    sheet: Sheet,
    size: Size,
    queues: Mapping[str, Subject],
    resolved: Mapping[str, Mapping[str, Any]],
    entries: Sequence[dict[str, Any]],
    left_out: int,
    criteria: str | None = None,
) -> Card:
    """The card of ``entries``. ``queues`` and their tables with all defaults, ``resolved``, are by arm.

    ``left_out`` scenarios of the sheet were not asked for; ``criteria`` is the file with other limits.
    """
    found: Card = {
        "format": FORMAT,
        "kind": KIND,
        "ecnlab": maker(),
        "source": sheet.source,
        "size": size,
        "replicates": sheet.replicates[size],
        "left_out": left_out,
        "criteria": criteria,
        **{arm: _queue(queues[arm], resolved[arm]) for arm in ARMS},
        "verdicts": {kind: sum(one["verdict"] == kind for one in entries) for kind in VERDICTS},
        "scenarios": list(entries),
    }
    return {**found, "summary": summary(found)}


def _queue(one: Subject, resolved: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": one.name,
        "argument": one.argument,
        "label": one.label,
        "source": one.source,
        "given": dict(one.parameters),
        "parameters": {key: value for key, value in resolved.items() if key not in NOT_PARAMETERS},
    }


def write(card: Card, folder: Path) -> Path:
    """Write ``card.json`` into ``folder`` and return its path. Raises OSError."""
    path = folder / FILE
    write_json(path, card)
    return path


def read(folder: Path) -> Card:
    """The card in ``folder``. Raises FolderError if there is none, of another version, or damaged; OSError."""
    path = folder / FILE
    if not path.is_file():
        raise FolderError(f"{folder} has no {FILE}: `ecnlab score aqm NAME --out {folder}` writes one")
    found = read_json(path)
    if (found.get("format"), found.get("kind")) != (FORMAT, KIND):
        raise FolderError(f"{path} is no card of format {FORMAT}: score the queue again into another folder")
    return found


def summary(card: Card) -> list[str]:
    """Three lines: the verdicts, the typical effect against the reference, and what did not meet its criteria."""
    return [_verdicts(card), _effect(card), _exceptions(card)]


def _verdicts(card: Card) -> str:
    counts: Mapping[Verdict, int] = card["verdicts"]
    said = ", ".join(f"{kind} {count}" for kind, count in counts.items() if count)
    return f"{card['subject']['label']} in {counted(len(card['scenarios']), 'scenario')} of {card['source']}: {said}"


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
        rows = {(row["case"], row["queue"]): row["mean"] for row in one["measures"] if row["measure"] == measure}
        for case in one["limit_packets"]:
            own, other = (rows.get((case, arm)) for arm in ARMS)
            if own is not None and other is not None and (measure == "loss" or min(own, other) > 0):
                found.append((own, other))
    return found


def _exceptions(card: Card) -> str:
    parts = []
    for outcome, words in (("no", "fails"), ("undecided", "inconclusive")):
        of = {
            one["name"]: list(dict.fromkeys(row["name"] for row in one["criteria"] if row["outcome"] == outcome))
            for one in card["scenarios"]
        }
        listed = [f"{name} ({', '.join(names)})" for name, names in of.items() if names]
        parts += [f"{words}: {', '.join(listed)}"] if listed else []
    return "; ".join(parts) or "no criterion fails"
