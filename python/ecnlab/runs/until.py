"""A sweep that adds replicates until its questions are answered."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ecnlab._core import Experiment
from ecnlab.api.sweep import Sweep
from ecnlab.base.lazy_imports import pl
from ecnlab.base.looks import LEAST, MOST, looks
from ecnlab.folder.manifest import read_manifest
from ecnlab.folder.names import MANIFEST
from ecnlab.folder.replaced import only_writer
from ecnlab.folder.sealed_json import write_json
from ecnlab.runs.sweep import sweep
from ecnlab.scenario.files import read_experiment
from ecnlab.scenario.questions import Question, check_numbers, questions

if TYPE_CHECKING:
    from ecnlab.base.selection import Best


def sweep_until(
    experiment: str | os.PathLike[str] | Experiment,
    out: str | os.PathLike[str],
    until: Iterable[str] | None = None,
    *,
    least: int = LEAST,
    most: int = MOST,
    **options: Any,
) -> Sweep:
    """Do replicates of ``experiment`` until each question of ``until`` is answered at each point, ``most`` of them at most.

    A question is a half-width of the 95 % interval (``"goodput 2%"``, ``"delay 1 ms"``), a limit (``"delay < 20 ms"``), the
    order of two arms, paired by seed (``"goodput: ecn > plain"``), or the best of several within a difference that does not matter
    (``"delay: lowest of red, codel, pie within 1 ms"``). The answers are "yes", "no", an arm or "inconclusive"; each is wrong in
    5 % of experiments at most, although the number of replicates depends on the results, except for metrics with rare large
    values (``docs/sequential.md``). The manifest has them in ``stop``. No look has fewer than ``least`` replicates, 4 or more.
    Further ``options`` are those of `sweep`, with the same results as its ``replicates``. Runs that ``out`` already has are not done again.

    Without ``until``, questions and numbers are those of ``[stop]`` in the experiment.

    Raises EcnlabError for a question that the experiment does not have and for impossible numbers, and as `sweep` does.
    """
    question = experiment if isinstance(experiment, Experiment) else read_experiment(experiment)
    if stop := question.stop if until is None else None:
        until, least, most = stop["until"], stop["least"], stop["most"]
    check_numbers(least, most)
    asked = questions(until or (), question)
    at, stored = list(looks(least, most)), _stored(Path(out))
    for place, n in enumerate(at):
        if n < min(stored, most):
            continue
        result = sweep(question.with_replicates(n), out, **options)
        rows = [row for one in asked for row in answers(result, one, at[: place + 1])]
        if all(row.pop("over") for row in rows):
            break
    return _with_stop(result, {"least": least, "most": most, "looks": at[: place + 1], "answers": rows})


def _stored(folder: Path) -> int:
    """Return the replicates of the sweep in ``folder``, 0 without one."""
    return int(read_manifest(folder, "sweep")["replicates"]) if (folder / MANIFEST).exists() else 0


def _with_stop(result: Sweep, stop: dict[str, Any]) -> Sweep:
    from ecnlab.base import selection, sequential
    from ecnlab.base.stats import LEVEL

    for row in stop["answers"]:
        row.pop("over", None)
    method = f"{sequential.METHOD}; {selection.METHOD}"
    manifest = {**result.manifest, "stop": {"method": method, "level": LEVEL, **stop}}
    with only_writer(result.folder):
        write_json(result.folder / MANIFEST, manifest)
    return Sweep(result.folder, manifest)


def answers(result: Sweep, question: Question, at: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield the answer at each point, of looks at ``at[0]``, ``at[1]`` ... replicates until one decides.

    Keys: ``until``, ``metric``, ``arm``, ``against`` (the second arm of an order), the axes, ``answer``, ``mean``, ``low``,
    ``high`` (null: infinite), ``n``, ``reason``; and ``over`` if further replicates cannot be expected to change it. A best arm is
    the ``answer``, with its ``mean``; ``arm``, ``low`` and ``high`` are null.
    """
    from ecnlab.base.selection import Best  # loads NumPy
    from ecnlab.base.sequential import answer
    from ecnlab.scenario.metric_ranges import of_difference, of_metric

    if isinstance(question.rule, Best):
        yield from _selections(result, question, question.rule, at)
        return

    range_ = of_metric(result.manifest["metrics"], question.metric)
    bounds = of_difference(range_, range_) if question.arms else range_
    for point, group in _points(result, question):
        values = group.sort("replicate")["value"]
        defined = values.is_not_null().cum_sum().to_list()
        found = answer(question.rule, values.drop_nulls().to_list(), [defined[n - 1] for n in at], bounds)
        ends = (found.found.mean, found.found.low, found.found.high)
        mean, low, high = (end if math.isfinite(end) else None for end in ends)
        yield {
            "until": question.text,
            "metric": question.metric,
            **point,
            "answer": found.outcome,
            "mean": mean,
            "low": low,
            "high": high,
            "n": found.found.n,
            "reason": found.reason,
            "over": found.over,
        }


def _selections(result: Sweep, question: Question, rule: Best, at: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield the best arm at each point, as `answers`. A replicate in which an arm has no value is left out."""
    from ecnlab.base.selection import select  # loads NumPy

    arms, axes = list(question.arms), list(result.axes)
    rows = result.metrics.filter(pl.col("metric") == question.metric, pl.col("arm").is_in(arms))
    for labels, group in rows.group_by(axes, maintain_order=True) if axes else [((), rows)]:
        table = group.pivot(on="arm", index="replicate", values="value").sort("replicate").select(arms)
        defined = table.select(pl.all_horizontal(pl.all().is_not_null()).cum_sum()).to_series().to_list()
        values = table.drop_nulls().to_numpy()
        found = select(rule, values, [defined[n - 1] for n in at])
        decided = len(found.left) == 1
        left = ", ".join(arms[place] for place in found.left)
        yield {
            "until": question.text,
            "metric": question.metric,
            "arm": None,
            "against": None,
            **dict(zip(axes, labels, strict=True)),
            "answer": left if decided else "inconclusive",
            "mean": float(values[: found.n, found.left[0]].mean()) if decided else None,
            "low": None,
            "high": None,
            "n": found.n,
            "reason": "" if decided else found.reason or f"left: {left}",
            "over": found.over,
        }


def _points(result: Sweep, question: Question) -> Iterator[tuple[Mapping[str, Any], pl.DataFrame]]:
    """Yield arm and labels of each point with its values by replicate, null where not defined."""
    rows = result.metrics.filter(pl.col("metric") == question.metric)
    axes = list(result.axes)
    if not question.arms:
        for place, group in rows.group_by(["arm", *axes], maintain_order=True):
            yield {"arm": place[0], "against": None, **dict(zip(axes, place[1:], strict=True))}, group
        return
    first, second = (rows.filter(pl.col("arm") == arm) for arm in question.arms)
    both = first.join(second, on=[*axes, "replicate"], how="inner", nulls_equal=True, maintain_order="left")
    both = both.with_columns(pl.col("value") - pl.col("value_right"))
    groups = both.group_by(axes, maintain_order=True) if axes else [((), both)]
    for labels, group in groups:
        yield {"arm": question.arms[0], "against": question.arms[1], **dict(zip(axes, labels, strict=True))}, group
