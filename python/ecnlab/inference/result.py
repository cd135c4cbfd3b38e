"""The result of an inference, its table of settings, and its rows in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ecnlab.base.lazy_imports import pl
from ecnlab.inference.answer import Answer
from ecnlab.inference.question import Question
from ecnlab.inference.waves import Sample
from ecnlab.scenario.varied import number

OWN: Final = ("met", "weight", "invalid")
"""Columns of the table of settings beside unknowns and means."""


@dataclass(frozen=True, slots=True)
class Inference:
    """The answer of `ecnlab.infer`, and the settings behind it."""

    question: Question
    answer: Answer
    sample: Sample

    @property
    def settings(self) -> pl.DataFrame:
        """A row for each setting: ``wave``, its values, the mean of each target, ``met``, ``weight`` and ``invalid``.

        ``met`` counts the numbers, not held out, that the setting meets; ``weight`` is its posterior probability. An unknown with
        the name of one of these columns is called ``unknown NAME``.
        """
        one, file = self.sample, self.question.file
        columns: list[pl.Series] = []
        for k, (name, unknown) in enumerate(file.unknown.items()):
            places = one.done.settings[:, k]
            values = [one.prior.value(name, x) if unknown.range else one.prior.label(name, x) for x in places]
            unit = number(unknown.range[0])[1] if unknown.range and not unknown.times else ""
            label = f"unknown {name}" if name in OWN else name
            columns.append(pl.Series(f"{label}, {unit}" if unit else label, values))
        columns += [pl.Series(f"mean of {name}", one.fit.mean[:, k]) for k, name in enumerate(file.target)]
        fitted = [k for k, target in enumerate(file.target.values()) if not target.held_out]
        columns.append(pl.Series("met", one.fit.met[:, fitted].sum(axis=1), dtype=pl.UInt32))
        columns.append(pl.Series("weight", one.weights))
        columns.append(pl.Series("invalid", list(one.done.invalid)))
        return pl.DataFrame(columns)


@dataclass(frozen=True, slots=True)
class Record:
    """``answer.json``: an answer and how it was made."""

    ecnlab: Mapping[str, str | None]
    """Version, build and commit."""
    title: str
    seeds: int
    """Runs of each setting at each point."""
    settings: int
    """Number of settings asked for, in ``waves`` from ``seed``; the answer has the number of valid ones."""
    waves: int
    seed: int
    answer: Answer


def rows_of_unknowns(answer: Answer) -> Sequence[tuple[str, str, str, str]]:
    """Return for each unknown its name, prior, region and whether it is identified, in words."""
    return [
        (one.name, one.prior, one.region or "not stated", "yes" if one.identified else "no") for one in answer.regions
    ]


def rows_of_numbers(answer: Answer) -> Sequence[tuple[str, str, str, str, str]]:
    """Return for each number its name, the printed value, the predicted interval, its use and the agreement, in words."""
    found = []
    for one in answer.predicted:
        target = one.target
        printed = f"{target.printed:g}" if target.printed is not None else ""
        printed = printed or (f"≤ {target.at_most:g}" if target.at_most is not None else f"≥ {target.at_least:g}")
        use = "held out" if target.held_out else "fitted"
        agrees = "yes" if one.agrees else "no"
        predicted = "undefined" if one.low is None else f"{one.low:.3g} to {one.high:.3g}"
        found.append((one.name, printed, predicted, use, agrees))
    return found
