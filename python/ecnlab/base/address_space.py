"""The limit of a process's address space (``ulimit -v``): Polars aborts the process where it cannot have its threads."""

from __future__ import annotations

import os
from typing import Final

from ecnlab.base.errors import EcnlabError

FIXED_BYTES: Final = 1_000_000_000
"""Address space of Python, NumPy and Polars; most of it is never used."""

CORE_BYTES: Final = 128_000_000
"""Address space that a core adds: the stack of a thread of Polars, and its part of the heap."""


def refuse_too_little() -> None:
    """Raise EcnlabError if this process may not have the address space that tables need."""
    try:
        import resource
    except ImportError:  # Windows has no limits
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    wanted = FIXED_BYTES + CORE_BYTES * (os.cpu_count() or 1)
    if limit != resource.RLIM_INFINITY and limit < wanted:
        raise EcnlabError(
            f"the memory of this process is limited to {limit / 1e6:.0f} MB of addresses, and tables need {wanted / 1e6:.0f} MB: "
            f"raise the limit, with `ulimit -v {wanted // 1000}` or more"
        )
