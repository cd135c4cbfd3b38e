"""Vegas (Brakmo and Peterson)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Window

LAW: Final = Window(label="Vegas")
