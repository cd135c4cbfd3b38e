"""Time series that can be zoomed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import plotly.graph_objects as go

from ecnlab.report.plot import MARGIN, plot, with_levels

ROWS: Final = 60
"""Most rows of a chart's table: enough to follow the series, few enough to read."""

BUTTONS: Final = 64
"""Pixels above the lines, for the buttons and below them the legend."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chart.

    ``values`` share the chart's times. ``style`` selects the colour, from 0; a line that is not ``listed`` is not in
    the legend.
    """

    name: str
    values: Sequence[float]
    style: int = 0
    thin: bool = False
    listed: bool = True


@dataclass(frozen=True, slots=True)
class Chart:
    """A time series that can be zoomed and dragged.

    ``times`` are in seconds, ``levels`` are marked values with their names; ``source`` names the figure of a paper that this
    one answers.
    """

    title: str
    caption: str
    times: Sequence[float]
    lines: Sequence[Line]
    unit: str
    levels: Sequence[tuple[float, str]] = ()
    source: str = ""
    kind: Literal["chart"] = "chart"

    def plot(self) -> go.Figure:
        """The lines over time, the levels dashed."""
        times = [round(t, 4) for t in self.times]
        traces = [
            go.Scatter(
                name=line.name,
                meta=line.style,
                x=times,
                y=[_shorter(v) for v in line.values],
                mode="lines",
                showlegend=None if line.listed else False,
                line={"width": 1 if line.thin else 1.9},
                opacity=0.55 if line.thin else 1,
            )
            for line in self.lines
        ]
        x = {"ticksuffix": " s", "hoverformat": ".2f"}
        y = {"rangemode": "tozero", "hoverformat": ".4~g"}
        drawing = plot(traces, x, y, hovermode="x unified", dragmode="zoom", margin=MARGIN | {"t": BUTTONS})
        return with_levels(drawing, self.levels)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The chart's numbers, evenly thinned to at most `ROWS` rows: column names and rows."""
        step = math.ceil(len(self.times) / ROWS) or 1
        rows = [
            [f"{self.times[i]:.2f}", *(_written(line.values[i]) for line in self.lines)]
            for i in range(0, len(self.times), step)
        ]
        return ["time, s", *(f"{line.name}, {self.unit}" for line in self.lines)], rows


def _shorter(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _written(value: float) -> str:
    return f"{value:.4g}".replace("-", "−") if math.isfinite(value) else "–"
