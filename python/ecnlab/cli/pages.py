"""``ecnlab docs``: the pages of the documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import click

from ecnlab.base import package_data
from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import guess
from ecnlab.cli import console
from ecnlab.cli.options import examples

COMMENT: Final = re.compile(r"<!--.*?-->\n?", re.DOTALL)
"""Marks of generated parts."""


@click.command()
@click.argument("name", metavar="[PAGE]", required=False)
@examples("""
      ecnlab docs
      ecnlab docs traffic
      ecnlab docs laws/red
""")
def docs(name: str | None) -> None:
    """List the pages of the documentation, or print PAGE."""
    folder = package_data.folder("docs")
    pages = {path.relative_to(folder).with_suffix("").as_posix(): path for path in sorted(folder.rglob("*.md"))}
    if name is None:
        wide = max(map(len, pages))
        for page, path in pages.items():
            console.say(f"{page:{wide}}  {_title(path)}")
        return
    wanted = name.removeprefix("docs/").removesuffix(".md")
    if wanted not in pages:
        raise EcnlabError(f"no page is called {name!r}{guess(wanted, pages)}; `ecnlab docs` lists them")
    console.say(text(pages[wanted]))


def text(page: Path) -> str:
    """Return the Markdown of a page without its comments."""
    return COMMENT.sub("", page.read_text(encoding="utf-8")).strip()


def _title(page: Path) -> str:
    found = re.search(r"^# (.+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""
