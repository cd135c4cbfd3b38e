"""The words of an advice: its sentence, intervals, and what would change the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ecnlab.advise.advice import Advice
from ecnlab.advise.candidates import NONE, SHARE
from ecnlab.advise.decide import costs
from ecnlab.advise.mix import Measure
from ecnlab.advise.variations import Variation
from ecnlab.base.readable import number
from ecnlab.base.stats import Interval


def sentence(advice: Advice) -> str:
    """Return the advice in one sentence, with the first measure of each application."""
    decision = advice.decision
    shown_first = [app.measures[0] for app in advice.question.apps if advice.mean(app.measures[0], decision.advised)]
    if decision.no_difference:
        shown = "; ".join(_value(advice, measure, NONE) for measure in shown_first)
        return f"{_why_none(advice)}: leave the line without a shaper; {shown}."
    gains = [_gain(advice, measure) for measure in shown_first if not measure.more]
    others = [name for name in decision.equals if name != decision.advised]
    same = [f"no difference is shown to {listed(others)}"] if others else []
    parts = [*gains, *_costs(advice, decision.advised), *same]
    return f"{decision.advised} at {100 * SHARE:g} % of the rates: {'; '.join(parts)}."


def _why_none(advice: Advice) -> str:
    """Return why the line without a shaper is advised."""
    others = [name for name in advice.decision.equals if name != NONE]
    if others:
        return f"No difference shown between droptail and {listed(others)}"
    if advice.decision.too_costly and len(advice.decision.too_costly) == len(advice.question.queues) - 1:
        return f"Every shaper costs more than {100 * advice.question.most_cost:g} % of a transfer"
    within = " within the limit of the cost" if advice.question.most_cost < 1.0 else ""
    return f"No shaper{within} is shown to be better"


def _value(advice: Advice, measure: Measure, name: str) -> str:
    return f"{measure.words} {interval(advice.mean(measure, name), measure.unit)}"


def _gain(advice: Advice, measure: Measure) -> str:
    none = interval(advice.mean(measure, NONE), measure.unit)
    return f"{_value(advice, measure, advice.decision.advised)}, without a shaper {none}"


def _costs(advice: Advice, name: str) -> Iterator[str]:
    for measure in advice.measures:
        if measure.more and (cost := costs(advice.values, measure, name)):
            yield f"it costs {percent(cost)} of the {measure.label}"


def percent(cost: Interval) -> str:
    """Return a share in percent with its interval."""
    return interval(Interval(100 * cost.mean, 100 * cost.low, 100 * cost.high, cost.n), "%")


def interval(found: Interval | None, unit: str) -> str:
    """Return mean and interval in words; "not defined" for None."""
    if found is None:
        return "not defined"
    return f"{number(found.mean)} {unit} ({number(found.low)} to {number(found.high)})"


def listed(names: Sequence[str]) -> str:
    """Return names in a list with "and"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def changes(advice: Advice, variations: Sequence[Variation]) -> list[str]:
    """Return what would change the answer: on other lines, and where the runs leave it undecided."""
    return [*(_varied(advice, one) for one in variations), *_undecided(advice), *_costly(advice)]


def _varied(advice: Advice, one: Variation) -> str:
    advised, found = advice.decision.advised, one.advice.decision
    measure = one.advice.measures[0]
    names = list(dict.fromkeys([advised, found.advised, NONE]))
    means = ", ".join(f"{name} {interval(one.advice.mean(measure, name), measure.unit)}" for name in names)
    seeds = one.advice.question.seeds
    return f"{one.label}: {_outcome(advice, one)}. {measure.label}: {means}; {seeds} seeds of {listed(one.advice.question.queues)}."


def _outcome(advice: Advice, one: Variation) -> str:
    advised, found = advice.decision.advised, one.advice.decision
    if advised in found.too_costly:
        return f"the answer changes to {found.advised}, as {advised} costs too much of a transfer"
    if advised == NONE and NONE not in found.equals:
        return f"the answer changes to {found.advised}"
    if advised in found.equals and (advised == NONE or not found.no_difference):
        return "the same answer"
    if found.no_difference:
        return "no difference is shown to the line without a shaper"
    return f"the answer changes to {found.advised}; {advised} is worse"


def _undecided(advice: Advice) -> Iterator[str]:
    advised = advice.decision.advised
    if others := [name for name in advice.decision.equals if name != advised]:
        yield (
            f"More seeds or longer runs may show a difference between {listed([advised, *others])}. "
            f"{advised} is named as it needs the fewest commands."
        )


def _costly(advice: Advice) -> Iterator[str]:
    for name in advice.decision.too_costly:
        found = next(iter(_costs(advice, name))).removeprefix("it costs ")
        gain = next((_value(advice, measure, name) for measure in advice.measures if not measure.more), "")
        yield f"{name} is left out, as it costs {found}, more than `--cost {100 * advice.question.most_cost:g}`. With it {gain}."
