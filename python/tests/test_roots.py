"""The bracketed root finder of the models, against SciPy's ``brentq`` and by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from scipy.optimize import brentq

from ecnlab.models.roots import root

CASES: list[tuple[Callable[[float], float], float, float]] = [
    (lambda x: x * x - 2.0, 0.0, 2.0),
    (lambda x: 2.0 - x * x, 0.0, 2.0),
    (lambda x: math.cos(x) - x, 0.0, 1.0),
    (lambda x: math.exp(x) - 1e4, -3.0, 20.0),
    (lambda x: x**9 - 1e-3, -1.0, 4.0),
    (lambda x: 1.0 / x - 0.01, 1e-3, 1e6),
    (lambda x: math.atan(1e6 * (x - 0.3)), 0.0, 1.0),
    (lambda x: math.copysign(abs(x - 0.7) ** 0.25, x - 0.7), 0.0, 1.0),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_roots_are_those_of_scipy(number: int) -> None:
    function, low, high = CASES[number]
    calls = 0

    def counted(x: float) -> float:
        nonlocal calls
        calls += 1
        return function(x)

    assert root(counted, low, high) == pytest.approx(brentq(function, low, high, xtol=1e-15), rel=1e-12)
    assert calls < 70


def test_a_root_at_an_end_is_that_end() -> None:
    assert root(lambda x: x, 0.0, 1.0) == 0.0
    assert root(lambda x: x - 1.0, 0.0, 1.0) == 1.0


def test_a_jump_through_zero_is_found() -> None:
    assert root(lambda x: -1.0 if x < 0.3 else 5.0, 0.0, 1.0) == pytest.approx(0.3, rel=1e-15)
    assert root(lambda x: -1.0 if x < 0.3 else math.inf, 0.0, 1.0) == pytest.approx(0.3, rel=1e-15)


@pytest.mark.parametrize("ends", [(1.5, 2.0), (-1.0, 1.0)])
def test_equal_signs_are_an_error(ends: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="a root needs different signs"):
        root(lambda x: x * x - 2.0, *ends)
