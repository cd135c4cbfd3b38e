"""Why a number differs: texts that quote measured values by reference.

``reasons.toml`` never states a measured number. Each reason names facts, each
fact a metric and a place of the grid, or has references in its text
(`ecnlab.papers.references`); the value is filled in from the points of the
runs at hand, so that a reason cannot outlive its evidence.
"""

from __future__ import annotations

from pathlib import Path

from ecnlab.base.errors import EcnlabError
from ecnlab.papers.evidence import Evidence
from ecnlab.papers.quoted import Quoted
from ecnlab.papers.references import References
from ecnlab.papers.tables import Fact, ReasonsFile, read_table
from ecnlab.papers.template import fill, start_of
from ecnlab.scenario.files import read_text


def read_reasons(path: Path, evidence: Evidence) -> dict[str, str]:
    """Return the reason of each printed number or claim that has one, with its facts and references filled in.

    Raises EcnlabError naming a reason without a printed entry, or a fact that was not measured.
    """
    printed = evidence.published.ids()
    source = read_text(path)
    reasons: dict[str, str] = {}
    for entry in read_table(path, ReasonsFile).reason:
        if absent := set(entry.ids) - set(printed):
            raise EcnlabError(f"{path}: a reason for {min(absent)!r}, which is not in published.toml")
        facts = {name: _quoted(path, name, fact, evidence) for name, fact in entry.facts.items()}
        text = entry.text.strip()
        filled = fill(text, evidence, path, start=start_of(text, source), names=facts)
        for name in entry.ids:
            reasons[name] = f"{reasons[name]} {filled}" if name in reasons else filled
    return reasons


def _quoted(path: Path, name: str, fact: Fact, evidence: Evidence) -> Quoted:
    """Return the point that a fact names."""
    try:
        return References(evidence).point(fact.metric, fact.pick, fact.to, **fact.where)
    except EcnlabError as error:
        raise EcnlabError(f"{path}: fact {name!r}: {error}") from error
