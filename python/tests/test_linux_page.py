"""The tables of ``docs/linux.md`` that are made from the laws' files: what Linux has of each law."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest
from test_engine_keys import WRITE

from ecnlab import laws

PAGE: Final = Path(__file__).parents[2] / "docs/linux.md"

BEGIN, END = "<!-- generated: {} -->\n", "<!-- end -->\n"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of Markdown."""
    lines = [[*head], ["---" for _ in head], *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def code(words: Iterable[str]) -> str:
    """``words`` as code, in a list."""
    return ", ".join(f"`{word}`" for word in words)


def queues() -> str:
    """What Linux has of each queue discipline in runs."""
    rows = (
        (code([name]), code(law.kernel), law.kernel_note, code(law.uncounted))
        for name, law in laws.queues().items()
        if law.qdisc
    )
    return table(("queue", "kernel", "remarks", "drops not counted by cause"), rows)


def windows() -> str:
    """What Linux has of each window law."""
    rows = (
        (
            code([name]),
            code([law.kernel]),
            f"`{law.kernel_has['profile']}`, substituted for `{law.profile}`" if law.profile else "",
            code([law.kernel_slow_start]),
            code([law.kernel_ecn]) if law.kernel_ecn else "",
            law.kernel_note,
        )
        for name, law in laws.windows().items()
        if law.kernel
    )
    head = ("window law", "kernel", "`profile`", "`slow_start`", "ECN feedback of its own", "remarks")
    return table(head, rows)


def twins() -> str:
    """What Linux has for each queue discipline in ``agree --packets``."""

    def rows() -> Iterator[tuple[str, str]]:
        for name, law in laws.queues().items():
            for settings, kernel in (law.twins or {"": code(law.kernel)}).items() if law.twin else ():
                yield f"{code([name])}{f' with {settings}' if settings else ''}", kernel

    return table(("queue", "kernel"), rows())


TABLES: Final[dict[str, Callable[[], str]]] = {"queues": queues, "windows": windows, "twins": twins}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_that_of_the_laws_files(name: str) -> None:
    text, begin = PAGE.read_text(), BEGIN.format(name)
    made = f"{begin}\n{TABLES[name]()}\n{END}"
    if os.environ.get(WRITE):
        text = re.sub(re.escape(begin) + "(.*?)" + re.escape(END), lambda _: made, text, count=1, flags=re.DOTALL)
        PAGE.write_text(text)
    assert made in text, f"write the table anew: {WRITE}=1 pytest {__file__}"


def test_every_law_that_runs_on_linux_has_a_row_with_the_kernels_name() -> None:
    for name, law in laws.queues().items():
        assert bool(law.kernel) == bool(law.qdisc), name
        assert not law.twins or law.twin, name
        assert law.twins or law.kernel or not law.twin, name
