"""The documentation site without Sphinx: the staged pages, and the page of the Python interface."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from types import ModuleType

import pytest
from conftest import imported
from test_studio import document

import ecnlab

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def stage() -> ModuleType:
    return imported(DOCS / "stage.py")


@pytest.fixture(scope="module")
def site(stage: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source folder of the site."""
    folder = tmp_path_factory.mktemp("staged") / "site"
    stage.Stage(folder).write()
    return folder


def test_every_page_is_staged_and_every_link_leads_to_a_staged_file(stage: ModuleType, site: Path) -> None:
    staged = [*site.rglob("*.md")]
    assert len(staged) > len([*DOCS.rglob("*.md")])
    dead = []
    for page in staged:
        text = re.sub(r"`[^`\n]*`", "", stage.FENCED.sub("", page.read_text()))
        for _, target, _ in stage.LINK.findall(text):
            if not re.match(r"[a-z]+:", target) and not (page.parent / target).is_file():
                dead.append(f"{page.relative_to(site)}: {target}")
    assert dead == []


def test_the_gallery_has_its_examples_only(site: Path) -> None:
    gallery = site / "examples-of-gallery"
    assert (gallery / "traces" / "lte-fast.csv").exists()
    # sphinx-gallery takes a folder with one of these for a part of the gallery, and executes its Python files.
    parts = [one.parent for name in ("README*", "GALLERY_HEADER*") for one in gallery.rglob(name)]
    assert parts == [gallery]


def test_a_link_to_a_folder_leads_to_the_list_of_its_files(site: Path) -> None:
    assert "](examples/files.md)" in (site / "README.md").read_text()
    assert "[red.md](red.md)" in (site / "docs/laws/files.md").read_text()


def test_the_examples_that_the_studio_runs_have_links_with_their_texts(site: Path) -> None:
    link = r'(?: – <a href="\.\./studio/index\.html(#.+)">open in the studio</a>)?'
    rows = re.findall(rf"^- \[(.+\.toml)\]\(.+?\){link}$", (site / "examples/files.md").read_text(), re.MULTILINE)
    texts = {str(file.relative_to(EXAMPLES)): file.read_text() for file in EXAMPLES.rglob("*.toml")}
    # Experiments, spaces for searches, QUIC, a crate and laws in Python.
    not_run = re.compile(r'^(?:scenario|experiment|\[quic|\[package)|\bpython = "', re.MULTILINE)
    assert {name for name, _ in rows} == texts.keys()
    for name, end in rows:
        assert (end == "") == bool(not_run.search(texts[name])), name
        assert end == "" or document(end)["arms"] == [texts[name]]


def test_the_studio_is_in_its_page_of_the_site_only(stage: ModuleType, site: Path) -> None:
    assert "<iframe" not in (DOCS / "studio.md").read_text()
    (place,) = re.findall(r'<iframe src="\.\./studio/index\.html(#[^"]+)"', (site / "docs/studio.md").read_text())
    assert document(place)["arms"] == [(ROOT / stage.PRESET).read_text()]


def test_the_page_of_the_python_interface_has_every_public_name() -> None:
    listed = re.findall(r"^\.\. auto(?:function|class|exception):: ecnlab\.(?:\w+\.)*(\w+)$", *page("api.rst"))
    assert {*ecnlab.__all__} - {"__version__"} <= {*listed}


def page(name: str) -> tuple[str, re.RegexFlag]:
    return (DOCS / name).read_text(), re.MULTILINE


def test_the_examples_of_the_python_interface_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "examples/dumbbell.toml").read_text().replace('"60 s"', '"3 s"').replace('"10 s"', '"1 s"')
    (tmp_path / "dumbbell.toml").write_text(text + '[capture.bottleneck]\nlink = "bottleneck"\n')
    monkeypatch.chdir(tmp_path)
    shutil.copy(ecnlab.run("dumbbell.toml", captures="captures").captures[0], "bottleneck.pcapng")
    blocks = re.findall(r"^\.\. code-block:: python\n\n((?:   .*\n|\n)+)", *page("api.rst"))
    assert len(blocks) >= 3
    for block in blocks:
        exec(compile(re.sub(r"^   ", "", block, flags=re.MULTILINE), "api.rst", "exec"), {})
