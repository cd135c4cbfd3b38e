"""Settings of a scenario that the kernel does not support: refused, or substituted and reported."""

from __future__ import annotations

import json

from ecnlab._core import Scenario
from ecnlab.base.types import Instead


class Findings:
    """Collects all refusals and substitutions before a run starts."""

    def __init__(self) -> None:
        self.instead: list[Instead] = []
        """Values replaced by the kernel's own; stored in the manifest."""
        self._refused: list[tuple[str, str, str]] = []

    def refuse(self, key: str, message: str, remedy: str) -> None:
        """Refuse the scenario's dotted ``key``, which the kernel does not support."""
        self._refused.append((key, message, remedy))

    def substitute(self, path: str, key: str, asked: object, kernel: object) -> None:
        """Record that the kernel uses ``kernel`` instead of ``asked``; no effect if they are equal."""
        entry = Instead(key=f"{path}.{key}", asked=asked, kernel=kernel)
        if asked != kernel and entry not in self.instead:
            self.instead.append(entry)

    def refuse_value(self, key: str, value: object, remedy: str) -> None:
        """Refuse ``value`` of the scenario's dotted ``key``, which the kernel does not support."""
        self.refuse(key, f"`{key}`: Linux cannot do `{json.dumps(value)}`", remedy)

    @property
    def refused(self) -> list[tuple[str, str, str]]:
        """Key, message and remedy of each refused setting."""
        return list(self._refused)

    def any(self) -> bool:
        """Return whether any setting was refused."""
        return bool(self._refused)

    def raise_if_any(self, scenario: Scenario) -> None:
        """Raise SpecError with file, line and key of each refused setting, if there is any."""
        if self._refused:
            raise scenario.refusal(self._refused)
