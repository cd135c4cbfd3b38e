"""The studio's part Trace in a browser, compared with `ecnlab.trace` of the same file."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import DESKTOP, PHONE, Opened, Windows, browser
from studio_served import BUILT, address

import ecnlab

ROOT = Path(__file__).parents[2]
CAPTURES = ROOT / "tests/data/captures"
WAIT = 30_000
"""Milliseconds for the module to load and a capture to be read."""

pytestmark = BUILT

__all__ = ["address", "browser"]


def given(browser: Windows, address: str, file: Path, size: tuple[int, int] = DESKTOP) -> Opened:
    """The part with ``file`` in its file input."""
    found = browser.window()
    found.size(size)
    found.page.goto(f"{address}#/trace")
    found.page.locator("input[type=file]").set_input_files(file, timeout=WAIT)
    return found


def rows(found: Opened, table: str) -> int:
    section = found.page.locator(f"[data-table={table}]")
    return int(section.get_attribute("data-rows") or "") if section.count() else 0


@pytest.mark.parametrize("name", ["ecn.pcap.gz", "refused.pcap.gz"])
def test_the_page_has_the_connections_and_violations_of_the_command(browser: Windows, address: str, name: str) -> None:
    found = given(browser, address, CAPTURES / name)
    found.page.locator("canvas").first.wait_for(timeout=WAIT)
    native = ecnlab.trace(CAPTURES / name)
    assert rows(found, "connections") == native.connections.height
    assert rows(found, "violations") == native.violations.height
    assert found.page.locator(".verdict").count() == native.verdicts.height
    without = native.directions.filter(connection=0, data_packets=0).height
    assert found.page.get_by_text("This end sent no data.").count() == without
    assert not [message for message in found.messages if "rror" in message]


def test_a_damaged_capture_is_shown_up_to_the_damage_and_fits_a_phone(
    browser: Windows, address: str, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.pcap.gz"
    whole = (CAPTURES / "ecn.pcap.gz").read_bytes()
    cut.write_bytes(whole[: len(whole) // 2])
    found = given(browser, address, cut, PHONE)
    found.page.locator("canvas").first.wait_for(timeout=WAIT)
    assert "was not read to its end" in (found.page.locator(".damage").text_content() or "")
    assert rows(found, "connections") == ecnlab.trace(cut).connections.height
    assert found.eval("document.documentElement.scrollWidth") <= PHONE[0]


def test_a_file_that_is_no_capture_is_an_error_with_its_name(browser: Windows, address: str, tmp_path: Path) -> None:
    wrong = tmp_path / "picture.gif"
    wrong.write_bytes(b"GIF89a and more")
    found = given(browser, address, wrong)
    found.page.get_by_text("picture.gif: byte 0").wait_for(timeout=WAIT)


def test_a_file_that_is_too_large_ends_the_reading_before_it(browser: Windows, address: str) -> None:
    found = browser.window()
    found.page.goto(f"{address}#/trace")
    found.page.locator(".drop").wait_for(timeout=WAIT)
    status = found.eval(
        """(async () => {
          for (const [name, size] of [["small.pcap", 24], ["large.pcap", 6e8]]) {
            const files = [{ name, size, arrayBuffer: async () => new ArrayBuffer(24) }];
            document.querySelector(".trace").dispatchEvent(Object.assign(new Event("drop", { bubbles: true }), { dataTransfer: { files } }));
          }
          await new Promise((done) => setTimeout(done, 100));
          return document.querySelector(".status").textContent;
        })()"""
    )
    assert status.startswith("large.pcap has 600 MB; a page reads at most 500 MB.")
