"""Quantiles of Student's t distribution, against SciPy, closed forms and a printed table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import stdtrit

from ecnlab import _core

LEVELS = [0.01, 0.1, 0.2, 0.5, 0.6, 0.68, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999, 0.999999]

TABLE = {
    1: (3.078, 6.314, 12.706, 31.821, 63.657),
    2: (1.886, 2.920, 4.303, 6.965, 9.925),
    3: (1.638, 2.353, 3.182, 4.541, 5.841),
    4: (1.533, 2.132, 2.776, 3.747, 4.604),
    5: (1.476, 2.015, 2.571, 3.365, 4.032),
    9: (1.383, 1.833, 2.262, 2.821, 3.250),
    19: (1.328, 1.729, 2.093, 2.539, 2.861),
    29: (1.311, 1.699, 2.045, 2.462, 2.756),
    30: (1.310, 1.697, 2.042, 2.457, 2.750),
    60: (1.296, 1.671, 2.000, 2.390, 2.660),
    120: (1.289, 1.658, 1.980, 2.358, 2.617),
}
"""Two-sided levels 80, 90, 95, 98 and 99 %; Fisher and Yates, "Statistical Tables" (1938), table III."""


@pytest.mark.parametrize("df", [*range(1, 61), 99, 120, 199, 499, 999, 4999, 9999, 99999, 0.7, 2.5, 33.3])
def test_quantiles_are_those_of_scipy(df: float) -> None:
    ours = [_core.student_t(level, df) for level in LEVELS]
    # By the lower tail: 0.5 + level / 2 would round a level close to 1.
    assert ours == pytest.approx([-float(stdtrit(df, (1.0 - level) / 2)) for level in LEVELS], rel=1e-12, abs=0.0)


def test_quantiles_are_those_of_the_printed_table() -> None:
    for df, printed in TABLE.items():
        assert [round(_core.student_t(level, df), 3) for level in (0.8, 0.9, 0.95, 0.98, 0.99)] == list(printed), df


@pytest.mark.parametrize("level", [1e-9, *LEVELS, 1 - 2**-40])
def test_one_and_two_degrees_of_freedom_have_closed_forms(level: float) -> None:
    above = 1.0 - level
    assert _core.student_t(level, 1) == pytest.approx(1.0 / math.tan(above * math.pi / 2), rel=1e-13)
    assert _core.student_t(level, 2) == pytest.approx(level * math.sqrt(2.0 / (above * (1.0 + level))), rel=1e-13)


def test_many_degrees_of_freedom_approach_the_normal_distribution() -> None:
    assert _core.student_t(0.95, 1e8) == pytest.approx(1.959963984540054, rel=1e-7)


def test_quantiles_rise_with_the_level_and_fall_with_the_degrees_of_freedom() -> None:
    levels = np.linspace(0.0, 0.9999, 500)
    found = np.array([[_core.student_t(level, df) for level in levels] for df in (1, 2, 4, 9, 29, 299)])
    assert found[:, 0] == pytest.approx(0.0, abs=0.0)
    assert (np.diff(found, axis=1) > 0).all() and (np.diff(found[:, 1:], axis=0) < 0).all()


@pytest.mark.parametrize(
    ("level", "df"), [(1.0, 5), (-0.1, 5), (math.nan, 5), (0.95, 0), (0.95, math.nan), (0.95, 1e10)]
)
def test_impossible_arguments_are_refused(level: float, df: float) -> None:
    with pytest.raises(ValueError, match="not between"):
        _core.student_t(level, df)
