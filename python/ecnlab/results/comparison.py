"""Comparison of two result folders, which `ecnlab compare` prints and `ecnlab report --against` draws."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.folder.differences import differences
from ecnlab.results.contrast import Contrast, Names, answer, of_runs, of_sweeps, shared_primary
from ecnlab.results.loading import load
from ecnlab.results.run import RunResult
from ecnlab.results.sweep import SweepResult

MAX_DIFFERENCES: Final = 12
"""Maximum number of differences of specifications of two sweeps."""


@dataclass(frozen=True)
class Comparison:
    """Comparison of two result folders."""

    names: Names
    """Names of the two sides."""
    reasons: list[str] = field(default_factory=list)
    """Differences of the specifications; empty if the folders have the same one."""
    makers: list[str] = field(default_factory=list)
    """Differences of the programs that made the results. Not a difference of results by itself."""
    tables: dict[str, str] = field(default_factory=dict)
    """For each table that differs: how. Of results with the same specification only."""
    contrasts: list[Contrast] = field(default_factory=list)
    """The quantities of both sides with their differences, those of signals last."""
    of_sweeps: bool = False
    """Whether both are sweeps."""
    primary: str | None = None
    """The metric that both experiments name as primary."""

    @property
    def comparable(self) -> bool:
        """Return whether the two have the same specification."""
        return not self.reasons

    @property
    def equal(self) -> bool:
        """Return whether they have the same specification and bit-identical results."""
        return self.comparable and not self.tables

    @property
    def answer(self) -> str:
        """The result of the comparison in one sentence."""
        return (
            "The results are the same, bit for bit." if self.equal else answer(self.contrasts, self.names, self.primary)
        )

    @property
    def notes(self) -> list[str]:
        """A sentence for each difference of specifications, programs and tables."""
        found = [f"The specifications differ in {reason}." for reason in self.reasons]
        found += [f"The programs differ in {maker}." for maker in self.makers]
        return found + [f"Table {name} differs: {how}." for name, how in self.tables.items()]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON; a bound that one replicate leaves open is None."""
        return {
            "comparable": self.comparable,
            "equal": self.equal,
            "answer": self.answer,
            **asdict(self),
            "contrasts": [one.to_dict() for one in self.contrasts],
        }


def compare(a: str | os.PathLike[str], b: str | os.PathLike[str], names: Names | None = None) -> Comparison:
    """Compare the results in two folders; wall time, dates and file names do not count.

    ``names`` are those of the two sides in texts; by default those of the folders. Raises as `load` does.
    """
    return compare_results(load(a), load(b), names or names_of(a, b))


def compare_results(first: RunResult | SweepResult, second: RunResult | SweepResult, names: Names) -> Comparison:
    """Compare two loaded results, as `compare` does."""
    makers = list(differences(_maker(first), _maker(second)))
    if isinstance(first, RunResult) and isinstance(second, RunResult):
        reasons = _run_reasons(first, second)
        tables = {} if reasons else _different(first, second, names)
        return Comparison(names, reasons, makers, tables, of_runs(first, second))
    if isinstance(first, SweepResult) and isinstance(second, SweepResult):
        reasons = _sweep_reasons(first, second, names)
        tables = {} if reasons else _different(first, second, names)
        contrasts = of_sweeps(first, second)
        return Comparison(names, reasons, makers, tables, contrasts, True, shared_primary(first, second))
    return Comparison(
        names, [f"kind: one is a {first.manifest['kind']}, the other a {second.manifest['kind']}"], makers
    )


def names_of(a: str | os.PathLike[str], b: str | os.PathLike[str]) -> Names:
    """Return the names of two folders; their paths if the names are equal; "first" and "second" if these are, too."""
    paths = [Path(one) for one in (a, b)]
    for first, second in ([one.resolve().name for one in paths], map(str, paths)):
        if first and second and first != second:
            return first, second
    return "first", "second"


def _maker(result: RunResult | SweepResult) -> dict[str, Any]:
    made = result.manifest
    return {**made["ecnlab"], "engine": made["engine"], "linux": made.get("linux")}


def _run_reasons(a: RunResult, b: RunResult) -> list[str]:
    reasons = list(differences(a.manifest["spec"], b.manifest["spec"]))
    if a.manifest["seed"] != b.manifest["seed"]:
        reasons.append(f"seed: {a.manifest['seed']} against {b.manifest['seed']}")
    return reasons


def _sweep_reasons(a: SweepResult, b: SweepResult, names: Names) -> list[str]:
    requested = ("seed", "replicates", "axes", "metrics")
    reasons = list(differences({k: a.manifest[k] for k in requested}, {k: b.manifest[k] for k in requested}))
    only_a, only_b = set(a.runs["id"]) - set(b.runs["id"]), set(b.runs["id"]) - set(a.runs["id"])
    if only_a or only_b:
        reasons.append(f"runs: {len(only_a)} only in {names[0]}, {len(only_b)} only in {names[1]}")
        reasons += _spec_reasons(a, b)
    return reasons


def _spec_reasons(a: SweepResult, b: SweepResult) -> list[str]:
    """Return the differences of specifications at the arms and points that both sweeps have, at most `MAX_DIFFERENCES`."""
    keys = ["arm", *a.axes, "replicate"]
    if a.axes != b.axes:
        return []
    both = a.runs.select(*keys, "spec_hash").join(
        b.runs.select(*keys, "spec_hash"), on=keys, how="inner", suffix="_2", nulls_equal=True, maintain_order="left"
    )
    first, second = a.specs, b.specs
    pairs = both.select("spec_hash", "spec_hash_2").unique(maintain_order=True).iter_rows()
    found = (one for x, y in pairs for one in differences(first[x]["spec"], second[y]["spec"]))
    return list(dict.fromkeys(found))[:MAX_DIFFERENCES]


def _frames(result: RunResult | SweepResult) -> dict[str, pl.DataFrame]:
    if isinstance(result, RunResult):
        return {name: result.table(name) for name in result.tables}
    kept = {name: result.table(name).collect() for name in result.tables}
    return {"runs": result.runs, "metrics": result.metrics, **kept}


def _different(a: RunResult | SweepResult, b: RunResult | SweepResult, names: Names) -> dict[str, str]:
    """Return how each table differs, of those that do."""
    first, second = _frames(a), _frames(b)
    found = {name: f"only in {names[name not in first]}" for name in sorted(first.keys() ^ second.keys())}
    for name in (name for name in first if name in second):
        if how := _difference(first[name], second[name], names):
            found[name] = how
    return found


def _difference(a: pl.DataFrame, b: pl.DataFrame, names: Names) -> str:
    """How two tables differ, "" if not at all."""
    if a.schema != b.schema:
        return _schemas(a, b, names)
    if a.height != b.height:
        return f"{a.height} rows against {b.height}"
    columns = []
    for name in a.columns:
        rows = a[name].ne_missing(b[name]).sum()
        if rows:
            columns.append(f"{name} in {rows} of {a.height} rows")
    return ", ".join(columns)


def _schemas(a: pl.DataFrame, b: pl.DataFrame, names: Names) -> str:
    """How the columns of two tables differ."""
    sides = ((names[0], a, b), (names[1], b, a))
    found = [
        f"{', '.join(only)} only in {side}"
        for side, one, other in sides
        if (only := [name for name in one.columns if name not in other.columns])
    ]
    common = [name for name in a.columns if name in b.columns]
    found += [f"{name} is {a[name].dtype} against {b[name].dtype}" for name in common if a[name].dtype != b[name].dtype]
    return ", ".join(found) or "the columns have another order"
