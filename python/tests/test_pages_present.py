"""Pages state the present: no history of the program, and no crate or module that does not exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
]
PAGES = [page for page in PAGES if "generated" not in page.parts]

HISTORY = re.compile(
    r"\b(?:(?:is|are|has|have|does|takes?) now|now (?:is|are|has|have|takes?|there)|not any ?more"
    r"|used to (?:be|have|take|count)|(?:was|were) (?:fixed|mended|corrected|renamed|removed|rewritten|replaced|added)"
    r"|in the (?:last|previous|earlier) run\b|the day before|(?:first|last|earlier) measurement)",
    re.IGNORECASE,
)
"""Words about what the program did at another time: git and the changelog have that."""

CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_has_no_history_of_the_program(page: Path) -> None:
    text = CODE.sub("", page.read_text())
    assert [match[0] for match in HISTORY.finditer(text)] == []


def test_history_is_found() -> None:
    for text in (
        "It has now 3 seeds.",
        "The counters were removed.",
        "In the last run PIE differs.",
        "CoDel used to count bytes.",
    ):
        assert HISTORY.search(text), text
    for text in (
        "drop_next is set to now + interval",
        "packets that were dropped before",
        "The queue is used to 88 %.",
    ):
        assert not HISTORY.search(text), text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_crates_and_modules_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text()
    crates = {path.name for path in (ROOT / "crates").iterdir()}
    assert set(re.findall(r"\bcrates/(\w+)", text)) <= crates
    named = re.findall(r"`ecnlab((?:\.[a-z_]\w*)+)", text)
    assert [name for name in named if not exists(name.split(".")[1:])] == []


def test_the_modules_of_the_design_are_the_folders() -> None:
    text = (ROOT / "docs" / "design.md").read_text().partition("## Modules")[2].partition("Dependencies point")[0]
    crates = text.partition("crates/\n")[2].partition("python/ecnlab/ ")[0]
    assert set(re.findall(r"^  (\w+)/ ", crates, re.MULTILINE)) == {path.name for path in (ROOT / "crates").iterdir()}
    packages = text.partition("python/ecnlab/ ")[2].partition("\npapers/<paper>/")[0]
    folders = {path.parent.name for path in (ROOT / "python" / "ecnlab").glob("*/__init__.py")}
    assert set(re.findall(r"(?:^  | )([a-z]+)/(?::? |$)", packages, re.MULTILINE)) >= folders


def exists(parts: list[str]) -> bool:
    """Whether the package has a module, or a name in one, at ``parts``."""
    folder = ROOT / "python" / "ecnlab"
    for number, part in enumerate(parts):
        if (folder / part).is_dir():
            folder /= part
            continue
        file = folder / f"{part}.py" if (folder / f"{part}.py").exists() else folder / "__init__.py"
        name = part if file.stem == "__init__" else "".join(parts[number + 1 : number + 2])
        return not name or re.search(rf"\b{name}\b", file.read_text()) is not None
    return True
