"""CHANGELOG.md has the form of Keep a Changelog."""

from __future__ import annotations

import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "CHANGELOG.md").read_text()

KINDS = ["Added", "Changed", "Deprecated", "Fixed", "Removed", "Security"]


def test_versions_are_dated_and_newest_first():
    first, *versions = re.findall(r"^## (.*)$", TEXT, re.MULTILINE)
    assert first == "Unreleased"
    dated = [re.fullmatch(r"\[?(\d+)\.(\d+)\.(\d+)\]? - \d{4}-\d{2}-\d{2}", version) for version in versions]
    assert all(dated), versions
    numbers = [tuple(map(int, version.groups())) for version in dated if version]
    assert numbers == sorted(numbers, reverse=True)


def test_each_version_has_known_sections_once():
    for version in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]:
        kinds = re.findall(r"^### (.*)$", version, re.MULTILINE)
        assert kinds == sorted(set(kinds) & set(KINDS))
        for section in re.split(r"^### ", version, flags=re.MULTILINE)[1:]:
            below = re.findall(r"^#### (.*)$", section, re.MULTILINE)
            assert below in ([], ["Results that changed"] if section.startswith("Changed\n") else [])


def test_no_line_is_longer_than_160_characters_and_no_entry_is_there_twice():
    assert [line for line in TEXT.splitlines() if len(line) > 160] == []
    entries = re.findall(r"^- (.*(?:\n  .*)*)", TEXT, re.MULTILINE)
    assert len(entries) == len(set(entries))
