"""`docs/new-law.md` has its places in today's sources. `make newlaw` follows it to the end; this needs no build."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from followed_pages import CHECKOUT, Add, Create, Page, Run, StaleError, check_rustfmt, newlaw, read

from ecnlab import laws

PAGE = Page("new-law.md")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return PAGE.copy(tmp_path)


def test_every_block_has_its_place_and_rust_is_as_rustfmt_has_it(tree: Path) -> None:
    # Only what holds one law or is a list: rustfmt would go on to the modules that a list names.
    files = [path for path in PAGE.apply(tree) if path.endswith(".rs") and not path.endswith(("mod.rs", "lib.rs"))]
    assert len(files) == 3
    check_rustfmt(tree, files)


def test_modules_stand_in_the_order_of_rustfmt(tree: Path) -> None:
    PAGE.apply(tree)
    for path in (path for path in PAGE.added if path.endswith(("mod.rs", "lib.rs"))):
        modules = re.findall(r"^(?:pub )?mod (\w+);$", (tree / path).read_text(), re.MULTILINE)
        assert modules == sorted(modules), path


def test_the_python_file_has_what_its_family_has(tree: Path) -> None:
    PAGE.apply(tree)
    spec = importlib.util.spec_from_file_location("aimd", tree / "python/ecnlab/laws/congestion/aimd.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert isinstance(module.LAW, laws.FAMILIES["congestion"])
    assert module.LAW.response({"increase": 2.0, "decrease": 0.25}) == (2.0, 0.75)


def test_python_is_as_ruff_and_mypy_want_it(tree: Path) -> None:
    PAGE.apply(tree)
    config = CHECKOUT / "pyproject.toml"
    here = os.environ | {"MYPYPATH": str(CHECKOUT / "python")}
    sources = [tree / path for path in PAGE.created if path.startswith("python/")]
    tools = [
        ["ruff", "check", "--config", config, *sources],
        ["ruff", "format", "--check", "--config", config, *sources],
        ["mypy", "--config-file", config, "--cache-dir", CHECKOUT / "build" / "mypy", *sources],
    ]
    assert len(sources) == 1
    for module, *arguments in tools:
        command = [sys.executable, "-m", module, *arguments]
        done = subprocess.run(command, cwd=CHECKOUT, env=here, capture_output=True, text=True)
        assert done.returncode == 0, f"{module}: {done.stdout}{done.stderr}"


def test_its_scenario_is_toml_and_uses_both_laws() -> None:
    (scenario,) = [tomllib.loads(text) for path, text in PAGE.created.items() if path.startswith("examples/")]
    assert scenario["tcp"]["default"]["congestion"]["kind"] == "aimd"
    assert scenario["queue"]["cutoff"]["discipline"] == "cutoff"


def test_every_verb_that_it_names_is_there() -> None:
    verbs = set(re.findall(r"^(\w+):.*##", (CHECKOUT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`make (\w+)", PAGE.text)) | {c.split()[1] for c in PAGE.commands if c.startswith("make ")}
    assert {"newlaw", "laws", "test", "schema", "lint"} <= named <= verbs


def test_it_changes_no_more_than_a_law_may() -> None:
    """A law that needs a further place means that a trait, a test or a list is to be mended (docs/design.md, invariant 2)."""
    for law, crate in (("aimd", "tcp/src/cc"), ("cutoff", "aqm/src/laws")):
        assert {f"crates/{crate}/{law}.rs", f"docs/laws/{law}.md"} <= PAGE.created.keys()
    lists = {
        "crates/tcp/src/cc/mod.rs",
        "crates/aqm/src/laws/mod.rs",
    }
    assert lists | {"crates/aqm/tests/queue.rs"} == PAGE.added


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("mod a;\nmod b;\nmod b;\n", "2 lines begin with"),
        ("mod a;\n", "0 lines begin with"),
        (None, "no such file"),
    ],
)
def test_a_place_that_is_gone_is_told(tmp_path: Path, source: str | None, why: str) -> None:
    (step,) = read("In `list.rs`, below `mod b`, add:\n```\nmod c;\n```\n")
    assert isinstance(step, Add)
    if source is not None:
        (tmp_path / "list.rs").write_text(source)
    with pytest.raises(StaleError, match=why):
        step.apply(tmp_path)


def test_lines_are_added_where_the_sentence_says_with_the_indent_of_their_place(tmp_path: Path) -> None:
    file = tmp_path / "list.rs"
    file.write_text("of! {\n    a;\n    c;\n}\n")
    sentences = ("In `list.rs`, above `c;`, add:", "In `list.rs`, below `c;`, add:", "At the end of `list.rs`, add:")
    for sentence, word in zip(sentences, "bdz", strict=True):
        (step,) = read(f"Text. {sentence}\n\n```rust\n{word};\n```\n")
        assert isinstance(step, Add)
        step.apply(tmp_path)
    assert file.read_text() == "of! {\n    a;\n    b;\n    c;\n    d;\n}\n\nz;\n"


def test_a_file_that_is_there_is_not_created_again(tmp_path: Path) -> None:
    (step,) = read("Create `new/x.py`:\n````\n```\ntext\n````\n")
    assert isinstance(step, Create)
    step.apply(tmp_path)
    assert (tmp_path / "new/x.py").read_text() == "```\ntext\n"
    with pytest.raises(StaleError, match="exists"):
        step.apply(tmp_path)


@pytest.mark.parametrize("page", ["For example:\n```\nx\n```\n", "It prints:\n```\nx\n```\n", "Run:\n```\nx\n"])
def test_a_block_that_no_program_can_take_is_told(page: str) -> None:
    with pytest.raises(StaleError):
        read(page)


def test_what_a_command_prints_is_compared() -> None:
    run, some = read(
        "Run:\n```sh\na\n```\nIt prints:\n```\nx\ny\n```\nRun:\n```sh\nb\n```\nIt prints, among other lines:\n```\ny\n```\n"
    )
    assert isinstance(run, Run) and isinstance(some, Run)
    assert (run.command, some.command) == ("a", "b")
    run.compare("x  \ny\n")
    some.compare("x\ny\n")
    for step, printed in ((run, "x\n"), (run, "x\ny\nz\n"), (run, ""), (some, "x\n")):
        with pytest.raises(StaleError, match="prints no such lines"):
            step.compare(printed)


def test_a_command_must_end_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newlaw, "COPY", tmp_path)
    ends, refused = read("Run:\n```sh\necho one\n```\nRun, which is refused:\n```sh\necho two; false\n```\n")
    assert isinstance(ends, Run) and isinstance(refused, Run)
    assert (ends.refused, refused.refused) == (False, True)
    assert newlaw.printed(ends.command) == "one\n"
    assert newlaw.printed(refused.command, refused=True) == "two\n"
    for command, wrong in ((ends.command, True), (refused.command, False)):
        with pytest.raises(StaleError, match="ended with exit code"):
            newlaw.printed(command, refused=wrong)


def test_no_command_of_the_page_changes_the_environment_of_the_checkout() -> None:
    with pytest.raises(StaleError, match="environment of this checkout"):
        newlaw.run(Run("make test", refused=False))
    assert {command for command in PAGE.commands if command.startswith("make ")} <= {newlaw.BUILD, newlaw.SCHEMA}
