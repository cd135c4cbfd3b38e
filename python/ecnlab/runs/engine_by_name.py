"""Engines by name. Engines that a run does not use are not loaded."""

from __future__ import annotations

from ecnlab.base.errors import EcnlabError
from ecnlab.base.types import Engine
from ecnlab.engines.packets import Packets
from ecnlab.engines.protocol import ENGINES, LINUX, LINUX_WALL, MODEL, PACKETS, Answerer


def answerer_of(engine: Engine) -> Answerer:
    """The answerer called ``engine``. Raises EcnlabError if there is none, or no Linux kernel has been built."""
    if engine == PACKETS:
        return Packets()
    if engine == MODEL:
        from ecnlab.engines.model.engine import Model  # loads NumPy

        return Model()
    if engine == LINUX:
        from ecnlab.linux.engine import Linux

        return Linux()
    if engine == LINUX_WALL:
        from ecnlab.linux.wall.engine import LinuxWall

        return LinuxWall()
    raise EcnlabError(f"no engine is called {engine!r}; there are {', '.join(ENGINES)}")
