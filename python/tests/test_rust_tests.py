"""Cargo does not look for integration tests by itself (`autotests = false`): no file may be left out."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOGETHER = sorted(ROOT.glob("crates/*/tests/it.rs"))


@pytest.mark.parametrize("root", TOGETHER, ids=lambda root: root.parts[-3])
def test_every_file_of_integration_tests_is_compiled(root: Path) -> None:
    manifest = tomllib.loads((root.parents[1] / "Cargo.toml").read_text())
    programs = {test["name"] for test in manifest["test"]}
    modules = set(re.findall(r"^mod (\w+);$", root.read_text(), re.MULTILINE))
    there = {path.stem for path in root.parent.glob("*.rs")} | {
        path.parent.name for path in root.parent.glob("*/mod.rs")
    }
    assert there == modules | programs


def test_crates_with_such_tests_are_found() -> None:
    assert len(TOGETHER) >= 6
    for manifest in ROOT.glob("crates/*/Cargo.toml"):
        alone = "autotests" not in manifest.read_text()
        assert alone != (manifest.parent / "tests" / "it.rs").exists(), manifest
