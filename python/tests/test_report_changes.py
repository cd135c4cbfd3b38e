"""The charts of links that change, in the page of a run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from one_link import one_link
from reported import blocks, titled

import ecnlab
from ecnlab.report import Chart, Page
from ecnlab.scenario.changes import drawn_changes
from ecnlab.scenario.files import read_scenario
from ecnlab.stages import page

EXAMPLES = Path(__file__).parents[2] / "examples"

Reported = Callable[..., Page]


@pytest.fixture
def reported(tmp_path: Path) -> Reported:
    """Run a scenario whose link has these lines, store it, and return the page of the stored run."""

    def make(link: str, **overrides: object) -> Page:
        path = tmp_path / "scenario.toml"
        path.write_text(one_link(link, duration="4 s", sample="100 ms"))
        ecnlab.run(path, seed=3, out=tmp_path / "run", overrides=overrides)
        return page(ecnlab.load(tmp_path / "run"))

    return make


def charts(made: Page) -> list[str]:
    """The titles of the charts of rates and delays."""
    titles = [block.title for block in blocks(made) if isinstance(block, Chart)]
    return [title for title in titles if title.startswith(("Rate of", "Delay of"))]


def test_the_rate_and_the_delay_of_a_link_are_step_lines_up_to_the_end(reported: Reported) -> None:
    made = reported('rate = [["0 s", "2 Mbps"], ["1 s", "1 Mbps"]]\ndelay = [["0 s", "10 ms"], ["3 s", "30 ms"]]')
    rate, delay = (titled(made, title) for title in ("Rate of pipe", "Delay of pipe"))
    assert isinstance(rate, Chart) and isinstance(delay, Chart)
    assert (rate.times, rate.lines[0].values, rate.unit) == ([0, 1, 4], [2, 1, 1], "Mb/s")
    assert (delay.times, delay.unit) == ([0, 3, 4], "ms")
    assert delay.lines[0].values == pytest.approx([10, 30, 30])
    assert rate.lines[0].steps and rate.x == titled(made, "Queue of pipe").x  # charts with the same axis zoom together


def test_outages_that_hold_packets_are_a_rate_of_0(reported: Reported) -> None:
    steady = 'rate = "2 Mbps"\ndelay = "10 ms"\n'
    held = titled(reported(steady + 'outages = { times = [["1 s", "1 s"]] }'), "Rate of pipe")
    assert (held.times, held.lines[0].values) == ([0, 1, 2, 4], [2, 0, 2, 2])


def test_lost_outages_are_strokes_below_the_rate(reported: Reported) -> None:
    link = 'rate = [["0 s", "2 Mbps"], ["1 s", "1 Mbps"]]\ndelay = "10 ms"\n'
    made = reported(link + 'outages = { times = [["2 s", "1 s"]], packets = "lost" }')
    forward, back = (block for block in blocks(made) if str(getattr(block, "title", "")).startswith("Rate of"))
    assert (forward.title, [list(rug.times) for rug in forward.rugs]) == ("Rate of pipe", [[2]])
    assert (back.title, back.rugs) == ("Rate of pipe~reverse", [])  # outages are those of one direction


def test_only_links_that_change_have_charts(reported: Reported) -> None:
    assert charts(reported('rate = "2 Mbps"\ndelay = "10 ms"')) == []


def test_a_reverse_direction_that_changes_alike_has_no_chart(reported: Reported) -> None:
    assert charts(reported('rate = [["0 s", "2 Mbps"], ["1 s", "1 Mbps"]]\ndelay = "10 ms"')) == ["Rate of pipe"]


def test_both_directions_of_a_random_walk_have_charts(reported: Reported) -> None:
    made = reported('rate = { walk = ["1 Mbps", "9 Mbps"], step = "100 ms", change = 0.5 }\ndelay = "10 ms"')
    assert sorted(charts(made)) == ["Rate of pipe", "Rate of pipe~reverse"]


def test_a_trace_is_drawn_while_its_file_is_that_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "mobile.toml"
    shutil.copy(EXAMPLES / "mobile.toml", path)
    shutil.copytree(EXAMPLES / "traces", tmp_path / "traces")
    run = ecnlab.run(path, overrides={"duration": "6 s"}, out=tmp_path / "run")
    rate = titled(page(run), "Rate of radio")
    drawn = read_scenario(path).with_overrides({"duration": "6 s"}).drawn(1)["links"]
    steps = next(one["changes"]["rate"] for one in drawn if one["name"] == "radio")
    assert rate.lines[0].values[:-1] == pytest.approx([bps / 1e6 for _, bps in steps])
    (tmp_path / "traces" / "lte-slow.csv").write_text("time_s,rate_mbps\n0,5\n")
    made = page(ecnlab.load(tmp_path / "run"))
    assert charts(made) == []
    (text,) = (block for block in blocks(made) if isinstance(block, str) and block.startswith("No chart of the links"))
    assert "the file has changed" in text and str(path) in text


VARIED = {
    "link.home.rate": {"walk": ["5 Mbps", "50 Mbps"], "step": "100 ms", "change": 0.1},
    "link.home.outages": {"up": {"exponential": "2 s"}, "down": {"uniform": ["100 ms", "1 s"]}},
    "link.pipe.delay": {"sine": ["5 ms", "9 ms"], "every": "5 s"},
}


def test_changes_are_drawn_from_the_specification_as_from_the_scenario() -> None:
    scenario = read_scenario(EXAMPLES / "hostile.toml").with_overrides(VARIED)
    wanted = {one["name"]: one["changes"] for one in scenario.drawn(5)["links"] if "changes" in one}
    assert len(wanted) > 2
    assert drawn_changes(scenario.resolved, 5, "x") == wanted


def test_user_defined_laws_are_not_loaded(tmp_path: Path) -> None:
    spec = read_scenario(EXAMPLES / "userlaws.toml").resolved
    spec["link"]["bottleneck"]["rate"] = [["0 s", "2 Mbps"], ["1 s", "1 Mbps"]]
    assert set(drawn_changes(spec, 1, str(tmp_path / "x.toml"))) == {"bottleneck"}
