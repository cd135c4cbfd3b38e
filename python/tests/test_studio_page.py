"""The studio in Chromium, driven as a reader would."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import DESKTOP, PHONE, Opened, Windows, browser
from conftest import first_fast, imported, mostly_slow
from PIL import Image
from playwright.sync_api import Page, expect
from studio_served import BUILT, MARK_TO_CWR, address, running

import ecnlab
from ecnlab.studio.server import SITE
from ecnlab.studio.share import fragment

__all__ = ["address", "browser"]

ROOT = Path(__file__).parents[2]
LESSONS = 8

expect.set_options(timeout=30_000)  # runs of the module for tests are slow on a loaded machine

pytestmark = BUILT


@pytest.fixture
def page_of_site(tmp_path: Path) -> Iterator[str]:
    """The address of a page that embeds the studio, in a site that a common web server has in a folder."""
    shutil.copytree(SITE, tmp_path / "ecnlab/latest/studio")
    page = tmp_path / "ecnlab/latest/docs/page.html"
    page.parent.mkdir()
    embedded = imported(ROOT / "docs/stage.py").embedded(Path("docs/page.md"))
    page.write_text(f'<!doctype html><title>Page</title><link rel="icon" href="data:,">{embedded}')
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with running(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as root:
        yield f"{root}ecnlab/latest/docs/page.html"


def studio(browser: Windows, address: str, end: str = "", size: tuple[int, int] = DESKTOP, **options: object) -> Opened:
    found = browser.window(**options)
    found.size(size)
    found.page.goto(address + end)
    return found


def simulated(page: Page) -> None:
    """Wait for the end of a run on the bench."""
    expect(page.locator(".status")).to_contain_text("Simulated in")
    expect(page.locator("progress")).to_be_hidden()


def cell(page: Page, label: str, column: int = 0) -> float:
    row = page.locator("tr", has=page.get_by_role("rowheader", name=label, exact=True)).first
    return float(row.locator("td").nth(column).inner_text().replace(",", ""))


def test_the_bench_has_the_numbers_of_the_command(browser: Windows, address: str, tmp_path: Path) -> None:
    page = studio(browser, address).page
    simulated(page)
    scenario = tmp_path / "s.toml"
    scenario.write_text(page.get_by_label("Scenario A in TOML").input_value())
    run = ecnlab.run(scenario, seed=1)
    for group, goodput in run.flows.select("group", "goodput_bps").iter_rows():
        assert cell(page, f"{group}: goodput (Mbit/s)") == pytest.approx(goodput / 1e6, rel=0.005)
    expect(page.locator(".plot canvas")).to_have_count(4)


def test_a_control_changes_the_text_and_the_text_the_controls(browser: Windows, address: str) -> None:
    page = studio(browser, address).page
    simulated(page)
    before = cell(page, "ecn: goodput (Mbit/s)")
    page.locator("[data-key='link.bottleneck.rate']").press("Home")
    text = page.get_by_label("Scenario A in TOML")
    expect(text).to_have_value(re.compile('rate = "100 kbps"\ndelay = "20 ms"'))
    expect(page.get_by_role("button", name="link bottleneck, 100 kbps")).to_be_visible()
    assert cell(page, "ecn: goodput (Mbit/s)") < before / 2
    text.fill(text.input_value().replace('rate = "100 kbps"\ndelay', 'rate = "2 Mbps"\ndelay'))
    expect(page.get_by_role("button", name="link bottleneck, 2 Mbps")).to_be_visible()
    expect(page.locator("label", has=page.locator("[data-key='link.bottleneck.rate']")).locator("output")).to_have_text(
        "2 Mbps"
    )


def test_a_parameter_of_the_queue_has_the_sentence_of_the_schema(browser: Windows, address: str) -> None:
    page = studio(browser, address).page
    simulated(page)
    schema = json.loads((ROOT / "schema/scenario.schema.json").read_text())
    whole = {f"#/definitions/{name}": key for name, key in schema["definitions"].items()}
    forms = [form["properties"] for form in schema["properties"]["queue"]["additionalProperties"]["oneOf"]]
    codel = next(form for form in forms if whole.get(form["discipline"].get("$ref"), {}).get("const") == "codel")
    sentence = whole.get(codel["target"].get("$ref"), codel["target"])["description"]
    field = page.locator("label", has=page.locator("[data-key='queue.bottleneck.target']"))
    expect(field).to_have_attribute("title", sentence)


def test_errors_have_their_line_and_the_remedy(browser: Windows, address: str) -> None:
    found = studio(browser, address)
    page = found.page
    simulated(page)
    text = page.get_by_label("Scenario A in TOML")
    text.fill(text.input_value().replace('discipline = "codel"', 'discipline = "codle"'))
    error = page.locator(".errors li").first
    expect(error).to_contain_text("codel")
    line = int(re.findall(r"line (\d+)", error.inner_text())[0])
    assert text.input_value().split("\n")[line - 1].startswith("discipline")
    error.get_by_role("button").click()
    assert page.evaluate("document.activeElement.tagName") == "TEXTAREA"
    assert found.messages == []


@pytest.mark.slow
def test_two_scenarios_and_many_seeds(browser: Windows, address: str) -> None:
    page = studio(browser, address).page
    simulated(page)
    page.get_by_role("button", name="Compare with a second").click()
    expect(page.locator(".plot canvas")).to_have_count(8)
    page.locator("[data-key='queue.bottleneck.ecn']").uncheck()
    expect(page.get_by_label("Scenario B in TOML")).to_have_value(re.compile("ecn = false"))
    page.get_by_role("button", name="20 seeds").click()
    table = page.get_by_role("region", name="Results of all seeds")
    expect(table).to_be_visible(timeout=60_000)
    marked = table.locator("tr", has=page.get_by_role("rowheader", name="bottleneck: packets marked")).locator("td")
    assert marked.nth(1).inner_text() == "0 ± 0"
    mean = float(marked.nth(0).inner_text().split(" ± ")[0])
    assert marked.nth(2).inner_text().startswith(f"{-mean:g}")


@pytest.mark.slow
def test_what_is_taken_away(browser: Windows, address: str, tmp_path: Path) -> None:
    page = studio(browser, address).page
    simulated(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="pcapng").click()
    capture = tmp_path / "bottleneck.pcapng"
    download.value.save_as(capture)
    assert ecnlab.trace(capture).connections.height == 2
    with page.expect_download() as download:
        page.get_by_label("CSV…").select_option(label="flows")
    assert download.value.path().read_text().startswith("flow,name,group,")
    with page.expect_download() as download:
        page.get_by_label("SVG…").select_option(index=1)
    assert download.value.path().read_text().startswith("<svg ")
    page.get_by_role("button", name="Command").click()
    expect(page.locator(".status")).to_contain_text("ecnlab run scenario.toml --seed 1")


def test_a_link_opens_its_scenario_and_a_damaged_one_has_a_way_back(
    browser: Windows, address: str, tmp_path: Path
) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text((ROOT / "studio/src/default.toml").read_text().replace("20 ms", "33 ms"))
    seed = 2**64 - 1
    end = fragment([scenario.read_text()], seed)
    page = studio(browser, address, end).page
    simulated(page)
    expect(page.get_by_role("button", name="link bottleneck, 10 Mbps, 33 ms")).to_be_visible()
    assert page.get_by_label("Seed", exact=True).input_value() == str(seed)
    goodput = ecnlab.run(scenario, seed=seed).flows["goodput_bps"][0]
    assert cell(page, "ecn: goodput (Mbit/s)") == pytest.approx(goodput / 1e6, rel=0.005)
    large = fragment(["#" * 4_000_000])
    for wrong in (
        large,
        end[:-40],
        end.replace("?s=1.", "?s=9."),
        "#/bench?s=1." + base64.urlsafe_b64encode(b"x").decode(),
    ):
        page.goto("about:blank")
        page.goto(address + wrong)
        expect(page.get_by_role("alert")).to_contain_text("cannot be opened")
        page.get_by_role("link", name="Go to the bench").click()
        simulated(page)


@pytest.mark.slow
def test_a_page_of_a_site_in_a_folder_embeds_an_example_and_opens_it(browser: Windows, page_of_site: str) -> None:
    found = studio(browser, page_of_site)
    inside = found.page.frame_locator("iframe")
    expect(inside.locator(".status")).to_contain_text("Simulated in")
    found.page.get_by_role("link", name="Open it in a window of its own").click()
    simulated(found.page)
    text = (ROOT / "examples/dumbbell.toml").read_text()
    assert found.page.get_by_label("Scenario A in TOML").input_value() == text
    folder = page_of_site.removesuffix("docs/page.html")
    assert all(asked.startswith((folder, "data:", "blob:")) for asked in found.asked if asked != "about:blank")
    assert found.messages == []


def test_the_microscope_follows_a_mark_to_the_confirmation(browser: Windows, address: str, tmp_path: Path) -> None:
    page = studio(browser, address, "#/microscope").page
    expect(page.locator(".status")).to_contain_text("packets in 6 s")
    times = []
    for button, text in MARK_TO_CWR:
        page.get_by_role("button", name=button).click()
        expect(page.locator(".moment").last).to_contain_text(text)
        times.append(float(page.locator(".clock").inner_text().split()[0]))
    assert times == sorted(times)
    assert times[2] - times[0] == pytest.approx(
        0.1, abs=0.1
    )  # from the router to the receiver and back to the sender: 90 ms without queues
    expect(page.get_by_role("rowheader", name="TCP: flags").locator("xpath=following-sibling::td")).to_have_text(
        "ACK CWR"
    )
    before = page.locator(".clock").inner_text()
    page.get_by_role("button", name="Step back").click()
    page.get_by_role("button", name="Step", exact=True).click()
    assert page.locator(".clock").inner_text() == before


@pytest.mark.slow
def test_the_microscope_has_every_mark_and_packet_of_the_command(browser: Windows, address: str) -> None:
    path = ROOT / "studio/src/microscope/reno.toml"
    run = ecnlab.run(path, seed=1, events=True)
    found = studio(browser, address, "#/microscope")
    page = found.page
    expect(page.locator(".status")).to_contain_text("packets in 6 s")
    sent = run.packets.filter(
        (run.packets["event"] == "enqueue") & run.packets["link"].is_in(["access", "bottleneck~reverse"])
    )
    assert page.locator(".status").inner_text() == f"{sent.height} packets in 6 s."
    marks = run.packets.filter(run.packets["event"] == "mark").height
    assert marks > 2
    for _ in range(marks):
        page.get_by_role("button", name="Next mark").click()
        expect(page.locator(".moment").last).to_contain_text("becomes CE")
    page.get_by_role("button", name="Next mark").click()
    expect(page.locator(".status")).to_have_text("There is none after this time.")
    assert found.messages == []


@pytest.mark.parametrize("number", mostly_slow(range(1, LESSONS + 1), 4))
def test_a_lesson_is_walked_through(browser: Windows, address: str, number: int) -> None:
    found = studio(browser, address, f"#/lessons/{number}")
    page = found.page
    page.get_by_role("button", name="Answer and run").click()
    expect(page.locator(".results")).to_contain_text("Choose an answer first")
    page.locator(".option").nth(0).click()
    page.get_by_role("button", name="Answer and run").click()
    verdict = page.locator(".verdict")
    expect(verdict).to_be_visible(timeout=30_000)
    assert "do not show what the lesson expects" not in verdict.inner_text()
    for goodput in page.get_by_role("img", name="Goodput").all():
        rates = re.findall(r": mean (\d+\.?\d*), highest (\d+\.?\d*)", goodput.get_attribute("aria-label") or "")
        means, tops = ([float(one[place]) for one in rates] for place in (0, 1))
        assert len(means) == 2
        assert min(means) > 0
        # Also for a flow without a connection at some samples. Data behind a loss arrive at once: more than the link's rate.
        assert max(tops) < 3 * sum(means)
    page.get_by_role("button", name="Check").click()
    expect(page.locator(".find p")).to_contain_text("Not yet")
    expect(page.locator(".plot canvas")).to_have_count(4)
    assert found.messages == []


@pytest.mark.parametrize(
    ("size", "scheme"), first_fast(1, [(PHONE, "dark"), (PHONE, "light"), (DESKTOP, "light"), (DESKTOP, "dark")])
)
@pytest.mark.parametrize("end", ["#/bench", "#/microscope", "#/lessons/4"])
def test_pages_are_accessible_and_fit(
    browser: Windows, address: str, size: tuple[int, int], scheme: str, end: str
) -> None:
    found = studio(browser, address, end, size, color_scheme=scheme)
    page = found.page
    if "bench" in end:
        simulated(page)
    elif "microscope" in end:
        expect(page.locator(".status")).to_contain_text("packets in 6 s")
        page.get_by_role("button", name="Next mark").click()
        expect(page.locator(".detail caption")).to_be_visible()
    else:
        page.locator(".option").nth(1).click()
        page.get_by_role("button", name="Answer and run").click()
        expect(page.locator(".verdict")).to_be_visible(timeout=30_000)
    broken = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in broken] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert found.messages == []


@pytest.mark.slow
def test_a_long_run_leaves_the_page_responsive_and_can_be_cancelled(browser: Windows, address: str) -> None:
    text = (ROOT / "studio/src/default.toml").read_text().replace('"20 s"', '"20000 s"').replace('"50 ms"', '"5 s"')
    page = studio(browser, address, fragment([text])).page
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_role("progressbar")).not_to_have_attribute("value", "0")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".status")).to_contain_text("Cancelled")
    expect(page.get_by_role("progressbar")).to_be_hidden()


@pytest.mark.slow
def test_everything_is_small_and_local(browser: Windows, address: str) -> None:
    files = [path for path in SITE.rglob("*") if path.is_file()]
    assert sum(len(gzip.compress(path.read_bytes(), 9)) for path in files) <= 1_200_000
    found = studio(browser, address)
    simulated(found.page)
    assert all(asked.startswith((address, "data:", "blob:")) for asked in found.asked if asked != "about:blank")


@pytest.mark.slow
def test_the_picture_of_the_readme_is_made(tmp_path: Path) -> None:
    made = tmp_path / "studio.gif"
    subprocess.run([sys.executable, ROOT / "tests/tools/pictures/studio.py", made], check=True, timeout=120)
    with Image.open(made) as new, Image.open(ROOT / "docs/img/studio.gif") as stored:
        assert (new.size, new.n_frames) == (stored.size, stored.n_frames)
