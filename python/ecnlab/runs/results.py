"""Result folders of either kind: load one, compare two."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ecnlab.base.errors import FolderError
from ecnlab.base.lazy_imports import pl
from ecnlab.folder.differences import differences
from ecnlab.folder.manifest import read_manifest
from ecnlab.folder.names import MANIFEST
from ecnlab.runs.run import Run, load_run
from ecnlab.runs.sweep_result import Sweep, load_sweep
from ecnlab.scenario.files import is_experiment, read_text


def load(folder: str | os.PathLike[str]) -> Run | Sweep:
    """Return the run or sweep stored in ``folder``.

    Raises FolderError if it holds neither, another format, or an incomplete sweep; OSError.
    """
    path = Path(folder)
    refuse_file(path)
    return load_run(path) if read_manifest(path)["kind"] == "run" else load_sweep(path)


def refuse_file(path: Path) -> None:
    """Raise FolderError if ``path`` is a file and not a folder, with the command that makes a result of it."""
    if not path.exists() or path.is_dir():
        return
    if path.name == MANIFEST:
        raise FolderError(f"{path} is the manifest of a result: name its folder, {path.parent}")
    if not path.is_file() or path.suffix.lower() != ".toml":
        raise FolderError(f"{path} is no folder: name the folder of a run or a sweep")
    what, verb = ("an experiment", "sweep") if is_experiment(read_text(path)) else ("a scenario", "run")
    raise FolderError(
        f"{path} is {what}, not the folder of a result: `ecnlab {verb} {shlex.quote(str(path))}`, in Python "
        f"`ecnlab.{verb}({str(path)!r})`, makes one"
    )


@dataclass(frozen=True)
class Comparison:
    """Comparison of two result folders."""

    reasons: list[str] = field(default_factory=list)
    """Why the two do not answer the same question; empty if they do."""
    makers: list[str] = field(default_factory=list)
    """How the programs that answered differ. Not a difference of results by itself."""
    tables: dict[str, str] = field(default_factory=dict)
    """For each table that differs: how. Of comparable results only."""
    metrics: list[dict[str, Any]] = field(default_factory=list)
    """For two sweeps: each metric's mean over the replicates of either, where they differ."""

    @property
    def comparable(self) -> bool:
        """Return whether the two have the same specification."""
        return not self.reasons

    @property
    def equal(self) -> bool:
        """Return whether they have the same specification and bit-identical results."""
        return self.comparable and not self.tables

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {"comparable": self.comparable, "equal": self.equal, **asdict(self)}


def compare(a: str | os.PathLike[str], b: str | os.PathLike[str]) -> Comparison:
    """Compare the results in two folders; wall time, dates and file names do not count. Raises as ``load`` does."""
    first, second = load(a), load(b)
    makers = list(differences(_maker(first), _maker(second)))
    if isinstance(first, Run) and isinstance(second, Run):
        reasons = _run_reasons(first, second)
        return Comparison(reasons, makers, {} if reasons else _different(_frames(first), _frames(second)))
    if isinstance(first, Sweep) and isinstance(second, Sweep):
        reasons = _sweep_reasons(first, second)
        tables = {} if reasons else _different(_frames(first), _frames(second))
        return Comparison(reasons, makers, tables, _metrics(first, second))
    return Comparison([f"one is a {first.manifest['kind']}, the other a {second.manifest['kind']}"], makers)


def _maker(result: Run | Sweep) -> dict[str, Any]:
    made = result.manifest
    return {**made["ecnlab"], "engine": made["engine"], "linux": made.get("linux")}


def _run_reasons(a: Run, b: Run) -> list[str]:
    reasons = list(differences(a.manifest["spec"], b.manifest["spec"]))
    if a.manifest["seed"] != b.manifest["seed"]:
        reasons.append(f"seed: {a.manifest['seed']} against {b.manifest['seed']}")
    return reasons


def _sweep_reasons(a: Sweep, b: Sweep) -> list[str]:
    asked = ("seed", "replicates", "axes", "metrics")
    reasons = list(differences({k: a.manifest[k] for k in asked}, {k: b.manifest[k] for k in asked}))
    only_a, only_b = set(a.runs["id"]) - set(b.runs["id"]), set(b.runs["id"]) - set(a.runs["id"])
    if only_a or only_b:
        reasons.append(f"runs: {len(only_a)} only in the first, {len(only_b)} only in the second")
    return reasons


def _frames(result: Run | Sweep) -> dict[str, pl.DataFrame]:
    if isinstance(result, Run):
        return {name: result.table(name) for name in result.tables}
    kept = {name: result.table(name).collect() for name in result.tables}
    return {"runs": result.runs, "metrics": result.metrics, **kept}


def _different(a: Mapping[str, pl.DataFrame], b: Mapping[str, pl.DataFrame]) -> dict[str, str]:
    found = {name: f"only in the {'first' if name in a else 'second'}" for name in sorted(a.keys() ^ b.keys())}
    for name in (name for name in a if name in b):
        if how := _difference(a[name], b[name]):
            found[name] = how
    return found


def _difference(a: pl.DataFrame, b: pl.DataFrame) -> str:
    """How two tables differ, "" if not at all."""
    if a.schema != b.schema:
        return _schemas(a, b)
    if a.height != b.height:
        return f"{a.height} rows against {b.height}"
    columns = []
    for name in a.columns:
        rows = a[name].ne_missing(b[name]).sum()
        if rows:
            columns.append(f"{name} in {rows} of {a.height} rows")
    return ", ".join(columns)


def _schemas(a: pl.DataFrame, b: pl.DataFrame) -> str:
    """How the columns of two tables differ."""
    sides = (("first", a, b), ("second", b, a))
    found = [
        f"{', '.join(only)} only in the {side}"
        for side, one, other in sides
        if (only := [name for name in one.columns if name not in other.columns])
    ]
    common = [name for name in a.columns if name in b.columns]
    found += [f"{name} is {a[name].dtype} against {b[name].dtype}" for name in common if a[name].dtype != b[name].dtype]
    return ", ".join(found) or "the columns have another order"


def _metrics(a: Sweep, b: Sweep) -> list[dict[str, Any]]:
    keys = ["arm", *a.axes, "metric"]
    if a.axes != b.axes:
        return []

    def means(sweep: Sweep, side: str) -> pl.DataFrame:
        return sweep.metrics.group_by(keys, maintain_order=True).agg(pl.col("value").mean().alias(side))

    both = means(a, "first").join(means(b, "second"), on=keys, how="inner", nulls_equal=True, maintain_order="left")
    return both.filter(pl.col("first").ne_missing(pl.col("second"))).to_dicts()
