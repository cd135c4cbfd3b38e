"""Experiments built in Python, without a file."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from ecnlab._core import Experiment
from ecnlab.base.errors import EcnlabError
from ecnlab.scenario import metrics as metric_checks

Overrides: TypeAlias = Mapping[str, Any]
"""Values by dotted key, as in ``[set]`` of an experiment file."""

Axis: TypeAlias = Mapping[str, Overrides] | tuple[str, Sequence[Any]]
"""Points by label, each with its overrides; or a dotted key and its values."""

BARE: Final = re.compile("[A-Za-z0-9_-]+", re.ASCII)
"""A key that TOML has without quotation marks."""

PLAIN: Final = (str, bool, int, float)


def experiment(
    scenario: str | os.PathLike[str],
    *,
    metrics: Mapping[str, Mapping[str, Any]],
    grid: Mapping[str, Axis] | None = None,
    arms: Mapping[str, Overrides] | None = None,
    overrides: Overrides | None = None,
    replicates: int = 1,
    seed: int = 1,
    title: str = "",
) -> Experiment:
    """Return an experiment on the file ``scenario``, for `ecnlab.sweep`.

    ``metrics``, ``grid``, ``arms``, ``overrides`` (``[set]``), ``replicates``, ``seed`` and ``title`` are those of an experiment
    file (docs/scenario.md#experiments)::

        queues = {name: {"queue.red": {"discipline": name, "quantiles": True}} for name in ("codel", "fq_codel", "pie")}
        p99 = {"table": "links", "column": "sojourn_p99_s", "where": {"link": "bottleneck"}}
        ecnlab.experiment("dumbbell.toml", grid={"queue": queues}, metrics={"p99": p99}, replicates=20)

    Raises SpecError and MetricError as reading a file does, EcnlabError for a value that TOML does not have.
    """
    path = Path(scenario)
    about: dict[str, Any] = {"format": 1, "title": title or f"Experiment on {path.name}", "scenario": path.name}
    about |= {"replicates": replicates, "seed": seed}
    about |= {"set": dict(overrides)} if overrides else {}
    about |= {"grid": {name: _axis(axis) for name, axis in grid.items()}} if grid else {}
    about |= {"arm": {name: {"set": dict(values)} for name, values in arms.items()}} if arms else {}
    about["metrics"] = metrics
    text = "\n".join(f"{toml_key(key)} = {toml_value(value, key)}" for key, value in about.items())
    built = Experiment(str(path.with_name(f"experiment on {path.name}")), text)
    metric_checks.refuse(built)
    return built


def _axis(axis: Axis) -> dict[str, Any]:
    if isinstance(axis, Mapping):
        return {"points": [{"label": label, "set": dict(values)} for label, values in axis.items()]}
    key, values = axis
    return {"path": key, "values": list(values)}


def toml_value(value: Any, key: str) -> str:
    """Return ``value`` of ``key`` as TOML, tables inline. Raises EcnlabError for a value that TOML does not have."""
    if isinstance(value, Mapping):
        return (
            "{ "
            + ", ".join(f"{toml_key(name)} = {toml_value(one, f'{key}.{name}')}" for name, one in value.items())
            + " }"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_value(one, key) for one in value) + "]"
    if not isinstance(value, PLAIN):
        kind = type(value).__name__
        raise EcnlabError(
            f"`{key}`: {kind} is no value of a scenario: write a text, a number, true or false, a list or a dict"
        )
    if isinstance(value, float) and not math.isfinite(value):
        return str(float(value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else repr(value)


def toml_key(name: str) -> str:
    """``name`` as a key of TOML, quoted if it must be."""
    return name if BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def toml_text(tables: Mapping[str, Any]) -> str:
    """A scenario as TOML: single keys first, then a table for each link, queue, TCP and flow."""
    return "\n".join(_lines(tables)) + "\n"


def _lines(tables: Mapping[str, Any]) -> Iterator[str]:
    for key, value in tables.items():
        if not isinstance(value, Mapping):
            yield f"{key} = {toml_value(value, key)}"
    for kind, named in tables.items():
        for name, table in named.items() if isinstance(named, Mapping) else ():
            yield ""
            yield f"[{kind}.{toml_key(name)}]"
            yield from (f"{toml_key(key)} = {toml_value(value, key)}" for key, value in table.items())
