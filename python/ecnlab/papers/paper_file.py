"""``paper.toml``: the grid and the steps of a paper that needs no Python code.

``[axis.NAME]`` is an axis of the grid: one of an experiment, or "arm" for its arms; ``words``, ``names`` and ``levels`` are as in
`ecnlab.papers.judge.Grid`. ``[experiment.NAME]`` is the experiment ``NAME.toml`` with its replicates in the ``quick`` and the ``full``
size; ``keep`` and ``place`` are as in `ecnlab.papers.paper.Step`. ``budget`` is as in `ecnlab.papers.paper.Paper`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ecnlab.base.errors import EcnlabError
from ecnlab.papers.judge import Grid
from ecnlab.papers.paper import Drawn, Paper, Step
from ecnlab.papers.published import Along, read_published
from ecnlab.scenario.data_files import read_toml
from ecnlab.scenario.files import read_experiment

FILE: Final = "paper.toml"

ARM: Final = "arm"
"""Name of the axis with the arms of experiments."""


@dataclass(frozen=True, slots=True)
class _Key:
    """A key of a table: the test of its value, and its value in words."""

    fits: Callable[[Any], bool]
    value: str
    required: bool = False


def _table_of(*types: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(type(one) in types for one in value.values())


def _is_words(value: Any) -> bool:
    return isinstance(value, str) and value.count("{}") == 1 and value.count("{") == value.count("}") == 1


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


WHOLE: Final = {
    "format": _Key(_is_count, "a number", required=True),
    "axis": _Key(_table_of(dict), "tables [axis.NAME]", required=True),
    "experiment": _Key(lambda value: _table_of(dict)(value) and bool(value), "tables [experiment.NAME]", required=True),
    "budget": _Key(_is_count, "a whole number of runs above 0"),
}
AXIS: Final = {
    "words": _Key(_is_words, 'a text with {} for the label, such as "buffer of {} BDP"'),
    "names": _Key(_table_of(str), "texts by label"),
    "levels": _Key(_table_of(int, float), "numbers by label"),
}
EXPERIMENT: Final = {
    "quick": _Key(_is_count, "a whole number above 0", required=True),
    "full": _Key(_is_count, "a whole number above 0", required=True),
    "keep": _Key(_are_names, "a list of tables of a run"),
    "place": _Key(_table_of(str), "labels by axis"),
}


def read_paper(folder: Path) -> Paper:
    """The paper of ``paper.toml`` in ``folder``. Raises EcnlabError with file, key and remedy; OSError."""
    path = folder / FILE
    contents = read_toml(path)
    _check(path, contents, WHOLE)
    for name, entry in contents["axis"].items():
        _check(path, entry, AXIS, f"axis.{name}")
    for name, entry in contents["experiment"].items():
        _check(path, entry, EXPERIMENT, f"experiment.{name}")
    paper = Paper(
        folder.resolve().name,
        _grid(contents["axis"]),
        _steps(contents["experiment"]),
        lambda _sweeps: Drawn(),
        budget=contents.get("budget", 0),
    )
    for step in paper.steps:
        _check_step(path, step, paper.grid)
    _check_metrics(path, paper)
    return paper


def _check(path: Path, entry: Mapping[str, Any], keys: Mapping[str, _Key], place: str = "") -> None:
    """Raise EcnlabError for the first key of ``entry`` that is unknown, missing or has a wrong value."""
    at = f"{path}: {place}: " if place else f"{path}: "
    for name in entry:
        if name not in keys:
            raise EcnlabError(f"{at}unknown key {name!r}; there are {', '.join(keys)}")
    for name, key in keys.items():
        if name not in entry and key.required:
            raise EcnlabError(f"{at}{name!r} is missing: add {key.value}")
        if name in entry and not key.fits(entry[name]):
            raise EcnlabError(f"{at}{name!r} is {entry[name]!r}: write {key.value}")


def _grid(axes: Mapping[str, Mapping[str, Any]]) -> Grid:
    """The grid of ``axes``; a label has one name and one level on all of them."""
    merged = {
        key: {k: v for axis in axes.values() for k, v in axis.get(key, {}).items()} for key in ("levels", "names")
    }
    return Grid(tuple(axes), **merged, words={name: axis["words"] for name, axis in axes.items() if "words" in axis})


def _steps(steps: Mapping[str, Mapping[str, Any]]) -> tuple[Step, ...]:
    return tuple(
        Step(name, one["quick"], one["full"], tuple(one.get("keep", ())), one.get("place", {}))
        for name, one in steps.items()
    )


def _check_step(path: Path, step: Step, grid: Grid) -> None:
    """Raise EcnlabError for sizes in the wrong order, and for a step with a place or an experiment outside the grid."""
    at, file = f"{path}: experiment.{step.name}", path.parent / f"{step.name}.toml"
    if step.quick > step.full:
        raise EcnlabError(f"{at}: 'quick' is above 'full': the quick size is a part of the full one")
    if not file.is_file():
        raise EcnlabError(f"{at}: there is no experiment {file}: write it, or name one that exists")
    experiment = read_experiment(file)
    axes = [*experiment.axes, *([ARM] if experiment.run(0).arm else []), *step.place]
    _check_axes(at, axes, grid)


def _check_axes(at: str, axes: Iterable[str], grid: Grid) -> None:
    if missing := [axis for axis in axes if axis not in grid.keys]:
        there = ", ".join(grid.keys) or "none"
        raise EcnlabError(
            f"{at}: {FILE} has no axis {missing[0]!r}, only {there}: name one of these, or add [axis.{missing[0]}]"
        )


def _check_metrics(path: Path, paper: Paper) -> None:
    """Raise EcnlabError for a step that no metric measures, and for a number or claim outside the grid."""
    published, folder = read_published(path.parent), path.parent
    steps = [step.name for step in paper.steps]
    for name, metric in published.metrics.items():
        if missing := [step for step in metric.steps if step not in steps]:
            raise EcnlabError(
                f"{folder / 'metrics.toml'}: metric.{name}: {missing[0]!r} is not an experiment of {FILE}"
            )
    for step in steps:
        if not any(step in metric.steps for metric in published.metrics.values()):
            raise EcnlabError(
                f"{path}: experiment.{step}: no metric has it in its `steps`: add it to one in metrics.toml"
            )
    for entry in (*published.numbers, *published.claims):
        along = [entry.axis] if isinstance(entry, Along) else []
        _check_axes(f"{folder / 'published.toml'}: {entry.id}", [*entry.where, *along], paper.grid)
