"""The scenario and experiment files of a card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ecnlab._core import Experiment
from ecnlab.base.errors import FolderError
from ecnlab.scenario.built import toml_key, toml_value
from ecnlab.scenario.files import read_experiment
from ecnlab.scoring.sheet import ONE_CASE, REFERENCE, Case, Scenario, Sheet, Size, flows, limit_packets
from ecnlab.scoring.subject import Subject

LINK: Final = "bottleneck"
SUBJECT: Final = "subject"
ARMS: Final = (SUBJECT, REFERENCE)
"""Arms of each experiment, and names of their queues."""

COUNT: Final = ".count"

SOJOURNS: Final = {"delay_mean_s": "sojourn_mean_s", "delay_p99_s": "sojourn_p99_s", "utilisation": "utilisation"}
COUNTS: Final = ("arrived", "dropped", "marks")


def limit(scenario: Scenario, case: Case) -> int:
    """The limit of both queues in packets."""
    return limit_packets(scenario.rate, case.rtt)


def scenario_text(sheet: Sheet, scenario: Scenario, subject: Subject, reference: Subject, size: Size) -> str:
    """The scenario as TOML, with the queues of both arms; its bottleneck has the subject's."""
    packets = limit(scenario, scenario.cases[0])
    base = sheet.base
    link = {**base["link"], **scenario.tables["link"]}
    link[LINK] = {**link[LINK], "rate": scenario.rate, "queue": SUBJECT}
    tables: dict[str, Any] = {
        "format": base["format"],
        "title": f"{sheet.source} §{scenario.section}: {scenario.title}",
        "duration": scenario.duration[size],
        "warmup": scenario.warmup,
        "link": link,
        "queue": {SUBJECT: subject.table(packets), REFERENCE: reference.table(packets)},
        "tcp": base["tcp"],
        "flow": {name: _counted(flow, sheet, packets) for name, flow in scenario.tables["flow"].items()},
    }
    return "\n".join(_lines(tables)) + "\n"


def _counted(flow: Mapping[str, Any], sheet: Sheet, packets: int) -> dict[str, Any]:
    count = flow.get("count")
    return {**flow, "count": flows(count, sheet.congestion, packets)} if isinstance(count, str) else dict(flow)


def _lines(tables: Mapping[str, Any]) -> Iterator[str]:
    """TOML with a table for each link, queue, TCP and flow."""
    for key, value in tables.items():
        if not isinstance(value, Mapping):
            yield f"{key} = {toml_value(value, key)}"
    for kind, named in tables.items():
        for name, table in named.items() if isinstance(named, Mapping) else ():
            yield ""
            yield f"[{kind}.{toml_key(name)}]"
            yield from (f"{toml_key(key)} = {toml_value(value, key)}" for key, value in table.items())


def experiment_text(sheet: Sheet, scenario: Scenario, subject: Subject, reference: Subject, size: Size) -> str:
    """The experiment as TOML: the subject and the reference as arms, the cases as an axis."""
    tables: dict[str, Any] = {
        "format": 1,
        "title": f"{subject.label} and {reference.label}: {sheet.source} §{scenario.section}, {scenario.title}",
        "scenario": scenario_file(scenario),
        "replicates": sheet.replicates[size],
        "arm": {arm: {"set": {f"link.{LINK}.queue": arm}} for arm in ARMS},
        "metrics": metrics(scenario),
    }
    if [case.name for case in scenario.cases] != [ONE_CASE]:
        points = [{"label": case.name, "set": _overrides(sheet, scenario, case)} for case in scenario.cases]
        tables["grid"] = {"case": {"points": points}}
    return "\n".join(f"{key} = {toml_value(value, key)}" for key, value in tables.items()) + "\n"


def _overrides(sheet: Sheet, scenario: Scenario, case: Case) -> dict[str, Any]:
    packets = limit(scenario, case)
    found: dict[str, Any] = {f"queue.{arm}.limit": f"{packets} packets" for arm in ARMS}
    for key, value in case.set.items():
        level = key.endswith(COUNT) and isinstance(value, str)
        found[key] = flows(value, sheet.congestion, packets) if level else value
    return found


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
    found["goodput_bps"] = goodput
    if len(scenario.groups) > 1:
        found |= {f"goodput_{group}_bps": {**goodput, "where": {"group": group}} for group in scenario.groups}
    if scenario.jain:
        found["jain"] = {**goodput, "aggregate": "jain", "where": {"group": list(scenario.jain)}}
    return found | dict(scenario.metrics)


def scenario_file(scenario: Scenario) -> str:
    """Name of the scenario's file in the folder of a card."""
    return f"{scenario.name}.scenario.toml"


def experiment_file(scenario: Scenario) -> str:
    """Name of the experiment's file in the folder of a card."""
    return f"{scenario.name}.toml"


def write(
    folder: Path, sheet: Sheet, scenario: Scenario, subject: Subject, reference: Subject, size: Size
) -> Experiment:
    """Write both files into ``folder`` and return the experiment.

    Raises FolderError if ``folder`` has runs of another scenario of this name, SpecError if the queue cannot be used in it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    question = (sheet, scenario, subject, reference, size)
    path, text = folder / scenario_file(scenario), scenario_text(*question)
    if (folder / scenario.name).exists() and path.is_file() and path.read_text(encoding="utf-8") != text:
        raise FolderError(f"{folder} has runs of another queue or other parameters: choose another folder with --out")
    path.write_text(text, encoding="utf-8")
    (folder / experiment_file(scenario)).write_text(experiment_text(*question), encoding="utf-8")
    return read_experiment(folder / experiment_file(scenario))
