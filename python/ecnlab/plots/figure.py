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
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self, TypeAlias, TypeVar

from ecnlab.base.errors import EcnlabError
from ecnlab.base.extras import install
from ecnlab.base.lazy_imports import pl
from ecnlab.folder.outputs import refuse_output, write_named
from ecnlab.plots import values
from ecnlab.plots.keys import readable
from ecnlab.plots.look import DPI, HEIGHT, NO_ROOM, NO_VALUES, WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from ecnlab.plots.series import End

T = TypeVar("T")
Drawn = TypeVar("Drawn", bound="Figure")

Side: TypeAlias = Literal["left", "right", "bottom", "top"]
"""An end of an axis."""

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
    absent: str = ""
    """Arms and points of axes without values, which ``rows`` has with a null y; "" if all have values."""
    rugs: pl.DataFrame | None = None
    """Events, drawn as ticks below the axis: the columns ``series`` and ``x``, and ``panel`` if there are panels."""
    panel: str = ""
    """The column of ``rows`` with the panel of each series; "" if all are in the same axes."""
    row: str = ""
    """The column of ``rows`` with the row of panels, which is the label of its y axis; "" if all have ``y_label``."""
    width: float = WIDTH
    height: float = HEIGHT
    """Inches."""
    start: float | None = None
    end: float | None = None
    """Limits of the x axis; None: those of the data."""
    cut: tuple[Side, ...] = ()
    """Ends of the x axis beyond which there is data that the figure leaves out."""

    named: bool = False
    """A series has a name given by `with_`: it is drawn also if it is the only one."""

    values: ClassVar[str] = "y"
    """The axes of measured values, "y" or "xy": they have a mark where they do not contain 0."""

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

        Rows of events have no y. If arms or points of axes have no values, the column ``note`` of their rows has "no values".
        """
        lacking = pl.when(pl.col(self.y).is_null()).then(pl.lit(NO_VALUES)).alias("note")
        rows = self.rows.with_columns(lacking) if self.absent else self.rows
        return rows if self.rugs is None else pl.concat([rows, self.rugs], how="diagonal")

    def names(self) -> list[str]:
        """Return the series that have a value, in the order of their colours."""
        return [str(name) for name in self.rows.drop_nulls(self.y)["series"].unique(maintain_order=True)]

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
        ``labels`` renames series, panels, categories and labels of axes, old name to new. ``start`` and ``end`` restrict a figure over time, and its data, to
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
        left, right = low is not None and low > first, high is not None and high < last
        cut: tuple[Side, ...] = (*(("left",) if left else ()), *(("right",) if right else ()))
        return replace(self, rows=rows, rugs=rugs, start=low, end=high, cut=cut)

    def texts(self) -> list[str]:
        """Return the names that ``labels`` can rename: series, panels, rows, categories and labels of axes."""
        labels = [*self.panel_names(), *self.row_names(), *self.categories, self.x_label, self.y_label]
        return list(dict.fromkeys(name for name in (*self._series_names(), *labels) if name))

    def _series_names(self) -> list[str]:
        return self.data()["series"].unique(maintain_order=True).to_list()

    def _renamed(self, labels: Mapping[str, str]) -> Self:
        known = self.texts()
        if missing := [name for name in labels if name not in known]:
            raise EcnlabError(f"{self.title}: no series is called {missing[0]!r}: there are {', '.join(known)}")
        for group in (self._series_names(), self.panel_names(), self.row_names(), self.categories):
            new = [labels.get(name, name) for name in group]
            if twice := [name for name in new if new.count(name) > 1]:
                raise EcnlabError(f"{self.title}: two series would be called {twice[0]!r}: choose another name for one")
        columns = [name for name in ("series", self.panel, self.row) if name]
        renamed = pl.col(columns).replace(dict(labels))
        rugs = self.rugs
        if rugs is not None:
            rugs = rugs.with_columns(pl.col([name for name in columns if name in rugs.columns]).replace(dict(labels)))
        x_label, y_label = (labels.get(label, label) for label in (self.x_label, self.y_label))
        categories = [labels.get(name, name) for name in self.categories]
        rows = self.rows.with_columns(renamed)
        named = self.named or any(name in labels for name in self._series_names())
        whole = None if self.whole is None else self.whole._renamed(labels)
        return replace(
            self, rows=rows, rugs=rugs, categories=categories, x_label=x_label, y_label=y_label, named=named, whole=whole,
        )  # fmt: skip

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Write the figure to ``file`` (.svg, .pdf or .png), or its data (.csv). Raises EcnlabError, OSError.

        Warns (`FigureWarning`) about data that the file does not show, and about arms without values.
        """
        path = Path(file)
        endings = [f".{name}" for name in FORMATS]
        refuse_output(path, endings)
        kind = path.suffix.removeprefix(".").lower()
        write_named(path, self.data().write_csv().encode() if kind == "csv" else self._rendered(kind), endings)
        if self.absent:
            warnings.warn(self.absent, FigureWarning, stacklevel=2)
        return path

    def draw(self) -> Drawing:
        """The figure as Matplotlib's, for changes of one's own. Raises EcnlabError if Matplotlib is not installed."""
        with _plain_warnings():
            return self._draw()

    def _draw(self) -> Drawing:
        with _matplotlib().rc_context(STYLE):
            from ecnlab.plots import canvas

            return canvas.drawn(self)

    def panel_names(self) -> list[str]:
        """Return the names of the panels, or of the columns of a grid; one "" if there are none."""
        return self.rows[self.panel].unique(maintain_order=True).to_list() if self.panel else [""]

    def row_names(self) -> list[str]:
        """Return the labels of the rows of a grid; one "" if there are none."""
        return self.rows[self.row].unique(maintain_order=True).to_list() if self.row else [""]

    def part(self, row: str, panel: str) -> Self:
        """Return the figure of one panel."""
        chosen = pl.lit(True)
        for column, name in ((self.row, row), (self.panel, panel)):
            chosen = chosen & (pl.col(column) == name) if column else chosen
        rugs = None if self.rugs is None else self.rugs.filter(chosen)
        return replace(self, rows=self.rows.filter(chosen), rugs=rugs, panel="", row="")

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


def with_only_name(figure: Drawn) -> Drawn:
    """Return ``figure`` with the name of its only series in the title, unless a title or label has this name."""
    names = figure.names()
    texts = " ".join((figure.title, figure.x_label, figure.y_label)).casefold()
    if len(names) != 1 or names[0].startswith("all") or readable(names[0]).casefold() in texts:
        return figure
    return replace(figure, title=f"{figure.title}: {names[0]}")


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
    texts = []
    if missing and glyphs:
        texts.append(f"the font has no {' '.join(map(chr, missing))}: write .svg, which keeps text as text")
    if any("layout not applied" in text for text in others):
        texts.append(NO_ROOM)
    texts += [text for text in others if "layout not applied" not in text]
    for text in texts:
        warnings.warn(text, FigureWarning, stacklevel=4)


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise EcnlabError(
            f"figures need Matplotlib: {install('matplotlib')} adds it; the data (.csv) needs no extra package"
        ) from error
    return matplotlib
