"""The page of a packet-by-packet comparison, from fates made up by hand."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

from ecnlab.agreement.arrivals import Arrival
from ecnlab.agreement.packets import Fate, Trace
from ecnlab.agreement.packets_page import packets_page
from ecnlab.linux.replay import Left

QUESTION = SimpleNamespace(link="pipe", law="red", twin=SimpleNamespace(words="red limit 1"), instead=())


def a_trace(seed: int, *departures: tuple[int | None, int | None]) -> Trace:
    """Packets that arrive every microsecond as ECT(0), with their departures in ns in the simulator and the kernel."""
    fates = [
        Fate(Arrival(1000 * i, 100, 2, 0, 0), (), *(None if at is None else Left(at, 2) for at in both))
        for i, both in enumerate(departures)
    ]
    return Trace(QUESTION, seed, tuple(fates))  # type: ignore[arg-type]


def test_equal_traces_are_stated_to_be_equal() -> None:
    page = packets_page(Path("x.toml"), [a_trace(1, (5, 5), (None, None))])
    assert "All 2 packets of 1 trace leave as in the kernel" in page
    assert "first packet that differs" not in page


def test_the_first_difference_is_shown_with_the_distances_in_time() -> None:
    page = packets_page(Path("x.toml"), [a_trace(1, (5, 5)), a_trace(2, (5, 5), (1100, 1107), (2500, None))])
    assert "2 of 4 packets differ from the kernel&#39;s, in 1 of 2 traces" in page
    assert re.search(r"<th[^>]*>&gt; 1</th>", page)
    assert "1 packet dropped in one only; 0 packets with different codepoints" in page
    (dots,) = re.findall(r'class="c0 dots"[^>]* d="([^"]*)"', page)
    assert len(re.findall("M", dots)) == 2  # the two packets that left both
    assert page.index("seed 2") < page.index("seed 1")
