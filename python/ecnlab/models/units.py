"""Packets a second and bits a second."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ecnlab.models.arguments import Array, positive


def packets_per_second(rate_bps: ArrayLike, packet_bytes: ArrayLike) -> Array:
    """Return the packets of ``packet_bytes`` per second at a rate of ``rate_bps`` bit/s."""
    rate = positive("rate_bps", rate_bps, "bits per second")
    return np.asarray(rate / (8.0 * positive("packet_bytes", packet_bytes, "bytes")))


def bits_per_second(rate: ArrayLike, packet_bytes: ArrayLike) -> Array:
    """Return the rate in bit/s of ``rate`` packets per second of ``packet_bytes``."""
    packets = positive("rate", rate, "packets per second")
    return np.asarray(packets * 8.0 * positive("packet_bytes", packet_bytes, "bytes"))
