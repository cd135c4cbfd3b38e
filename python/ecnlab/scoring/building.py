"""The scenario and experiment files of a card."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeGuard

from ecnlab._core import Experiment
from ecnlab.base.errors import FolderError
from ecnlab.folder.outputs import TOML, write_named
from ecnlab.folder.verified import read_files
from ecnlab.scenario.built import toml_text, toml_value
from ecnlab.scenario.files import read_experiment
from ecnlab.scoring.paths import DrawnPath, depending, resolved
from ecnlab.scoring.sheet import ONE_CASE, REFERENCE, SUBJECT, Case, Kind, Scenario, Sheet, Size, flows
from ecnlab.scoring.subject import QUIC, TABLES, Subject

LINK: Final = "bottleneck"
Subjects = Mapping[str, Subject]
"""Queues, TCPs or QUIC stacks by arm, which is also the name of their table."""

SUBJECTS: Final[Mapping[Kind, str]] = {"aqm": "queue", "cc": "sender", "l4s": "sender"}
"""A subject in words."""

COUNT: Final = ".count"

SOJOURNS: Final = {"delay_mean_s": "sojourn_mean_s", "delay_p99_s": "sojourn_p99_s", "utilisation": "utilisation"}
COUNTS: Final = ("arrived", "dropped", "marks")


def scenario_text(sheet: Sheet, scenario: Scenario, subjects: Subjects, size: Size) -> str:
    """The scenario as TOML, with the queues or TCPs of all arms; the subject's are in use, in place of a QUIC stack the reference's."""
    first = scenario.cases[0]
    path = first.paths[0] if first.paths else None
    packets = scenario.limit(first, path)
    base = sheet.base
    link = {**base["link"], **scenario.tables["link"]}
    link[LINK] = {**link[LINK], "rate": scenario.rate, "queue": SUBJECT if sheet.kind == "aqm" else LINK}
    tables: dict[str, Any] = {
        "format": base["format"],
        "title": f"{sheet.source} §{scenario.section}: {scenario.title}",
        "duration": scenario.duration[size],
        "warmup": scenario.warmup,
        "link": link,
        "queue": _queues(sheet, scenario, subjects, packets),
        "tcp": _tcps(sheet, scenario, subjects),
        "flow": {name: _counted(flow, sheet, packets) for name, flow in scenario.tables["flow"].items()},
        **{kind: scenario.tables[kind] for kind in ("tunnel", "box")},
    }
    return toml_text(resolved(tables, path) if path else tables)


def _queues(sheet: Sheet, scenario: Scenario, subjects: Subjects, packets: int) -> dict[str, Any]:
    if sheet.kind == "aqm":
        return {arm: _scheduled(one.table(packets), scenario) for arm, one in subjects.items()}
    table = {**sheet.base["queue"], **scenario.tables["queue"]}[LINK]
    return {LINK: {**table, "limit": f"{packets} packets"}}


def _scheduled(table: dict[str, Any], scenario: Scenario) -> dict[str, Any]:
    """The queue of the link: ``table``, or flow queues with ``table`` for each flow."""
    if not scenario.scheduler:
        return table
    each = {key: value for key, value in table.items() if key != "quantiles"}
    return {**scenario.scheduler, "class": {"each": each}}


def laws_of(resolved: Mapping[str, Any], sheet: Sheet, scenario: Scenario, subjects: Subjects) -> dict[str, Any]:
    """By arm, the queues, TCPs or QUIC stacks of ``scenario`` with all defaults; ``resolved`` is a scenario of the subject."""
    own = {arm: resolved[QUIC if one.quic else TABLES[sheet.kind]][arm] for arm, one in subjects.items()}
    return {arm: table["class"]["each"] if scenario.scheduler else table for arm, table in own.items()}


def _tcps(sheet: Sheet, scenario: Scenario, subjects: Subjects) -> dict[str, Any]:
    senders = {} if sheet.kind == "aqm" else _parameters(subjects)
    return {**sheet.base["tcp"], **scenario.tables["tcp"], **senders}


def _parameters(subjects: Subjects) -> dict[str, Mapping[str, Any]]:
    """The TCPs by arm: the reference's in place of a QUIC stack."""
    return {arm: (subjects[REFERENCE] if one.quic else one).parameters for arm, one in subjects.items()}


def _counted(flow: Mapping[str, Any], sheet: Sheet, packets: int) -> dict[str, Any]:
    count = flow.get("count")
    return {**flow, "count": flows(count, sheet.congestion, packets)} if _is_level(count, sheet) else dict(flow)


def _is_level(count: object, sheet: Sheet) -> TypeGuard[str]:
    return isinstance(count, str) and count.partition(" ")[0] in sheet.congestion


def experiment_text(sheet: Sheet, scenario: Scenario, subjects: Subjects, size: Size) -> str:
    """The experiment as TOML: the subject and what it is compared with as arms, the cases as an axis."""
    labels = [one.label for one in subjects.values()]
    tables: dict[str, Any] = {
        "format": 1,
        "title": f"{', '.join(labels[:-1])} and {labels[-1]}: {sheet.source} §{scenario.section}, {scenario.title}",
        "scenario": scenario_file(scenario),
        "replicates": scenario.replicates(sheet.replicates[size]),
        "seed": sheet.seed,
        "arm": {arm: {"set": _in_use(sheet, scenario, subjects, arm)} for arm in sheet.arms},
        "metrics": metrics(scenario),
    }
    if [case.name for case in scenario.cases] != [ONE_CASE]:
        points = [point for case in scenario.cases for point in _points(sheet, scenario, subjects, case)]
        tables["grid"] = {"case": {"points": points}}
    return "\n".join(f"{key} = {toml_value(value, key)}" for key, value in tables.items()) + "\n"


def _in_use(sheet: Sheet, scenario: Scenario, subjects: Subjects, arm: str) -> dict[str, Any]:
    """The keys by which ``arm`` takes the place of the subject.

    A TCP replaces the subject's table, too, which no flow names then: its runs are the same on the cards of all senders, and cached once.
    """
    if sheet.kind == "aqm":
        return {f"link.{place}.queue": arm for place in _places(scenario)}
    flows = [name for name, flow in scenario.tables["flow"].items() if flow.get("tcp") == SUBJECT]
    if subjects[arm].quic:
        return {f"{QUIC}.{arm}": dict(subjects[arm].parameters), **{f"flow.{name}.{QUIC}": arm for name in flows}}
    found: dict[str, Any] = {f"flow.{name}.tcp": arm for name in flows}
    return found if arm == SUBJECT else {f"tcp.{SUBJECT}": dict(subjects[arm].parameters), **found}


def _places(scenario: Scenario) -> list[str]:
    """Links and directions whose queue is the subject."""
    found = [LINK]
    for name, link in scenario.tables["link"].items():
        found += [name] if link.get("queue") == SUBJECT else []
        found += [f"{name}.reverse"] if link.get("reverse", {}).get("queue") == SUBJECT else []
    return found


def _points(sheet: Sheet, scenario: Scenario, subjects: Subjects, case: Case) -> list[dict[str, Any]]:
    """The points of ``case`` on the axis of cases: one, or one for each drawn path."""
    return [
        {"label": label, "set": overrides(sheet, scenario, subjects, case, path)}
        for label, path in zip(case.labels(), case.paths or (None,), strict=True)
    ]


def overrides(
    sheet: Sheet, scenario: Scenario, subjects: Subjects, case: Case, path: DrawnPath | None
) -> dict[str, Any]:
    """The keys of ``case`` with their values, on ``path`` if it is drawn."""
    packets = scenario.limit(case, path)
    queues = [arm for arm, one in subjects.items() if not one.own_limit] if sheet.kind == "aqm" else [LINK]
    key = "class.each.limit" if scenario.scheduler else "limit"
    found: dict[str, Any] = {f"queue.{name}.{key}": f"{packets} packets" for name in queues}
    found |= _on_path(scenario, path) if path else {}
    for key, value in case.set.items():
        level = key.endswith(COUNT) and _is_level(value, sheet)
        found[key] = flows(value, sheet.congestion, packets) if level else value
    return resolved(found, path) if path else found


def _on_path(scenario: Scenario, path: DrawnPath) -> dict[str, Any]:
    """The keys of a scenario that depend on a drawn path."""
    return {
        f"link.{LINK}.rate": path.value("rate", 1),
        "link.access.delay": path.value("access", 1),
        **depending(scenario.tables),
    }


def metrics(scenario: Scenario) -> dict[str, Any]:
    """The measures of ``scenario``, as in an experiment file."""
    at = {"link": LINK}
    found: dict[str, Any] = {
        name: {"table": "links", "column": column, "where": at} for name, column in SOJOURNS.items()
    }
    found |= {
        name: {"table": "queues", "column": name, "aggregate": "sum", "where": {**at, "group": "all"}}
        for name in COUNTS
    }
    found |= {"loss": {"ratio": ["dropped", "arrived"]}, "mark_rate": {"ratio": ["marks", "arrived"]}}
    goodput = {"table": "flows", "column": "goodput_bps", "aggregate": "sum"}
    found["goodput_bps"] = {**goodput, "where": {"group": scenario.groups}} if scenario.probes else goodput
    if len(scenario.groups) > 1:
        found |= {f"goodput_{group}_bps": {**goodput, "where": {"group": group}} for group in scenario.groups}
    if scenario.jain:
        found["jain"] = {**goodput, "aggregate": "jain", "where": {"group": list(scenario.jain)}}
    for name in (*scenario.probes, *scenario.kept):
        found |= _kept(name, {**at, "group": name if name in scenario.tables["flow"] else "all"})
    return found | dict(scenario.metrics)


def _kept(name: str, where: Mapping[str, str]) -> dict[str, Any]:
    """The share of packets of a group that leave the queue."""
    columns = ("arrived", "departed")
    count = {f"{name}_{one}": {"table": "queues", "column": one, "aggregate": "sum", "where": where} for one in columns}
    return {**count, f"{name}_kept": {"ratio": [f"{name}_departed", f"{name}_arrived"]}}


def _differs(path: Path, text: bytes) -> bool:
    """Return whether the file exists, is not known to be damaged, and has another text."""
    if not path.is_file() or path.read_bytes() == text:
        return False
    folder = path.parents[1]
    with suppress(OSError, FolderError):
        files = read_files(folder)
        return files.is_intact(path.relative_to(folder).as_posix())
    return True


def scenario_file(scenario: Scenario) -> str:
    """Name of the scenario's file in the folder of a card."""
    return f"{scenario.name}.scenario.toml"


def experiment_file(scenario: Scenario) -> str:
    """Name of the experiment's file in the folder of a card."""
    return f"{scenario.name}.toml"


def write(folder: Path, sheet: Sheet, scenario: Scenario, subjects: Subjects, size: Size) -> Experiment:
    """Write both files into ``folder`` and return the experiment. Paths of Python files are relative to ``folder``.

    Raises FolderError if ``folder`` has runs of another scenario of this name, SpecError if a subject cannot be used in it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    question = (sheet, scenario, {arm: one.seen_from(folder) for arm, one in subjects.items()}, size)
    experiment = folder / experiment_file(scenario)
    texts = {
        folder / scenario_file(scenario): scenario_text(*question).encode(),
        experiment: experiment_text(*question).encode(),
    }
    if (folder / scenario.name).exists() and any(_differs(path, text) for path, text in texts.items()):
        raise FolderError(
            f"{folder} has runs of another {SUBJECTS[sheet.kind]} or other parameters: choose another folder with --out"
        )
    for path, text in texts.items():
        write_named(path, text, TOML, own=folder.parent)
    return read_experiment(experiment)
