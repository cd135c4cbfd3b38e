"""Checks that return the models' arguments as arrays, or raise ValueError with a remedy."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def positive(name: str, value: ArrayLike, unit: str) -> Array:
    """``value`` as an array if all of it is finite and above 0."""
    x = _array(value)
    return _checked(x, np.isfinite(x) & (x > 0.0), f"{name} must be above 0 and finite", f"give {unit}")


def congestion(p: ArrayLike) -> Array:
    """``p`` as an array if all of it lies in (0, 1]: without congestion these models have no value."""
    x = _array(p)
    remedy = (
        "give congestion indications per packet, not a percentage; "
        "a sender without congestion is limited by its window, not by p"
    )
    return _checked(x, (x > 0.0) & (x <= 1.0), "p must be above 0 and at most 1", remedy)


def share(name: str, value: ArrayLike) -> Array:
    """``value`` as an array if all of it lies in [0, 1]."""
    x = _array(value)
    return _checked(x, (x >= 0.0) & (x <= 1.0), f"{name} must lie between 0 and 1", "give a fraction")


def retained(beta: ArrayLike) -> Array:
    """``beta`` as an array if all of it lies in [0, 1)."""
    x = _array(beta)
    remedy = "give the part of the window that is kept, 0.5 for Reno"
    return _checked(x, (x >= 0.0) & (x < 1.0), "beta must be at least 0 and below 1", remedy)


def per_ack(d: ArrayLike) -> Array:
    """``d`` as an array if all of it is at least 1."""
    x = _array(d)
    remedy = "give segments per ACK, 1 without delayed ACKs and 2 with them"
    return _checked(x, np.isfinite(x) & (x >= 1.0), "d must be at least 1", remedy)


def window_limit(max_window: ArrayLike) -> Array:
    """``max_window`` as an array if all of it is at least one segment; infinite is no limit."""
    x = _array(max_window)
    remedy = "give segments, not bytes, or infinity for no limit"
    return _checked(x, x >= 1.0, "max_window must be at least 1 segment", remedy)


def _array(value: ArrayLike) -> Array:
    return np.asarray(value, dtype=np.float64)


def _checked(x: Array, valid: NDArray[np.bool_], rule: str, remedy: str) -> Array:
    """``x`` if all of it is ``valid``; the error quotes the first value that is not."""
    if not np.all(valid):
        raise ValueError(f"{rule}, got {float(np.atleast_1d(x)[np.atleast_1d(~valid)][0])}: {remedy}")
    return x
