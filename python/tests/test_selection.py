"""Selection of the best arm: rules for few and equal values, arithmetic against the paper's, and error rates."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from ecnlab.base.selection import FIRST, Best, difference_variances, screened, select

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "tools" / "sequential"))
import prove_selection

NOISE = np.random.default_rng(1).normal(0, 1, (60, 3))
AT = [4, 6, 9, 13, 17, 21, 26, 32, 40, 50, 60]


def test_the_best_arm_is_selected_at_the_end_of_the_first_stage_if_it_is_far_away() -> None:
    values = NOISE + np.array([0.0, 20.0, -20.0])
    found = select(Best(1.0, highest=True), values, AT)
    assert (found.left, found.n, found.over) == ((1,), FIRST, True)
    assert select(Best(1.0, highest=False), values, AT).left == (2,)


def test_a_common_part_of_the_arms_does_not_matter() -> None:
    common = np.random.default_rng(2).normal(0, 1000, (60, 1))
    near = NOISE + np.array([0.0, 2.0, 0.0])
    assert select(Best(1.0, highest=True), near + common, AT) == select(Best(1.0, highest=True), near, AT)


def test_few_and_equal_values_decide_nothing() -> None:
    few = select(Best(1.0, highest=True), NOISE[:6] + np.array([0.0, 20.0, -20.0]), [4, 6])
    assert (few.left, few.reason, few.over) == ((0, 1, 2), "fewer than 9 values", False)
    same = NOISE[:, [0, 0, 1]] + np.array([0.0, 0.0, 20.0])
    equal = select(Best(1.0, highest=True), same, AT)
    assert (equal.left, equal.reason, equal.over) == ((0, 1, 2), "all differences of two arms are equal", True)
    assert select(Best(1.0, highest=True), NOISE[:9], [9]).reason == ""


def test_the_width_is_that_of_the_procedure() -> None:
    """W = zone/(2 r) (h^2 S^2/zone^2 - r) with h^2 = 2 eta (n0 - 1), eta = ((2 alpha/(k-1))^(-2/(n0-1)) - 1)/2."""
    k, first, zone, r, alpha = 3, 10, 0.5, 20, 0.05
    variances = difference_variances(NOISE[:first])
    assert variances[0, 1] == pytest.approx(np.var(NOISE[:first, 0] - NOISE[:first, 1], ddof=1))
    eta = ((2 * alpha / (k - 1)) ** (-2 / (first - 1)) - 1) / 2
    width = zone / (2 * r) * (2 * eta * (first - 1) * variances[0, 1] / zone**2 - r)
    for below, stays in ((width * 0.999, True), (width * 1.001, False)):
        means = np.array([-below, 0.0, -1e9])
        assert screened([True, True, True], means, variances, r, first, zone).tolist() == [stays, True, False]


def test_a_removed_arm_removes_none() -> None:
    found = screened([True, True, False], np.array([0.0, 0.0, 9.0]), np.zeros((3, 3)), 10, 9, 1.0)
    assert found.tolist() == [True, True, False]


@pytest.mark.parametrize("arms", [3, 6])
@pytest.mark.parametrize("correlation", [0.0, 0.8])
@pytest.mark.parametrize("draw", prove_selection.DRAWS.values(), ids=prove_selection.DRAWS)
def test_the_best_arm_is_selected_in_95_percent_of_experiments(draw, correlation: float, arms: int) -> None:
    wrong, inconclusive, _ = prove_selection.selections(draw, arms, correlation, prove_selection.ZONE, 1000, seed=7)
    assert wrong <= 0.05 and inconclusive <= 0.08
