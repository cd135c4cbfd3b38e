"""The examples of ecnlab as files: which each needs, and copies of them."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Final

from ecnlab.base import package_data
from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import guess
from ecnlab.folder.outputs import write_new
from ecnlab.runs.scenario_files import TRACES

LAW: Final = re.compile(r'python\s*=\s*"([^":]+\.py):')
"""A file with a user-defined law, in a scenario."""

TRACE: Final = re.compile(rf'\b(?:{"|".join(TRACES)})\s*=\s*"([^"]+)"')
"""A file with a trace, in a scenario."""


LESSONS: Final = {
    "lab": ("lab.ipynb", "lab.md"),
    "lab-solutions": ("lab-solutions.ipynb", "lab-solutions.md", "grade.py"),
}
"""The lab for a class, and its solutions: files of ``docs/notebooks``."""

OF_LESSONS: Final = "dumbbell"
"""The example that they use."""


def sources(name: str) -> dict[str, Path]:
    """Return the files of an example or lesson, by their names in a copy; its own file is the first.

    Raises EcnlabError if there is no such example.
    """
    lesson = {file: package_data.folder("docs/notebooks") / file for file in LESSONS.get(name, ())}
    examples = package_data.folder("examples")
    return lesson | {file: examples / file for file in files_of(OF_LESSONS if lesson else name)}


def files_of(name: str) -> list[str]:
    """Return the files of an example, relative to the folder of examples: its own first, and those that it names.

    Raises EcnlabError if there is no such example.
    """
    folder = package_data.folder("examples")
    there = [file.stem for file in folder.glob("*.toml")]
    if name not in there:
        raise EcnlabError(
            f"no example is called {name!r}{guess(name, [*there, *LESSONS])}; `ecnlab examples` lists them"
        )
    text = (folder / f"{name}.toml").read_text(encoding="utf-8")
    files = [f"{name}.toml"]
    if scenario := tomllib.loads(text).get("scenario"):
        files.append(scenario)
        text += (folder / scenario).read_text(encoding="utf-8")
    return [*files, *dict.fromkeys(LAW.findall(text) + TRACE.findall(text))]


def copy_example(name: str, folder: str | os.PathLike[str] = ".") -> Path:
    """Copy the example ``name`` and the files that it needs to ``folder``; return the path of its scenario or experiment.

    Files that are there with the same content stay as they are. Raises EcnlabError if there is no such example, or if a
    file is there with another content; OSError.
    """
    contents = {Path(folder) / file: source.read_bytes() for file, source in sources(name).items()}
    write_new(contents, "choose another folder")
    return next(iter(contents))
