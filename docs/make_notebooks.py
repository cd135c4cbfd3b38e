"""Executes the notebooks of the documentation for the site: ``make_notebooks.py FOLDER`` writes the pages with their outputs and pictures.

Cells are executed by ``exec``, one after the other, in the current folder. The value of a last expression is an output,
as in Jupyter. Pictures are figures of ecnlab that are the last expression, and those of Matplotlib.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import matplotlib.pyplot as plt
from notebook_format import FOLDER, Cell, cells

LOOK: Final = {"font.size": 9, "axes.titlesize": 9, "axes.titlelocation": "left", "figure.dpi": 150}


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
    """Write the executed pages and their pictures into a folder."""
    mpl.use("Agg")
    mpl.rcParams.update(LOOK)
    out = Path(sys.argv[1]).resolve()
    for page in sorted(FOLDER.glob("*.md")):
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            os.environ["COLUMNS"] = "120"
            (out / page.name).write_text(executed(page.read_text(), page.stem, out))


if __name__ == "__main__":
    main()
