"""Network of a run, and its queues with the parameters in force."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from ecnlab import laws
from ecnlab.base.quantities import written
from ecnlab.report import Table, Topology
from ecnlab.report.words import listed
from ecnlab.results.links import busiest
from ecnlab.scenario.links import queue_of
from ecnlab.scenario.network import topology
from ecnlab.scenario.words import queue_line
from ecnlab.stages.registry import stage

if TYPE_CHECKING:
    from ecnlab.results.run import RunResult

HEAD: Final = ("discipline", "class")
"""Keys of a queue that the tree itself shows."""

COLUMNS: Final = ("queue", "links", "discipline and main parameters", "derived", "all settings")


@stage("topology", of="run")
def _topology(run: RunResult) -> Topology:
    spec = run.manifest["spec"]
    return topology(spec, "Network", "As the scenario has it. Drawn thick: the slowest link.")


@stage("queue-trees", of="run")
def queue_trees(run: RunResult) -> Table:
    """Each queue with its classes: discipline, main parameters, values that the law derives, and all settings."""
    rows = [row for links, queue, derived in _queues(run) for row in _tree(listed(links, 4), queue, derived)]
    return Table("Queues, with inner queues below the queue they are in", COLUMNS, rows)


def _queues(run: RunResult) -> list[tuple[list[str], Mapping[str, Any], Mapping[str, Any]]]:
    """Return each queue of the scenario, those of the busiest links first, once for links with the same derived values, with the names of these links."""
    spec, derived = run.manifest["spec"], run.manifest.get("in_force", {})
    found: dict[str, tuple[list[str], Mapping[str, Any], Mapping[str, Any]]] = {}
    for link in busiest(run)["link"] if "links" in run.tables else spec["link"]:
        queue, own = queue_of(spec, link), derived.get(link, {})
        if queue:
            found.setdefault(json.dumps([queue, own], sort_keys=True), ([], queue, own))[0].append(link)
    return list(found.values())


def _tree(links: str, queue: Mapping[str, Any], derived: Mapping[str, Any], path: str = "") -> Iterator[list[str]]:
    """Yield the row of a queue, then those of its classes."""
    inner = derived.get("class", {})
    main = queue_line(queue)
    yield [
        f"└ {path}" if path else laws.label("queue", queue["discipline"]),
        links,
        main,
        ", ".join(_settings({key: value for key, value in derived.items() if key != "class"})),
        ", ".join(_settings({key: value for key, value in queue.items() if key not in HEAD})),
    ]
    for name, one in queue.get("class", {}).items():
        yield from _tree("", one, inner.get(name, {}), f"{path}/{name}" if path else name)


def _settings(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield ``key value`` for each setting of ``table``, with dotted keys for tables in it."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from (f"{key}.{words}" for words in _settings(value))
        else:
            yield f"{key} {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _quantity(value) if isinstance(value, str) else f"{value:g}"


def _quantity(text: str) -> str:
    number, _, unit = text.partition(" ")
    return written(text) if unit and number.replace(".", "").isdigit() else text
