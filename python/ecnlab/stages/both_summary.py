"""Findings that runs and sweeps share: ECN fallbacks, and values that the engine replaced."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ecnlab.base.lazy_imports import pl
from ecnlab.folder.ecn_fallback import fallbacks, refused
from ecnlab.folder.ecn_verdict import WORDS, of_run
from ecnlab.report import Finding
from ecnlab.report.tone import Tone
from ecnlab.stages.registry import stage

if TYPE_CHECKING:
    from ecnlab.results.run import RunResult
    from ecnlab.results.sweep import SweepResult
    from ecnlab.results.unfinished import Unfinished


@stage("fallback", of="run", needs=("flows",))
def _fallback_of_run(run: RunResult) -> Finding | None:
    return fallback(run.table("flows"))


@stage("fallback", of="sweep", needs=("flows",))
def _fallback_of_sweep(sweep: SweepResult) -> Finding | None:
    return fallback(sweep.table("flows").collect())


@stage("fallback", of="unfinished", needs=("flows",))
def _fallback_of_unfinished(result: Unfinished) -> Finding | None:
    return None if result.flows is None else fallback(result.flows)


def fallback(flows: pl.DataFrame) -> Finding | None:
    """State how many connections fell back from ECN, if any did."""
    text = fallbacks(flows)
    if not text:
        return None
    return _finding(text)


@stage("refused", of="run", needs=("flows",))
def _refused(run: RunResult) -> list[Finding]:
    """State where an end has no ECN, or other feedback than its peer."""
    return [_finding(text) for text in refused(run.table("flows"), run.manifest["spec"])]


def _finding(text: str) -> Finding:
    """The sentence ``text``, whose reason follows a colon."""
    statement, _, reason = text.partition(": ")
    return Finding("ECN fallback", "partly", f"{statement}.", f"{reason[0].upper()}{reason[1:]}.")


@stage("ecn", of="run", needs=("flows_run", "queues_run"))
def _ecn(run: RunResult) -> list[Finding]:
    """State for each group whether its marks are received and answered."""
    tones: dict[str, Tone] = {"ok": "yes", "none": "open", "warning": "partly", "problem": "no"}
    return [
        Finding(
            WORDS[one.severity],
            tones[one.severity],
            f"{one.sentence}.",
            "Counts of the whole run: marks at all queues, packets received with CE, and reductions by ECN.",
        )
        for one in of_run(run)
    ]


@stage("substituted", of="run")
@stage("substituted", of="sweep")
def substituted(result: RunResult | SweepResult) -> list[Finding]:
    """List each value of the scenario that the engine replaced by its own."""
    return [_one(entry) for entry in result.manifest.get("instead", [])]


def _one(entry: dict[str, Any]) -> Finding:
    requested, done = (json.dumps(entry[which], ensure_ascii=False, default=str) for which in ("asked", "kernel"))
    has = "Linux has no such setting." if entry["kernel"] is None else f"Linux has {done} instead."
    return Finding("Substituted", "partly", f"{entry['key']} = {requested}", has)
