"""The content of a card: a value of JSON types, stored in ``card.json``, and its summary in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from ecnlab.base.errors import FolderError
from ecnlab.base.provenance import maker
from ecnlab.base.types import Instead
from ecnlab.base.user_files import refuse_special
from ecnlab.folder import digests
from ecnlab.folder.names import CARD
from ecnlab.folder.outputs import write_named
from ecnlab.folder.sealed_json import read_json
from ecnlab.folder.verified import refuse_other_kind
from ecnlab.report.words import counted, heading, listed
from ecnlab.scoring.building import COUNTS, SUBJECTS, experiment_file
from ecnlab.scoring.card_shape import insist_on_card
from ecnlab.scoring.criteria import Row, at, limit, mean_margin, severity, span, times
from ecnlab.scoring.engines import SIMULATOR, on_kernel
from ecnlab.scoring.engines import words as engine_words
from ecnlab.scoring.judging import VERDICTS, Samples, Verdict, interval_json, judge, mean, verdict
from ecnlab.scoring.sheet import ITSELF, REFERENCE, STANDARD, SUBJECT, Kind, Scenario, Sheet, Size
from ecnlab.scoring.subject import Subject

FORMAT: Final = 2
KINDS: Final[Mapping[Kind, str]] = {"aqm": "score aqm", "cc": "score cc", "l4s": "score l4s"}
"""Values of the card's ``kind``."""

FILE: Final = CARD

STORED: Final = "card"
"""Value of `kind` in the ``files.json`` of a card."""

REPORTED: Final = "report"
"""Weight of a scenario whose failure is reported, and is no reason to reject the subject (RFC 9743 §7)."""

NAMED: Final = 8
"""Number of scenarios that a sentence of the summary names."""

Card = dict[str, Any]
"""``docs/score.md`` lists its keys."""

NOT_PARAMETERS: Final = ("limit", "quantiles")
"""Keys of a queue that the card sets: the limit by the rule of the RFC, and the record of quantiles."""

PLANE: Final = ("delay_mean_s", "goodput_bps")
"""Measures of the axes of goodput over delay (RFC 7928 §2.7)."""


def scored(sheet: Sheet, scenario: Scenario, values: Samples) -> dict[str, Any]:
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
                **dict(zip(PLANE, run, strict=True)),
            }
            for case in scenario.cases
            for arm in sheet.arms
            for run in zip(*(values[arm, case.name, name] for name in PLANE), strict=True)
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
        "quote": scenario.quote,
        "title": scenario.title,
        "weight": scenario.weight,
        "about": scenario.about,
        "stands": list(scenario.stands),
        "limit_packets": {case.name: scenario.limits(case) for case in scenario.cases},
        "paths": {case.name: [path.as_json() for path in case.paths] for case in scenario.cases if case.paths},
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
        "seed": sheet.seed,
        "replicates": sheet.replicates[size],
        "left_out": left_out,
        "criteria": criteria,
        **({"incumbents": list(sheet.incumbents)} if sheet.incumbents else {}),
        **{arm: _subject(subjects[arm], resolved[arm]) for arm in sheet.arms},
        "verdicts": {kind: sum(one["verdict"] == kind for one in entries) for kind in VERDICTS},
        "scenarios": list(entries),
        "not_covered": dict(sheet.not_covered),
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
    """Three sentences with numbers: what is good, bad and unknown.

    The verdicts on incumbents follow, and whose the limits are and how much was run.
    """
    others = [arm for arm in arms(card) if arm != SUBJECT] if kind_of(card) != "aqm" else []
    return [_good(card), _bad(card), _unknown(card), *(_incumbent(card, arm) for arm in others), _extent(card)]


def divisor(card: Card, row: Mapping[str, Any]) -> str:
    """What the measure of a criterion is divided by, in words; "" for the measure itself."""
    labels = {arm: f"{card[arm]['label']}'s" for arm in arms(card)}
    worst = f"the worse of {' and '.join(label for arm, label in labels.items() if arm != SUBJECT)}"
    words = {**labels, ITSELF: "", STANDARD: worst, "rtt": "the RTT", "share": "an equal share of the link"}
    return words.get(row["against"], f"that of {row['against']}")


def _good(card: Card) -> str:
    scenarios = f"{counted(len(card['scenarios']), 'scenario')} of {card['source']}{on_kernel(card)}"
    of = f"{card['subject']['label']} in {scenarios}: {number_of(card, 'meets')}"
    found = [(mean_margin(row), one, row) for one in card["scenarios"] if one["verdict"] == "meets"
             for row in one["criteria"] if row["against"] in (*arms(card), STANDARD)]  # fmt: skip
    if not found:
        return of
    _margin, one, row = max(found, key=lambda each: each[0])
    value = f"{heading(row['measure'])} {times(row)} times {divisor(card, row)} in {_weighed(one)}{at(row)}"
    return f"{of}; widest margin to a limit: {value}, where {limit(row)} meets"


def _bad(card: Card) -> str:
    worst = _worst(card, "fails")
    named = [f"{_weighed(one)} ({row['name']} {times(row)}, {limit(row)}{_of(row)})" for one, row in worst]
    return f"{number_of(card, 'fails')}: {listed(named, NAMED)}" if named else "no scenario fails"


def _unknown(card: Card) -> str:
    worst = _worst(card, "inconclusive")
    named = [f"{_weighed(one)} ({row['name']} {span(row)}, {limit(row)}{_of(row)})" for one, row in worst]
    parts = [f"{card['verdicts']['inconclusive']} inconclusive: {listed(named, NAMED)}"] if named else []
    without = [_weighed(one) for one in card["scenarios"] if one["verdict"] == "not applicable"]
    parts += [f"{len(without)} not applicable: {listed(without, NAMED)}"] if without else []
    parts += [f"{card['left_out']} not run"] if card["left_out"] else []
    return "; ".join(parts) or "no scenario is inconclusive, and all were run"


def _worst(card: Card, verdict: Verdict) -> list[tuple[dict[str, Any], Row]]:
    """The scenarios with ``verdict``, each with its worst criterion; those that decide first, then by the margin."""
    found = [
        (one, min(one["criteria"], key=severity))
        for one in card["scenarios"]
        if one["verdict"] == verdict and one["criteria"]
    ]
    return sorted(found, key=lambda each: (each[0]["weight"] == REPORTED, mean_margin(each[1])))


def _of(row: Row) -> str:
    return f"; {row['case']}" if row["case"] else ""


def number_of(card: Card, verdict: Literal["meets", "fails"]) -> str:
    """The number of scenarios with ``verdict`` and the verb: "1 fails", "2 fail"."""
    count = card["verdicts"][verdict]
    return f"{count} {verdict if count == 1 else verdict.removesuffix('s')}"


def _extent(card: Card) -> str:
    """Whose the limits are, and how much was run."""
    entries = [one for one in card["scenarios"] if one["points"]]
    whose = f", except those in {card['criteria']}" if card["criteria"] else ""
    limits = f"all limits are ecnlab's{whose}: {card['source']} has none"
    if not entries:
        return f"{limits}; no scenario was run"
    scenarios = f"{len(entries)} of {counted(len(card['scenarios']) + card['left_out'], 'scenario')}"
    each = list(dict.fromkeys(_each(card, one) for one in entries))
    runs = f"{counted(sum(len(one['points']) for one in entries), 'run')}, {engine_words(card)}"
    return f"{limits}; {scenarios} with {' or '.join(each)} in each case ({runs}, {card['size']} size)"


def _each(card: Card, one: Mapping[str, Any]) -> str:
    """The replicates of each case of a scenario."""
    *most, last = [str(number) for number in dict.fromkeys(map(len, one["paths"].values()))] or [""]
    paths = f"{', '.join(most)} or {last}" if most else last
    return f"{paths} drawn path{'' if paths == '1' else 's'}" if paths else counted(card["replicates"], "seed")


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


def _weighed(scenario: Mapping[str, Any]) -> str:
    """The name of a scenario, behind the part of the RFC if a failure in it is reported only (RFC 9743 §7)."""
    part = scenario["section"].partition(".")[0]
    return f"§{part} {scenario['name']}" if scenario["weight"] == REPORTED else str(scenario["name"])
