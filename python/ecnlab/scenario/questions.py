"""Questions that a sweep answers before it stops: half-widths, limits, orders of two arms, best arms, as text and as values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ecnlab._core import Experiment
from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import guess
from ecnlab.base.looks import LEAST
from ecnlab.base.quantities import quantity
from ecnlab.scenario.metrics import EXAMPLE_SIZES, UNITS, unit_of

if TYPE_CHECKING:
    from ecnlab.base.selection import Best
    from ecnlab.base.sequential import Side, Width

FORMS: Final = '"goodput 2%", "delay < 20 ms", "goodput: ecn > plain" or "delay: lowest of red, codel, pie within 1 ms"'
"""Examples of a half-width, a limit, an order and a best arm."""

_METRIC: Final = r"(?P<metric>[^\s:<>]+)\s*"
_ORDER: Final = re.compile(_METRIC + r":\s*(?P<first>[^<>]+?)\s*(?P<sign>[<>])\s*(?P<second>[^<>]+?)\s*")
_BEST: Final = re.compile(_METRIC + r":\s*(?P<end>lowest|highest)\s+of\s+(?P<arms>.+?)\s+within\s+(?P<zone>.+?)\s*")
_LIMIT: Final = re.compile(_METRIC + r"(?P<sign>[<>])\s*(?P<limit>[^<>]+?)\s*")
_WIDTH: Final = re.compile(_METRIC + r"\s(?P<width>[^<>:]+?)\s*")


@dataclass(frozen=True, slots=True)
class Question:
    """A question on one metric at each point of an experiment."""

    text: str
    metric: str
    rule: Width | Side | Best
    arms: tuple[str, ...] = ()
    """The arms whose paired difference, first minus second, is compared with 0, or of which the best is selected. Empty: the
    metric in each arm."""


def refuse(experiment: Experiment) -> None:
    """Raise SpecError, with file and line, if ``[stop]`` has a question or a number that is not possible."""
    if experiment.stop is None:
        return
    try:
        check_numbers(experiment.stop["least"], experiment.stop["most"])
        questions(experiment.stop["until"], experiment)
    except EcnlabError as error:
        raise experiment.refusal([(["stop"], str(error), "docs/sequential.md has the rules")]) from error


def check_numbers(least: int, most: int) -> None:
    """Raise EcnlabError if no search can have these smallest and largest numbers of replicates."""
    if least < LEAST:
        raise EcnlabError(
            f"{least} replicates decide nothing: the smallest number is {LEAST} or more (docs/sequential.md)"
        )
    if least > most:
        raise EcnlabError(
            f"the smallest number of replicates, {least}, is above the largest, {most}: raise the largest"
        )


def questions(texts: Iterable[str], experiment: Experiment) -> list[Question]:
    """Read questions such as `FORMS`. Raises EcnlabError with the text and the remedy for one that ``experiment`` does not have."""
    found = [_question(text.strip(), experiment) for text in texts]
    if not found:
        raise EcnlabError(f"a sweep that stops when decided needs a question, such as {FORMS}")
    return found


def _question(text: str, experiment: Experiment) -> Question:
    from ecnlab.base.sequential import Side  # loads NumPy

    parts = _BEST.fullmatch(text) or _ORDER.fullmatch(text) or _LIMIT.fullmatch(text) or _WIDTH.fullmatch(text)
    if parts is None:
        raise EcnlabError(f"{text!r} is no question: write one such as {FORMS}")
    metric = parts["metric"]
    if metric not in experiment.metrics:
        there = ", ".join(experiment.metrics)
        raise EcnlabError(
            f"{text!r}: {experiment.path} has no metric {metric!r}"
            f"{guess(metric, experiment.metrics) or f'; there are {there}'}"
        )
    unit = unit_of(experiment.metrics, metric)
    given = parts.groupdict()
    if "width" in given:
        return Question(text, metric, _width(text, given["width"], metric, unit))
    if "zone" in given:
        return Question(
            text, metric, _best(text, given, metric, unit), _arms(text, given["arms"].split(","), experiment)
        )
    above = given["sign"] == ">"
    if "limit" in given:
        return Question(text, metric, Side(_limit(text, given["limit"], metric, unit), above))
    return Question(text, metric, Side(0.0, above), _arms(text, [given["first"], given["second"]], experiment))


def _best(text: str, given: Mapping[str, Any], metric: str, unit: str) -> Best:
    from ecnlab.base.selection import Best  # loads NumPy

    zone = _number(given["zone"], unit)
    if zone is None or zone <= 0.0:
        raise EcnlabError(
            f"{text!r}: {given['zone']!r} is no difference of {metric} that does not matter: write one above 0, such as {_example(unit)}"
        )
    return Best(zone, given["end"] == "highest")


def _arms(text: str, names: Iterable[str], experiment: Experiment) -> tuple[str, ...]:
    arms = list(dict.fromkeys(run.arm for run in experiment.with_replicates(1).runs if run.arm is not None))
    found = tuple(name.strip() for name in names)
    for arm in found:
        if arm not in arms:
            remedy = guess(arm, arms) or f"; there are {', '.join(arms)}" if arms else "; give it two `[arm.NAME]`"
            raise EcnlabError(f"{text!r}: {experiment.path} has no arm {arm!r}{remedy}")
    if len(set(found)) < max(len(found), 2):
        raise EcnlabError(f"{text!r} compares an arm with itself: name different ones of {', '.join(arms)}")
    return found


def _width(text: str, width: str, metric: str, unit: str) -> Width:
    found = read_width(width, unit)
    if found is None:
        raise EcnlabError(
            f'{text!r}: {width!r} is no half-width of {metric}: write one above 0, such as "2%" of the mean or {_example(unit)}'
        )
    return found


def read_width(text: str, unit: str = "") -> Width | None:
    """Read "2%" (of the mean), or a number above 0, which may have a quantity's unit; None for anything else."""
    from ecnlab.base.sequential import Width  # loads NumPy

    relative = text.strip().endswith("%")
    size = _number(text.strip().removesuffix("%"), "" if relative else unit)
    return Width(size / 100 if relative else size, relative) if size is not None and size > 0.0 else None


def _limit(text: str, limit: str, metric: str, unit: str) -> float:
    found = _number(limit, unit)
    if found is None:
        wanted = f"whose unit is {unit}" if unit in UNITS else "which is a number"
        raise EcnlabError(f"{text!r}: {limit!r} is no limit of {metric}, {wanted}: write {_example(unit)}")
    return found


def _example(unit: str) -> str:
    return f'a quantity such as "{EXAMPLE_SIZES[unit]}"' if unit in UNITS else "a number such as 0.5"


def _number(text: str, unit: str) -> float | None:
    """Return ``text`` in ``unit``: a number, or a number and a unit of the same kind. None if it is neither."""
    match text.split():
        case [number]:
            pass
        case [number, scale] if scale in UNITS.get(unit, ()):
            pass
        case _:
            return None
    try:
        found = float(number)
    except ValueError:
        return None
    if not math.isfinite(found):
        return None
    return found if number == text.strip() else found * quantity(f"1 {text.split()[1]}")
