"""Writes the tables of docs/where-laws-fail.md, and its maps, from the searches for all laws in results: ``make where-laws-fail``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from page_parts import replace

from ecnlab.searching import finds

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "where-laws-fail.md"
MAPS: Final = ROOT / "docs" / "maps"
KINDS: Final = {"aqm": "queues", "cc": "senders"}


def table(kind: str) -> Iterator[str]:
    """Yield the lines about the laws of ``kind``: the worst find of each."""
    yield from ("| law | measure | the law | the best other | times | path |", "| --- | --- | --- | --- | --- | --- |")
    folder = ROOT / "results" / f"search-all-{kind}"
    for path in sorted(folder.glob("*/search.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["finds"]:
            yield _row(path.parent.name, max(found["finds"].values(), key=lambda one: float(one["confirmed"]["times"])))
        else:
            yield f"| `{path.parent.name}` | no find | | | | |"


def _row(name: str, record: dict[str, Any]) -> str:
    own, other = (finds.value(record["means"][arm], record["unit"]) for arm in (record["arm"], record["best"]))
    times, low, high = (record["confirmed"][one] for one in ("times", "low", "high"))
    best, path = record["labels"][record["best"]], "; ".join(record["path"])
    return (
        f"| `{name}` | {record['measure']} | {own} | {best}: {other} | {times:.3g} ({low:.3g} to {high:.3g}) | {path} |"
    )


def main() -> None:
    """Replace the generated parts of the page, and copy the maps."""
    MAPS.mkdir(exist_ok=True)
    replace(PAGE, "where-laws-fail", {name: table(kind) for kind, name in KINDS.items()})
    for kind, name in KINDS.items():
        shutil.copyfile(ROOT / "results" / f"search-all-{kind}" / "index.html", MAPS / f"{name}.html")


if __name__ == "__main__":
    main()
