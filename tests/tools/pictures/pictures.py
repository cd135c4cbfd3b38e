"""Writes pictures of reports, for READMEs: the top of the page in a window of 1400 by 900 and on a phone, in light and dark.

    make pictures                                            # results/rfc2884/report.html to build/pictures
    make pictures ARGS="results/dumbbell/report.html --out docs/img --size 1400x900 --scheme light"
    make pictures ARGS="results/rfc2884/report.html --figure Queue"

With ``--figure`` the picture is of the first figure whose title begins with the text. Pictures have two pixels for each CSS pixel.
The browser is Debian's Chromium.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

SIZES = ("1400x900", "390x844")
SCHEMES = ("light", "dark")


def main() -> int:
    """Write the pictures and print their paths."""
    parser = argparse.ArgumentParser(description="Write pictures of a report.")
    parser.add_argument("report", nargs="?", type=Path, default=Path("results/rfc2884/report.html"))
    parser.add_argument("--out", type=Path, default=Path("build/pictures"), help="folder (default: %(default)s)")
    parser.add_argument("--size", action="append", help=f"window, in CSS pixels (default: {', '.join(SIZES)})")
    parser.add_argument("--scheme", action="append", choices=SCHEMES, help="default: both")
    parser.add_argument("--figure", help="beginning of the title of a figure (default: the top of the page)")
    given = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        print("needs Chromium in PATH: `apt-get install chromium`", file=sys.stderr)
        return 1
    if not given.report.is_file():
        print(
            f"{given.report}: no such file; `make reproduce` or `ecnlab report FOLDER` writes a report", file=sys.stderr
        )
        return 1
    given.out.mkdir(parents=True, exist_ok=True)
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        for size in given.size or SIZES:
            for scheme in given.scheme or SCHEMES:
                print(picture(browser, given.report, given.out, size, scheme, given.figure))
        browser.close()
    return 0


def picture(browser: Browser, report: Path, out: Path, size: str, scheme: str, figure: str | None) -> Path:
    """Write one picture and return its path."""
    width, height = map(int, size.split("x"))
    page = browser.new_page(
        viewport={"width": width, "height": height}, device_scale_factor=2, color_scheme=scheme, reduced_motion="reduce"
    )
    page.goto(report.resolve().as_uri())
    name = "-".join((report.resolve().parent.name, report.stem, size, scheme))
    path = out / f"{name}.png"
    if figure is None:
        page.screenshot(path=path)
    else:
        page.evaluate("document.querySelectorAll('details.fold').forEach(one => { one.open = true; })")
        titles = page.locator("figure h3").all_text_contents()
        found = next((i for i, title in enumerate(titles) if title.startswith(figure)), None)
        if found is None:
            raise SystemExit(f"{report}: no figure's title begins with {figure!r}: there are {', '.join(titles)}")
        page.locator("figure:has(h3)").nth(found).screenshot(path=path)
    page.close()
    return path


if __name__ == "__main__":
    sys.exit(main())
