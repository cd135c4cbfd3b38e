"""Examples, papers and schemas as package data: where they are found, and what the wheel must have."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from ecnlab.base import package_data
from ecnlab.base.errors import EcnlabError

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools" / "wheel"))

import build  # noqa: E402


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A package elsewhere, without data."""
    folder = tmp_path / "python" / "ecnlab"
    monkeypatch.setattr(package_data, "__file__", str(folder / "base" / "package_data.py"))
    return folder


@pytest.mark.parametrize("name", [*build.FOLDERS, "docs"])
def test_a_checkout_has_the_folders_in_its_root(name: str) -> None:
    assert package_data.folder(name) == ROOT / name


def test_data_of_an_installed_package_comes_before_the_folders_around_it(package: Path) -> None:
    (package.parents[1] / "papers").mkdir(parents=True)
    assert package_data.folder("papers") == package.parents[1] / "papers"
    (package / "data" / "papers").mkdir(parents=True)
    assert package_data.folder("papers") == package / "data" / "papers"


def test_data_that_a_build_has_left_in_a_checkout_is_not_used(package: Path) -> None:
    for folder in ("papers", "crates", "python/ecnlab/data/papers"):
        (package.parents[1] / folder).mkdir(parents=True)
    assert package_data.folder("papers") == package.parents[1] / "papers"


def test_missing_data_is_an_error_with_a_remedy(package: Path) -> None:
    (package / "data" / "papers").mkdir(parents=True)
    with pytest.raises(EcnlabError, match="has no examples: install a wheel that `make wheel` has built"):
        package_data.folder("examples")


def test_the_build_copies_what_git_knows_and_removes_it_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(build, "DATA", tmp_path / "data")
    with build.package_data():
        copied = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
        assert copied == {name for name in build.needed() if name.startswith("data/")}
    assert {
        "data/examples/laws/step.py",
        "data/examples/traces/lte-slow.csv",
        "data/papers/rfc2884/published.toml",
        "data/schema/experiment.schema.json",
        "data/schema/scenario.schema.json",
        "data/docs/laws/red.md",
        "data/docs/notebooks/lab.ipynb",
    } <= copied
    assert not (tmp_path / "data").exists()


def test_a_failed_build_leaves_no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(build, "DATA", tmp_path / "data")
    with pytest.raises(KeyError), build.package_data():
        raise KeyError
    assert not (tmp_path / "data").exists()


def test_a_file_that_the_wheel_lacks_is_named(tmp_path: Path) -> None:
    needed = build.needed()
    lost = {"linux/guest/main.c", "data/examples/dumbbell.toml"}
    assert lost <= needed
    wheel = tmp_path / "ecnlab-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in needed - lost:
            archive.writestr(f"ecnlab/{name}", "")
    assert build.missing(wheel) == sorted(lost)
