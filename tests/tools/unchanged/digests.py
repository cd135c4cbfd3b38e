"""Does runs with the ecnlab of its own tree, and writes a digest of each column of each table, one run a line.

`unchanged.py` calls this in two trees, with the same list of experiments, and compares the lines. What a change of
`changes.py` is about has another digest, without what that commit may alter.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[3] / "python" / "tests"))

from captured import shortened
from changes import CHANGES

import ecnlab
from ecnlab import Scenario
from ecnlab.papers.registry import PAPERS
from ecnlab.scenario import read_experiment, read_scenario


@dataclass(frozen=True)
class Job:
    """A run by its place in an experiment, which stays when a specification gets a new key."""

    name: str
    scenario: Scenario
    seed: int
    packets: bool
    """Whether packet events and captures are made and compared, too."""


def main() -> None:
    """Writes the digests of the experiments in ``root`` to a file: runs with user-defined laws redirect standard output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="tree whose papers/ and examples/ are run")
    parser.add_argument("out", type=Path, help="file to write, a JSON object for each run")
    parser.add_argument("--few", action="store_true", help="three points of each experiment, one replicate")
    given = parser.parse_args()
    jobs = [job for path, replicates in experiments(given.root) for job in of_experiment(path, replicates, given.few)]
    jobs += [job for path in scenarios(given.root) for job in of_scenario(path)]
    with ThreadPoolExecutor(2) as pool, given.out.open("w") as out:
        for number, line in enumerate(pool.map(digest, jobs), start=1):
            print(json.dumps(line), file=out)
            print(f"\r{number} of {len(jobs)} runs", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def experiments(root: Path) -> Iterator[tuple[Path, int]]:
    """Every experiment of the papers with the replicates of its quick size, and of the examples with one."""
    for name, paper in PAPERS.items():
        for step in (*paper.steps, *paper.on_linux):
            if (path := root / "papers" / name / f"{step.name}.toml").exists():
                yield path, step.quick
    for path in sorted((root / "examples").glob("*.toml")):
        if is_experiment(path):
            yield path, 1


def scenarios(root: Path) -> Iterator[Path]:
    """Every scenario of the examples."""
    return (path for path in sorted((root / "examples").glob("*.toml")) if not is_experiment(path))


def is_experiment(path: Path) -> bool:
    """Whether the file names a scenario that it varies."""
    return any(line.startswith("scenario = ") for line in path.read_text().splitlines())


def of_experiment(path: Path, replicates: int, few: bool) -> Iterator[Job]:
    """The runs of an experiment. The packets of three at even distances in its grid are looked at, too."""
    runs = read_experiment(path).with_replicates(1 if few else replicates).runs
    chosen = set(range(0, len(runs), max(1, (len(runs) - 1) // 2)))
    for number, run in enumerate(runs):
        if number in chosen or not few:
            place = " ".join([path.stem, run.arm or "", *run.point.values(), str(run.replicate)])
            yield Job(f"{path.parent.name}/{place}", run.scenario, run.seed, number in chosen)


def of_scenario(path: Path) -> Iterator[Job]:
    """Two seeds of a scenario."""
    return (Job(f"{path.stem} {seed}", read_scenario(path), seed, True) for seed in (1, 2))


def digest(job: Job) -> dict[str, str]:
    """The digests of a run: ``table.column``, or ``capture`` with the file's name; and those without what a change alters."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = with_captures(job.scenario) if job.packets else job.scenario
        run = ecnlab.run(scenario, job.seed, events=job.packets, captures=folder if job.packets else None)
        found = {"run": job.name}
        for table in run.tables:
            frame = run.table(table)
            for column in frame.columns:
                found |= of_column(f"{table}.{column}", frame[column])
        for file in sorted(Path(folder).iterdir()):
            found |= of_capture(f"capture {file.name}", file.read_bytes())
    return found


def of_column(name: str, values: pl.Series) -> dict[str, str]:
    """The digests of a column."""
    found = {name: of_bytes(as_bytes(values))}
    for change in CHANGES:
        if change.column and change.about == name:
            found[f"{name} but for {change.commit}"] = of_bytes(as_bytes(change.column(values)))
    return found


def of_capture(name: str, data: bytes) -> dict[str, str]:
    """The digests of a capture."""
    found = {name: of_bytes(data)}
    for change in CHANGES:
        if change.capture:
            found[f"{name} but for {change.commit}"] = of_bytes(change.capture(data))
    return found


def with_captures(scenario: Scenario) -> Scenario:
    """The scenario with captures of its nodes, up to 20 s behind the start of its last flow."""
    flows = {name: flow for name, flow in scenario.resolved["flow"].items() if flow.get("count") != 0}
    nodes = {flow[end].partition("[")[0] for flow in flows.values() for end in ("from", "to")}
    return shortened(scenario).with_overrides({f"capture.{node}": {"node": node} for node in sorted(nodes)})


def as_bytes(column: pl.Series) -> bytes:
    """The values of a column with their type, and which are missing: what else lies in memory does not count.

    Texts are written out: how they lie in memory depends on where they came from.
    """
    if column.dtype == pl.String:
        return json.dumps(column.to_list()).encode()
    buffer = io.BytesIO()
    # Of a column of truth values the last byte in memory has bits that belong to no row.
    for part in (column.is_null().cast(pl.UInt8), column.drop_nulls()):
        part.to_frame().rechunk().write_ipc(buffer, compression="uncompressed")
    return buffer.getvalue()


def of_bytes(data: bytes) -> str:
    """A digest short enough to be kept for each column of each run."""
    return hashlib.sha256(data).hexdigest()[:16]


if __name__ == "__main__":
    main()
