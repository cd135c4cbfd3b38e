"""Doc comments and docstrings are in plain technical English: none has a word of the project's old dialect."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INSTEAD = {
    "tell, tells, told": "report, show, state",
    "say, says, said": "report, state, define",
    "hear, hears, heard": "receive",
    "deaf": "ignore",
    "bad wire": "impaired link",
    "answer to a mark": "response to a mark",
    "here and there": "in the simulator, in Linux",
    "a law from outside": "a user-defined law",
    "timeout for nothing, reduction for nothing": "spurious",
}
"""Words, and the words to use instead."""
WORDS = re.compile(rf"\b({'|'.join(', '.join(INSTEAD).split(', '))})\b", re.IGNORECASE)
CODE = re.compile(r"`+[^`\n]*`+|\"[^\"\n]*\"")
"""Names and quotations, which are left out: columns such as `says`, and the words of an RFC."""


def found(text: str) -> list[str]:
    """The words of the table in a text."""
    return WORDS.findall(CODE.sub("", text))


def doc_comments(path: Path) -> Iterator[tuple[int, str]]:
    """Line numbers and texts of the doc comments of a Rust file."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if re.match(r"\s*//[/!]", line):
            yield number, line


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Line numbers and texts of the docstrings of a Python file, those of constants included."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text


@pytest.mark.parametrize(
    ("folder", "suffix", "texts"),
    [
        ("crates", "rs", doc_comments),
        ("python/ecnlab", "py", docstrings),
    ],
)
def test_documentation_is_in_plain_technical_english(folder, suffix, texts):
    files = sorted((ROOT / folder).rglob(f"*.{suffix}"))
    wrong = [
        f"{path.relative_to(ROOT)}:{at}: {words}"
        for path in files
        for at, text in texts(path)
        if (words := found(text))
    ]
    assert files and not wrong, f"{wrong}; write instead: {INSTEAD}"


def test_a_word_of_the_table_is_found(tmp_path):
    rust, python = tmp_path / "a.rs", tmp_path / "a.py"
    rust.write_text("// told\n/// The `said` field.\n//! What the sender is Told.\n")
    python.write_text('def f():\n    """Whatever the RTT tells."""\n\n\nA = 1\n"""A number."""\n')
    assert [(at, found(text)) for at, text in doc_comments(rust)] == [(2, []), (3, ["Told"])]
    assert [(at, found(text)) for at, text in docstrings(python)] == [(6, []), (2, ["tells"])]
