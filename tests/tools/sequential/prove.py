"""Error rates of `ecnlab.base.sequential`: simulated experiments with known means, as the tables of docs/sequential.md.

.venv/bin/python tests/tools/sequential/prove.py            print the tables
.venv/bin/python tests/tools/sequential/prove.py --write    write them into docs/sequential.md
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import prove_selection
from numpy.typing import NDArray

from ecnlab import _core
from ecnlab.base.looks import LATER, LEAST, looks
from ecnlab.base.sequential import ends
from ecnlab.base.stats import LEVEL

PAGE: Final = Path(__file__).parents[3] / "docs" / "sequential.md"
BEGIN: Final = "<!-- tables of tests/tools/sequential/prove.py -->\n"
END: Final = "<!-- end of the tables -->\n"

EXPERIMENTS: Final = 10_000
BLOCK: Final = 1_000
"""Experiments simulated at a time, for memory."""

MOST: Final = 200
MORE: Final = 1_000
"""Largest numbers of replicates."""

DISTANCES: Final = (0.5, 1.0, 2.0, 5.0, 20.0)
"""Distances of the limit from the mean, in standard deviations."""

FIRST: Final = (LEAST, LATER, 50, 200)
"""Smallest numbers of replicates of the third table."""

Array = NDArray[Any]
Draw = Callable[[np.random.Generator, tuple[int, int]], Array]


@dataclass(frozen=True, slots=True)
class Metric:
    """A distribution of a metric over seeds, or of a difference of two arms."""

    name: str
    draw: Draw
    mean: float
    sd: float


def _lognormal(sigma: float) -> tuple[float, float]:
    mean = math.exp(sigma**2 / 2)
    return mean, mean * math.sqrt(math.expm1(sigma**2))


def chosen() -> list[Metric]:
    """Return the distributions used to choose the constants of the method. Unpaired arms are independent."""
    half, one = _lognormal(0.5), _lognormal(1.0)
    return [
        Metric("normal", lambda r, s: r.standard_normal(s), 0.0, 1.0),
        Metric("lognormal, σ = 0.5 (skewness 1.8)", lambda r, s: r.lognormal(0, 0.5, s), *half),
        Metric("exponential (skewness 2)", lambda r, s: r.exponential(1, s), 1.0, 1.0),
        Metric("lognormal, σ = 1 (skewness 6.2)", lambda r, s: r.lognormal(0, 1, s), *one),
        Metric("Pareto, shape 3 (infinite skewness)", lambda r, s: r.pareto(3, s), 0.5, math.sqrt(0.75)),
        Metric("Student's t, 3 degrees of freedom", lambda r, s: r.standard_t(3, s), 0.0, math.sqrt(3)),
        Metric("event in 10 % of runs", lambda r, s: (r.random(s) < 0.1) * 1.0, 0.1, 0.3),
        Metric("event in 2 % of runs", lambda r, s: (r.random(s) < 0.02) * 1.0, 0.02, 0.14),
        Metric("unpaired, both lognormal, σ = 1", lambda r, s: _unpaired(r, s, 1.0, 1.0), 0.0, one[1] * math.sqrt(2)),
    ]


def fresh() -> list[Metric]:
    """Return distributions not used to choose the constants. Pairs share a lognormal part."""
    (half, half_sd), (one, one_sd) = _lognormal(0.5), _lognormal(1.0)
    return [
        Metric("paired, normal", lambda r, s: _paired(r, s, 0.3), 0.0, 0.3 * math.sqrt(2)),
        Metric(
            "paired, one arm exponential",
            lambda r, s: r.exponential(1, s) - 1 + _paired(r, s, 0.3),
            0.0,
            math.sqrt(1 + 2 * 0.3**2),
        ),
        Metric(
            "unpaired, lognormal, σ = 1 and 0.5",
            lambda r, s: _unpaired(r, s, 1.0, 0.5),
            one - half,
            math.hypot(one_sd, half_sd),
        ),
        Metric("Poisson, mean 0.3", lambda r, s: r.poisson(0.3, s) * 1.0, 0.3, math.sqrt(0.3)),
        _gamma(),
        Metric(
            "largest of 20 exponential values",
            lambda r, s: -np.log(-np.expm1(np.log(r.random(s)) / 20)),
            math.fsum(1 / k for k in range(1, 21)),
            math.sqrt(math.fsum(1 / k**2 for k in range(1, 21))),
        ),
        *_excessive(),
    ]


def _gamma() -> Metric:
    return Metric("gamma, shape 0.25 (skewness 4)", lambda r, s: r.gamma(0.25, 1, s), 0.25, 0.5)


def _excessive() -> list[Metric]:
    return [
        Metric("Weibull, shape 0.5 (skewness 6.6)", lambda r, s: r.weibull(0.5, s), 2.0, math.sqrt(20)),
        Metric(
            "normal, in 5 % of runs 10 sd more", lambda r, s: _contaminated(r, s, 0.05, 10.0), 0.5, math.sqrt(1 + 4.75)
        ),
    ]


def beyond() -> list[Metric]:
    """Return distributions for which the intervals exceed the error rate with few seeds."""
    return [
        *_excessive(),
        Metric("lognormal, σ = 1.5 (skewness 33)", lambda r, s: r.lognormal(0, 1.5, s), *_lognormal(1.5)),
        Metric("Pareto, shape 2 (infinite variance)", lambda r, s: r.pareto(2, s), 1.0, math.inf),
        Metric(
            "normal, in 1 % of runs 100 sd more", lambda r, s: _contaminated(r, s, 0.01, 100.0), 1.0, math.sqrt(100)
        ),
        _gamma(),
    ]


def _contaminated(random: np.random.Generator, shape: tuple[int, int], share: float, more: float) -> Array:
    return random.standard_normal(shape) + more * (random.random(shape) < share)


def _paired(random: np.random.Generator, shape: tuple[int, int], sd: float) -> Array:
    """Differences of two arms with a common lognormal part."""
    common = random.lognormal(0, 1, shape)
    first, second = (common + random.normal(0, sd, shape) for _ in range(2))
    return first - second


def _unpaired(random: np.random.Generator, shape: tuple[int, int], first: float, second: float) -> Array:
    return random.lognormal(0, first, shape) - random.lognormal(0, second, shape)


@dataclass(frozen=True, slots=True)
class Rate:
    """Outcomes of the experiments with one limit: shares, and the mean number of seeds."""

    wrong: float
    inconclusive: float
    seeds: float


def intervals(values: Array, at: Sequence[int]) -> list[tuple[Array, Array, Array]]:
    """Return lower ends, upper ends and half-widths of Student's t over the mean, of each row's first ``at[i]`` values."""
    sums = [np.cumsum(values**power, axis=1) for power in (1, 2, 3)]
    found = []
    for n in at:
        mean, square, cube = (one[:, n - 1] / n for one in sums)
        second, third = square - mean**2, cube - 3 * mean * square + 2 * mean**3
        varied = second > 1e-12
        low, high = ends(n, mean, np.where(varied, second, 1.0), np.where(varied, third, 0.0))
        student = _core.student_t(LEVEL, n - 1) * np.sqrt(np.maximum(second, 0.0) / (n - 1))
        found.append((np.where(varied, low, -np.inf), np.where(varied, high, np.inf), np.abs(mean) - student))
    return found


def rate(found: Sequence[tuple[Array, Array, Array]], at: Sequence[int], offset: float) -> Rate:
    """Return the outcomes with the limit ``offset`` above the mean; at the mean each decision is wrong."""
    side = np.zeros(found[0][0].size)
    seeds = np.full(side.size, at[-1])
    for n, (low, high, _) in zip(at, found, strict=True):
        new = (side == 0) & ((low > offset) | (high < offset))
        side[new] = np.where(low[new] > offset, 1.0, -1.0)
        seeds[new] = n
    wrong = side != 0 if offset == 0.0 else side == math.copysign(1.0, offset)
    return Rate(float(wrong.mean()), float((side == 0).mean()), float(seeds.mean()))


def outcomes(
    metric: Metric, experiments: int, at: Sequence[int], distances: Sequence[float], seed: int
) -> dict[float, Rate]:
    """Return the outcomes by distance of the limit, half of the experiments with the limit on either side.

    The entry of `math.inf` has the error rate of Student's t intervals at the same looks, with the limit at the mean.
    """
    random = np.random.default_rng(seed)
    found: dict[float, list[Rate]] = {}
    for first in range(0, experiments, BLOCK):
        values = metric.draw(random, (min(BLOCK, experiments - first), at[-1])) - metric.mean
        block = intervals(values, at)
        for distance in distances:
            sides = (0.0,) if distance == 0.0 else (-distance * metric.sd, distance * metric.sd)
            found.setdefault(distance, []).extend(rate(block, at, offset) for offset in sides)
        naive = np.any([student > 0 for _, _, student in block], axis=0)
        found.setdefault(math.inf, []).append(Rate(float(naive.mean()), 0.0, 0.0))
    return {distance: _mean(rates) for distance, rates in found.items()}


def _mean(rates: Sequence[Rate]) -> Rate:
    wrong, inconclusive, seeds = (
        sum(values) / len(rates) for values in zip(*((r.wrong, r.inconclusive, r.seeds) for r in rates), strict=True)
    )
    return Rate(wrong, inconclusive, seeds)


def tables() -> str:
    """Return the tables as Markdown."""
    text = "Distributions used to choose the constants:\n\n" + _table(chosen(), 0)
    text += "\nDistributions not used to choose the constants:\n\n"
    text += _table(fresh(), 300) + "\nOutside the limits, wrong with 1,000 replicates at most:\n\n"
    rows = [[metric.name, *_by_least(metric, 600 + place)] for place, metric in enumerate(beyond())]
    text += _rows(["distribution", *(f"at least {least}" for least in FIRST)], rows)
    return text + f"\nBest arm, {prove_selection.MOST} replicates at most:\n\n" + _rows(*prove_selection.rows())


def _table(of: Sequence[Metric], seed: int) -> str:
    first, second = list(looks(LEAST, MOST)), list(looks(LEAST, MORE))
    heads = ["distribution", "Student's t, wrong", f"wrong, {MOST} seeds", f"wrong, {MORE:,} seeds"]
    rows = []
    for place, metric in enumerate(of):
        some = outcomes(metric, EXPERIMENTS, first, (0.0, *DISTANCES), seed + place)
        more = outcomes(metric, EXPERIMENTS, second, (0.0,), seed + 100 + place)
        cells = [metric.name, *(_percent(one.wrong) for one in (some[math.inf], some[0.0], more[0.0]))]
        cells += [f"{some[d].seeds:.0f} ({_percent(some[d].inconclusive)})" for d in DISTANCES]
        rows.append([*cells, _percent(max(some[d].wrong for d in DISTANCES), 2)])
    return _rows([*heads, *(f"{d:g} sd: seeds (inconclusive)" for d in DISTANCES), "wrong there"], rows)


def _by_least(metric: Metric, seed: int) -> list[str]:
    return [_percent(outcomes(metric, EXPERIMENTS, list(looks(n, MORE)), (0.0,), seed)[0.0].wrong) for n in FIRST]


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (heads, ["---"] * len(heads), *rows))


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the tables into docs/sequential.md")
    made = tables()
    if not parser.parse_args().write:
        print(made)
        return
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + made + "\n" + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
