"""One figure: its data, its size and its files. Matplotlib is loaded when a figure is drawn, and only then."""

from __future__ import annotations

import io
import math
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeVar

from ecnlab.base.errors import EcnlabError
from ecnlab.base.lazy_imports import pl
from ecnlab.folder.outputs import refuse_output, write_named
from ecnlab.plots import values
from ecnlab.plots.look import DPI, HEIGHT, NO_ROOM, WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from ecnlab.plots.series import End

T = TypeVar("T")

FORMATS: Final = ("svg", "pdf", "png", "csv")
"""Allowed suffixes of a figure's file."""

TIME: Final = "time, s"
"""The x axis of figures over time."""

STYLE: Final[dict[str, Any]] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.hinting": "none",  # widths of text do not depend on the resolution
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
    """The names of x = 0, 1, ..., where x is no number. Their points are not joined."""
    from_zero: bool = True
    level: float | None = None
    """The y of a horizontal line: no effect."""
    log_y: bool = False
    """The y axis is logarithmic."""
    note: str = ""
    """Omissions of the figure."""
    rugs: pl.DataFrame | None = None
    """Events, drawn as ticks below the axis: the columns ``series`` and ``x``, and ``panel`` if there are panels."""
    panel: str = ""
    """The column of ``rows`` with the panel of each series; "" if all are in the same axes."""
    width: float = WIDTH
    height: float = HEIGHT
    """Inches."""
    start: float | None = None
    end: float | None = None
    """Limits of the x axis; None: those of the data."""
    whole: Figure | None = None
    """The figure with all rows and events, of one that begins after its data; a start or an end applies to these."""

    def from_(self, time: float) -> Self:
        """Return the figure from ``time`` on, in s, which `with_` can change; itself if a series has no point from there on."""
        kept = self.rows.filter(pl.col(TIME) >= time)
        keys = [name for name in (self.panel, "series") if name]
        if kept.select(keys).n_unique() < self.rows.select(keys).n_unique():
            return self
        return replace(self._between(time, None), whole=self)

    def data(self) -> pl.DataFrame:
        """Return the plotted data: a row per point or event, with units in the names of the columns.

        Rows of events have no y.
        """
        return self.rows if self.rugs is None else pl.concat([self.rows, self.rugs], how="diagonal")

    def with_(
        self,
        *,
        size: str | tuple[float, float] | None = None,
        title: str | None = None,
        labels: Mapping[str, str] | None = None,
        start: str | float | None = None,
        end: str | float | None = None,
    ) -> Self:
        """Return a changed copy. What is None stays as it is.

        ``size`` is text such as "88x60mm" (mm, cm, in), or width and height in inches. An empty ``title`` draws none.
        ``labels`` renames series, old name to new. ``start`` and ``end`` restrict a figure over time, and its data, to
        an interval, ends included: seconds, or text such as "10 s". Raises EcnlabError, with the remedy.
        """
        changed = self
        if size is not None:
            read = values.size if isinstance(size, str) else lambda given: values.sides(*given)
            width, height = _read("size", read, size)
            changed = replace(changed, width=width, height=height)
        if start is not None or end is not None:
            changed = changed._between(start, end)
        if labels:
            changed = changed._renamed(labels)
        return changed if title is None else replace(changed, title=title)

    def _between(self, start: str | float | None, end: str | float | None) -> Self:
        if self.x != TIME:
            raise EcnlabError(f"{self.title}: not a figure over time: leave out its start and end")
        of = self.whole or self
        first, last = float(of.rows[TIME].min()), float(of.rows[TIME].max())  # type: ignore[arg-type]
        low = _read("start", values.seconds, start) if isinstance(start, str) else start
        high = _read("end", values.seconds, end) if isinstance(end, str) else end
        if low is None and self.start is not None and (high is None or self.start < high):
            low = self.start
        high = self.end if high is None else high
        if low is not None and high is not None and low >= high:
            raise EcnlabError(f"{self.title}: the start, {low:g} s, is not before the end, {high:g} s: exchange them")
        within = pl.col(TIME).is_between(-math.inf if low is None else low, math.inf if high is None else high)
        rows = of.rows.filter(within)
        if not rows.height:
            raise EcnlabError(f"{self.title}: no data in this interval: choose one within {first:g} s to {last:g} s")
        rugs = None if of.rugs is None else of.rugs.filter(within)
        return replace(self, rows=rows, rugs=rugs, start=low, end=high)

    def _renamed(self, labels: Mapping[str, str]) -> Self:
        names = self.data()["series"].unique(maintain_order=True).to_list()
        if missing := [name for name in labels if name not in names]:
            raise EcnlabError(f"{self.title}: no series is called {missing[0]!r}: there are {', '.join(names)}")
        new = [labels.get(name, name) for name in names]
        if twice := [name for name in new if new.count(name) > 1]:
            raise EcnlabError(f"{self.title}: two series would be called {twice[0]!r}: choose another name for one")
        renamed = pl.col("series").replace(dict(labels))
        rugs = None if self.rugs is None else self.rugs.with_columns(renamed)
        whole = None if self.whole is None else self.whole._renamed(labels)
        return replace(self, rows=self.rows.with_columns(renamed), rugs=rugs, whole=whole)

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Write the figure to ``file`` (.svg, .pdf or .png), or its data (.csv). Raises EcnlabError, OSError.

        Warns (`FigureWarning`) about data that the file does not show.
        """
        path = Path(file)
        endings = [f".{name}" for name in FORMATS]
        refuse_output(path, endings)
        kind = path.suffix.removeprefix(".").lower()
        write_named(path, self.data().write_csv().encode() if kind == "csv" else self._rendered(kind), endings)
        return path

    def draw(self) -> Drawing:
        """The figure as Matplotlib's, for changes of one's own. Raises EcnlabError if Matplotlib is not installed."""
        with _plain_warnings():
            return self._draw()

    def _draw(self) -> Drawing:
        with _matplotlib().rc_context(STYLE):
            from ecnlab.plots import canvas

            return canvas.drawn(self)

    def panels(self) -> dict[str, Self]:
        """Return the figure of each panel by its name, without title and note; itself under "" if it has none."""
        if not self.panel:
            return {"": self}
        names = self.rows[self.panel].unique(maintain_order=True).to_list()
        return {name: self._of_panel(name) for name in names}

    def _of_panel(self, name: str) -> Self:
        rugs = None if self.rugs is None else self.rugs.filter(pl.col(self.panel) == name)
        return replace(self, rows=self.rows.filter(pl.col(self.panel) == name), rugs=rugs, panel="")

    def lines(self, axes: Axes, names: Sequence[str]) -> list[End]:
        """Draw every series into ``axes``; return where each ends and how its key looks.

        The place of a series in ``names`` selects its colour.
        """
        from ecnlab.plots import series

        return series.draw(self, axes, names)

    def limit(self, axes: Axes) -> None:
        """Set the limits of ``axes``, after `lines`."""
        from ecnlab.plots import series

        series.limit(self, axes)

    def _repr_svg_(self) -> str:
        return self._rendered("svg").decode()

    def _rendered(self, kind: str) -> bytes:
        data = io.BytesIO()
        with _plain_warnings(glyphs=kind != "svg"):
            drawing = self._draw()
            with _matplotlib().rc_context(STYLE):
                drawing.savefig(data, format=kind, dpi=DPI, metadata=METADATA[kind])
        return data.getvalue()


def _read(key: str, read: Callable[[Any], T], value: object) -> T:
    """Return what ``read`` makes of ``value``. Raises EcnlabError that names ``key``."""
    try:
        return read(value)
    except ValueError as error:
        raise EcnlabError(f"{key}: {error}") from None


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
        told.append(NO_ROOM)
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
