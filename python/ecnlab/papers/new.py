"""A new paper: its folder with an example that ``ecnlab reproduce`` runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from ecnlab.base.errors import EcnlabError
from ecnlab.folder.outputs import write_new
from ecnlab.papers.registry import PAPERS

TEMPLATES: Final = Path(__file__).parent / "assets" / "new"
"""Files of a new paper, in which NAME stands for its name."""

VALID: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

RESERVED: Final = (*PAPERS, "all")
"""Names that have a meaning for `ecnlab reproduce`."""


def new_paper(name: str, out: Path) -> Path:
    """Write the paper ``name`` into a new folder of that name in ``out``, and return this folder.

    Raises EcnlabError if the name is invalid or reserved, or the folder exists; OSError.
    """
    if not VALID.fullmatch(name):
        raise EcnlabError(
            f"{name!r} is no name of a paper: write lower-case letters, digits and hyphens, a letter first"
        )
    if name in RESERVED:
        raise EcnlabError(f"{name!r} is reserved, as are {', '.join(RESERVED)}: choose another name")
    folder = out / name
    if folder.exists() or folder.is_symlink():
        raise EcnlabError(f"{folder} exists: choose another name, or another folder with --out")
    write_new({folder / file.name: _of(file, name) for file in sorted(TEMPLATES.iterdir())}, "choose another name")
    return folder


def _of(template: Path, name: str) -> bytes:
    return template.read_bytes().replace(b"NAME", name.encode())
