"""`make recompute`: a second path from stored tables to verdicts, which finds the same and notices what was changed."""

from __future__ import annotations

import ast
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from analysed import of_all
from pages import stored
from synthetic import MadeUp

from ecnlab.papers import rfc2884
from ecnlab.papers.published import read_published
from ecnlab.papers.reproduction import _plain
from ecnlab.papers.rfc2884.grid import GRID

CHECKOUT = Path(__file__).parents[2]
SCRIPTS = CHECKOUT / "tests" / "tools" / "recompute"
RUN = ("id", "seed", "spec_hash")

sys.path.insert(0, str(SCRIPTS))
import recompute  # noqa: E402


def test_it_uses_nothing_of_ecnlab() -> None:
    used = set()
    for path in SCRIPTS.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                used |= {name.name.split(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                used.add((node.module or "").split(".")[0])
    assert used - sys.stdlib_module_names == {"numpy", "polars", "scipy", "measures", "rules", "tables"}


def test_most_verdicts_can_be_computed_again() -> None:
    printed = tomllib.loads((CHECKOUT / "papers" / "rfc2884" / "published.toml").read_text())
    entries = [*printed["number"], *printed["claim"]]
    missing = [entry["id"] for entry in entries if entry["metric"] not in recompute.RECIPES]
    assert len(missing) < 0.2 * len(entries), f"no recipe in tests/tools/recompute for {missing}"


@pytest.fixture(scope="module")
def made_up(tmp_path_factory) -> Path:
    """A results folder of RFC 2884 with made-up runs, judged by the project."""
    folder = tmp_path_factory.mktemp("results") / "rfc2884"
    sweeps = {step.name: MadeUp(step.name) for step in rfc2884.PAPER.steps if not step.drawn}
    for name, sweep in sweeps.items():
        tables = folder / "sweeps" / name / "tables"
        tables.mkdir(parents=True)
        keys = list(sweep.keys[0])
        runs = pl.DataFrame(sweep.keys).with_row_index("id").with_columns(pl.col("id").cast(pl.String))
        runs.with_columns(seed=pl.lit(1), spec_hash=pl.lit("")).write_parquet(tables / "runs.parquet")
        for table in ("flows", "flows_run", "links", "queues", "transactions", "flow_series", "queue_series"):
            rows = sweep.table(table).collect().join(runs, on=keys, nulls_equal=True).drop(keys)
            rows.write_parquet(tables / f"{table}.parquet")
    published = read_published(CHECKOUT / "papers" / "rfc2884")
    samples = of_all("rfc2884", sweeps)
    (folder / "analysis").mkdir()
    judged = stored(folder / "analysis", published, samples, GRID)
    results = {name: _plain(judged[name]) for name in ("numbers", "claims")}
    (folder / "results.json").write_text(json.dumps(results))
    return folder


def asked(folder: Path, *arguments: str) -> int:
    return recompute.main([str(folder), *arguments])


@pytest.mark.slow
def test_made_up_runs_have_the_same_verdicts_by_either_path(made_up, capsys) -> None:
    assert asked(made_up, "--all") == 0
    results = json.loads((made_up / "results.json").read_text())
    known = {row["id"] for row in (*results["numbers"], *results["claims"]) if row["metric"] in recompute.RECIPES}
    assert capsys.readouterr().out.count("the same\n") == len(known)
    assert asked(made_up, "--seed", "3") == 0
    assert capsys.readouterr().out.count("the same\n") == 10


def of(results: dict[str, Any], name: str) -> dict[str, Any]:
    return next(row for row in (*results["numbers"], *results["claims"]) if row["id"] == name)


DOCTORED = {
    "R27.1": lambda row: row.update(mean=row["mean"] + 1e-4),
    "R24.1": lambda row: row.update(high=1.0),
    "R33.1": lambda row: row.update(verdict="agrees"),
    "R30": lambda row: row.update(answer="partly"),
    "R28.grows": lambda row: row.update(answer="no"),
    "R36": lambda row: row.update(n=99),
}
"""What is changed in the report, by the identifier of the number or claim."""


@pytest.mark.slow
def test_each_doctored_number_and_claim_of_a_report_is_noticed_and_no_other(made_up, tmp_path, capsys) -> None:
    results = json.loads((made_up / "results.json").read_text())
    for name, doctor in DOCTORED.items():
        doctor(of(results, name))
    folder = tmp_path / "rfc2884"
    folder.mkdir()
    (folder / "sweeps").symlink_to(made_up / "sweeps")
    (folder / "results.json").write_text(json.dumps(results))
    assert asked(folder, "--all") == 1
    wrong = [line.split()[0] for line in capsys.readouterr().out.splitlines() if "ANOTHER" in line]
    assert sorted(wrong) == sorted(DOCTORED)


@pytest.mark.slow
def test_a_doctored_run_is_noticed(made_up, tmp_path, capsys) -> None:
    folder = tmp_path / "rfc2884"
    (folder / "sweeps").mkdir(parents=True)
    for step in (made_up / "sweeps").iterdir():
        (folder / "sweeps" / step.name).symlink_to(step)
    (folder / "sweeps" / "fairness").unlink()
    tables = folder / "sweeps" / "fairness" / "tables"
    tables.mkdir(parents=True)
    flows = pl.read_parquet(made_up / "sweeps/fairness/tables/flows.parquet")
    once = pl.when(pl.int_range(pl.len()) == 0).then(2.0).otherwise(1.0)
    flows.with_columns(goodput_bps=pl.col("goodput_bps") * once).write_parquet(tables / "flows.parquet")
    (tables / "runs.parquet").symlink_to(made_up / "sweeps/fairness/tables/runs.parquet")
    (folder / "results.json").symlink_to(made_up / "results.json")
    assert asked(folder, "--all") == 1
    wrong = [line.split()[0] for line in capsys.readouterr().out.splitlines() if "ANOTHER" in line]
    assert wrong and all(name.startswith("R24") for name in wrong)


def test_a_folder_without_results_is_told(tmp_path, capsys) -> None:
    assert recompute.main([str(tmp_path)]) == 2
    assert "ecnlab reproduce" in capsys.readouterr().err
