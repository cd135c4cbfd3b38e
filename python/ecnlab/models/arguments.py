"""Checks that return the models' arguments as arrays, or raise ValueError with a remedy."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def positive(name: str, value: ArrayLike, unit: str) -> Array:
    """``value`` as an array if all of it is finite and above 0."""
    x = np.asarray(value, dtype=np.float64)
    if not np.all(np.isfinite(x) & (x > 0.0)):
        raise ValueError(
            f"{name} must be above 0 and finite, got {_first(x, ~(np.isfinite(x) & (x > 0.0)))}: give {unit}"
        )
    return x


def congestion(p: ArrayLike) -> Array:
    """``p`` as an array if all of it lies in (0, 1]: without congestion these models have no value."""
    x = np.asarray(p, dtype=np.float64)
    if not np.all((x > 0.0) & (x <= 1.0)):
        raise ValueError(
            f"p must be above 0 and at most 1, got {_first(x, ~((x > 0.0) & (x <= 1.0)))}: give congestion "
            "indications per packet, not a percentage; a sender without congestion is limited by its window, not by p"
        )
    return x


def share(name: str, value: ArrayLike) -> Array:
    """``value`` as an array if all of it lies in [0, 1]."""
    x = np.asarray(value, dtype=np.float64)
    if not np.all((x >= 0.0) & (x <= 1.0)):
        raise ValueError(
            f"{name} must lie between 0 and 1, got {_first(x, ~((x >= 0.0) & (x <= 1.0)))}: give a fraction"
        )
    return x


def retained(beta: ArrayLike) -> Array:
    """``beta`` as an array if all of it lies in [0, 1)."""
    x = np.asarray(beta, dtype=np.float64)
    if not np.all((x >= 0.0) & (x < 1.0)):
        raise ValueError(
            f"beta must be at least 0 and below 1, got {_first(x, ~((x >= 0.0) & (x < 1.0)))}: "
            "give the part of the window that is kept, 0.5 for Reno"
        )
    return x


def per_ack(d: ArrayLike) -> Array:
    """``d`` as an array if all of it is at least 1."""
    x = np.asarray(d, dtype=np.float64)
    if not np.all(np.isfinite(x) & (x >= 1.0)):
        raise ValueError(
            f"d must be at least 1, got {_first(x, ~(np.isfinite(x) & (x >= 1.0)))}: "
            "give segments per ACK, 1 without delayed ACKs and 2 with them"
        )
    return x


def window_limit(max_window: ArrayLike) -> Array:
    """``max_window`` as an array if all of it is at least one segment; infinite is no limit."""
    x = np.asarray(max_window, dtype=np.float64)
    if not np.all(x >= 1.0):
        raise ValueError(
            f"max_window must be at least 1 segment, got {_first(x, ~(x >= 1.0))}: "
            "give segments, not bytes, or infinity for no limit"
        )
    return x


def _first(x: Array, wrong: NDArray[np.bool_]) -> float:
    return float(np.atleast_1d(x)[np.atleast_1d(wrong)][0])
