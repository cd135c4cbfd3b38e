"""The studio's microscope compared with captures of the same runs, of which these tests read the TCP headers themselves."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from browser import DESKTOP, Windows, browser
from playwright.sync_api import Page, expect
from studio_served import BUILT, address

import ecnlab
from ecnlab.studio.share import fragment

__all__ = ["address", "browser"]

ROOT = Path(__file__).parents[2]
SYN, ACK, ECE = 2, 16, 64
HOST = 'congestion = "reno"\necn = "rfc3168"\n'
"""The TCP of the first scenario, which the others replace."""
RENO = 'congestion = "reno"\necn = "accecn"\ndsack = true\n'
DCTCP = 'congestion = "dctcp"\necn = "dctcp"\n'
BBR = 'congestion = "bbr3"\necn = "accecn"\ndsack = true\nrecovery = "rack"\n'
PRAGUE = 'profile = "l4s"\n'
QUEUE = 'discipline = "codel"\nlimit = "30 packets"\ntarget = "15 ms"\necn = true\n'
DELAY = 'delay = "40 ms"\n'
DUAL = 'discipline = "dualpi2"\nlimit = "30 packets"\n'
NEXT = {"mark": "Next mark", "echo": "Next ECE or ACE", "reduction": "Next reduction"}
NONE = "There is none after this time."
ACE = re.compile(
    r"ACE goes from (\d) to (\d), modulo 8\. The option's counter of bytes with CE goes from (\d+) to (\d+)\."
)

expect.set_options(timeout=30_000)  # runs of the module for tests are slow on a loaded machine

pytestmark = BUILT


def scenario_of(host: str, queue: str = QUEUE, loss: str = "0") -> str:
    """The scenario of the microscope with ``host`` as its TCP."""
    text = (ROOT / "studio/src/microscope/reno.toml").read_text()
    assert HOST in text and QUEUE in text and DELAY in text
    return text.replace(HOST, host).replace(QUEUE, queue).replace(DELAY, f"{DELAY}loss = {loss}\n")


def performed(folder: Path, scenario: str) -> ecnlab.Run:
    """The run of ``scenario``, with events and a capture at the receiver."""
    path = folder / "s.toml"
    path.write_text(scenario + '\n[capture.receiver]\nnode = "receiver"\nformat = "pcap"\n')
    return ecnlab.run(path, seed=1, events=True, out=folder / "run")


def segments(folder: Path) -> Iterator[tuple[int, int | None]]:
    """Flags, and the option's counter of bytes with CE, of each segment that the receiver sends after its SYN-ACK."""
    data = (folder / "run/captures/receiver.pcap").read_bytes()
    at, receiver = 24, b""
    while at < len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        ip, at = data[at + 16 : at + 16 + size], at + 16 + size
        tcp = ip[(ip[0] & 15) * 4 :]
        flags = struct.unpack_from(">H", tcp, 12)[0] & 511
        if flags & (SYN | ACK) == SYN | ACK:
            receiver = ip[12:16]
        elif ip[12:16] == receiver:
            option = re.search(rb"[\xac\xae]\x0b(.{3})(.{3})(.{3})", tcp[32 : (tcp[12] >> 4) * 4], re.DOTALL)
            yield flags, int.from_bytes(option[2]) if option else None


def counted(folder: Path) -> list[tuple[int, int, int, int]]:
    """ACE before and after, and the option's bytes with CE before and after, of each segment that changes ACE."""
    ace, marked = 5, 0
    found = []
    for flags, counter in segments(folder):
        now = flags >> 6 & 7
        if now != ace:
            assert counter is not None
            found.append((ace, now, marked, counter))
        ace, marked = now, marked if counter is None else counter
    return found


def opened(browser: Windows, address: str, choice: str, run: ecnlab.Run, end: str = "#/microscope") -> Page:
    """The microscope with the scenario ``choice``, whose packets are as many as those of ``run``."""
    found = browser.window()
    found.size(DESKTOP)
    found.page.goto(address + end)
    found.page.get_by_label("Scenario").select_option(label=choice)
    sent = run.packets.filter(
        (pl.col("event") == "enqueue") & pl.col("link").is_in(["access", "bottleneck~reverse"])
    ).height
    expect(found.page.locator(".status")).to_have_text(f"{sent} packets in 6 s.")
    return found.page


def following(page: Page, kind: str) -> str:
    """The next moment of ``kind``."""
    page.get_by_role("button", name=NEXT[kind]).click()
    return page.locator(f".moment.{kind}.present").last.inner_text()


def every(page: Page, kind: str) -> Iterator[str]:
    """Every later moment of ``kind``."""
    while True:
        text = following(page, kind)
        if page.locator(".status").inner_text() == NONE:
            return
        yield text


def test_accecn_from_the_handshake_to_the_reduction(browser: Windows, address: str, tmp_path: Path) -> None:
    run = performed(tmp_path, scenario_of(RENO))
    page = opened(browser, address, "One Reno flow with AccECN", run)
    following(page, "mark")
    expect(page.locator(".moment")).to_have_text(
        [
            re.compile("The SYN offers AccECN: AE, CWR and ECE.*RFC 9768 section 3.1.1"),
            re.compile(r"The SYN-ACK accepts AccECN .* SYN arrived as Not-ECT \(flags 010\).*table 2"),
            re.compile(r"last ACK .* SYN-ACK arrived as Not-ECT \(ACE 010\).*RFC 9768 section 3.2.2.1"),
            re.compile("becomes CE"),
        ]
    )
    echo = following(page, "echo")
    assert "RFC 9768 section 3.2.2.2" in echo and "section 3.2.3:" in echo
    first = counted(tmp_path)[0]
    assert first[:2] == (5, 6) and ACE.findall(echo) == [tuple(map(str, first))]
    expect(page.get_by_role("row", name="TCP: ACE")).to_contain_text("6, bits 110")
    reduction = following(page, "reduction")
    series = run.flow_series["cwnd_bytes"]
    before, after = next((a, b) for a, b in pairwise(series) if b < 0.95 * a)
    assert f"from {before / 1000:.3g} to {after / 1000:.3g} kB" in reduction and after == before / 2
    assert "it sets no CWR" in reduction
    page.get_by_role("button", name="Next CWR").click()
    expect(page.locator(".status")).to_have_text(NONE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("choice", "host", "queue"),
    [
        ("One Reno flow with AccECN", RENO, QUEUE),
        ("One Prague flow, DualPI2", PRAGUE, DUAL),
        ("One BBRv3 flow with AccECN", BBR, QUEUE),
    ],
    ids=["reno", "prague", "bbr3"],
)
def test_every_change_of_ace_is_that_of_the_capture(
    browser: Windows, address: str, tmp_path: Path, choice: str, host: str, queue: str
) -> None:
    page = opened(browser, address, choice, performed(tmp_path, scenario_of(host, queue)))
    found = [ACE.findall(text) for text in every(page, "echo")]
    expected = counted(tmp_path)
    assert found == [[tuple(map(str, one))] for one in expected]
    assert any(after < before for before, after, *_ in expected)  # ACE wraps


@pytest.mark.slow
def test_equal_duplicate_acks_after_losses_are_packets_of_their_own(
    browser: Windows, address: str, tmp_path: Path
) -> None:
    scenario = scenario_of(RENO, loss="0.005")
    run = performed(tmp_path, scenario)
    equal = run.packets.filter((pl.col("event") == "enqueue") & (pl.col("link") == "bottleneck~reverse"))
    assert equal.select("seq", "ack", "len", "flags").is_duplicated().sum() > 10
    page = opened(browser, address, "The scenario of the bench", run, fragment([scenario], 1, part="microscope"))
    found = [ACE.findall(text) for text in every(page, "echo")]
    assert len(found) > 4 and found == [[tuple(map(str, one))] for one in counted(tmp_path)]


@pytest.mark.slow
def test_dctcp_has_ece_on_each_ack_of_marked_data_and_reduces_by_alpha(
    browser: Windows, address: str, tmp_path: Path
) -> None:
    run = performed(tmp_path, scenario_of(DCTCP))
    page = opened(browser, address, "One DCTCP flow", run)
    echoes = list(every(page, "echo"))
    assert len(echoes) == sum(flags & ECE != 0 for flags, _ in segments(tmp_path))
    assert all("RFC 8257 section 3.2" in text for text in echoes)
    page.get_by_role("slider", name="Time").fill("0")
    reductions = [
        [float(x) for x in re.findall(r"\d+(?:\.\d+)?", text.split("RFC")[0])] for text in every(page, "reduction")
    ]
    assert len(reductions) == run.flows["ecn_reductions"].item()
    for _, before, after, alpha in reductions:
        assert after == pytest.approx(before * (1 - alpha / 2), rel=0.02)
