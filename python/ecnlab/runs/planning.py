"""How many replicates an experiment needs for intervals of a given width: from a pilot of a few replicates."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from ecnlab._core import Experiment
from ecnlab.api.sweep import Sweep
from ecnlab.base.errors import EcnlabError
from ecnlab.runs.sweep import sweep
from ecnlab.runs.sweep_doing import Progress, cores
from ecnlab.scenario.files import read_experiment
from ecnlab.scenario.questions import read_width

if TYPE_CHECKING:
    from ecnlab.base.sequential import Width

PILOT: Final = 8
"""Default replicates of a pilot: the standard deviation of 8 normal values is between 0.49 and 1.51 times the true one in 95 %
of pilots (chi-square with 7 degrees of freedom)."""

MAX_REPLICATES: Final = 10**6
"""Most replicates of an experiment."""


def width_of(text: str) -> Width:
    """Read "2%" (of the mean) or "0.5" (in the metric's unit). Raises EcnlabError for anything else."""
    if found := read_width(text):
        return found
    raise EcnlabError(f'--half-width is "2%" of the mean or a positive number in the unit of the metric, not {text!r}')


@dataclass(frozen=True, slots=True)
class Need:
    """What one metric needs at one point of the experiment."""

    metric: str
    point: str
    """Arm and labels of the point."""
    mean: float
    sd: float
    """Sample standard deviation over the pilot's replicates."""
    replicates: int | None
    """Replicates with which the interval has the width; None: above `MAX_REPLICATES`, or a relative width of a mean of 0."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What an experiment needs, and what it takes."""

    needs: list[Need]
    """One for each metric and point of which the pilot has two values at least, the largest need first."""
    undecided: int
    """Metrics at points of which the pilot has fewer than two values."""
    points: int
    pilot: int
    """Replicates of the pilot."""
    core_seconds: float | None
    """Time of a run on one core, from the runs that this pilot did; None if all were there."""
    bytes_per_run: float
    """Size of the pilot's folder for each of its runs."""
    folder: Path

    @property
    def replicates(self) -> int | None:
        """Replicates with which all intervals have the width; None if one cannot."""
        wanted = [need.replicates for need in self.needs]
        return max((n for n in wanted if n is not None), default=None) if None not in wanted else None

    @property
    def runs(self) -> int | None:
        """Runs of the whole experiment."""
        return self.points * self.replicates if self.replicates is not None else None


def plan(
    experiment: str | os.PathLike[str] | Experiment,
    half_width: str,
    out: str | os.PathLike[str],
    *,
    pilot: int = PILOT,
    metrics: Iterable[str] = (),
    workers: int | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Run a pilot of ``experiment`` into the folder ``out``, and compute the replicates for 95 % intervals of ``half_width``.

    ``half_width`` is "2%" of each mean, or a number in the unit of the metrics. ``metrics`` names those that count (default:
    all). A sweep into the same folder continues with the pilot's runs. The number of replicates follows from the pilot's
    standard deviations, which are estimates: see `PILOT`. Raises EcnlabError for a pilot of fewer than two replicates, for
    an unknown metric and for a width that cannot be read, and what `sweep` raises.
    Source: Jain, "The Art of Computer Systems Performance Analysis" (1991), section 13.9.1, with Student's t.
    """
    if pilot < 2:
        raise EcnlabError(f"a pilot of {pilot} has no standard deviation: give 2 replicates at least")
    width = width_of(half_width)
    question = (experiment if isinstance(experiment, Experiment) else read_experiment(experiment)).with_replicates(
        pilot
    )
    wanted = set(metrics or question.metrics)
    if strange := sorted(wanted.difference(question.metrics)):
        raise EcnlabError(f"{question.path} has no metric {strange[0]!r}; there are {', '.join(question.metrics)}")
    done: list[int] = []

    def note(finished: int, in_all: int) -> None:
        done.append(finished)
        if progress:
            progress(finished, in_all)

    began = perf_counter()
    result = sweep(question, out, workers=workers, progress=note)
    seconds, new = perf_counter() - began, done[-1] - done[0]
    needs, undecided = _needs(result, width, wanted)
    size = sum(file.stat().st_size for file in Path(out).rglob("*") if file.is_file())
    return Plan(
        needs=sorted(needs, key=lambda need: -(need.replicates or math.inf)),
        undecided=undecided,
        points=len(question) // pilot,
        pilot=pilot,
        core_seconds=seconds * min(workers or cores(), new) / new if new else None,
        bytes_per_run=size / len(question),
        folder=Path(out),
    )


def replicates_for(sd: float, half_width: float) -> int | None:
    """The least number of replicates, 2 or more, whose 95 % interval of the mean is ``half_width`` at most on either side.

    ``sd`` is the standard deviation of the replicates. None above `MAX_REPLICATES`, and for a half-width of 0 unless ``sd`` is 0.
    """
    from ecnlab.base.stats import t_quantile

    def enough(n: int) -> bool:
        return t_quantile(n) * sd / math.sqrt(n) <= half_width

    if not enough(MAX_REPLICATES):
        return None
    low, high = 1, 2
    while not enough(high):
        low, high = high, min(2 * high, MAX_REPLICATES)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _needs(result: Sweep, width: Width, wanted: set[str]) -> tuple[list[Need], int]:
    needs, undecided = [], 0
    for place, group in result.metrics.group_by(["arm", *result.axes, "metric"], maintain_order=True):
        *point, metric = place
        if metric not in wanted:
            continue
        values = group["value"].drop_nulls()
        if values.len() < 2:
            undecided += 1
            continue
        mean, sd = _number(values.mean()), _number(values.std())
        label = ", ".join(str(part) for part in point if part)
        needs.append(Need(str(metric), label, mean, sd, replicates_for(sd, width.of(mean))))
    return needs, undecided


def _number(value: Any) -> float:
    return float(value)
