"""The papers of a release: the software paper with its references, the citation file, the templates of issues."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAPER = (ROOT / "paper/paper.md").read_text()
REFERENCES = (ROOT / "paper/paper.bib").read_text()
TEMPLATES = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.md"))


def test_the_paper_cites_each_reference_and_no_other() -> None:
    body = PAPER.partition("\n---\n")[2]
    cited = {key for group in re.findall(r"\[(@[^\]]+)\]", body) for key in re.findall(r"@(\w+)", group)}
    assert cited == set(re.findall(r"^@\w+\{(\w+),$", REFERENCES, re.MULTILINE))


def test_every_reference_has_a_title_and_a_place() -> None:
    entries = re.findall(r"^@\w+\{(\w+),\n(.*?)^\}", REFERENCES, re.DOTALL | re.MULTILINE)
    assert len(entries) >= 10
    for key, fields in entries:
        assert re.search(r"^  title = \{.+\}", fields, re.MULTILINE), key
        assert re.search(r"^  (doi|url) = \{(10\.\d+/\S+|https://\S+)\}", fields, re.MULTILINE), key


def test_the_paper_has_the_sections_of_a_software_paper_and_at_most_a_thousand_words() -> None:
    sections = re.findall(r"^# (.*)$", PAPER, re.MULTILINE)
    assert sections[:2] == ["Summary", "Statement of need"] and sections[-1] == "References"
    assert 250 < len(PAPER.split()) <= 1000


def test_the_citation_has_the_version_of_the_package() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert re.search(rf"^version: {re.escape(version)}$", citation, re.MULTILINE)
    assert re.findall(r"^(\w[\w-]*):", citation, re.MULTILINE)[:3] == ["cff-version", "message", "title"]
    for line in re.findall(r"^[a-z-]+: (?![\">])(.*)$", citation, re.MULTILINE):
        assert ": " not in line and " #" not in line, f"quote this value: {line}"


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_each_template_of_an_issue_has_a_name_and_asks_for_evidence(template: Path) -> None:
    _, head, body = template.read_text().split("---\n", 2)
    assert re.findall(r"^(\w+): \S", head, re.MULTILINE) == ["name", "about", "labels"]
    assert template.stem == "law" or ("`ecnlab --version`" in body and "```toml\nformat = 1" in body)
    assert body.count("**") >= 6


def test_there_are_templates_for_defects_disagreements_and_laws() -> None:
    assert [path.stem for path in TEMPLATES] == ["defect", "disagreement", "law"]
