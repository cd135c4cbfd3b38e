"""Figures 7 to 12: single runs over time, their stored data and drawings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from ecnlab.api.sweep import Sweep
from ecnlab.papers import blocks, run_series
from ecnlab.papers.akujobi.grid import GRID
from ecnlab.papers.material import Material
from ecnlab.papers.paper import Drawn, Tables
from ecnlab.report import Chart, Line

PIPE: Final = "pipe"
"""The congested link: r1 to r2."""

DATA_BYTES: Final = 1000

SETTLED_S: Final = 20.0
"""Measurement period of windows and queue of experiment C: after the slow start, which all schemes share. It starts
within 5 s, and with a tenth of the ACKs lost one run in ten still has its window at 10 s, one in a hundred at 20 s."""

NETWORK_1: Final = ((15.0, "min_th"), (45.0, "max_th"))
NETWORK_2: Final = ((5.0, "min_th"), (15.0, "max_th"))
"""RED's thresholds, kB (section V-A)."""

SAMPLED: Final = "Sampled every 100 ms."


def surge(sweep: Tables) -> pl.LazyFrame:
    """The 99th percentile of the one flow's window, in segments."""
    window = sweep.table("flow_series").filter(pl.col("time_s") >= SETTLED_S)
    percentile = (pl.col("cwnd_bytes").quantile(0.99) / DATA_BYTES).alias("value")
    return window.group_by(GRID.run_keys(window), maintain_order=True).agg(percentile)


def draw(sweeps: Mapping[str, Sweep]) -> Drawn:
    """Queue, RED's average and the one flow's window of each scheme, side by side: kilobytes and segments over time."""
    lossy, tables = sweeps["evolution-lossy"], {}
    for name, sweep in (("queue_15", sweeps["evolution"]), ("queue_lossy", lossy)):
        queue = run_series.queue_over_time(sweep, PIPE, "scheme").rename(
            {"kilobytes": "queue", "average_kilobytes": "average"}
        )
        tables[name] = run_series.side_by_side(queue, "scheme", ["queue", "average"])
    window = lossy.table("flow_series").select("time_s", "scheme", pl.col("cwnd_bytes") / DATA_BYTES)
    tables["window_lossy"] = run_series.side_by_side(window, "scheme", "cwnd_bytes")
    return Drawn(tables, {"evolution": {"seed": lossy.runs["seed"][0]}})


def evolution(given: Material) -> list[Chart]:
    """Queues of both networks, and windows where the way back loses a tenth."""
    queue, lossy, window = (given.tables[name] for name in ("queue_15", "queue_lossy", "window_lossy"))
    charts = [
        _queue(queue, scheme, f"The queue under 15 {GRID.named(scheme)} flows", figure, NETWORK_1)
        for scheme, figure in (("ecn", "7"), ("eb20", "8"))
    ]
    for scheme, of_window, of_queue in (("becn", "9", "10"), ("eb6", "11", "12")):
        title, caption = (
            f"{GRID.named(scheme)}: the {{}}, 10% of the way back lost",
            f"As figure {of_window}. {SAMPLED}",
        )
        lines = [Line("window", window[scheme].to_list(), 1)]
        charts += [
            Chart(title.format("window"), caption, window["time_s"].to_list(), lines, "segments"),
            _queue(lossy, scheme, title.format("queue"), of_queue, NETWORK_2),
        ]
    return charts


def _queue(series: pl.DataFrame, scheme: str, title: str, figure: str, levels: tuple[tuple[float, str], ...]) -> Chart:
    columns = (f"queue_{scheme}", f"average_{scheme}")
    return blocks.queue_over_time(title, f"As figure {figure}. {SAMPLED}", series, columns, levels)
