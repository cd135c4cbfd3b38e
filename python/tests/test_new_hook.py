"""`docs/new-hook.md` has its places in today's sources. `make newlaw` follows it to the end; this needs no build."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from followed_pages import CHECKOUT, Add, Create, Page, Run, StaleError, check_rustfmt, newlaw

PAGE = Page("new-hook.md")
SOURCES = {path for path in {*PAGE.added, *PAGE.created} if re.match(r"crates/\w+/src/", path)}
TESTS = {"crates/aqm/tests/queue.rs", "tests/data/scripts/scalable/closed-window.script"}


def test_a_hook_has_three_places_and_the_page_lists_them() -> None:
    assert {*PAGE.added, *PAGE.created} == SOURCES | TESTS
    assert Counter(path.split("/")[1] for path in SOURCES) == {"aqm": 3, "tcp": 3}
    rows = re.findall(r"^\| [^`|]+ \| `(\S+)` \| `(\S+)` \|$", PAGE.text, re.MULTILINE)
    assert {path for row in rows for path in row} == SOURCES
    assert len(rows) == 3


def test_every_block_has_its_place_and_rust_is_as_rustfmt_has_it(tmp_path: Path) -> None:
    # Not the list of window laws: rustfmt would go on to the modules that it names.
    files = [path for path in PAGE.apply(PAGE.copy(tmp_path)) if path.endswith(".rs") and not path.endswith("mod.rs")]
    assert len(files) == len(SOURCES)
    check_rustfmt(tmp_path, files)


@pytest.mark.parametrize(
    ("hook", "law"), [("on_refused", "aqm/src/laws/rem.rs"), ("on_window_probe", "tcp/src/cc/scalable.rs")]
)
def test_a_hook_is_listed_called_and_implemented_once_and_has_a_default(hook: str, law: str) -> None:
    places = {step.path: step.text for step in PAGE.steps if isinstance(step, Add) and hook in step.text}
    assert len(places) == 3
    signature = rf"fn {hook}\(&mut self[^)]*\)"
    assert [bool(re.search(rf"^{signature} {{}}$", text, re.MULTILINE)) for text in places.values()] == [
        True,
        False,
        False,
    ]
    assert [bool(re.search(rf"self\.law\.{hook}\(", text)) for text in places.values()] == [False, True, False]
    assert re.search(rf"^{signature} {{\n", places[f"crates/{law}"], re.MULTILINE)
    named = [path for path in CHECKOUT.glob("crates/*/src/**/*.rs") if hook in path.read_text()]
    assert named == [], "a hook of this name exists: the page needs another"


def test_files_that_no_block_names_are_refused() -> None:
    stated = {*PAGE.added, *PAGE.created}
    newlaw.check_stated(stated, PAGE.steps, set())
    newlaw.check_stated(stated | {"docs/generated/rules.md"}, PAGE.steps, {"docs/generated/rules.md"})
    with pytest.raises(StaleError, match=r"no block names: crates/tcp/src/law\.rs$"):
        newlaw.check_stated(stated | {"crates/tcp/src/law.rs"}, PAGE.steps, set())


def test_all_blocks_are_taken_back_in_reverse_order(tmp_path: Path) -> None:
    PAGE.copy(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    PAGE.apply(tmp_path)
    blocks = [step for step in PAGE.steps if not isinstance(step, Run)]
    for step in reversed(blocks):
        step.take_back(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "block",
    [Add("law.rs", "one();\n", "above", "fn"), Add("law.rs", "one();\n", "below", "fn"), Add("law.rs", "one();\n")],
)
def test_lines_that_are_not_at_their_place_are_not_taken_back(tmp_path: Path, block: Add) -> None:
    file = tmp_path / "law.rs"
    file.write_text("  fn grow() {\n  }\n")
    block.apply(tmp_path)
    added = file.read_text()
    block.take_back(tmp_path)
    assert file.read_text() == "  fn grow() {\n  }\n"
    for other in (added.replace("one", "two"), "  fn grow() {\n  }\n"):
        file.write_text(other)
        with pytest.raises(StaleError, match=r"take the lines in law\.rs back: they are not at their place"):
            block.take_back(tmp_path)
    file.unlink()
    with pytest.raises(StaleError, match=r"take law\.rs back: there is no such file"):
        Create("law.rs", "").take_back(tmp_path)


def test_what_is_left_after_all_blocks_were_taken_back_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newlaw, "differing", lambda _copied: {"docs/generated/laws.md"})
    with pytest.raises(StaleError, match=r"after all blocks were taken back: docs/generated/laws\.md$"):
        newlaw.take_back([], {})


def test_the_summary_counts_the_sources_of_each_crate() -> None:
    lines = newlaw.summary({*PAGE.added, *PAGE.created})
    assert lines == [
        "3 files in crates/aqm/src: contract/law.rs, laws/rem.rs, machine/fifo.rs",
        "3 files in crates/tcp/src: cc/mod.rs, cc/scalable.rs, flight/reduction.rs",
        f"2 other files: {', '.join(sorted(TESTS))}",
    ]


@pytest.mark.skipif(shutil.which("git") is None, reason="no git on this machine")
def test_changed_created_and_deleted_files_differ_and_ignored_files_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout, copy = tmp_path / "checkout", tmp_path / "copy"
    names = [".gitignore", "Cargo.toml", "Makefile", "README.md"]
    for folder in (checkout, copy):
        folder.mkdir()
        for name in names:
            (folder / name).write_bytes((CHECKOUT / name).read_bytes())
    for command in (["init", "--quiet"], ["add", "."]):
        subprocess.run(["git", *command], cwd=checkout, check=True)
    monkeypatch.setattr(newlaw, "ROOT", checkout)
    monkeypatch.setattr(newlaw, "COPY", copy)
    copied = newlaw.hashes(names)
    assert newlaw.differing(copied) == set()
    (copy / "Cargo.toml").write_text("[workspace]\n")
    (copy / "README.md").unlink()
    (copy / "new.rs").touch()
    (copy / "build").mkdir()
    (copy / "build" / "ignored.svg").touch()
    assert newlaw.differing(copied) == {"Cargo.toml", "README.md", "new.rs"}


def test_commands_need_no_build_of_the_checkout() -> None:
    assert all(command.startswith("cargo ") for command in PAGE.commands)
    assert any(isinstance(step, Run) and "closed-window" in step.prints for step in PAGE.steps)
