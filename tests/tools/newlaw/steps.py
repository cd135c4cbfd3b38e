"""A page of instructions as steps that a program can take: files to create, lines to add, commands to run.

The sentence before a block says what becomes of it, to the reader and to the program alike. It ends with one of:

    Create `PATH`:
    In `PATH`, above `LINE`, add:        (or below; LINE is how exactly one line of the file begins)
    At the end of `PATH`, add:
    Run:                                 (or: Run, which is refused:)
    It prints:                           (the block after a Run; or: It prints, among other lines:)
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

CREATE = re.compile(r"\bCreate `([^`]+)`:$")
ADD = re.compile(r"\bIn `([^`]+)`, (above|below) `([^`]+)`, add:$")
APPEND = re.compile(r"\bAt the end of `([^`]+)`, add:$")
RUN = re.compile(r"\bRun(, which is refused)?:$")
PRINTS = re.compile(r"\bIt prints(, among other lines)?:$")


class StaleError(Exception):
    """The page and the sources, or what a command prints, have parted."""


@dataclass(frozen=True, slots=True)
class Create:
    """A file that is not there yet."""

    path: str
    text: str

    def apply(self, root: Path) -> None:
        """Writes it. Raises StaleError if there is one."""
        file = root / self.path
        if file.exists():
            raise StaleError(f"create {self.path}: it exists")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.text)

    def take_back(self, root: Path) -> None:
        """Deletes it. Raises StaleError if there is none."""
        try:
            (root / self.path).unlink()
        except FileNotFoundError:
            raise StaleError(f"take {self.path} back: there is no such file") from None


@dataclass(frozen=True, slots=True)
class Add:
    """Lines above or below the one line that begins with ``anchor``; at the end of the file if that is empty."""

    path: str
    text: str
    where: str = "below"
    anchor: str = ""

    def apply(self, root: Path) -> None:
        """Adds them, indented as the anchor is. Raises StaleError unless one line is the anchor."""
        lines, at, added = self._place(root)
        (root / self.path).write_text("".join([*lines[:at], *added, *lines[at:]]))

    def take_back(self, root: Path) -> None:
        """Deletes them. Raises StaleError unless one line is the anchor and they are at their place."""
        lines, at, added = self._place(root)
        begin = at if self.anchor and self.where == "below" else at - len(added)
        if begin < 0 or lines[begin : begin + len(added)] != added:
            raise StaleError(f"take the lines in {self.path} back: they are not at their place")
        (root / self.path).write_text("".join([*lines[:begin], *lines[begin + len(added) :]]))

    def _place(self, root: Path) -> tuple[list[str], int, list[str]]:
        """The lines of the file, the place among them, and the lines for it. Raises StaleError unless one line is the anchor."""
        file = root / self.path
        if not file.is_file():
            raise StaleError(f"{self.path}: there is no such file")
        lines = file.read_text().splitlines(keepends=True)
        if not self.anchor:
            return lines, len(lines), ["\n", *self.text.splitlines(keepends=True)]
        found = [at for at, line in enumerate(lines) if line.lstrip().startswith(self.anchor)]
        if len(found) != 1:
            raise StaleError(f"{self.path}: {len(found)} lines begin with `{self.anchor}`; one must")
        line = lines[found[0]]
        indent = line[: len(line) - len(line.lstrip())]
        added = textwrap.indent(self.text, indent).splitlines(keepends=True)
        return lines, found[0] + (self.where == "below"), added


@dataclass(frozen=True, slots=True)
class Run:
    """A command, with what it prints and whether its exit code is another than zero."""

    command: str
    refused: bool
    prints: str = ""
    among_others: bool = True

    def compare(self, printed: str) -> None:
        """Raises StaleError if the command printed other lines than the page says."""
        told = [line.rstrip() for line in self.prints.splitlines()]
        got = [line.rstrip() for line in printed.splitlines()]
        missing = [line for line in told if line not in got]
        if missing or (not self.among_others and told != got):
            lines = "\n  ".join(missing or got)
            raise StaleError(f"{self.command}\nprints no such lines, or others too:\n  {lines}\nIt printed:\n{printed}")


Step = Create | Add | Run


def read(page: str) -> list[Step]:
    """The steps of a page, in its order. Raises StaleError for a block without instruction."""
    steps: list[Step] = []
    for sentence, block in _blocks(page):
        if prints := PRINTS.search(sentence):
            if not steps or not isinstance(steps[-1], Run):
                raise StaleError(f"nothing was run before: {sentence}")
            steps[-1] = replace(steps[-1], prints=block, among_others=prints[1] is not None)
        elif create := CREATE.search(sentence):
            steps.append(Create(create[1], block))
        elif add := ADD.search(sentence):
            steps.append(Add(add[1], block, add[2], add[3]))
        elif append := APPEND.search(sentence):
            steps.append(Add(append[1], block))
        elif run := RUN.search(sentence):
            steps += [Run(command, refused=run[1] is not None) for command in block.splitlines()]
        else:
            raise StaleError(f"the block after this line has no instruction: {sentence}")
    return steps


def _blocks(page: str) -> Iterator[tuple[str, str]]:
    """Each fenced block with the line of text before it."""
    sentence, fence, block = "", "", ""
    for line in page.splitlines():
        opening = re.match(r"`{3,}", line)
        if fence:
            if line == fence:
                yield sentence, block
                fence, block = "", ""
            else:
                block += line + "\n"
        elif opening:
            fence = opening[0]
        elif line.strip():
            sentence = line.strip()
    if fence:
        raise StaleError(f"a block does not end: {sentence}")
