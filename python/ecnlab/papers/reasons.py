"""Why a number differs: texts that quote measured values by reference.

``reasons.toml`` never states a measured number. Each reason names facts, each
fact a metric and a place of the grid, or has references in its text
(`ecnlab.papers.references`); the value is filled in from the points of the
runs at hand, so that a reason cannot outlive its evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ecnlab.base.errors import EcnlabError
from ecnlab.papers.evidence import Evidence
from ecnlab.papers.published import read_toml
from ecnlab.papers.quoted import Quoted
from ecnlab.papers.references import References
from ecnlab.papers.template import fill, start_of
from ecnlab.scenario.files import read_text


def read_reasons(path: Path, evidence: Evidence) -> dict[str, str]:
    """Return the reason of each printed number or claim that has one, with its facts and references filled in.

    Raises EcnlabError naming a reason without a printed entry, or a fact that was not measured.
    """
    printed = evidence.published.ids()
    source = read_text(path)
    reasons: dict[str, str] = {}
    for entry in read_toml(path).get("reason", []):
        if absent := set(entry["for"]) - printed:
            raise EcnlabError(f"{path}: a reason for {min(absent)!r}, which is not in published.toml")
        facts = {name: _fact(path, name, spec, evidence) for name, spec in entry.get("facts", {}).items()}
        text = entry["text"].strip()
        filled = fill(text, evidence, path, start=start_of(text, source), names=facts)
        for name in entry["for"]:
            reasons[name] = f"{reasons[name]} {filled}" if name in reasons else filled
    return reasons


def _fact(path: Path, name: str, spec: Mapping[str, Any], evidence: Evidence) -> Quoted:
    """Return the point that a fact names, by its metric, place (``where``) and, of several, ``pick``."""
    options = {key: spec[key] for key in ("pick", "to") if key in spec}
    try:
        return References(evidence, path.parent).point(spec["metric"], **options, **spec.get("where", {}))
    except EcnlabError as error:
        raise EcnlabError(f"{path}: fact {name!r}: {error}") from error
