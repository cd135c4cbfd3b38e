"""`ecnlab.infer`: an inference from its file to its folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ecnlab.base.errors import EcnlabError
from ecnlab.base.lazy_imports import pl
from ecnlab.folder.outputs import PAGE, TABLE, write_named
from ecnlab.folder.tables import table_bytes
from ecnlab.inference.question import Question, number, read_question
from ecnlab.runs.sweep_doing import Progress

if TYPE_CHECKING:
    from ecnlab.inference.answer import Answer
    from ecnlab.inference.waves import Sample

SETTINGS: Final = 400
WAVES: Final = 4
FEWEST: Final = 20
"""Fewest settings in a wave."""


@dataclass(frozen=True, slots=True)
class Inference:
    """The answer of `infer`, and the settings behind it."""

    question: Question
    answer: Answer
    sample: Sample

    @property
    def settings(self) -> pl.DataFrame:
        """A row for each setting: ``wave``, its values, the mean of each target, ``met``, ``weight`` and ``invalid``.

        ``met`` counts the numbers, not held out, that the setting meets; ``weight`` is its posterior probability.
        """
        one, file = self.sample, self.question.file
        columns: list[pl.Series] = []
        for k, (name, unknown) in enumerate(file.unknown.items()):
            places = one.done.settings[:, k]
            values = [one.prior.value(name, x) if unknown.range else one.prior.label(name, x) for x in places]
            unit = number(unknown.range[0])[1] if unknown.range and not unknown.times else ""
            columns.append(pl.Series(f"{name}, {unit}" if unit else name, values))
        columns += [pl.Series(f"mean of {name}", one.fit.mean[:, k]) for k, name in enumerate(file.target)]
        fitted = [k for k, target in enumerate(file.target.values()) if not target.held_out]
        columns.append(pl.Series("met", one.fit.met[:, fitted].sum(axis=1), dtype=pl.UInt32))
        columns.append(pl.Series("weight", one.weights))
        columns.append(pl.Series("invalid", list(one.done.invalid)))
        return pl.DataFrame(columns)


def infer(
    question: str | os.PathLike[str] | Question,
    out: str | os.PathLike[str] | None = None,
    *,
    settings: int = SETTINGS,
    waves: int = WAVES,
    seed: int = 1,
    threads: int | None = None,
    progress: Progress | None = None,
    cache: bool = True,
) -> Inference:
    """Return which unstated settings could have given the printed numbers of ``question``, a file (``docs/infer.md``).

    ``settings`` are run in ``waves``; the first wave fills the prior, each next one is near the settings that fit. Waves in the
    folder ``out`` are not done again, and ``out`` gets ``settings.parquet`` and ``infer.html``. The same question, numbers
    and ``seed`` give the same answer.

    Raises EcnlabError and SpecError for a file that is wrong, and if nearly no setting is a valid scenario; RunError; OSError.
    """
    from ecnlab.inference.answer import answer  # load NumPy
    from ecnlab.inference.page import page
    from ecnlab.inference.waves import sample
    from ecnlab.report import render

    if waves < 1 or settings < FEWEST * waves:
        raise EcnlabError(
            f"{settings} settings in {waves} waves: give at least {FEWEST} settings for each of 1 or more waves"
        )
    asked = question if isinstance(question, Question) else read_question(question)
    folder = None if out is None else Path(out)
    found = sample(
        asked, folder, settings=settings, waves=waves, seed=seed, threads=threads, cache=cache, progress=progress
    )
    inference = Inference(asked, answer(asked, found), found)
    if folder is not None:
        write_named(folder / "settings.parquet", table_bytes(inference.settings), TABLE, own=folder)
        write_named(folder / "infer.html", render(page(inference)).encode(), PAGE, own=folder)
    return inference


def rows_of_unknowns(inference: Inference) -> Sequence[tuple[str, str, str, str]]:
    """Return for each unknown its name, prior, region and whether it is identified, in words."""
    return [
        (one.name, one.prior, one.region or "not stated", "yes" if one.identified else "no")
        for one in inference.answer.regions
    ]


def rows_of_numbers(inference: Inference) -> Sequence[tuple[str, str, str, str, str]]:
    """Return for each number its name, the printed value, the predicted interval, its use and the agreement, in words."""
    found = []
    for one in inference.answer.predicted:
        target = one.target
        printed = f"{target.printed:g}" if target.printed is not None else ""
        printed = printed or (f"≤ {target.at_most:g}" if target.at_most is not None else f"≥ {target.at_least:g}")
        use = "held out" if target.held_out else "fitted"
        agrees = "yes" if one.agrees else "no"
        found.append((one.name, printed, f"{one.low:.3g} to {one.high:.3g}", use, agrees))
    return found
