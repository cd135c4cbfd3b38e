"""The layout of a figure: title, axes, names of series, and the note, all inside the canvas.

Matplotlib's constrained layout places the axes between title and note. Names stand at the right ends of their series. Where
they are too long or too many for that, they stand in a legend below the axes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Drawing
from matplotlib.font_manager import FontProperties
from matplotlib.transforms import ScaledTranslation

from ecnlab.base.lazy_imports import pl
from ecnlab.plots import cuts, series
from ecnlab.plots.look import DPI, NO_ROOM, NO_VALUES, font_size, grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.text import Text

    from ecnlab.plots.figure import Figure
    from ecnlab.plots.series import End

PAD: Final = 3.0
"""Points between a text and the border of the canvas, and between two texts."""

LINE: Final = 1.25
"""Height of a line of text, in font sizes."""

SIDE: Final = 0.36
"""Maximum fraction of the figure's width for names at the right ends of series."""

ATTEMPTS: Final = ((1.0, False), (0.85, False), (0.7, False), (0.7, True))
"""Factor of the font size, and whether names are shortened; tried in this order."""

ROOM: Final = 0.3
"""Least fraction of the figure's height for the axes."""

MIN_PANEL: Final = 2.5
"""Least height of a panel in font sizes."""

KEY: Final = 2.0
"""Width of the key of a series with its distance to the name, in font sizes."""

SLANT: Final = 35.0
"""Degrees by which labels of categories are rotated if they would touch."""


Title: TypeAlias = "tuple[Text, Axes]"
"""The title of a panel, and its axes."""


def drawn(figure: Figure) -> Drawing:
    """Return Matplotlib's figure.

    If the texts leave too little room for the axes, their font is smaller; if that is not enough, names of series are
    shortened, with a warning.
    """
    for scale, short in ATTEMPTS:
        with warnings.catch_warnings(record=True) as caught, rc_context({"font.size": font_size(figure.width) * scale}):
            warnings.simplefilter("always")
            drawing = _drawn(figure, short=short)
        laid_out = not any("layout not applied" in str(one.message) for one in caught)
        if laid_out and _roomy(drawing, figure):
            break
    for one in caught:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    if laid_out and not _roomy(drawing, figure):
        warnings.warn(NO_ROOM, UserWarning, stacklevel=2)
    return drawing


def _roomy(drawing: Drawing, figure: Figure) -> bool:
    """Whether the axes are large enough to be read."""
    height = drawing.axes[0].get_window_extent().height
    rows = drawing.axes[0].get_subplotspec().get_gridspec().nrows  # type: ignore[union-attr]
    least = MIN_PANEL * font_size(figure.width) * drawing.dpi / 72
    return rows * height >= ROOM * drawing.bbox.height and (rows == 1 or height >= least)


def _drawn(figure: Figure, *, short: bool) -> Drawing:
    drawing = Drawing(figsize=(figure.width, figure.height), layout="constrained", dpi=DPI)
    FigureCanvasAgg(drawing)  # measures text
    top, bottom = _title(drawing, figure.title), _note(drawing, "; ".join(filter(None, (figure.note, figure.absent))))
    titles: list[Title] = []
    if figure.panel or figure.row:
        ends, titles = _panels(drawing, figure)
        bottom += _legend(drawing, ends, bottom, short=short) if ends else 0.0
        left = _y_label(drawing, figure.y_label, top, bottom) if not figure.row else 0.0
        _reserve(drawing, top, bottom + _x_label(drawing, figure.x_label, bottom), left)
    else:
        ends = _single(drawing.add_subplot(), figure)
        _reserve(drawing, top, bottom, 0.0)
        _lay_out(drawing)
        if _fits_beside(drawing.axes[0], ends):
            _label(drawing.axes[0], ends)
        elif ends:
            _reserve(drawing, top, bottom + _legend(drawing, ends, bottom, short=short), 0.0)
    _fit(drawing, titles, slant=bool(figure.categories))
    for axes in drawing.axes:
        cuts.mark(figure, axes)
    return drawing


def _lay_out(drawing: Drawing) -> None:
    """Give the axes their places and sizes; nothing is drawn."""
    drawing.get_layout_engine().execute(drawing)  # type: ignore[union-attr]


def _single(axes: Axes, figure: Figure) -> list[End]:
    """Draw ``figure`` into ``axes``; return the ends of its series, if their names are drawn, and of its rows of events."""
    axes.set_xlabel(figure.x_label, parse_math=False)
    axes.set_ylabel(figure.y_label, parse_math=False)
    names = figure.names()
    ends = figure.lines(axes, names)
    figure.limit(axes)
    return [
        *(ends if len(names) > 1 or figure.named else []),
        *series.draw_rugs(figure, axes, _names(figure.rugs), axes.get_ylim()[1]),
    ]


def _names(rows: pl.DataFrame | None) -> list[str]:
    return [] if rows is None else [str(name) for name in rows["series"].unique(maintain_order=True)]


def _panels(drawing: Drawing, figure: Figure) -> tuple[list[End], list[Title]]:
    """Draw a panel for each part of ``figure``, with shared axes; in a grid, a row shares its y axis.

    Returns one end for each name if there are several, and the panels' titles.
    """
    rows, columns, names = figure.row_names(), figure.panel_names(), figure.names()
    keys = [(row, column) for row in rows for column in columns]
    shape = (len(rows), len(columns)) if figure.row else grid(len(columns))
    places = drawing.subplots(*shape, sharex=True, sharey="row" if figure.row else True, squeeze=False)
    panels = [(axes, name, figure.part(row, name)) for axes, (row, name) in zip(places.flat, keys, strict=False)]
    ends: dict[str, End] = {}
    for number, (axes, _, part) in enumerate(panels):
        ends |= {end.name: end for end in part.lines(axes, names)}
        if not part.names():
            axes.text(0.5, 0.5, NO_VALUES, transform=axes.transAxes, ha="center", va="center", color="#444444")
        axes.tick_params(labelbottom=number + shape[1] >= len(panels))  # the last of its column
    for axes in places.flat[len(panels) :]:
        axes.remove()
    for axes, _, part in panels:
        part.limit(axes)
    if figure.row:
        for axes, label in zip(places[:, 0], rows, strict=True):
            axes.set_ylabel(label, parse_math=False)
    titled = panels[: shape[1]] if figure.row else panels
    titles = _titles(figure, titled, places[0, 0].get_ylim()[1])
    return list(ends.values()) if len(names) > 1 or figure.named else [], titles


def _titles(figure: Figure, panels: Sequence[tuple[Axes, str, Figure]], top: float) -> list[Title]:
    """Write the titles of ``panels`` with the numbers of their events, and draw these, up to ``top`` on the y axis."""
    titles: list[Title] = []
    size = 0.9 * FontProperties().get_size_in_points()
    for axes, name, part in panels:
        rows = series.draw_rugs(part, axes, _names(figure.rugs), top)
        counts = ", ".join(f"{count} {of}" for of, count in (end.name.rsplit(": ", 1) for end in rows))
        title = f"{name}: {counts}" if counts else name
        titles.append((axes.set_title(title, loc="left", fontsize=size, pad=3, parse_math=False), axes))
    return titles


def _fit(drawing: Drawing, titles: Sequence[Title], *, slant: bool) -> None:
    """Wrap the labels of axes, and with ``slant`` rotate labels of categories that would touch."""
    drawing.align_ylabels()
    _lay_out(drawing)
    for axes in drawing.axes:
        if slant:
            _slant(axes)
        box = axes.get_window_extent()
        for label, room in ((axes.xaxis.label, box.width), (axes.yaxis.label, box.height)):
            label.set_text(wrapped(label, label.get_text(), room))
    for title, axes in titles:
        title.set_text(wrapped(title, title.get_text(), axes.get_window_extent().width))
    _lay_out(drawing)


def _slant(axes: Axes) -> None:
    labels = axes.get_xticklabels()
    slot = axes.get_window_extent().width / max(len(labels), 1)
    if max((label.get_window_extent().width for label in labels), default=0.0) > 0.95 * slot:
        for label in labels:
            label.set(rotation=SLANT, ha="right", rotation_mode="anchor")


def _title(drawing: Drawing, title: str) -> float:
    """Write the title at the top; return its height in points."""
    if not title:
        return 0.0
    left, top = PAD / 72 / drawing.get_figwidth(), 1 - PAD / 72 / drawing.get_figheight()
    text = drawing.text(left, top, "", va="top", ha="left", fontweight="bold", parse_math=False)
    return _filled(drawing, text, title)


def _note(drawing: Drawing, note: str) -> float:
    """Write the note at the bottom; return its height in points."""
    if not note:
        return 0.0
    left, bottom = PAD / 72 / drawing.get_figwidth(), PAD / 72 / drawing.get_figheight()
    text = drawing.text(left, bottom, "", va="bottom", ha="left", color="#444444", parse_math=False)
    text.set_fontsize(0.9 * FontProperties().get_size_in_points())
    return _filled(drawing, text, note)


def _filled(drawing: Drawing, text: Text, words: str) -> float:
    """Write ``words`` into ``text``, wrapped to the figure's width; return the height in points with its distances."""
    text.set_in_layout(False)
    text.set_text(wrapped(text, words, drawing.bbox.width - 2 * PAD * drawing.dpi / 72))
    return text.get_window_extent().height * 72 / drawing.dpi + PAD


def _y_label(drawing: Drawing, label: str, top: float, bottom: float) -> float:
    """Write the common label of the y axes of panels at the left; return its width in points."""
    width, height = 72 * drawing.get_figwidth(), 72 * drawing.get_figheight()
    middle = (bottom + (height - top - bottom) / 2) / height
    text = drawing.text(PAD / width, middle, "", va="center", ha="left", rotation=90, parse_math=False)
    text.set_in_layout(False)
    text.set_text(wrapped(text, label, (height - top - bottom) * drawing.dpi / 72))
    return float(text.get_window_extent().width * 72 / drawing.dpi + PAD)


def _x_label(drawing: Drawing, label: str, bottom: float) -> float:
    """Write the common label of the x axes of panels ``bottom`` points above the border; return its height in points."""
    text = drawing.text(
        0.5, (bottom + PAD) / 72 / drawing.get_figheight(), "", va="bottom", ha="center", parse_math=False
    )
    return _filled(drawing, text, label)


def _reserve(drawing: Drawing, top: float, bottom: float, left: float) -> None:
    """Leave points of the canvas to title, note and legend, and the common label."""
    width, height = 72 * drawing.get_figwidth(), 72 * drawing.get_figheight()
    rect = (left / width, bottom / height, 1 - left / width, max(1 - (top + bottom) / height, 0.01))
    drawing.get_layout_engine().set(rect=rect)  # type: ignore[union-attr,call-arg]


def _fits_beside(axes: Axes, ends: Sequence[End]) -> bool:
    """Whether the names of ``ends`` have room at the right ends of their series."""
    drawing, size = axes.figure, FontProperties().get_size_in_points()
    widest = max((_width(axes, end.name) for end in ends), default=0.0)
    room = axes.get_window_extent().height * 72 / drawing.dpi
    return widest <= SIDE * drawing.bbox.width and len(ends) * LINE * size <= room


def _label(axes: Axes, ends: Sequence[End]) -> None:
    """Write the name of each series at its right end; names that would overlap are moved apart."""
    box, points = axes.get_window_extent(), axes.figure.dpi / 72
    ordered = sorted(ends, key=lambda end: end.y)
    wanted = [float(axes.transData.transform((0, end.y))[1] - box.y0) for end in ordered]
    distance = LINE * FontProperties().get_size_in_points() * points
    for end, place in zip(ordered, apart(wanted, distance, box.height), strict=True):
        if end.marker:
            beside = axes.transAxes + ScaledTranslation(5 / 72, 0, axes.figure.dpi_scale_trans)
            axes.plot([1], [place / box.height], end.marker, transform=beside, clip_on=False, markersize=3.5,
                      color=end.colour)  # fmt: skip
        axes.annotate(
            end.name, (1, place / box.height), (10 if end.marker else 4, 0), "axes fraction", "offset points",
            color=end.colour, va="center", ha="left", parse_math=False, annotation_clip=False,
        )  # fmt: skip


def _legend(drawing: Drawing, ends: Sequence[End], bottom: float, *, short: bool) -> float:
    """Write the names of ``ends`` into as few rows as fit, ``bottom`` points above the border; return their height.

    With ``short`` it has at least two columns, and names that are too long for them are shortened.
    """
    canvas = drawing.bbox.width - 2 * PAD * drawing.dpi / 72
    names = _shortened(drawing, [end.name for end in ends], canvas / 2) if short else [end.name for end in ends]
    for columns in range(len(ends), 0, -1):
        legend = _legend_of(drawing, ends, names, bottom, columns)
        if columns == 1 or legend.get_window_extent().width <= canvas:
            break
        legend.remove()
    room = canvas - KEY * FontProperties().get_size_in_points() * drawing.dpi / 72
    for text in legend.get_texts():
        text.set_text(wrapped(text, text.get_text(), room))
    return float(legend.get_window_extent().height * 72 / drawing.dpi + PAD)


def _legend_of(drawing: Drawing, ends: Sequence[End], names: Sequence[str], bottom: float, columns: int) -> Legend:
    width, height = 72 * drawing.get_figwidth(), 72 * drawing.get_figheight()
    legend = drawing.legend(
        [end.key for end in ends], names, loc="lower left", bbox_to_anchor=(PAD / width, (bottom + PAD) / height),
        ncols=columns, frameon=False, borderaxespad=0, borderpad=0, handlelength=1.5, handletextpad=0.5,
        labelspacing=0.2, columnspacing=1.0,
    )  # fmt: skip
    legend.set_in_layout(False)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return legend


def _shortened(drawing: Drawing, names: Sequence[str], column: float) -> list[str]:
    """Return ``names`` without their middles where they are wider than a ``column`` of a legend in pixels."""
    room = column - (KEY + 1) * FontProperties().get_size_in_points() * drawing.dpi / 72
    text = drawing.text(0, 0, "", parse_math=False)

    def fits(name: str) -> bool:
        text.set_text(name)
        return bool(text.get_window_extent().width <= room)

    found = list(names) if all(map(fits, names)) else _distinctive(names)
    found = [name if fits(name) else _without_middle(name, fits) for name in found]
    text.remove()
    if found != list(names):
        warnings.warn("names of series are shortened: rename them, or draw a larger figure", UserWarning, stacklevel=2)
    return found


def _distinctive(names: Sequence[str]) -> list[str]:
    """Return ``names`` without the words with which all of them start or end."""
    words = [name.split() for name in names]
    least = min(map(len, words)) if len(names) > 1 else 1
    first = next((n for n in range(least) if len({tuple(name[: n + 1]) for name in words}) > 1), least - 1)
    last = next((n for n in range(least - first) if len({tuple(name[-n - 1 :]) for name in words}) > 1), 0)
    return [f"{'… ' * bool(first)}{' '.join(name[first : len(name) - last])}{' …' * bool(last)}" for name in words]


def _without_middle(name: str, fits: Callable[[str], bool]) -> str:
    kept = len(name) - 2
    while kept > 2 and not fits(f"{name[: (kept + 1) // 2]}…{name[len(name) - kept // 2 :]}"):
        kept -= 1
    return f"{name[: (kept + 1) // 2]}…{name[len(name) - kept // 2 :]}"


def _width(axes: Axes, name: str) -> float:
    """Return the width of ``name`` in pixels."""
    text = axes.text(0, 0, name, parse_math=False)
    width = text.get_window_extent().width
    text.remove()
    return float(width)


def wrapped(text: Text, words: str, room: float) -> str:
    """Return ``words`` in lines of at most ``room`` pixels in the font of ``text``; longer words are divided."""
    kept, turned = text.get_text(), text.get_rotation()
    text.set_rotation(0)

    def fits(line: str) -> bool:
        text.set_text(line)
        return bool(text.get_window_extent().width <= room)

    lines = [line for part in words.split("\n") for line in _lines(part, fits)]
    text.set_text(kept)
    text.set_rotation(turned)
    return "\n".join(lines)


def _lines(words: str, fits: Callable[[str], bool]) -> list[str]:
    if fits(words):
        return [words]
    found = [""]
    for word in words.split():
        joined = f"{found[-1]} {word}".strip()
        if fits(joined):
            found[-1] = joined
            continue
        found += [word] if found[-1] else []
        found[-1] = word
        while not fits(found[-1]) and len(found[-1]) > 1:
            cut = next(n for n in range(len(found[-1]) - 1, 0, -1) if n == 1 or fits(found[-1][:n]))
            found[-1:] = [found[-1][:cut], found[-1][cut:]]
    return found


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
