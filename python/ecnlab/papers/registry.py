"""The papers of ecnlab. A new one with code is a row here; one without has a ``paper.toml`` (`ecnlab.papers.paper_file`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ecnlab.base import package_data
from ecnlab.base.errors import EcnlabError
from ecnlab.papers import akujobi, dualpi2eval, ecn_today, kadhum_hassan, kwon_fahmy, rfc2884
from ecnlab.papers.paper import Paper
from ecnlab.papers.paper_file import FILE, read_paper

PAPERS: Final[dict[str, Paper]] = {
    paper.name: paper
    for paper in (
        rfc2884.PAPER,
        akujobi.PAPER,
        kadhum_hassan.PAPER,
        kwon_fahmy.PAPER,
        dualpi2eval.PAPER,
        ecn_today.PAPER,
    )
}
"""Papers with a reproduction, by name, in the order of the index page."""


def find(paper: str | os.PathLike[str]) -> tuple[Paper, Path]:
    """A paper and its folder: by its name, from ``papers/`` here or of this installation; or a folder.

    A folder with a ``paper.toml`` needs no row in `PAPERS`. Raises EcnlabError if there is no such paper, or its file is wrong.
    """
    name = Path(paper).resolve().name
    for folder in (Path(paper), Path("papers") / name):
        if (folder / FILE).is_file():
            return read_paper(folder), folder
        if name in PAPERS and (folder / "published.toml").is_file():
            return PAPERS[name], folder
    if name not in PAPERS:
        raise EcnlabError(
            f"no paper is called {str(paper)!r}; there are {', '.join(PAPERS)}, and folders with a {FILE}, "
            "as `ecnlab paper new` writes them"
        )
    return PAPERS[name], package_data.folder("papers") / name
