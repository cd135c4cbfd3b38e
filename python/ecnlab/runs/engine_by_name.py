"""Engines by name. Engines that a run does not use are not loaded."""

from __future__ import annotations

from typing import Final

from ecnlab.base.errors import EcnlabError
from ecnlab.base.systems import require_linux
from ecnlab.base.types import Engine
from ecnlab.engines.packets import Packets
from ecnlab.engines.protocol import ENGINES, LINUX, LINUX_WALL, MODEL, PACKETS, Answerer

REMEDY: Final = f"use the engine `{PACKETS}`"


def answerer_of(engine: Engine) -> Answerer:
    """The answerer called ``engine``. Raises EcnlabError if there is none, or this system does not have it."""
    if engine == PACKETS:
        return Packets()
    if engine == MODEL:
        from ecnlab.engines.model.engine import Model  # loads NumPy

        return Model()
    if engine == LINUX:
        require_linux("the Linux kernel in virtual time", REMEDY)
        from ecnlab.linux.engine import Linux

        return Linux()
    if engine == LINUX_WALL:
        require_linux("the wall-clock router", REMEDY)
        from ecnlab.linux.wall.engine import LinuxWall

        return LinuxWall()
    raise EcnlabError(f"no engine is called {engine!r}; there are {', '.join(ENGINES)}")
