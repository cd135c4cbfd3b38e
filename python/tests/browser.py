"""A browser for tests of reports, and the pages that they open.

The browser is Debian's Chromium; Playwright drives it and downloads none.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, sync_playwright

CHROMIUM = shutil.which("chromium")
PHONE, TABLET, DESKTOP = (390, 844), (768, 1024), (1400, 900)
A4 = (794, 1123)
"""Widths and heights of windows, and of a printed page, in CSS pixels."""

OPEN_ALL = "document.querySelectorAll('details').forEach(one => { one.open = true; })"


class Windows:
    """The windows of one browser. A page opens in the window that earlier pages used: a new one takes longer than a page."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._opened: dict[tuple[tuple[str, object], ...], Opened] = {}

    def window(self, **options: Any) -> Opened:
        """Return the window with these options of a context, without messages and addresses of earlier pages."""
        key = tuple(sorted(options.items()))
        if key not in self._opened:
            self._opened[key] = _listening(self._browser.new_context(reduced_motion="reduce", **options).new_page())
        found = self._opened[key]
        found.page.goto("about:blank")
        found.page.mouse.move(0, 0)
        found.page.emulate_media(media="null", color_scheme="null")
        found.messages.clear()
        found.asked.clear()
        return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Windows]:
    """Of a module: two drivers of Playwright cannot be open at once in one process, nor any other event loop next to one."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium in PATH: `apt-get install chromium`")
    # Chromium has no sandbox for root, and little shared memory in a container. A GPU that software imitates takes time.
    options = ["--disable-dev-shm-usage", "--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield Windows(made)
        made.close()


@dataclass
class Opened:
    """A page in a window; ``messages`` has its errors and console messages, ``asked`` the addresses it requested."""

    page: Page
    messages: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def size(self, size: tuple[int, int]) -> None:
        self.page.set_viewport_size({"width": size[0], "height": size[1]})

    def eval(self, script: str, *given: Any) -> Any:
        return self.page.evaluate(script, *given)

    def box(self, selector: str) -> dict[str, float]:
        return box(self.page.locator(selector).first)


def _listening(page: Page) -> Opened:
    found = Opened(page)
    page.set_default_timeout(5_000)
    page.on("console", lambda message: found.messages.append(message.text))
    page.on("pageerror", lambda error: found.messages.append(str(error)))
    page.on("request", lambda request: found.asked.append(request.url))
    return found


def opened(browser: Windows, file: Path, size: tuple[int, int] = DESKTOP, anchor: str = "", **options: Any) -> Opened:
    """Open ``file`` in a window of ``size``. Another page in a window of the same ``options`` takes its place."""
    found = browser.window(**options)
    found.size(size)
    found.page.goto(file.as_uri() + anchor)
    return found


def box(element: Locator) -> dict[str, float]:
    """The rectangle of an element in the window: left, right, top, bottom, width, height."""
    found: dict[str, float] = element.evaluate("one => one.getBoundingClientRect().toJSON()")
    return found


def ticks(chart: Locator) -> list[str]:
    """The texts of a chart's x axis."""
    return chart.locator(".ticks text").all_text_contents()


def scale(chart: Locator, axis: str) -> tuple[float, float]:
    """Place of the value 0 and pixels per unit of an axis ("x" or "y"), from the places of its first and last tick text."""
    texts = chart.locator(".ticks text" if axis == "x" else "text.y")
    ends = [(_number(one), _middle(box(one), axis)) for one in (texts.first, texts.last)]
    (a, at_a), (b, at_b) = ends
    unit = (at_b - at_a) / (b - a)
    return at_a - a * unit, unit


def _number(text: Locator) -> float:
    return float((text.text_content() or "").replace("−", "-").replace(",", ""))


def _middle(rectangle: dict[str, float], axis: str) -> float:
    low, high = ("left", "right") if axis == "x" else ("top", "bottom")
    return (rectangle[low] + rectangle[high]) / 2


CURVE = """path => {
  const screen = path.getScreenCTM();
  return [...path.getAttribute("d").matchAll(/[ML](-?\\d+) (-?\\d+)/g)].map(([, x, y]) => {
    const at = new DOMPoint(+x, +y).matrixTransform(screen);
    return [at.x, at.y];
  });
}"""


def curve(chart: Locator, name: str) -> list[list[float]]:
    """The points of a curve in the window, in pixels."""
    found: list[list[float]] = chart.locator(f'[data-name="{name}"]').evaluate(CURVE)
    return found


def tab_to(page: Page, selector: str, most: int = 60) -> None:
    """Press Tab until an element that matches has the focus. Each stop on the way must show its focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        shown = "(s => s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2)(getComputedStyle(document.activeElement))"
        assert page.evaluate(shown), page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{most} presses of Tab do not reach {selector}")


CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = colour => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const known = new Map();
  const light = colour => {
    if (!known.has(colour)) known.set(colour, luminance(colour));
    return known.get(colour);
  };
  const luminance = colour => {
    const [r, g, b] = rgb(colour).map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = one => {
    const found = getComputedStyle(one).backgroundColor;
    return rgb(found)[3] === 255 ? found : one.parentElement ? behind(one.parentElement) : "white";
  };
  const written = one => [...one.childNodes].some(child => child.nodeType === 3 && child.textContent.trim());
  return [...document.querySelectorAll("body *:not(script)")].filter(one => one.checkVisibility() && written(one)).map(one => {
    const style = getComputedStyle(one), colour = one.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [a, b] = [light(colour), light(behind(one))].sort((a, b) => b - a);
    return [one.textContent, (a + 0.05) / (b + 0.05)];
  }).filter(([, ratio]) => ratio < 4.5);
}"""
"""Texts whose contrast with the background, as WCAG 2.2 defines it, is below 4.5: (text, ratio).

axe takes seconds for it and leaves drawings out.
"""
