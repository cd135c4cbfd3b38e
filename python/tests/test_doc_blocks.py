"""Every code block of README.md and docs is executed, or says in a marker why not.

A marker is an HTML comment above the block:

    <!-- block: file NAME -->          the TOML block is stored as NAME for the blocks after it
    <!-- block: stored NAME -->        the block is stored as NAME as it is, for the shell blocks of the page
    <!-- block: continues -->          the TOML block belongs to the file of the TOML block before it
    <!-- block: not run: REASON -->    the block is only parsed
    <!-- blocks: not run: REASON -->   likewise all blocks of the page

TOML without `format` is a fragment: it is merged into a minimal scenario or experiment. Python and shell blocks of a page
run one after the other in one folder, which has the files of examples/ with short durations.
"""

from __future__ import annotations

import ast
import doctest
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from conftest import mostly_slow

import ecnlab
from ecnlab.cli import cli

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
ELSEWHERE = {*ROOT.glob("docs/notebooks/*.md"), ROOT / "docs/first-tasks.md", ROOT / "docs/new-paper.md"}
"""Executed by test_notebooks.py, because their blocks share variables, and in an empty folder by test_first_tasks.py and test_new_paper.py."""

PAGES = [ROOT / "README.md", *sorted({*ROOT.glob("docs/**/*.md")} - ELSEWHERE)]

SLOW = [page for page in PAGES if re.match(r"(advise|infer|plots|reports|score|sequential)\.md$", page.name)]
"""Pages whose blocks `make test` only checks and parses."""

NOT_EXECUTED = {
    "text": "output, trees, formats without a reader",
    "rust": "compiled with the crates",
    "markdown": "pages",
}
"""Languages of blocks that no test here executes. Rust blocks need a marker."""

TOOLS = {"cargo", "jupyter", "python", "pip", "pytest", "ruff", "mypy", "tcpdump"}
"""Programs of shell blocks that are not ours: their arguments are not looked at."""

PARSED_ONLY = (
    (r"^studio", "serves until it is interrupted"),
    (r"^linux build", "builds a kernel"),
    (r"--engine linux", "needs the kernel"),
    (r"^agree ", "needs the kernel"),
    (r"^reproduce ", "takes minutes"),
    (r"^score (aqm|cc|l4s) (?!.*--scenario)", "takes half a minute"),
    (r"^search ", "takes minutes, or a find"),
    (r"^score compare ", "needs two cards"),
    (r"^score all ", "takes a card for each law"),
    (r"^probe --host", "needs root"),
    (r"papers/", "takes minutes"),
    (r" -$", "reads standard input"),
)
"""Our commands whose arguments are parsed but which are not run, and why."""

MINIMAL = {
    "format": "format = 1\n",
    "duration": 'duration = "60 s"\n',
    "node": "[node.server]\ncount = 2\n[node.client]\ncount = 2\n",
    "flow": "".join(
        f'[flow.{name}]\nfrom = "server[{i}]"\nto = "client[{i}]"\ntraffic = "ftp"\n'
        for i, name in enumerate(("data", "voice"))
    ),
}

LINK = '[link.bottleneck]\nfrom = "server"\nto = "client"\nrate = "100 Mbps"\ndelay = "20 ms"\n'
CROSS = '[link.cross]\nfrom = "server[0]"\nto = "client[1]"\nrate = "100 Mbps"\ndelay = "20 ms"\n'


@dataclass
class Block:
    line: int
    language: str
    marker: str
    text: str

    @property
    def not_run(self) -> str:
        return self.marker.partition("not run: ")[2]

    @property
    def stored(self) -> str:
        """The name of the file that is the block."""
        return self.marker.removeprefix("stored ") if self.marker.startswith("stored ") else ""


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of ``page`` with their markers."""
    whole = re.search(r"^<!-- blocks: (not run: .+) -->$", page, re.MULTILINE)
    lines = page.splitlines()
    at = 0
    while at < len(lines):
        if opening := re.match(r"(`{3,})(.*)$", lines[at]):
            end = lines.index(opening[1], at + 1)
            marker = re.fullmatch(r"<!-- block: (.+) -->", lines[at - 1]) if at else None
            said = marker[1] if marker else whole[1] if whole else ""
            yield Block(at + 1, opening[2].strip(), said, "\n".join([*lines[at + 1 : end], ""]))
            at = end
        at += 1


def files(page: list[Block]) -> list[list[Block]]:
    """The TOML blocks that are executed, those of one file together."""
    found: list[list[Block]] = []
    for block in page:
        if block.language.split(" ")[0] != "toml" or block.not_run or block.stored:
            continue
        if block.marker == "continues":
            found[-1].append(block)
        else:
            found.append([block])
    return found


def completed(text: str, profile: str) -> str:
    """``text`` as a whole scenario or experiment."""
    own = tomllib.loads(text)
    if "format" in own:
        return text
    if own.keys() & {"metrics", "grid", "arm"}:
        return 'format = 1\nscenario = "web.toml"\nreplicates = 1\n' + text
    queue = f'queue = "{next(iter(own["queue"]))}"\n' if "queue" in own else ""
    head = MINIMAL["format"] + MINIMAL["duration"] + (f'profile = "{profile}"\n' if profile else "")
    link = "" if "link" in own else LINK + queue + CROSS
    return head + MINIMAL["node"] + link + ("" if "flow" in own else MINIMAL["flow"]) + text


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture of connections to port 80 and others."""
    folder = tmp_path_factory.mktemp("capture")
    text = short((EXAMPLES / "hostile.toml").read_text()) + '[capture.pipe]\nlink = "pipe"\n'
    ecnlab.run(ecnlab.Scenario("x.toml", text), captures=folder)
    return folder / "pipe.pcapng"


def short(text: str) -> str:
    """The scenario or experiment ``text`` for a run of seconds."""
    text = re.sub(r'^("?duration"? =) "[^"]*"', r'\1 "3 s"', text, flags=re.MULTILINE)
    text = re.sub(r'^warmup = "[^"]*"', 'warmup = "1 s"', text, flags=re.MULTILINE)
    return re.sub(r"\b(replicates ?= ?)\d+", r"\g<1>2", text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of examples/, whose files are also at the top, and user-defined laws."""
    (tmp_path / "examples").mkdir()
    shutil.copytree(EXAMPLES / "laws", tmp_path / "examples" / "laws")
    for where in (tmp_path / "examples", tmp_path):
        shutil.copytree(EXAMPLES / "traces", where / "traces")
    for source in EXAMPLES.glob("*.toml"):
        for copy in (tmp_path / "examples" / source.name, tmp_path / source.name):
            copy.write_text(short(source.read_text()))
    for name, law, file in (("MyLaw", "Reno", "mylaw.py"), ("MyQueue", "Step", "myqueue.py")):
        source = (EXAMPLES / "laws" / f"{law.lower()}.py").read_text()
        (tmp_path / file).write_text(source.replace(f"class {law}(", f"class {name}("))
    web = completed((ROOT / "docs/traffic.md").read_text().split("```toml\n")[2].split("```")[0], "")
    (tmp_path / "web.toml").write_text(web)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments: str) -> str:
    answer = CliRunner().invoke(cli, list(arguments))
    expected = 1 if arguments[0] == "report" and "--against" in arguments else 0  # results that differ
    assert answer.exit_code == expected, f"ecnlab {shlex.join(arguments)}: {answer.output} {answer.exception!r}"
    return answer.output


def parse(*words: str) -> None:
    """Parse the arguments of a command without running it. Raises click.UsageError."""
    command, context, arguments = cli, click.Context(cli), list(words)
    while isinstance(command, click.Group):
        found = command.get_command(context, arguments[0])
        assert found is not None, f"there is no command {arguments[0]}"
        command, arguments = found, arguments[1:]
    command.make_context(command.name, arguments, parent=context)


def run_shell(text: str, run: Callable[..., object] = invoke) -> None:
    """Test each line of ``text``; ``run`` does our commands."""
    for line in text.splitlines():
        for part in line.split(" | "):
            words = shlex.split(part, comments=True)
            words = words[1:] if words[0] == "sudo" else words
            program, arguments = Path(words[0]).name, words[1:]
            if program == "make":
                verbs = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
                wanted = [word for word in arguments if "=" not in word]
                assert verbs and {*wanted} <= {*verbs[1].split()}, line
            elif program == "ecnlab":
                if any(re.search(pattern, " ".join(arguments)) for pattern, _ in PARSED_ONLY) or "sudo" in part:
                    parse(*arguments)
                else:
                    run(*arguments)
            else:
                assert program in TOOLS, f"unknown program: {line}"


def run_python(text: str, page: str, names: dict[str, object]) -> None:
    """Run ``text``; an example of a session knows the ``names`` of those before it."""
    if text.startswith(">>>"):
        test = doctest.DocTestParser().get_doctest(text, names, page, None, 0)
        assert test.examples
        assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
        names |= test.globs
    else:
        exec(compile(text, page, "exec"), {"__name__": "page"})


def write_files(found: list[Block], folder: Path) -> None:
    """Check the TOML files of a page as they are, and store them with short durations."""
    for parts in files(found):
        _, _, profile = parts[0].language.partition(" ")
        name = parts[0].marker.removeprefix("file ") if parts[0].marker.startswith("file ") else "block.toml"
        text = "".join(part.text for part in parts)
        whole = completed(text, profile)
        (folder / name).write_text(whole)
        invoke("check", name)
        (folder / name).write_text(short(whole))
    for block in found:
        if block.stored:
            (folder / block.stored).write_text(block.text)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", mostly_slow(PAGES, *({*PAGES} - {*SLOW})), ids=name_of)
def test_every_block_of_the_page_runs(page: Path, folder: Path, capture: Path) -> None:
    found = list(blocks(page.read_text()))
    write_files(found, folder)
    if any("pcapng" in block.text for block in found):
        for name in ("x", "sender", "receiver"):
            shutil.copy(capture, folder / f"{name}.pcapng")
    names: dict[str, object] = {}
    for block in found:
        if block.not_run or block.stored:
            continue
        if block.language == "python":
            run_python(short(block.text), f"{name_of(page)}:{block.line}", names)
        elif block.language == "sh":
            run_shell(block.text)


@pytest.mark.parametrize("page", SLOW, ids=name_of)
def test_files_and_commands_of_a_page_with_long_commands_are_valid(page: Path, folder: Path) -> None:
    found = list(blocks(page.read_text()))
    write_files(found, folder)
    for block in found:
        if block.language == "sh" and not block.not_run:
            run_shell(block.text, parse)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_has_a_language_and_those_that_do_not_run_a_reason(page: Path) -> None:
    for block in blocks(page.read_text()):
        language, place = block.language.split(" ")[0], f"{page.relative_to(ROOT)}:{block.line}"
        assert language in {"toml", "python", "sh", *NOT_EXECUTED}, f"{place}: unknown language {block.language!r}"
        assert re.fullmatch(r"(continues|(file|stored) \S+|not run: .+)?", block.marker), f"{place}: {block.marker}"
        assert language != "rust" or block.not_run, f"{place}: say where the block is compiled"
        if block.not_run and language == "toml":
            tomllib.loads(block.text)
        elif block.not_run and language == "python":
            ast.parse(block.text)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_and_toml_stand_in_fenced_blocks(page: Path) -> None:
    text = re.sub(r"^(`{3,}).*?^\1$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    indented = re.findall(r"\n\n    ((?:sudo |\.venv/bin/)*(?:ecnlab|make)\b.*|\[[a-z].*\]$)", text)
    assert indented == []


def test_most_blocks_run() -> None:
    found = [block for page in PAGES for block in blocks(page.read_text()) if block.language not in NOT_EXECUTED]
    run = [block for block in found if not block.not_run]
    skipped = [block for block in found if block.not_run and "make newlaw" not in block.not_run]
    assert len(run) >= 70
    assert len(skipped) <= 9  # six are of clusters, one is `make bench`
