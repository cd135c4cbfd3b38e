"""Blocks of report pages in tests."""

from __future__ import annotations

from collections.abc import Iterator

from ecnlab.report import Group, Multiples, Page, Table


def blocks(made: Page) -> Iterator[object]:
    """All blocks of a page, with figures of groups and charts of multiples one by one."""
    for section in made.sections:
        for block in section.blocks:
            if isinstance(block, Group):
                yield from block.figures
            elif isinstance(block, Multiples):
                yield from (block, *block.charts)
            else:
                yield block


def titled(made: Page, title: str) -> object:
    """The one block whose title or caption begins with ``title``."""
    found = [
        block for block in blocks(made) if str(getattr(block, "title", getattr(block, "caption", ""))).startswith(title)
    ]
    assert len(found) == 1, (title, len(found))
    return found[0]


def cells(table: Table) -> list[dict[str, str]]:
    """The rows of a table as texts by column."""
    return [dict(zip(table.columns, (cell.text for cell in row), strict=True)) for row in table.cells()]


def kbps(text: str) -> float:
    """A rate of a page in kbit/s."""
    number, unit = text.replace("−", "-").split()
    return float(number) * {"b/s": 1e-3, "kb/s": 1.0, "Mb/s": 1e3}[unit]
