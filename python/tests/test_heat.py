"""Maps of shaded cells: texts, hatching, links and the table of their values."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from ecnlab.report import Field, Map, Maps


def maps(*fields: Field) -> Maps:
    return Maps("Shares", "", [Map("one", fields)], ("1.5", "10"), ("5", "20", "100"), "rate", "ms", [(3, "equal")])


def drawn(*fields: Field) -> ElementTree.Element:
    ((_, svg),) = maps(*fields).drawings()
    return ElementTree.fromstring(str(svg))


def place(element: ElementTree.Element, *names: str) -> list[float]:
    return [float(element.attrib[name].rstrip("%")) for name in names]


def test_a_cell_has_its_place_shade_text_and_link() -> None:
    svg = drawn(Field(1, 2, "87", 5, "at 10 and 100: 87 %", link="#there"))
    (link,) = svg.iter("a")
    assert link.attrib == {"href": "#there", "aria-label": "at 10 and 100: 87 %"}
    (rect,) = link.iter("rect")
    assert rect.attrib["class"] == "h5" and place(rect, "x", "y", "width", "height") == [50, 66.67, 50, 33.33]
    assert [text.text for text in link.iter("text")] == ["87"]
    assert not list(link.iter("line"))
    assert svg.attrib["role"] == "group"  # links within an image are hidden from screen readers


def test_stripes_of_a_cell_that_is_not_decided_stay_within_it() -> None:
    svg = drawn(Field(0, 1, "52", 3, "", hatched=True))
    stripes = [line for line in svg.iter("line") if line.get("class") == "stripe"]
    assert len(stripes) == 3
    for line in stripes:
        x1, y1, x2, y2 = place(line, "x1", "y1", "x2", "y2")
        assert 0 <= x1 < x2 <= 50 and 33.3 <= y2 < y1 <= 66.7
        # From lower left to upper right: parallel to the diagonal of a cell of 50 by 33.33.
        assert (y1 - y2) / (x2 - x1) == pytest.approx(33.33 / 50, rel=1e-3)


def test_the_table_and_the_legend_have_what_the_colours_show() -> None:
    found = maps(Field(0, 0, "50", 3, ""), Field(1, 0, "64", 4, "", hatched=True), Field(1, 2, "7", 3, ""))
    assert found.table() == (
        ["map", "row", "1.5", "10"],
        [["one", "5", "50", "64 (not decided)"], ["one", "100", "", "7"]],
    )
    assert found.legend() == [("equal", "h3", "shade"), ("not decided", "h3", "hatch")]
