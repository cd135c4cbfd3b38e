"""Writes the README's moving picture of the studio, ``docs/img/studio.gif``: a slider is drawn, and the pictures follow.

The browser is Debian's Chromium; the studio is that of `make studio`.
"""

from __future__ import annotations

import io
import shutil
import sys
import threading
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from ecnlab.studio.server import serve

OUT: Final = Path(__file__).parents[3] / "docs" / "img" / "studio.gif"
SIZE: Final = (1200, 700)
SHOWN: Final = 0.62
"""Size of the picture, as a part of the window's."""
SLIDER: Final = "[data-key='link.bottleneck.rate']"
STEPS: Final = (500, 540, 580, 620, 660, 620, 580, 540, 500, 460, 420, 380, 340, 380, 420, 460)
"""Positions of the rate's slider, of 1000: from 10 Mbit/s to 44, to 2.3 and back."""
PAUSE: Final = 450
"""Milliseconds of each."""


def main(out: Path = OUT) -> int:
    """Write the picture and print its path and size."""
    with serve(0) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="light")
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        page.wait_for_selector(".u-over")
        frames = [frame(page, step) for step in STEPS]
        browser.close()
        server.shutdown()
    frames[0].save(out, save_all=True, append_images=frames[1:], duration=PAUSE, loop=0, optimize=True)
    print(f"{out}: {out.stat().st_size // 1000} kB")
    return 0


def frame(page: Page, step: int) -> Image.Image:
    """Return the page after a run with the slider at ``step``."""
    move = "(slider, step) => { slider.value = step; slider.dispatchEvent(new Event('input', { bubbles: true })); }"
    page.locator(SLIDER).evaluate(move, str(step))
    page.wait_for_timeout(900)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    small = picture.resize((round(SIZE[0] * SHOWN), round(SIZE[1] * SHOWN)), Image.Resampling.LANCZOS)
    return small.quantize(64)


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
