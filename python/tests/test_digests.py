"""Results stay the same bytes: digests of runs of the examples and of each paper, in ``tests/data/digests.json``.

A change of results that is meant stores new ones with its reason, which the changelog has under "Changed results"::

    make digests REASON="RED counts idle time once"
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from captured import shortened

import ecnlab
from ecnlab.papers.registry import PAPERS
from ecnlab.scenario import read_experiment, read_scenario

ROOT = Path(__file__).parents[2]
STORED = ROOT / "tests" / "data" / "digests.json"
REASON = os.environ.get("ECNLAB_DIGESTS_REASON", "")


def examples() -> Iterator[str]:
    """The scenarios among the examples, which name no scenario that they vary."""
    for path in sorted((ROOT / "examples").glob("*.toml")):
        if not any(line.startswith("scenario = ") for line in path.read_text().splitlines()):
            yield f"examples/{path.name}"


def firsts() -> Iterator[str]:
    """The first experiment of each paper."""
    return (f"papers/{name}/{paper.steps[0].name}.toml" for name, paper in PAPERS.items())


def digests(name: str) -> dict[str, str]:
    """A digest of each table of the run."""
    if name.startswith("papers/"):
        first = read_experiment(ROOT / name).run(0)
        scenario, seed = shortened(first.scenario), first.seed
    else:
        scenario, seed = read_scenario(ROOT / name), 1
    run = ecnlab.run(scenario, seed)
    return {table: of_table(run.table(table)) for table in sorted(run.tables)}


def of_table(table: pl.DataFrame) -> str:
    """A digest of names, types, and values, which does not depend on how they lie in memory."""
    digest = hashlib.sha256()
    for column in table:
        digest.update(f"{column.name} {column.dtype}\n".encode())
        if column.dtype.is_numeric():
            digest.update(column.is_null().to_numpy().tobytes() + column.fill_null(0).to_numpy().tobytes())
        else:
            digest.update(json.dumps(column.to_list(), default=str).encode())
    return digest.hexdigest()[:16]


@pytest.mark.skipif(bool(REASON), reason="`make digests` stores new ones")
@pytest.mark.parametrize("name", [*examples(), *firsts()])
def test_results_are_the_same_bytes(name: str) -> None:
    stored = json.loads(STORED.read_text())["runs"][name]
    found = digests(name)
    differing = sorted(table for table in stored.keys() | found.keys() if stored.get(table) != found.get(table))
    assert not differing, f'{name}: {", ".join(differing)} differ; if this is meant: make digests REASON="..."'


@pytest.mark.skipif(not REASON, reason="`make digests` stores new ones")
def test_digests_are_stored_with_a_reason() -> None:
    runs = {name: digests(name) for name in [*examples(), *firsts()]}
    STORED.write_text(json.dumps({"reason": REASON, "runs": runs}, indent=1) + "\n")
