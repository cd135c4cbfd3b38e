"""What the studio opens: a scenario file, or the scenario of a stored run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ecnlab.base.errors import EcnlabError
from ecnlab.results.loading import load
from ecnlab.results.run import RunResult
from ecnlab.scenario.built import toml_text
from ecnlab.scenario.files import is_experiment, read_scenario, read_text
from ecnlab.studio.share import fragment


def address(path: Path) -> str:
    """Return the end of the studio's address that opens `path`: a scenario, or the folder of a run with its seed.

    Raises SpecError for a scenario with errors, FolderError for a folder without results, EcnlabError for experiments and sweeps.
    """
    if path.is_dir():
        return _of_run(path)
    text = read_text(path)
    if is_experiment(text):
        raise EcnlabError(f"{path} is an experiment, of many runs; the studio opens a scenario or the folder of a run")
    return fragment([text], files=dict(traces(read_scenario(path).resolved, path.parent)))


def _of_run(folder: Path) -> str:
    result = load(folder)
    if not isinstance(result, RunResult):
        raise EcnlabError(f"{folder} has a sweep, of many runs; the studio opens a scenario or the folder of a run")
    seed = result.manifest["seed"]
    # A prediction by the closed forms has none.
    return fragment([toml_text(result.manifest["spec"])], 1 if seed is None else seed)


def traces(spec: object, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the files of rates and delays that a scenario in `folder` names, with their texts."""
    if isinstance(spec, Mapping):
        table: Mapping[str, Any] = spec
        for key, value in table.items():
            if key in ("csv", "mahimahi") and isinstance(value, str):
                yield value, read_text(folder / value)
            else:
                yield from traces(value, folder)
