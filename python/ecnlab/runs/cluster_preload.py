"""Preloaded by the workers of a local cluster: Ctrl-C reaches them, too, but only the client handles it and ends them."""

from __future__ import annotations

import signal


def dask_setup(_worker: object) -> None:
    """Ignore SIGINT. Dask calls this function when a worker starts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
