"""The studio in Firefox: the main paths, as a reader would take them. ``test_studio_page.py`` has all paths, in Chromium."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from firefox import WAIT, Firefox, firefox
from studio_served import BUILT, MARK_TO_CWR, address

import ecnlab
from ecnlab.studio.share import fragment

__all__ = ["address", "firefox"]

pytestmark = [pytest.mark.slow, BUILT]

ROOT = Path(__file__).parents[2]
PHONE, DESKTOP = (390, 844), (1400, 900)

TEXT = '$("textarea").value'
STATUS = '$(".status")?.textContent'
PICTURES = '$$(".plot canvas").map(one => one.toDataURL())'
LINKS = '$$(".edge").map(one => one.ariaLabel)'


def has(part: str) -> Callable[[str | None], bool]:
    return lambda text: part in (text or "")


def simulated(page: Firefox) -> None:
    """Wait for the end of a run on the bench."""
    page.wait(f'{STATUS}?.includes("Simulated in") && $("progress").hidden')


def sound(page: Firefox) -> None:
    """Assert that the page has no message on its console, and fits in the windows of a phone and of a desktop."""
    assert page.messages == []
    for size in (PHONE, DESKTOP):
        page.size(size)
        page.wait("document.documentElement.scrollWidth - innerWidth", lambda outside: outside <= 0)
        assert page.eval("innerWidth") == size[0]


def cell(page: Firefox, label: str, column: int = 0) -> float:
    row = f'$$("tr").find(row => row.querySelector("th")?.textContent === {json.dumps(label)})'
    return float(page.eval(f'{row}.querySelectorAll("td")[{column}].textContent').replace(",", ""))


@pytest.fixture
def bench(firefox: Firefox, address: str) -> Firefox:
    """The bench with the run of its first scenario."""
    firefox.open(address, DESKTOP)
    simulated(firefox)
    return firefox


def test_the_bench_has_the_numbers_of_the_command(bench: Firefox, tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(bench.eval(TEXT))
    for group, goodput in ecnlab.run(scenario, seed=1).flows.select("group", "goodput_bps").iter_rows():
        assert cell(bench, f"{group}: goodput (Mbit/s)") == pytest.approx(goodput / 1e6, rel=0.005)
    assert len(set(bench.eval(PICTURES))) == 4
    sound(bench)


def test_a_slider_moved_by_keys_changes_the_text_and_the_pictures(bench: Firefox) -> None:
    pictures = bench.eval(PICTURES)
    bench.tab_to("[data-key='link.bottleneck.rate']")
    bench.press("Home")
    bench.wait(LINKS, lambda links: any("link bottleneck, 100 kbps" in one for one in links))
    simulated(bench)
    assert 'rate = "100 kbps"\ndelay = "20 ms"' in bench.eval(TEXT)
    assert cell(bench, "ecn: goodput (Mbit/s)") <= 0.1
    assert not set(bench.eval(PICTURES)) & set(pictures)
    # 100 kbit/s · 10000^(place / 1000), in two digits.
    bench.press(*["Right"] * 250)
    bench.wait(TEXT, has('rate = "1 Mbps"\ndelay = "20 ms"'))
    assert bench.eval("document.activeElement.dataset.key") == "link.bottleneck.rate"
    sound(bench)


def test_an_error_is_at_its_line(bench: Firefox) -> None:
    text = bench.eval(TEXT)
    start = text.index("codel")
    bench.click('$("textarea")')
    bench.eval(f'$("textarea").setSelectionRange({start}, {start + 5})')
    bench.press(*"codle")
    error = bench.wait('$(".errors li")?.textContent', has("codel"))
    line = int(re.findall(r"line (\d+)", error)[0])
    assert line == text[:start].count("\n") + 1
    wrong = '$$(".gutter div").filter(one => one.classList.contains("wrong")).map(one => one.textContent)'
    assert bench.eval(wrong) == [str(line)]
    bench.click('$(".errors button")')
    area = bench.eval(
        '(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))($("textarea"))'
    )
    assert "codle" in area
    assert bench.eval("document.activeElement.tagName") == "TEXTAREA"
    bench.press(*f'"{"codel"}"' if area.startswith('"') else "codel")
    bench.wait('$$(".errors li").length === 0')
    assert bench.eval(TEXT) == text
    sound(bench)


def test_a_run_is_cancelled(firefox: Firefox, address: str) -> None:
    text = (ROOT / "studio/src/default.toml").read_text().replace('"20 s"', '"20000 s"').replace('"50 ms"', '"5 s"')
    firefox.open(address + fragment([text]), DESKTOP)
    firefox.wait('$("progress")?.value > 0')
    firefox.click('button("Cancel")')
    firefox.wait(STATUS, has("Cancelled"))
    assert firefox.eval('$("progress").hidden')
    sound(firefox)


def test_a_capture_is_downloaded(bench: Firefox) -> None:
    bench.click('button("pcapng")')
    capture = bench.downloads / "bottleneck.pcapng"
    end = time.monotonic() + WAIT
    while not capture.exists() or capture.stat().st_size == 0 or list(bench.downloads.glob("*.part")):
        assert time.monotonic() < end, list(bench.downloads.glob("*"))
        time.sleep(0.05)
    assert ecnlab.trace(capture).connections.height == 2
    sound(bench)


def test_a_link_opens_its_scenario_and_a_damaged_one_has_a_way_back(firefox: Firefox, address: str) -> None:
    end = fragment([(ROOT / "studio/src/default.toml").read_text().replace("20 ms", "33 ms")], 2**64 - 1)
    firefox.open(address + end, PHONE)
    simulated(firefox)
    assert "link bottleneck, 10 Mbps, 33 ms" in firefox.eval(LINKS)
    assert firefox.eval('$(".seed").value') == str(2**64 - 1)
    for wrong, problem in ((end[:-40], "is damaged"), (fragment(["#" * 4_000_000]), "is too large")):
        firefox.open(address + wrong, PHONE)
        firefox.wait('$("[role=alert]")?.textContent', has(problem))
    firefox.click('$("[role=alert] a")')
    simulated(firefox)
    sound(firefox)


def test_the_microscope_steps_from_a_mark_to_the_confirmation(firefox: Firefox, address: str) -> None:
    firefox.open(address + "#/microscope", PHONE)
    firefox.wait(STATUS, has("packets in 6 s"))
    times = []
    for button, text in MARK_TO_CWR:
        firefox.click(f'button("{button}")')
        assert text in firefox.eval('$$(".moment").at(-1).textContent')
        times.append(float(firefox.eval('$(".clock").textContent').split()[0]))
    assert times == sorted(times)
    clock = firefox.eval('$(".clock").textContent')
    firefox.click('button("Step back")')
    assert firefox.eval('$(".clock").textContent') != clock
    firefox.click('button("Step")')
    assert firefox.eval('$(".clock").textContent') == clock
    firefox.click('button("Play")')
    firefox.wait('parseFloat($(".clock").textContent)', lambda now: now > times[-1])
    firefox.click('button("Pause")')
    sound(firefox)


def test_a_capture_has_the_tables_of_the_command(firefox: Firefox, address: str) -> None:
    capture = ROOT / "tests/data/captures/refused.pcap.gz"
    firefox.open(address + "#/trace", PHONE)
    firefox.wait("""$("input[type=file]") !== null""")
    firefox.choose("input[type=file]", capture)
    native = ecnlab.trace(capture)
    for table, rows in (("connections", native.connections.height), ("violations", native.violations.height)):
        firefox.wait(f"Number($('[data-table={table}]')?.dataset.rows ?? 0)", lambda found, rows=rows: found == rows)
    assert firefox.eval('$$(".verdict").length') == native.verdicts.height
    sound(firefox)


def test_a_lesson_goes_from_the_prediction_to_the_number(firefox: Firefox, address: str) -> None:
    firefox.open(address + "#/lessons/1", PHONE)
    firefox.click('button("Answer and run")')
    firefox.wait('$(".results").textContent', has("Choose an answer first"))
    firefox.click('$$(".option")[1]')
    firefox.click('button("Answer and run")')
    firefox.wait('$(".verdict")?.textContent', has("That is what the runs show."))
    firefox.click('$(".find input")')
    for number, reply in ((5, "Not yet"), (cell(firefox, "bottleneck: utilisation (%)", 1), "Yes")):
        firefox.eval('$(".find input").select()')
        firefox.press(*f"{number:g}")
        firefox.click('button("Check")')
        firefox.wait('$(".find p").textContent', has(reply))
    sound(firefox)
