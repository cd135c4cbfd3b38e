"""Notebooks in Jupyter's format, from the Markdown pages of ``docs/notebooks``: ``NAME.ipynb`` beside each page, without outputs.

Blocks of the language ``python`` are code cells. A block of the language ``sh`` has commands of ecnlab, one a line; it is a
code cell in which each line begins with ``!``. The rest is text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).resolve().parent / "notebooks"
BLOCK: Final = re.compile(r"^```(python|sh)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)


@dataclass
class Cell:
    """A cell: ``kind`` is "markdown", "python" or "sh"."""

    kind: str
    text: str


def cells(page: str) -> Iterator[Cell]:
    """Yield the cells of ``page``; a heading begins a new cell of text."""
    at = 0
    for block in BLOCK.finditer(page):
        yield from _texts(page[at : block.start()])
        yield Cell(block[1], block[2].rstrip("\n"))
        at = block.end()
    yield from _texts(page[at:])


def _texts(text: str) -> Iterator[Cell]:
    """Yield the text between two blocks, without empty cells."""
    for part in re.split(r"^(?=#+ )", text, flags=re.MULTILINE):
        if part.strip():
            yield Cell("markdown", part.strip("\n"))


def notebook(page: str) -> str:
    """Return ``page`` in Jupyter's format: JSON of nbformat 4.5, without outputs."""
    made = [_cell(f"cell-{number}", cell) for number, cell in enumerate(cells(page))]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return json.dumps({"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _cell(name: str, cell: Cell) -> dict[str, Any]:
    """Return ``cell`` as an object of nbformat."""
    if cell.kind == "markdown":
        return {"cell_type": "markdown", "id": name, "metadata": {}, "source": _lines(cell.text)}
    text = cell.text if cell.kind == "python" else re.sub(r"^", "!", cell.text, flags=re.MULTILINE)
    code = {"cell_type": "code", "execution_count": None, "id": name, "metadata": {}, "outputs": []}
    return code | {"source": _lines(text)}


def _lines(text: str) -> list[str]:
    """Return the lines of ``text`` with their ends, as nbformat has them."""
    return text.splitlines(keepends=True)


def main() -> None:
    """Write the notebooks."""
    for page in FOLDER.glob("*.md"):
        page.with_suffix(".ipynb").write_text(notebook(page.read_text()))


if __name__ == "__main__":
    main()
