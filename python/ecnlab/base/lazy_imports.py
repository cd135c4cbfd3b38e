"""Libraries that take long to load. Each is loaded when something of it is first used, not before.

``from ecnlab.base.lazy_imports import pl`` stands for ``import polars as pl`` in every file that ``import ecnlab`` or ``ecnlab --help``
loads; types are checked as with that. The list of what must not be loaded by these two is in ``tests/test_startup.py``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ecnlab.base import address_space

__all__ = ["np", "pl"]


class _Later:
    """Proxy for the attributes of the module called ``name``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if self._name == "polars":
            address_space.refuse_too_little()
        # Not from `sys.modules`: another thread may be loading it, and only an import waits for that.
        value = getattr(import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value


if TYPE_CHECKING:
    import numpy as np
    import polars as pl
else:
    np = _Later("numpy")
    pl = _Later("polars")
