"""The page of an inference: ``infer.html``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from ecnlab import _core
from ecnlab.inference.answer import LEVEL, PREDICTED
from ecnlab.inference.question import Unknown
from ecnlab.inference.result import Inference, rows_of_numbers, rows_of_unknowns
from ecnlab.report import Page, Section, Table
from ecnlab.report.figure import Axis, Figure, Point, Series
from ecnlab.report.page import Cell, Group
from ecnlab.report.tone import Tone
from ecnlab.scenario.varied import number

if TYPE_CHECKING:
    from ecnlab.inference.prior import Array

BINS: Final = 10
"""Parts of a range in a figure."""


def page(inference: Inference) -> Page:
    """Return the page."""
    question, answer = inference.question, inference.answer
    return Page(
        title=question.file.title,
        kicker=f"ecnlab {_core.__version__}, infer, {answer.settings} settings, {question.file.seeds} seeds each",
        answer=answer.sentence,
        lede=_lede(inference),
        tallies=(),
        findings=(),
        sections=list(_sections(inference)),
        footer="The settings are in settings.parquet, in the folder of this page; the method is in `ecnlab docs infer`.",
        facts=[
            ("experiment", question.file.experiment),
            ("settings drawn from the prior", str(answer.first)),
            ("settings that meet every number not held out", str(answer.meeting)),
            ("effective settings behind regions", f"{answer.effective:.0f}"),
        ],
    )


def _lede(inference: Inference) -> str:
    held = [one.name for one in inference.answer.predicted if one.target.held_out]
    wrong = [one.name for one in inference.answer.predicted if one.target.held_out and not one.agrees]
    if not held:
        return "No number is held out, so nothing here tests the settings."
    if inference.answer.verdict != "these":
        return f"Held out, and not predicted: {', '.join(held)}."
    return f"Held out: {', '.join(held)}. Outside the prediction: {', '.join(wrong) or 'none'}."


def _sections(inference: Inference) -> Iterator[Section]:
    answer = inference.answer
    head = ("unknown", "before", f"{100 * LEVEL:.0f} % region", "identified", "source")
    rows = [
        [*map(Cell, row[:3]), Cell(row[3], tone=_tone(row[3])), Cell(unknown.source)]
        for row, unknown in zip(
            rows_of_unknowns(inference.answer), inference.question.file.unknown.values(), strict=True
        )
    ]
    blocks: list[Table | Group] = [Table("What the numbers show about each unknown", head, rows)]
    if answer.verdict == "these":
        blocks.append(Group(list(_figures(inference))))
    if answer.trades:
        pairs = [[Cell(first), Cell(second), Cell(f"{r:.2f}", numeric=True)] for first, second, r in answer.trades]
        blocks.append(Table("Unknowns that trade off", ("unknown", "with", "correlation"), pairs))
    yield Section("settings", "Settings", "", blocks)
    yield Section("numbers", "Printed and predicted", _rule(), [_numbers(inference)])
    together = [
        [Cell(f"{k} or more"), Cell(f"{100 * share:.2g} %", numeric=True)] for k, share in enumerate(answer.met) if k
    ]
    intro = "A fit to numbers that most settings meet shows nothing: these are the settings drawn from the prior alone."
    yield Section(
        "chance", "Numbers met by chance", intro, [Table("Prior settings", ("numbers met", "settings"), together)]
    )
    if answer.excluded:
        sets = [[Cell(", ".join(one))] for one in answer.excluded]
        yield Section("excluded", "Numbers that exclude each other", "No setting that was run meets all of a row.", [Table("Smallest sets", ("numbers",), sets)])  # fmt: skip


def _rule() -> str:
    return (
        f"The interval has {100 * PREDICTED:.0f} % of the values that the fitting settings predict for the runs behind a printed number. "
        "A number that is fitted agrees by construction, if any setting does; one that is held out can fail."
    )


def _numbers(inference: Inference) -> Table:
    head = ("number", "printed", "predicted", "use", "agrees", "met by prior settings", "source")
    rows = [
        [
            Cell(name),
            Cell(printed, numeric=True),
            Cell(predicted, numeric=True),
            Cell(use),
            Cell(agrees, tone=_tone(agrees)),
            Cell(f"{100 * one.share:.2g} %", numeric=True),
            Cell(one.target.source),
        ]
        for (name, printed, predicted, use, agrees), one in zip(
            rows_of_numbers(inference.answer), inference.answer.predicted, strict=True
        )
    ]
    return Table("Numbers", head, rows)


def _tone(word: str) -> Tone:
    return "yes" if word == "yes" else "open"


def _figures(inference: Inference) -> Iterator[Figure]:
    """Yield for each unknown its probability before and after."""
    sample = inference.sample
    for k, (name, unknown) in enumerate(inference.question.file.unknown.items()):
        places = sample.done.settings[:, k]
        before, after, ticks, x = _bars(inference, name, unknown, places)
        series = [
            Series(label, [Point(at, float(share)) for at, share in zip(x, shares, strict=True)], style)
            for style, (label, shares) in enumerate((("before", before), ("after", after)))
        ]
        unit = number(unknown.range[0])[1] if unknown.range and not unknown.times else ""
        axis = Axis(f"{name}, {unit}" if unit else name, ticks, log=unknown.log)
        yield Figure(
            name, f"Probability of {name}.", axis, Axis("probability"), series, percent=True, joined=bool(unknown.range)
        )


def _bars(
    inference: Inference, name: str, unknown: Unknown, places: Array
) -> tuple[Array, Array, list[tuple[float, str]], list[float]]:
    """Return the probability of each part of a range, or of each choice, before and after; ticks; and the positions."""
    prior, weights = inference.sample.prior, inference.sample.weights
    if unknown.range:
        index = np.minimum((places * BINS).astype(int), BINS - 1)
        middles = [prior.value(name, (k + 0.5) / BINS) for k in range(BINS)]
        return np.full(BINS, 1.0 / BINS), np.bincount(index, weights, BINS).astype(float), [], middles
    before = prior.weights(unknown)
    after = np.bincount(places.astype(int), weights, before.size).astype(float)
    ticks = [(float(k), prior.label(name, k)) for k in range(before.size)]
    return before, after, ticks, [at for at, _ in ticks]
