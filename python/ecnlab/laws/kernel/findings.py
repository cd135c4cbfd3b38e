"""What the kernel cannot do as a scenario asks: refused, or done another way and told."""

from __future__ import annotations

import json

from ecnlab._core import Scenario
from ecnlab.base.types import Instead


class Findings:
    """Gathers everything before anything starts."""

    def __init__(self) -> None:
        self.instead: list[Instead] = []
        """Values in whose place the kernel's own hold; part of the manifest."""
        self._refused: list[tuple[str, str, str]] = []

    def refuse(self, key: str, message: str, remedy: str) -> None:
        """The scenario's dotted ``key`` asks for something the kernel has not."""
        self._refused.append((key, message, remedy))

    def tell(self, path: str, key: str, asked: object, kernel: object) -> None:
        """In place of ``asked`` the kernel does ``kernel``; of no consequence if they are the same."""
        entry = Instead(key=f"{path}.{key}", asked=asked, kernel=kernel)
        if asked != kernel and entry not in self.instead:
            self.instead.append(entry)

    def refuse_value(self, key: str, value: object, remedy: str) -> None:
        """The kernel has no such ``value`` for the scenario's dotted ``key``."""
        self.refuse(key, f"`{key}`: Linux cannot do `{json.dumps(value)}`", remedy)

    def any(self) -> bool:
        """Whether something was refused."""
        return bool(self._refused)

    def raise_if_any(self, scenario: Scenario) -> None:
        """Raise SpecError with file, line and key of everything refused, if there is anything."""
        if self._refused:
            raise scenario.refusal(self._refused)
