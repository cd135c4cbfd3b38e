"""Waves of settings: the first fills the prior, each next one is near those that fit, until the budget is used.

All waves together are one sample: a setting's weight is its likelihood divided by the density with which the waves proposed it
(deterministic mixture: Owen and Zhou 2000), so that no run is thrown away.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from ecnlab.base import provenance
from ecnlab.base.errors import EcnlabError
from ecnlab.base.lazy_imports import pl
from ecnlab.folder.atomic import write_bytes
from ecnlab.folder.tables import table_bytes
from ecnlab.inference.fit import Fit, fit, normalised, tempered
from ecnlab.inference.prior import Array, Prior, Proposal, Truths
from ecnlab.inference.question import Question
from ecnlab.inference.running import Done, do
from ecnlab.runs.cluster import Cluster
from ecnlab.runs.sweep_doing import Progress
from ecnlab.scenario.varied import number

LEAST: Final = 0.1
"""Effective part of all settings from which the next wave is proposed: a smaller one would follow the noise of few."""

SHARE: Final = 0.2
"""Part of each later wave that is drawn from the prior: a fit elsewhere is not missed for ever."""

MOST_INVALID: Final = 0.9
"""Part of the first wave that may be no valid scenarios."""


@dataclass(frozen=True, slots=True)
class Sample:
    """All settings of an inference with their weights."""

    prior: Prior
    done: Done
    fit: Fit
    """Of all targets, those held out included."""
    weights: Array
    """Posterior probability of each setting; they sum to 1."""
    first: int
    """Number of settings of the first wave, which is drawn from the prior alone."""

    @property
    def valid(self) -> Truths:
        """Whether a setting is a valid scenario."""
        return np.array([not why for why in self.done.invalid])


def sample(
    question: Question,
    folder: Path | None,
    *,
    settings: int,
    waves: int,
    seed: int = 1,
    threads: int | None = None,
    cache: bool = True,
    progress: Progress | None = None,
    cluster: Cluster | None = None,
) -> Sample:
    """Do ``settings`` in ``waves``; of those that ``folder`` has no run is done again.

    Raises EcnlabError if nearly no setting is a valid scenario, and as `Batch` does.
    """
    prior, n = Prior(question.file.unknown), question.file.seeds
    sizes = [len(part) for part in np.array_split(np.arange(settings), waves)]
    runs = settings * n * len(question.needed())
    report = progress or (lambda _done, _all: None)
    proposals: list[Proposal] = []
    found: Done | None = None
    for wave, size in enumerate(sizes):
        random = np.random.default_rng([seed, wave])
        if found is None:
            chosen = prior.spread(size, random)
        else:
            proposals.append(_next(question, prior, found, sizes[:wave], proposals))
            anew = round(SHARE * size)
            chosen = np.concatenate([prior.spread(anew, random), proposals[-1].draw(size - anew, random)])
        first = 1 + sum(sizes[:wave]) * n
        before = sum(sizes[:wave]) * n * len(question.needed())
        seeds = range(first, first + size * n)
        path = folder / f"wave-{wave + 1}.parquet" if folder else None
        moved = _from(report, before, runs)
        done = _stored(path, question, chosen)
        if done is None:
            done = do(question, chosen, seeds, threads=threads, cache=cache, progress=moved, cluster=cluster)
            _store(path, question, done)
        found = done if found is None else found + done
        _refuse_invalid(question, found)
    assert found is not None
    whole, log = _log_weights(question, found, sizes, proposals)
    return Sample(prior, found, whole, normalised(log), sizes[0])


def _from(report: Progress, before: int, runs: int) -> Progress:
    return lambda done, _all: report(before + done, runs)


def _refuse_invalid(question: Question, done: Done) -> None:
    reasons = [why for why in done.invalid if why]
    if len(reasons) > MOST_INVALID * len(done.invalid):
        raise EcnlabError(
            f"{question.path}: {len(reasons)} of {len(done.invalid)} settings are no valid scenarios; the first: {reasons[0]}"
            f"{_hint(question)}"
        )


def _hint(question: Question) -> str:
    packets = [
        f"unknown.{name}"
        for name, one in question.file.unknown.items()
        if one.range and not one.step and number(one.range[0])[1] in ("packet", "packets")
    ]
    return f'. {", ".join(packets)}: write step = "1 packets" if only whole packets are valid' if packets else ""


def _log_weights(
    question: Question, done: Done, sizes: Sequence[int], proposals: Sequence[Proposal]
) -> tuple[Fit, Array]:
    """Return the fit to all targets, and the logarithms of weights by those that are not held out."""
    targets = list(question.file.target.values())
    whole = fit(targets, done.values, question.file.printed_runs)
    fitted = np.array([not one.held_out for one in targets])
    density = sizes[0] * np.ones(len(done.settings))
    for size, proposal in zip(sizes[1:], proposals, strict=True):
        anew = round(SHARE * size)
        density += anew + (size - anew) * proposal.density(done.settings)
    log = whole.log_likelihood[:, fitted].sum(axis=1) - np.log(density / sum(sizes))
    return whole, log


def _next(
    question: Question, prior: Prior, done: Done, sizes: Sequence[int], proposals: Sequence[Proposal]
) -> Proposal:
    """Return the proposal of the next wave: near the settings that fit."""
    _, log = _log_weights(question, done, sizes, proposals)
    return Proposal.near(prior, done.settings, tempered(log, max(LEAST * len(log), min(20.0, 0.5 * len(log)))))


# ------------------------------------------------------------------ storage


def _digest(question: Question) -> str:
    """What the values of a wave depend on, beside its settings and its place."""
    return json.dumps(
        {
            "build": provenance.build(),
            "scenarios": [question.cells[cell].hash for cell in question.needed()],
            "metrics": question.experiment.metrics,
            "unknown": {name: repr(one) for name, one in question.file.unknown.items()},
            "target": [
                [one.metric, one.arm, one.against, one.reading, repr(one.where)]
                for one in question.file.target.values()
            ],
            "seeds": question.file.seeds,
        },
        sort_keys=True,
    )


def _store(path: Path | None, question: Question, done: Done) -> None:
    if path is None:
        return
    columns: list[pl.Series] = [
        pl.Series(name, done.settings[:, k]) for k, name in enumerate(f"unknown {one}" for one in question.file.unknown)
    ]
    columns += [
        pl.Series(f"target {name}", done.values[:, k, :].tolist(), dtype=pl.List(pl.Float64))
        for k, name in enumerate(question.file.target)
    ]
    columns.append(pl.Series("invalid", list(done.invalid), dtype=pl.String))
    columns.append(pl.Series("of", [_digest(question)] * len(done.settings), dtype=pl.String))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, table_bytes(pl.DataFrame(columns)))


def _stored(path: Path | None, question: Question, settings: Array) -> Done | None:
    """Return the wave in ``path``, if it has these settings of this question by this build."""
    if path is None or not path.exists():
        return None
    try:
        table = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    names = [f"unknown {one}" for one in question.file.unknown]
    targets = [f"target {one}" for one in question.file.target]
    if not {*names, *targets, "invalid", "of"} <= set(table.columns) or table["of"].to_list() != [
        _digest(question)
    ] * len(settings):
        return None
    if not np.array_equal(table.select(names).to_numpy(), settings):
        return None
    values = np.array([table[name].to_list() for name in targets], dtype=float).transpose(1, 0, 2)
    return Done(settings, values, table["invalid"].to_list())
