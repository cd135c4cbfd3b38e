"""Copy the pages of the documentation into the source folder of the site, as `make docs` does before it calls Sphinx.

Pages keep their paths, so that a link between two pages is the same on the forge and on the site. Three rules for other links:

- A link to a file that is not a page stays; the file is copied, and the site offers it as a download.
- A link to a folder leads to a page, added here, that lists the folder's files.
- The sections of docs/README.md become pages of their own, with the pages that they list below them.

The site has the studio in the folder ``studio``: docs/studio.md embeds it, and lists of files have links that open scenarios in it.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Final

from ecnlab.base.errors import EcnlabError, SpecError
from ecnlab.studio.opened import address

ROOT: Final = Path(__file__).resolve().parents[1]
PAGES: Final = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/**/*.md",
    "papers/*/*.md",
    "examples/*/README.md",
)
SITE_ONLY: Final = (
    "docs/index.rst",
    "docs/api.rst",
    "docs/conf.py",
    "docs/gallery_hooks.py",
    "docs/gallery_links.py",
    "docs/static",
)
LINK: Final = re.compile(r"(\]\(<?)([^)\s>#]+)((?:#[^)\s>]*)?>?\))")
FENCED: Final = re.compile(r"^(`{3,}).*?^\1$", re.DOTALL | re.MULTILINE)
BELOW: Final = {
    "docs/generated/laws.md": "docs/laws/*.md",
    "docs/notebooks.md": "docs/notebooks/*.md",
    "docs/papers.md": "papers/*/*.md",
    "docs/changing-links.md": "examples/*/README.md",
    "CHANGELOG.md": "[CS]*.md",
}
"""Pages without a row in docs/README.md, by the page that the navigation shows above them."""
EMBEDDED: Final = "<!-- the site has the studio here -->"
"""The line of docs/studio.md in whose place the site shows the studio."""
PRESET: Final = "examples/dumbbell.toml"
"""The scenario that it shows there."""


def pages() -> list[Path]:
    """Every page of the site that is also a page of the checkout."""
    return sorted({page for pattern in PAGES for page in matching(pattern)})


def matching(pattern: str) -> list[Path]:
    """The pages of the checkout that match ``pattern``, without templates."""
    return [page for page in ROOT.glob(pattern) if not page.name.endswith(".in.md")]


def toctree(names: list[str]) -> str:
    """Return a hidden table of contents of the pages ``names``, by their paths in the checkout."""
    entries = "\n".join(f"/{name.removesuffix('.md')}" for name in names)
    return f"\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def resolved(page: Path, target: str) -> Path | None:
    """Return the file or folder in the checkout to which ``target`` on ``page`` leads; None for other addresses."""
    if re.match(r"[a-z]+:", target):
        return None
    found = (page.parent / target).resolve()
    return found if found.is_relative_to(ROOT) and found.exists() else None


def studio(page: Path, scenario: Path) -> str:
    """Return the address, relative to ``page`` of the site, that opens ``scenario`` in the studio. Raises as `address` does."""
    return f"{'../' * (len(page.parts) - 1)}studio/index.html{address(scenario)}"


def opened(page: Path, file: Path) -> str:
    """Return the link on ``page`` that opens ``file`` in the studio; nothing unless it is an example that the studio opens."""
    if file.suffix != ".toml" or not file.is_relative_to(ROOT / "examples"):
        return ""
    try:
        return f' – <a href="{studio(page, file)}">open in the studio</a>'
    except (EcnlabError, SpecError):
        return ""


def embedded(page: Path) -> str:
    """Return the studio as a part of ``page``, with a link to it."""
    place, title = studio(page, ROOT / PRESET), f"The studio with the scenario {Path(PRESET).name}"
    return (
        f'<figure class="studio"><iframe src="{place}" title="{title}" loading="lazy"></iframe>\n'
        f'<figcaption>{title}. <a href="{place}">Open it in a window of its own</a>.</figcaption></figure>\n'
    )


class Stage:
    """The source folder of the site while it is written."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.folders: set[Path] = set()

    def write(self) -> None:
        """Write every page, the files that pages link to, and the pages that only the site has."""
        shutil.rmtree(self.out, ignore_errors=True)
        for page in pages():
            self.put(page.relative_to(ROOT), self.page(page) + self.below(page))
        self.sections()
        for folder in sorted(self.folders):
            self.listing(folder)
        for name in SITE_ONLY:
            self.copy(ROOT / name, self.out / Path(name).relative_to("docs"))
        gallery = self.out / "examples-of-gallery"  # each example is executed in this folder
        self.copy(ROOT / "docs/gallery", gallery)
        examples = ROOT / "examples"
        # Without pages: sphinx-gallery takes a folder with a README for a part of the gallery.
        traces = [one for one in (examples / "traces").iterdir() if one.suffix in (".csv", ".mahimahi")]
        for source in [*examples.glob("*.toml"), examples / "laws", *traces]:
            self.copy(source, gallery / source.relative_to(examples))

    def put(self, name: Path, text: str) -> None:
        """Write the page ``name``."""
        (self.out / name).parent.mkdir(parents=True, exist_ok=True)
        (self.out / name).write_text(text)

    def copy(self, source: Path, target: Path) -> None:
        """Copy a file or a folder, if it exists."""
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)

    def page(self, page: Path) -> str:
        """Return the text of ``page`` for the site, and copy the files that it links to."""
        text, at, parts = page.read_text(), 0, []
        if EMBEDDED in text:
            text = text.replace(EMBEDDED, embedded(page.relative_to(ROOT)))
        for block in FENCED.finditer(text):
            parts += [self.linked(page, text[at : block.start()]), block[0]]
            at = block.end()
        return "".join([*parts, self.linked(page, text[at:])])

    def linked(self, page: Path, text: str) -> str:
        """Return ``text`` with the links to folders rewritten."""

        def rewritten(link: re.Match[str]) -> str:
            target = resolved(page, link[2])
            if target is not None and target.is_dir():
                self.folders.add(target)
                return f"{link[1]}{link[2].rstrip('/')}/files.md{link[3]}"
            if target is not None and target.suffix != ".md":
                self.copy(target, self.out / target.relative_to(ROOT))
            return link[0]

        return LINK.sub(rewritten, text)

    def below(self, page: Path) -> str:
        """Return the table of contents of the pages below ``page``."""
        pattern = BELOW.get(str(page.relative_to(ROOT)))
        found = sorted(str(one.relative_to(ROOT)) for one in matching(pattern) if one != page) if pattern else []
        return toctree(found) if found else ""

    def sections(self) -> None:
        """Write a page for each section of docs/README.md."""
        index = ROOT / "docs/README.md"
        text = self.page(index)
        for title, body in re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE):
            listed = re.findall(r"^\| \[[^\]]*\]\(([^)#]+)\)", body, re.MULTILINE)
            names = [str((index.parent / name).resolve().relative_to(ROOT)) for name in listed]
            titled = re.sub(r"^\| \[[^\]]*\]", "| []", body, flags=re.MULTILINE)  # the site shows the title of the page
            self.put(Path(f"docs/section-{title.lower()}.md"), f"# {title}\n{titled}{toctree(names)}")
        self.put(Path("docs/README.md"), f"---\norphan: true\n---\n{text}")

    def listing(self, folder: Path) -> None:
        """Write the page that lists the files of ``folder``."""
        name = folder.relative_to(ROOT)
        files = sorted(one for one in folder.rglob("*") if one.is_file() and "__pycache__" not in one.parts)
        for one in files:
            if one.suffix != ".md":
                self.copy(one, self.out / one.relative_to(ROOT))
        page = name / "files.md"
        rows = "".join(
            f"- [{one.relative_to(folder)}]({one.relative_to(folder)}){opened(page, one)}\n" for one in files
        )
        self.put(page, f"---\norphan: true\n---\n# Files of `{name}`\n\n{rows}")


if __name__ == "__main__":
    Stage(Path(sys.argv[1]).resolve()).write()
