"""Reports in a browser: sizes, first screen, no script, keyboard, accessibility, interaction, files, print.

No reference pictures are compared: fonts differ between machines, and a tolerance that allows for them hides errors. The places of
drawn elements in the window are compared with the arithmetic of the data, to a pixel.

The fixtures make the pages within seconds. ``ECNLAB_REPORTS=results`` also tests the reports in a folder.
"""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsed import EACH, FOREST, GAIN, LEVELS, POINTS, ROWS, TIMES, WINDOW, WINDOWS, Pages, long_names
from browser import (
    A4,
    CONTRASTS,
    DESKTOP,
    OPEN_ALL,
    PHONE,
    TABLET,
    Opened,
    box,
    browser,
    curve,
    opened,
    scale,
    tab_to,
    ticks,
)
from conftest import mostly_slow
from matplotlib.image import imread
from playwright.sync_api import Locator, expect

import ecnlab
from ecnlab.report import render
from ecnlab.stages.comparison_page import comparison_page
from ecnlab.trace import trace
from ecnlab.trace.page import capture_page

__all__ = ["browser"]

ALL = ("known", "run", "sweep", "both", "capture", "small", "index", "rfc2884")
LARGEST = 1_500_000
"""Bytes of a report."""
TALLEST = 12_000
"""Height of a report on a phone, in CSS pixels."""

every_page = pytest.mark.parametrize("name", mostly_slow(ALL, "known", "run"))
every_kind = pytest.mark.parametrize(
    "name", mostly_slow(("known", "run", "sweep", "both", "capture", "small"), "known")
)
"""Pages with every kind of block, without those that repeat them many times."""


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Pages:
    return Pages(tmp_path_factory.mktemp("browsed"))


@pytest.fixture
def known(browser, files) -> Iterator[Opened]:
    found = opened(browser, files["known"])
    yield found
    assert found.messages == []


def figure(on: Opened, title: str) -> Locator:
    return on.page.locator("figure", has=on.page.get_by_role("heading", name=title, exact=True))


def chart(on: Opened, title: str) -> Locator:
    return figure(on, title).locator("svg.plot").first


def press(on: Opened, title: str, action: str) -> Locator:
    return on.page.get_by_role("button", name=f"{title}: {action}", exact=True)


# --------------------------------------------------------------- every page


def assert_within_limits(on: Opened, file: Path) -> None:
    """The page fits every window in light and dark, folded and unfolded, is small, and neither complains nor asks for anything."""
    assert file.stat().st_size <= LARGEST
    on.size(PHONE)
    assert on.eval("document.documentElement.scrollHeight") <= TALLEST
    colours = {}
    for unfold in ("", OPEN_ALL):
        on.eval(unfold or "0")
        for size, scheme in product((PHONE, TABLET, DESKTOP), ("light", "dark")):
            on.size(size)
            on.page.emulate_media(color_scheme=scheme)
            assert on.eval("document.documentElement.scrollWidth") <= size[0], (size, scheme, unfold)
            style = "(s => [s.backgroundColor, s.color])(getComputedStyle(document.body))"
            colours[scheme] = on.eval(style)
    assert all(light != dark for light, dark in zip(colours["light"], colours["dark"], strict=True))
    assert [url for url in on.asked if not url.startswith(("file:", "data:"))] == []
    assert on.messages == []


def assert_first_screen(on: Opened) -> None:
    """The answer, all counts of verdicts and the forest plot are within the window."""
    for size in (PHONE, DESKTOP):
        on.size(size)
        seen = on.page.locator("header .answer, header .lede, .tally .chip, svg.forest")
        ends = [(one.get_attribute("class"), box(one)["bottom"]) for one in seen.all()]
        assert ends
        assert [end for end in ends if not 0 < end[1] <= size[1]] == [], size


@every_page
def test_a_page_fits_every_window(browser, files, name):
    on = opened(browser, files[name])
    assert_within_limits(on, files[name])


@every_page
def test_the_result_is_on_the_first_screen(browser, files, name):
    on = opened(browser, files[name])
    assert_first_screen(on)
    if name in ("known", "small", "rfc2884"):
        assert on.page.locator("svg.forest").count() == 1
        assert on.page.locator(".tally .chip").count() >= 2


def test_real_reports_are_within_the_limits(browser):
    folder = os.environ.get("ECNLAB_REPORTS")
    if not folder:
        pytest.skip("set ECNLAB_REPORTS to a folder with reports, such as results")
    found = sorted(Path(folder).resolve().rglob("*.html"))
    assert found, f"{folder} has no report: run `make reproduce`"
    for file in found:
        on = opened(browser, file)
        assert_within_limits(on, file)
        assert_first_screen(on)


def test_no_script_but_that_of_the_page_is_run(browser, files, tmp_path):
    page = files["run"].read_text()
    injected = "<script>document.documentElement.dataset.injected = 1</script><img src=x onerror=document.title=1>"
    attacked = tmp_path / "attacked.html"
    attacked.write_text(page.replace("</main>", f"{injected}</main>", 1))
    on = opened(browser, attacked)
    assert on.eval("document.documentElement.dataset.injected ?? null") is None
    assert on.eval("document.title") != "1"
    assert any("Content Security Policy" in message for message in on.messages)
    on.page.locator("#theme").click()
    assert on.eval("document.documentElement.dataset.theme") in ("light", "dark")


@pytest.mark.parametrize("name", mostly_slow(["run", "both", "sweep"], "run"))
def test_tables_are_cards_on_a_phone(browser, files, name):
    on = opened(browser, files[name], PHONE)
    on.eval(OPEN_ALL)
    tables = on.page.locator(".cards").evaluate_all(
        "all => all.map(one => [one.scrollWidth - one.clientWidth, getComputedStyle(one.querySelector('tbody tr')).display])"
    )
    assert tables and all(display == "block" and wider <= 0 for wider, display in tables)
    labelled = "all => all.every(one => getComputedStyle(one, '::before').content.includes(one.dataset.label))"
    assert on.page.locator(".cards td:not(:only-of-type):not(:empty)").evaluate_all(labelled)


@pytest.mark.slow
def test_names_of_64_letters_fit_a_phone(browser, tmp_path):
    run, sweep = long_names(tmp_path)
    (capture,) = (run / "captures").iterdir()
    pages = [ecnlab.load(one).report(tmp_path / f"{one.name}.html") for one in (run, sweep)]
    (tmp_path / ("c" * 64)).mkdir()
    capture = capture.rename(tmp_path / ("c" * 64) / ("d" * 64 + ".pcapng"))
    pages.append(tmp_path / "capture.html")
    pages[-1].write_text(capture_page(trace(capture)))
    pages.append(tmp_path / "both.html")
    pages[-1].write_text(render(comparison_page(run, run)[0]))
    for page in pages:
        on = opened(browser, page, PHONE)
        for unfold in ("0", OPEN_ALL):
            on.eval(unfold)
            assert on.eval("document.documentElement.scrollWidth") <= PHONE[0], (page.name, unfold)


# --------------------------------------------------------------- without script


def sizes(on: Opened) -> list[list[int]]:
    found: list[list[int]] = on.page.locator("svg.plot").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect()).map(({width, height}) => [width, height].map(Math.round))"
    )
    return found


@every_kind
def test_all_drawings_are_there_without_script(browser, files, name):
    on = opened(browser, files[name])
    off = opened(browser, files[name], java_script_enabled=False)
    shown = off.page.locator("details:not(.narrow) > summary >> visible=true").element_handles()
    for one in {shown[0], shown[-1]} if shown else ():  # folded parts open by a click
        folded = one.evaluate("one => !one.parentElement.open")
        one.click()
        assert one.evaluate("one => one.parentElement.open") is folded
    for either in (on, off):
        either.eval(OPEN_ALL)
    assert not off.page.locator("#theme").is_visible()
    assert sizes(off) == sizes(on)
    assert all(width > 100 and height > 100 for width, height in sizes(off))
    assert sizes(off)


# --------------------------------------------------------------- accessibility


def violations(on: Opened, **rules: object) -> list[str]:
    found = Axe().run(on.page, options={"resultTypes": ["violations"], **rules}).response["violations"]
    return [f"{one['id']}: {node['html'][:120]}" for one in found for node in one["nodes"]]


@every_kind
def test_axe_finds_no_violation(browser, files, name):
    """The rules of structure on the unfolded page, contrast by our own arithmetic: axe's rule takes seconds."""
    on = opened(browser, files[name])
    on.eval(OPEN_ALL)
    assert violations(on, rules={"color-contrast": {"enabled": False}}) == []
    for scheme in ("light", "dark"):
        on.page.emulate_media(color_scheme=scheme)
        assert on.eval(CONTRASTS) == [], scheme


@pytest.mark.slow
def test_axe_finds_no_violation_of_contrast(known):
    known.eval(OPEN_ALL)
    for size, scheme in ((DESKTOP, "light"), (PHONE, "dark")):
        known.size(size)
        known.page.emulate_media(color_scheme=scheme)
        assert violations(known, runOnly=["color-contrast"]) == [], scheme


def test_the_keyboard_is_enough(known):
    page = known.page
    page.keyboard.press("Tab")
    assert known.eval("document.activeElement.className") == "skip"
    assert known.box(".skip")["left"] >= 0
    tab_to(page, "#theme")
    before = known.eval("getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("Enter")
    assert known.eval("getComputedStyle(document.body).backgroundColor") != before
    tab_to(page, '[aria-label="Queue length: zoom in"]')
    whole = ticks(chart(known, "Queue length"))
    page.keyboard.press("Enter")
    near = ticks(chart(known, "Queue length"))
    assert near != whole and float(near[0]) >= 2.5 and float(near[-1]) <= 7.5
    tab_to(page, '[aria-label="Queue length: show all"]')
    page.keyboard.press("Space")
    assert ticks(chart(known, "Queue length")) == whole
    tab_to(page, "#rows summary")
    page.keyboard.press("Enter")
    tab_to(page, "#rows summary")
    page.keyboard.press("Enter")
    tab_to(page, "#R0 > summary")
    page.keyboard.press("Enter")
    assert known.eval("document.getElementById('R0').open")


# --------------------------------------------------------------- drawings


def test_points_are_where_the_data_has_them(known):
    for size in (DESKTOP, PHONE):
        known.size(size)
        for title, name, values in (("Queue length", "length", LEVELS), ("Length by rank", "rank", LEVELS)):
            drawn = chart(known, title)
            (x0, dx), (y0, dy) = scale(drawn, "x"), scale(drawn, "y")
            want = [[x0 + t * dx, y0 + v * dy] for t, v in zip(TIMES, values, strict=True)]
            assert apart(curve(drawn, name), want) < 1.0, (title, size)
        drawn = chart(known, "Gain")
        (x0, dx), (y0, dy) = scale(drawn, "x"), scale(drawn, "y")
        markers = [box(one) for one in drawn.locator('use[href="#m0"]').all()]
        places = [[(one["left"] + one["right"]) / 2, (one["top"] + one["bottom"]) / 2] for one in markers]
        assert apart(places, [[x0 + p.x * dx, y0 + p.mean * dy] for p in POINTS]) < 1.0, size
        bars = [box(one) for one in drawn.locator("line.c0").all()]
        ends = [[one["bottom"], one["top"]] for one in bars]
        assert apart(ends, [[y0 + p.low * dy, y0 + p.high * dy] for p in POINTS]) < 1.0, size


def apart(found: list[list[float]], want: list[list[float]]) -> float:
    """The greatest distance in pixels."""
    assert len(found) == len(want)
    return max(abs(a - b) for one, other in zip(found, want, strict=True) for a, b in zip(one, other, strict=True))


def at_time(on: Opened, title: str, time: float) -> tuple[float, float]:
    """The place of a time in the window, at half the height of the chart."""
    drawn = chart(on, title)
    drawn.scroll_into_view_if_needed()
    (x0, dx), rectangle = scale(drawn, "x"), box(drawn)
    return x0 + time * dx, (rectangle["top"] + rectangle["bottom"]) / 2


def test_dragging_shows_the_same_part_of_all_charts_over_time(known):
    page, titles = known.page, ("Queue length", "Congestion window", "Each flow")
    whole = {title: ticks(chart(known, title)) for title in (*titles, "Length by rank")}
    (left, y), (right, _) = (at_time(known, "Queue length", time) for time in (1.9, 6.1))
    page.mouse.move(left, y)
    page.mouse.down()
    page.mouse.move(right, y, steps=3)
    page.mouse.up()
    near = ticks(chart(known, "Queue length"))
    assert near == ["2", "3", "4", "5", "6"]
    for title in titles:
        assert ticks(chart(known, title)) == near, title
    assert ticks(chart(known, "Length by rank")) == whole["Length by rank"]
    drawn = chart(known, "Queue length")
    (x0, dx), points = scale(drawn, "x"), curve(drawn, "length")
    assert apart([[x] for x, _ in points], [[x0 + t * dx] for t in TIMES]) < 1.0
    page.mouse.dblclick((left + right) / 2, y)
    assert {title: ticks(chart(known, title)) for title in whole} == whole


@pytest.mark.parametrize("time", mostly_slow((0.7, 3.2, 8.9), 3.2))
def test_the_tip_has_the_values_of_the_curves(known, time):
    held = max(i for i, t in enumerate(TIMES) if t <= time)
    for title, name, values in (("Queue length", "length", LEVELS), ("Congestion window", "window", WINDOWS)):
        assert not known.page.locator(".tip").is_visible()
        known.page.mouse.move(*at_time(known, title, time))
        tip = known.page.locator(".tip")
        assert tip.is_visible()
        text = tip.inner_text()
        found = {key: float(value) for key, value in re.findall(r"^(.+?): ([\d.]+)$", text, re.M)}
        assert found["time, s"] == pytest.approx(time, abs=0.02)
        assert found[name] == pytest.approx(values[held], abs=0.02), text
        edges = box(tip)
        assert edges["left"] >= 0 and edges["right"] <= DESKTOP[0]
        known.page.mouse.move(1, 1)


def test_a_violation_of_a_capture_leads_to_its_packet(browser, files):
    on = opened(browser, files["capture"])
    link = on.page.locator('svg a[href^="#packet-"]').first
    place = (link.get_attribute("href") or "")[1:]
    link.scroll_into_view_if_needed()
    at = box(link)
    on.page.mouse.click((at["left"] + at["right"]) / 2, (at["top"] + at["bottom"]) / 2)
    row = on.page.locator(f"#{place}")
    expect(row).to_be_visible()
    assert -1 <= box(row)["top"] <= DESKTOP[1]


# --------------------------------------------------------------- links


def assert_shown(on: Opened, name: str) -> None:
    row = on.page.locator(f'[id="{name}"]')
    expect(row).to_be_visible()
    assert row.evaluate("one => one.open")
    assert -1 <= box(row)["top"] <= DESKTOP[1] - 20


def test_a_link_to_a_row_opens_what_it_is_in(browser, files):
    last = ROWS[-1].name
    on = opened(browser, files["known"], anchor=f"#{last}")
    assert_shown(on, last)
    assert not on.page.locator("#R1").evaluate("one => one.open")
    on.page.locator("#rows details a", has_text=f"Link to {last}").click()
    assert on.page.url.endswith(f"#{last}")
    on = opened(browser, files["known"])
    on.page.locator('svg.forest a[href="#R3"] use').click(force=True)
    assert_shown(on, "R3")


@pytest.mark.slow
def test_a_link_to_a_row_of_a_paper_opens_what_it_is_in(browser, files):
    on = opened(browser, files["rfc2884"])
    name = (on.page.locator("svg.forest a").last.get_attribute("href") or "")[1:]
    on.page.goto(files["rfc2884"].as_uri() + f"#{name}")
    assert_shown(on, name)


# --------------------------------------------------------------- files


def test_the_buttons_save_the_drawing_and_its_numbers(known, tmp_path):
    def saved(title: str, action: str) -> Path:
        with known.page.expect_download() as download:
            press(known, title, action).click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        return path

    for block, colour in ((WINDOW, "#00805f"), (GAIN, "#0072b2")):  # a curve, and markers with intervals
        name = block.title.lower().replace(" ", "-")
        drawing = saved(block.title, "save as SVG")
        assert drawing.name == f"{name}.svg"
        text = drawing.read_text()
        assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
        assert "var(" not in text and colour in text
        picture = saved(block.title, "save as PNG")
        assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        pixels = imread(picture)[:, :, :3].round(2).reshape(-1, 3)
        series = [round(int(colour[i : i + 2], 16) / 255, 2) for i in (1, 3, 5)]
        assert (abs(pixels - series).max(axis=1) < 0.02).sum() > 100  # the curve or its markers
        numbers = saved(block.title, "save its numbers as CSV")
        head, rows = block.table()
        assert list(csv.reader(numbers.read_text().splitlines())) == [head, *rows]
    assert press(known, FOREST.title, "save as PNG").is_visible()
    assert press(known, FOREST.title, "save its numbers as CSV").count() == 0  # it has no table
    with known.page.expect_download(predicate=lambda file: file.suggested_filename == "each-flow-2.svg"):
        press(known, EACH.title, "save as SVG").click()


# --------------------------------------------------------------- print


@pytest.mark.slow
@pytest.mark.parametrize("name", ["known", "run", "rfc2884"])
def test_a_page_can_be_printed(browser, files, name):
    on = opened(browser, files[name], A4)
    on.page.emulate_media(media="print")
    assert on.eval("document.documentElement.scrollWidth") <= A4[0]
    for hidden in ("#theme", "nav", ".tools"):
        assert not on.page.locator(hidden).first.is_visible(), hidden
    for drawn in (one for one in on.page.locator("figure:has(svg.plot)").all() if one.is_visible()):
        edges = box(drawn)
        assert edges["left"] >= 0 and edges["right"] <= A4[0] and edges["height"] < A4[1]
        assert drawn.evaluate("one => getComputedStyle(one).breakInside") == "avoid"
    tall = on.eval("document.documentElement.scrollHeight")
    printed = on.page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert tall / A4[1] <= pages <= 2 * math.ceil(tall / A4[1])
