"""One connection as a page: time-sequence graph, round-trip times, throughput, outstanding data."""

from __future__ import annotations

from importlib import resources
from typing import Any, Final

import jinja2
import plotly.graph_objects as go
import polars as pl
from markupsafe import Markup
from plotly import io
from plotly.offline import get_plotlyjs

from ecnlab.report.page import shown
from ecnlab.trace import Trace

SIGNS: Final[dict[str, tuple[str, str, str]]] = {
    "fast": ("fast retransmission", "triangle-up", "#d62728"),
    "sack": ("retransmission for SACK", "triangle-up-open", "#d62728"),
    "partial": ("retransmission for a partial ACK", "triangle-right", "#d62728"),
    "timeout": ("retransmission after a timeout", "x", "#8b0000"),
    "tail": ("tail loss probe", "triangle-down", "#d62728"),
    "dropped": ("dropped here", "x-thin-open", "#000000"),
    "duplicate": ("duplicate ACK", "line-ew-open", "#2ca02c"),
    "ce": ("CE", "diamond", "#ff7f0e"),
    "ece": ("ECE", "circle-open", "#9467bd"),
    "cwr": ("CWR", "square", "#17becf"),
}
"""Kinds of packets with their own marker: name, symbol, colour."""

BINS: Final = 400
"""Intervals over which throughput is taken."""


def render(capture: Trace, connection: int, most: int = 20_000) -> str:
    """The page of one connection as HTML text, which makes no request."""
    rows = capture.series(connection, most=most)
    chosen = capture.only(connection)
    directions = chosen.directions.to_dicts()
    environment = jinja2.Environment(autoescape=True, finalize=shown, undefined=jinja2.StrictUndefined)
    template = environment.from_string(
        resources.files("ecnlab.trace").joinpath("page.html.j2").read_text(encoding="utf-8")
    )
    parts = []
    for direction in directions:
        own = rows.filter(pl.col("from_opener") == direction["from_opener"])
        if direction["data_packets"]:
            parts.append((direction, [Markup(_html(drawing)) for drawing in _drawings(own)]))
    return template.render(
        title=f"{capture.path.name}: connection {connection}",
        connection=chosen.connections.to_dicts()[0],
        parts=parts,
        violations=chosen.violations.head(200).to_dicts(),
        number=_number,
        plotly=Markup(get_plotlyjs()),
    )


def _drawings(rows: pl.DataFrame) -> list[go.Figure]:
    return [_sequence(rows), _outstanding(rows), _throughput(rows), _rtt(rows)]


def _of(rows: pl.DataFrame, *kinds: str) -> pl.DataFrame:
    return rows.filter(pl.col("kind").is_in(kinds))


def _sequence(rows: pl.DataFrame) -> go.Figure:
    """Segments as upright strokes, ACKs and the window as steps, everything rare with its own sign."""
    acks = _of(rows, "ack", "duplicate")
    traces = [
        _steps("window", acks["time_s"], acks["high"], "#e0b000"),
        _steps("ACK", acks["time_s"], acks["low"], "#2ca02c"),
        _strokes("segment", _of(rows, "data"), "#1f77b4", 1.5),
        _strokes("SACK block", _of(rows, "block"), "#e377c2", 1.5),
    ]
    for kind, (name, symbol, colour) in SIGNS.items():
        some = _of(rows, kind)
        if some.height:
            marker = {"symbol": symbol, "color": colour, "size": 9, "line": {"width": 1.5, "color": colour}}
            text = [f"{name}, packet {packet}" for packet in some["packet"]]
            traces.append(
                go.Scattergl(name=name, x=some["time_s"], y=some["low"], mode="markers", marker=marker, text=text)
            )
    return _figure("Sequence numbers", "bytes", traces)


def _outstanding(rows: pl.DataFrame) -> go.Figure:
    flight = _of(rows, "flight")
    return _figure(
        "Data outstanding: an estimate of the congestion window",
        "bytes",
        [go.Scattergl(name="outstanding", x=flight["time_s"], y=flight["high"], mode="lines", line={"width": 1})],
    )


def _throughput(rows: pl.DataFrame) -> go.Figure:
    """Return the progress of ACKs: goodput, independent of retransmissions."""
    acks = _of(rows, "ack")
    end = acks["time_s"].max()
    width = float(end) / BINS if isinstance(end, float) and end > 0 else 1.0
    binned = (
        acks.with_columns((pl.col("time_s") // width).alias("bin"))
        .group_by("bin", maintain_order=True)
        .agg(pl.col("low").max())
        .with_columns((pl.col("low").diff() * 8 / (pl.col("bin").diff() * width)).alias("bps"))
    )
    points = go.Scattergl(name="acknowledged", x=binned["bin"] * width, y=binned["bps"], mode="lines")
    return _figure(f"Goodput over {width * 1e3:.3g} ms", "bit/s", [points])


def _rtt(rows: pl.DataFrame) -> go.Figure:
    rtt = _of(rows, "rtt")
    points = go.Scattergl(name="RTT", x=rtt["time_s"], y=rtt["high"] / 1e6, mode="markers", marker={"size": 3})
    return _figure("Round-trip time", "ms", [points])


def _steps(name: str, times: pl.Series, values: pl.Series, colour: str) -> go.Scattergl:
    return go.Scattergl(name=name, x=times, y=values, mode="lines", line={"shape": "hv", "width": 1, "color": colour})


def _strokes(name: str, rows: pl.DataFrame, colour: str, width: float) -> go.Scattergl:
    """An upright line for each row, from its lower to its upper value: one trace with gaps."""
    gap = pl.lit(None, dtype=pl.Float64)
    ends = rows.select(x=pl.concat_list("time_s", "time_s", gap), y=pl.concat_list("low", "high", gap)).explode(
        "x", "y"
    )
    return go.Scattergl(name=name, x=ends["x"], y=ends["y"], mode="lines", line={"width": width, "color": colour})


def _figure(title: str, unit: str, traces: list[go.Scattergl]) -> go.Figure:
    layout: dict[str, Any] = {
        "title": {"text": title, "x": 0.01, "font": {"size": 15}},
        "margin": {"l": 70, "r": 16, "t": 64, "b": 36},
        "legend": {"orientation": "h", "x": 0, "y": 1.01, "yanchor": "bottom"},
        "xaxis": {"title": {"text": "seconds"}},
        "yaxis": {"title": {"text": unit}},
        "hovermode": "closest",
        "dragmode": "zoom",
        "height": 460,
        "template": "plotly_white",
    }
    return go.Figure(traces, layout)


def _html(drawing: go.Figure) -> str:
    config = {"displaylogo": False, "responsive": True, "scrollZoom": True}
    text: str = io.to_html(drawing, full_html=False, include_plotlyjs=False, config=config)
    return text


def _number(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,.6g}" if isinstance(value, float) else str(value)
