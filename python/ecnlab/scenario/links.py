"""Names of links in tables, and their queues in the scenario."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ecnlab import laws

REVERSE: Final = "~reverse"
INDEX: Final = re.compile(r"\[\d+\]")


def queue_of(spec: Mapping[str, Any], link: str) -> Mapping[str, Any]:
    """Return the resolved ``[queue.NAME]`` in front of a ``link`` of the tables; empty if the scenario has no such link."""
    table = spec["link"].get(INDEX.sub("", link.removesuffix(REVERSE)), {})
    side = table.get("reverse", {}) if link.endswith(REVERSE) else table
    found: Mapping[str, Any] = spec["queue"].get(side.get("queue"), {})
    return found


def law_of(spec: Mapping[str, Any], link: str) -> str:
    """Return the name in reports of the discipline in front of a ``link``; "the queue" if it is unknown."""
    queue = queue_of(spec, link)
    return laws.label("queue", queue["discipline"]) if queue else "the queue"
