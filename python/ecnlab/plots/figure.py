"""One figure: its data, and how Matplotlib draws it. Matplotlib is loaded when a figure is drawn, and only then."""

from __future__ import annotations

import io
import math
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from ecnlab.base.errors import EcnlabError
from ecnlab.base.lazy_imports import pl
from ecnlab.folder.atomic import write_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

FORMATS: Final = ("svg", "pdf", "png", "csv")
"""Allowed suffixes of a figure's file."""

COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's colours, distinguishable with any kind of colour vision; black instead of grey."""

DASHES: Final = ("-", "--", ":", "-.")
"""Line styles, distinguishable in print without colour."""

MOST_LINES: Final = len(COLOURS)

WIDTH: Final = 5.0
HEIGHT: Final = 2.8
"""Inches: a figure fills a column of a paper and is legible there."""

FONT: Final = 9.0
"""Points."""

STYLE: Final[dict[str, Any]] = {
    "font.size": FONT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "ecnlab",  # the same figure has the same bytes
    "pdf.fonttype": 42,  # TrueType: publishers reject Type 3
}

METADATA: Final[dict[str, dict[str, None]]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}


@dataclass(frozen=True)
class Figure:
    """A figure. ``rows`` has the columns ``series``, ``x``, ``y`` as named here, and ``low``, ``high`` of intervals if any."""

    rows: pl.DataFrame
    x: str
    y: str
    title: str
    x_label: str
    y_label: str
    shape: Literal["line", "stairs", "points"] = "line"
    categories: Sequence[str] = ()
    """The names of x = 0, 1, ..., where x is no number."""
    from_zero: bool = True
    log_y: bool = False
    """The y axis is logarithmic."""
    note: str = ""
    """Omissions of the figure."""

    def data(self) -> pl.DataFrame:
        """Return the plotted data: a row per point, with units in the names of the columns."""
        return self.rows

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Write the figure to ``file`` (.svg, .pdf or .png), or its data (.csv). Raises EcnlabError, OSError.

        Warns (`FigureWarning`) about data that the file does not show.
        """
        path = Path(file)
        kind = path.suffix.removeprefix(".").lower()
        if kind not in FORMATS:
            raise EcnlabError(f"{path}: a figure ends with {', '.join(f'.{name}' for name in FORMATS)}")
        write_named(path, self.rows.write_csv().encode() if kind == "csv" else self._rendered(kind))
        return path

    def draw(self) -> Drawing:
        """The figure as Matplotlib's, for changes of one's own. Raises EcnlabError if Matplotlib is not installed."""
        with _plain_warnings():
            return self._draw()

    def _draw(self) -> Drawing:
        matplotlib = _matplotlib()
        from matplotlib.figure import Figure as Drawing

        with matplotlib.rc_context(STYLE):
            drawing = Drawing(figsize=(WIDTH, HEIGHT), layout="constrained")
            axes = drawing.add_subplot()
            axes.set_title(self.title, loc="left", fontsize=FONT, fontweight="bold", parse_math=False)
            axes.set_xlabel(self.x_label + (f"\n{self.note}" if self.note else ""), parse_math=False)
            axes.set_ylabel(self.y_label, parse_math=False)
            ends = list(self._lines(axes))
            self._limit(axes)
            drawing.draw_without_rendering()  # the axes have their size
            _label(axes, ends)
        return drawing

    def _repr_svg_(self) -> str:
        return self._rendered("svg").decode()

    def _rendered(self, kind: str) -> bytes:
        data = io.BytesIO()
        with _plain_warnings(glyphs=kind != "svg"):
            drawing = self._draw()
            with _matplotlib().rc_context(STYLE):
                drawing.savefig(data, format=kind, dpi=200, metadata=METADATA[kind])
        return data.getvalue()

    def _lines(self, axes: Axes) -> Iterator[tuple[str, float, str]]:
        """Draw every line; yield its name, the height of its end and its colour."""
        names = self.rows["series"].unique(maintain_order=True).to_list()
        for number, name in enumerate(names):
            rows = self.rows.filter(pl.col("series") == name)
            x, y = rows[self.x].to_list(), [math.nan if v is None else v for v in rows[self.y].to_list()]
            colour, dashes = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
            if self.shape == "points":
                low, high = (rows[side].fill_null(rows[self.y]).to_list() for side in ("low", "high"))
                reach = [[v - a for v, a in zip(y, low, strict=True)], [b - v for v, b in zip(y, high, strict=True)]]
                x = [at + self._aside(number - (len(names) - 1) / 2) for at in x]
                line = axes.errorbar(x, y, reach, marker="o", markersize=3, capsize=2, color=colour, linestyle=dashes)[
                    0
                ]
            else:
                style = "steps-post" if self.shape == "stairs" else "default"
                (line,) = axes.plot(x, y, drawstyle=style, color=colour, linewidth=0.9)
            line.set_gid(f"line-{number}")
            yield str(name), next((v for v in reversed(y) if math.isfinite(v)), 0.0), colour

    def _aside(self, steps: float) -> float:
        """Return the horizontal offset of points, so that intervals do not cover each other."""
        least, most = float(self.rows[self.x].min()), float(self.rows[self.x].max())  # type: ignore[arg-type]
        return steps * 0.012 * (most - least)

    def _limit(self, axes: Axes) -> None:
        axes.margins(x=0.03 if self.shape == "points" else 0)
        if self.log_y:
            axes.set_yscale("log")
        elif self.from_zero:
            axes.set_ylim(bottom=0)
        if self.from_zero:
            axes.set_xlim(left=0)
        if self.categories:
            axes.set_xticks(range(len(self.categories)), list(self.categories), parse_math=False)


def _label(axes: Axes, ends: Sequence[tuple[str, float, str]]) -> None:
    """Write the name of each line at its right end; names that would overlap are moved apart."""
    height = axes.get_window_extent().height
    points = axes.figure.dpi / 72
    ordered = sorted(ends, key=lambda end: end[1])
    wanted = [float(axes.transData.transform((0, value))[1] - axes.get_window_extent().y0) for _, value, _ in ordered]
    for (name, _, colour), place in zip(ordered, apart(wanted, 1.25 * FONT * points, height), strict=True):
        axes.annotate(
            name, (1, place / height), (4, 0), "axes fraction", "offset points",
            color=colour, va="center", ha="left", parse_math=False,
        )  # fmt: skip


def apart(wanted: Sequence[float], distance: float, height: float) -> list[float]:
    """The ascending places ``wanted``, moved so that neighbours are ``distance`` apart, within ``height`` if they fit."""
    found: list[float] = []
    for place in wanted:
        found.append(max(place, found[-1] + distance) if found else max(place, 0.0))
    limit = max(height, distance * (len(found) - 1))
    for place in reversed(range(len(found))):
        found[place] = min(found[place], limit)
        limit = found[place] - distance
    return found


class FigureWarning(UserWarning):
    """A figure that does not show all that it should."""


@contextmanager
def _plain_warnings(*, glyphs: bool = True) -> Iterator[None]:
    """Report Matplotlib's warnings as one `FigureWarning` each.

    Without ``glyphs`` the text is rendered by the viewer of the file.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    texts = [str(one.message) for one in caught]
    missing = dict.fromkeys(int(found[1]) for text in texts if (found := re.match(r"Glyph (\d+) .*missing", text)))
    others = dict.fromkeys(text for text in texts if not re.match(r"Glyph \d+ .*missing", text))
    told = []
    if missing and glyphs:
        told.append(f"the font has no {' '.join(map(chr, missing))}: write .svg, which keeps text as text")
    if any("layout not applied" in text for text in others):
        told.append("names and labels leave no room for the axes: write shorter ones")
    told += [text for text in others if "layout not applied" not in text]
    for text in told:
        warnings.warn(text, FigureWarning, stacklevel=4)


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise EcnlabError(
            "figures need Matplotlib: `pip install 'ecnlab[plots]'`; the data (.csv) needs no extra package"
        ) from error
    return matplotlib
