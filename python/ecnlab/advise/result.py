"""The folder of an advice: ``advice.json`` for programs, and the page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ecnlab.advise.advice import Advice
from ecnlab.advise.mix import Measure
from ecnlab.advise.variations import Variation
from ecnlab.advise.words import changes, sentence
from ecnlab.folder.atomic import write_bytes

JSON: Final = "advice.json"


def write_json(answer: Mapping[str, Any], folder: Path) -> Path:
    """Write the ``answer`` of `as_json` into ``folder`` and return its path. Raises OSError."""
    path = folder / JSON
    write_bytes(path, (json.dumps(answer, indent=1, ensure_ascii=False) + "\n").encode())
    return path


def as_json(advice: Advice, variations: Sequence[Variation]) -> dict[str, Any]:
    """Return the advice for programs."""
    question, decision = advice.question, advice.decision
    return {
        "line": {
            "kind": question.line.kind.name,
            "down_bps": question.line.down_bps,
            "up_bps": question.line.up_bps,
            "rtt_s": question.line.rtt_s,
            "buffer_s": question.line.buffer_s,
        },
        "mix": [app.name for app in question.apps],
        "ecn": question.ecn,
        "seeds": question.seeds,
        "answer": sentence(advice),
        "advised": decision.advised,
        "equals": list(decision.equals),
        "too_costly": list(decision.too_costly),
        "family": decision.family,
        "measures": [_row(advice, measure) for measure in advice.measures],
        "comparisons": [
            {
                "measure": one.measure.name,
                "best": one.best,
                "other": one.other,
                "worse": one.worse.mean,
                "low": one.worse.low,
                "high": one.worse.high,
                "smallest": one.smallest,
                "shown": one.shown,
            }
            for one in decision.comparisons
        ],
        "tc": advice.lines,
        "changes": changes(advice, variations),
        "folder": str(advice.folder),
    }


def _row(advice: Advice, measure: Measure) -> Mapping[str, Any]:
    queues = {}
    for name in advice.question.queues:
        mean = advice.mean(measure, name)
        queues[name] = {"mean": mean.mean, "low": mean.low, "high": mean.high} if mean else None
    return {"name": measure.name, "label": measure.label, "unit": measure.unit, "queues": queues}
