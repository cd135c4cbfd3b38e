"""Notebooks of the documentation: from Markdown pages to Jupyter's format, and executed for the site.

A notebook is a page ``docs/notebooks/NAME.md``, so that changes are readable and the page is also a page of the site. Its
blocks of the language ``python`` are code cells. A block of the language ``sh`` has commands of ecnlab, one a line; it is a
code cell in which each line begins with ``!``. The rest is text. `make notebooks` writes ``NAME.ipynb`` beside each page,
without outputs. `make docs` executes the pages and adds the outputs and pictures.

Cells are executed by ``exec``, one after the other, in the current folder. The value of a last expression is an output,
as in Jupyter. Pictures are figures of ecnlab that are the last expression, and those of Matplotlib.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import matplotlib.pyplot as plt

FOLDER: Final = Path(__file__).resolve().parent / "notebooks"
BLOCK: Final = re.compile(r"^```(python|sh)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
LOOK: Final = {"font.size": 9, "axes.titlesize": 9, "axes.titlelocation": "left", "figure.dpi": 150}


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


def command(words: list[str]) -> str:
    """Run ecnlab with the arguments ``words`` and return its output. Raises CalledProcessError."""
    line = [sys.executable, "-m", "ecnlab", *words]
    return subprocess.run(line, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


@dataclass
class Execution:
    """The cells of a notebook, executed in the current folder; ``names`` are its variables."""

    name: str
    command: Callable[[list[str]], str] = command
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "notebook"})

    def run(self, cell: Cell) -> tuple[str, list[Any]]:
        """Execute ``cell``; return its output and its pictures. Raises what the cell raises."""
        if cell.kind == "sh":
            return "".join(self._shell(line) for line in cell.text.splitlines()), []
        *body, last = ast.parse(cell.text).body
        shown = ast.Expression(last.value) if isinstance(last, ast.Expr) else None
        before = ast.Module(body if shown else [*body, last], [])
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(before, self.name, "exec"), self.names)
            value = eval(compile(shown, self.name, "eval"), self.names) if shown else None
            pictures = [plt.figure(number) for number in plt.get_fignums()]
            if hasattr(value, "save") and hasattr(value, "data"):
                pictures.append(value)
            elif value is not None:
                output.write(f"{value}\n")
        return output.getvalue(), pictures

    def _shell(self, line: str) -> str:
        """Return the output of a line that begins with ``ecnlab``."""
        program, *words = shlex.split(line)
        assert program == "ecnlab", line
        return self.command(words)


def executed(page: str, name: str, pictures: Path) -> str:
    """Return ``page`` with the outputs of its cells, and write its pictures as ``NAME-N.png`` into ``pictures``."""
    execution, parts, count = Execution(name), [], 0
    for cell in cells(page):
        if cell.kind == "markdown":
            parts.append(f"{cell.text}\n")
            continue
        output, figures = execution.run(cell)
        parts.append(f"```{cell.kind}\n{cell.text}\n```\n")
        if output.strip():
            parts.append(f"```text\n{output.strip()}\n```\n")
        for figure in figures:
            count += 1
            file = f"{name}-{count}.png"
            figure.savefig(pictures / file) if hasattr(figure, "savefig") else figure.save(pictures / file)
            parts.append(f"![Picture {count} of this notebook]({file})\n")
        plt.close("all")
    return "\n".join(parts)


def main() -> None:
    """Write the notebooks; with a folder, write the executed pages and their pictures into it instead."""
    pages = sorted(FOLDER.glob("*.md"))
    if len(sys.argv) == 1:
        for page in pages:
            page.with_suffix(".ipynb").write_text(notebook(page.read_text()))
        return
    mpl.use("Agg")
    mpl.rcParams.update(LOOK)
    out = Path(sys.argv[1]).resolve()
    for page in pages:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            os.environ["COLUMNS"] = "120"
            (out / page.name).write_text(executed(page.read_text(), page.stem, out))


if __name__ == "__main__":
    main()
