"""Drawings of networks: every link with what its scenario file says, inside the drawing, in the direction of the traffic."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ecnlab.papers.networks import networks
from ecnlab.papers.registry import PAPERS
from ecnlab.report import Page, Section, Topology, render
from ecnlab.report.topology import LONGEST, Wire
from ecnlab.scenario.files import read_scenario

PAPERS_FOLDER = Path(__file__).parents[2] / "papers"


def drawn(network: Topology) -> tuple[ElementTree.Element, list[str]]:
    """The drawing and its texts."""
    svg = ElementTree.fromstring(str(network.svg()))
    return svg, [text.text or "" for text in svg.iter("text")]


@pytest.mark.parametrize("name", PAPERS)
def test_every_link_of_a_paper_is_drawn_with_rate_delay_and_queue(name) -> None:
    found = networks(PAPERS_FOLDER / name)
    assert found
    for network in found:
        file = re.match(r"As (\S+) has it", network.full_caption)
        assert file
        links = read_scenario(PAPERS_FOLDER / name / file[1]).resolved["link"]
        svg, texts = drawn(network)
        nodes = {text.text for text in svg.iter("text") if text.get("class") == "node"}
        assert nodes == {end for wire in network.wires for end in (wire.a, wire.b)}
        assert {row[0] for row in network.table()[1]} == set(links)
        assert "Not drawn" not in network.full_caption
        for wire in network.wires:
            assert all(word in texts for word in wire.words[0].split(", ")) or wire.words[0] in texts
            assert wire.cells[1] and wire.cells[2]


@pytest.mark.parametrize("name", PAPERS)
def test_nothing_is_drawn_outside_the_drawing(name) -> None:
    for network in networks(PAPERS_FOLDER / name):
        svg, _ = drawn(network)
        x, y, width, height = map(float, svg.attrib["viewBox"].split())
        for box in svg.iter("rect"):
            assert x <= float(box.attrib["x"]) and y <= float(box.attrib["y"])
            assert float(box.attrib["x"]) + float(box.attrib["width"]) <= x + width
            assert float(box.attrib["y"]) + float(box.attrib["height"]) <= y + height
        for text in svg.iter("text"):
            if text.get("text-anchor") == "start":
                assert float(text.attrib["x"]) + 6.2 * len(text.text or "") <= x + width


def test_gfc2_is_a_chain_with_its_sessions_at_both_sides() -> None:
    (gfc2,) = (network for network in networks(PAPERS_FOLDER / "kwon-fahmy") if "GFC-2" in network.title)
    svg, _ = drawn(gfc2)
    places = {text.text: float(text.attrib["y"]) for text in svg.iter("text") if text.get("class") == "node"}
    switches = [places[f"s[{i}]"] for i in range(7)]
    assert switches == sorted(switches)
    assert all(places[f"in[{i}]"] == places[f"s[{i}]"] == places[f"out[{i - 1}]"] for i in range(1, 6))
    assert {wire.name for wire in gfc2.wires if wire.narrow} == {"L1", "L5", "L6"}


def test_rates_are_those_behind_a_shaper_and_random_delays_are_ranges() -> None:
    (testbed,) = networks(PAPERS_FOLDER / "rfc2884")
    (pipe,) = (wire for wire in testbed.wires if wire.name == "pipe")
    assert pipe.words[0] == "1.5 Mb/s, 20 ms" and pipe.cells[0] == "1.5 Mb/s (of 10 Mb/s)"
    assert pipe.cells[2] == "RED 240 kB, ECN, min_th 5 kB, max_th 15 kB, max_p 0.1"
    (neck,) = networks(PAPERS_FOLDER / "kadhum-hassan")
    assert [wire.words[0] for wire in neck.wires] == ["10 Mb/s, 1 to 5 ms", "700 kb/s, 20 ms"]
    assert neck.wires[0].a == "source × 30"


def test_a_link_that_has_no_place_is_named_and_texts_are_escaped() -> None:
    wires = [Wire(f"w{i}", str(i), str(i + 1), ["1 Mb/s, 1 ms", "<q>"], ["1", "2"]) for i in range(6)]
    wires += [Wire("far", "x", "y", ["1 Mb/s, 1 ms"], ["1", "2"]), Wire("near", "x", "3", ["1 Mb/s, 1 ms"], ["1", "2"])]
    network = Topology("a <net>", "Said.", wires, ["a", "b"])
    assert network.full_caption == "Said. Not drawn: far."
    html = render(Page("t", "k", "l", [], [], [Section("s", "S", "", [network])], "f"))
    assert "a &lt;net&gt;" in html and "&lt;q&gt;" in html and "<q>" not in html
    assert "<summary>The links</summary>" in html


def test_a_long_part_of_a_text_is_broken_at_spaces_and_no_line_is_only_a_comma() -> None:
    words = ["1 Mb/s, 20 ms", "FQ-CoDel (fattest on full) 10240 packets, ECN, target 5 ms"]
    _, texts = drawn(Topology("t", "c", [Wire("w", "a", "b", words, ["1", "2"])], ("rate", "delay")))
    lines = [text for text in texts if text not in ("a", "b", "w")]
    assert lines == ["1 Mb/s, 20 ms", "FQ-CoDel (fattest on full)", "10240 packets, ECN,", "target 5 ms"]
    assert max(map(len, lines)) <= LONGEST
