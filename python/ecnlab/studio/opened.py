"""What the studio opens: a scenario file, or the scenario of a stored run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ecnlab.base.errors import EcnlabError
from ecnlab.results.loading import load
from ecnlab.results.run import RunResult
from ecnlab.scenario.built import toml_text
from ecnlab.scenario.files import is_experiment, read_scenario, read_text
from ecnlab.studio.share import fragment

TRACES: Final = ("csv", "mahimahi")
"""Keys that name a file of rates or delays."""


def address(path: Path) -> str:
    """Return the end of the studio's address that opens `path`: a scenario, or the folder of a run with its seed.

    Raises SpecError for a scenario with errors, FolderError for a folder without results, EcnlabError for experiments, sweeps, and
    scenarios that a browser does not run.
    """
    if path.is_dir():
        return _of_run(path)
    text = read_text(path)
    if is_experiment(text):
        raise EcnlabError(f"{path} is an experiment, of many runs; the studio opens a scenario or the folder of a run")
    spec = read_scenario(path).resolved
    refuse(spec, path)
    return fragment([text], files=dict(traces(spec, path.parent)))


def refuse(spec: Mapping[str, Any], path: Path) -> None:
    """Raise EcnlabError if the scenario of `path` has QUIC stacks or laws in Python, which the studio's simulator lacks."""
    for found, what in ((spec.get("quic"), "QUIC"), (any(_texts(spec, ("python",))), "a law in Python")):
        if found:
            raise EcnlabError(f"{path} has {what}, which the studio does not run; use `ecnlab run`")


def _of_run(folder: Path) -> str:
    result = load(folder)
    if not isinstance(result, RunResult):
        raise EcnlabError(f"{folder} has a sweep, of many runs; the studio opens a scenario or the folder of a run")
    refuse(result.manifest["spec"], folder)
    seed = result.manifest["seed"]
    # A prediction by the closed forms has none.
    return fragment([toml_text(result.manifest["spec"])], 1 if seed is None else seed)


def traces(spec: object, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the files of rates and delays that a scenario in `folder` names, with their texts."""
    return ((name, read_text(folder / name)) for name in _texts(spec, TRACES))


def _texts(spec: object, keys: Sequence[str]) -> Iterator[str]:
    """Yield the texts that `keys` have in any table of `spec`."""
    if isinstance(spec, list):
        for one in spec:
            yield from _texts(one, keys)
    if isinstance(spec, Mapping):
        table: Mapping[str, Any] = spec
        for key, value in table.items():
            if key in keys and isinstance(value, str):
                yield value
            else:
                yield from _texts(value, keys)
