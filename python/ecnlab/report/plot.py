"""Common parts of all plots of a page: the request to Plotly, and embedding in the page.

A plot contains no colours. The page's script sets those of the style sheet, light or dark; a trace's ``meta`` is the
number of its colour there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import plotly.graph_objects as go
from plotly import io

MARGIN: Final = {"l": 52, "r": 14, "t": 8, "b": 28}
"""Pixels around a plot, where its title and legend need no more. The sides are fixed: plots in a column line up."""


def plot(traces: Sequence[go.Scatter], x: dict[str, Any], y: dict[str, Any], **layout: Any) -> go.Figure:
    """A plot of ``traces`` with its legend above, on the axes ``x`` and ``y``."""
    return go.Figure(
        list(traces),
        {
            "template": {},  # instead of Plotly's own colours
            "margin": MARGIN,
            "showlegend": True,
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            "xaxis": {"showgrid": False, "zeroline": False, "tickangle": 0, "automargin": "height", **x},
            "yaxis": {"fixedrange": True, "nticks": 7, **y},
            **layout,
        },
    )


def document(drawing: go.Figure) -> str:
    """Return ``drawing`` as JSON for a ``<script>``; missing values are null.

    The encoder is fixed, because Plotly uses another one if installed, and the same page must have identical bytes.
    """
    return str(io.to_json(drawing, engine="json"))


def with_levels(drawing: go.Figure, levels: Sequence[tuple[float, str]]) -> go.Figure:
    """``drawing`` with a dashed line across it at each value of ``levels``, which carries its name."""
    for value, name in levels:
        drawing.add_hline(value, line={"dash": "dash", "width": 1}, annotation={"text": name})
    return drawing
