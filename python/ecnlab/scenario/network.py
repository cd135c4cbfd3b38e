"""The network of a scenario as a drawing: nodes, links with rate and delay, and queues."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ecnlab.base.quantities import highest
from ecnlab.report import Topology
from ecnlab.report.topology import Wire
from ecnlab.scenario.words import bits, delay, queue_line

COLUMNS: Final = ("rate", "delay", "queue", "queue of the way back")
INDEXED: Final = re.compile(r"(.+)\[(\d+)\]")


def topology(spec: Mapping[str, Any], title: str, caption: str) -> Topology:
    """Return the drawing of the network in ``spec``, the resolved values of a scenario."""
    return Topology(title, caption, list(_wires(spec)), COLUMNS)


def _wires(spec: Mapping[str, Any]) -> Iterator[Wire]:
    """The links with their ends; an array of which no node is named alone is one node, any other is drawn node by node."""
    counts = {name: int(node.get("count", 1)) for name, node in spec["node"].items()}
    apart = _apart(spec["link"], counts)
    slowest = min(_rate(link) for link in spec["link"].values())
    for name, link in spec["link"].items():
        for a, b in _ends(link, counts, apart):
            words, cells = _words(link, spec["queue"]), _cells(link, spec["queue"])
            yield Wire(name, a, b, words, cells, _rate(link) == slowest)


def _apart(links: Mapping[str, Any], counts: Mapping[str, int]) -> set[str]:
    """The arrays that are drawn node by node: those with a node named alone, and those linked to these one by one."""
    found = {match[1] for link in links.values() for end in ("from", "to") if (match := INDEXED.fullmatch(link[end]))}
    before = -1
    while len(found) > before:
        before = len(found)
        for link in links.values():
            ends = {link["from"], link["to"]}
            if ends & found and all(counts.get(end, 1) > 1 for end in ends):
                found |= ends
    return found


def _ends(link: Mapping[str, Any], counts: Mapping[str, int], apart: set[str]) -> Iterator[tuple[str, str]]:
    ends = link["from"], link["to"]
    arrays = [counts[end] for end in ends if end in apart]
    if not arrays:
        yield _named(ends[0], counts), _named(ends[1], counts)
        return
    for i in range(int(link.get("count") or min(arrays))):
        a, b = (f"{end}[{i}]" if end in apart else _named(end, counts) for end in ends)
        yield a, b


def _named(end: str, counts: Mapping[str, int]) -> str:
    count = counts.get(end, 1)
    return f"{end} × {count}" if count > 1 else end


def _rate(link: Mapping[str, Any]) -> float:
    return highest(link.get("shaper", link)["rate"])


def _words(link: Mapping[str, Any], queues: Mapping[str, Any]) -> list[str]:
    """Return the text of a link in a drawing."""
    words = [f"{bits(link)}, {delay(link['delay'])}", queue_line(queues[link["queue"]])]
    back = link["reverse"]["loss"] if link["duplex"] else 0.0
    if link["loss"] or back:
        words.append(f"loses {link['loss']:g}" + (f", on the way back {back:g}" if link["duplex"] else ""))
    return words


def _cells(link: Mapping[str, Any], queues: Mapping[str, Any]) -> list[str]:
    """Return the table cells of a link."""
    shaped = f" (of {bits({'rate': link['rate']})})" if "shaper" in link else ""
    back = queue_line(queues[link["reverse"]["queue"]]) if link["duplex"] else "none"
    return [bits(link) + shaped, delay(link["delay"]), queue_line(queues[link["queue"]]), back]
