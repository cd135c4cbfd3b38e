"""What the report draws besides ``sections.toml``: printed points that hold at one load, and single runs over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from ecnlab.papers import blocks
from ecnlab.papers.akujobi.grid import GRID, SCHEMES
from ecnlab.papers.samples import at
from ecnlab.papers.told import Told
from ecnlab.report import Chart, Line, Point, Section, Series

WEB: Final = {
    "delay": "A21.4",
    "delay_fairness": "A21.5",
    "web_loss": "A21.3",
    "web_queue": "A21.2",
    "web_variance": "A21.1",
}
"""The printed changes of experiment D, by metric."""


def mixed(points: pl.DataFrame, told: Told) -> Section:
    """Experiment A."""
    return told.section("mixed", points, {metric: _at_46(told, f"heavy_{metric}") for metric in ("gain", "loss")})


def _at_46(told: Told, metric: str) -> list[Series]:
    """What is printed of 46 flows, in the figure over all loads."""
    here = at(told.numbers, metric, {}).with_columns(pl.lit("46").alias("flows"))
    return [
        mark
        for style, scheme in enumerate(SCHEMES)
        for mark in blocks.printed(
            here.filter(pl.col("scheme") == scheme),
            "flows",
            told.scale("mixed"),
            f"printed, {GRID.named(scheme)}",
            style,
        )
    ]


def homogeneous(points: pl.DataFrame, told: Told) -> Section:
    """Experiment B."""
    saved = _scaled(points, told, "quench_share", "A16.1", "becn", "45", SCHEMES.index("eb40") - 1)
    return told.section("homogeneous", points, {"quench_share": [saved]})


def web(points: pl.DataFrame, told: Told) -> Section:
    """Experiment D."""
    shown = points.filter(pl.col("pages") == "start to start")
    marks = {metric: [_scaled(shown, told, metric, number, "eb20", "15", 0)] for metric, number in WEB.items()}
    return told.section("web", points, marks)


def _scaled(
    points: pl.DataFrame,
    told: Told,
    metric: str,
    number: str,
    base: str,
    flows: str,
    style: int,
) -> Series:
    """The printed change that ``number`` is, taken from what ``base`` has here: the paper prints no value to take it from."""
    measured = at(points, metric, {"scheme": base, "flows": flows})["mean"].item()
    change = told.numbers.filter(pl.col("id") == number)["printed"].item()
    return Series(
        f"printed: {100 * change:+.3g}% from {GRID.named(base)}",
        [Point(float(flows), measured * (1.0 + change))],
        style,
    )


def evolution(queue: pl.DataFrame, lossy_queue: pl.DataFrame, window: pl.DataFrame) -> Section:
    """Figures 7 to 12: queue and window over time."""
    charts = [
        _queue(queue, scheme, f"The queue under 15 {GRID.named(scheme)} flows", figure, NETWORK_1)
        for scheme, figure in (("ecn", "7"), ("eb20", "8"))
    ]
    for scheme, of_window, of_queue in (("becn", "9", "10"), ("eb6", "11", "12")):
        name = GRID.named(scheme)
        charts += [
            Chart(
                f"{name}: the window, 10% of the way back lost",
                f"As figure {of_window}. Sampled every 100 ms.",
                window["time_s"].to_list(),
                [Line("window", window[scheme].to_list(), 1)],
                "segments",
            ),
            _queue(lossy_queue, scheme, f"{name}: the queue, 10% of the way back lost", of_queue, NETWORK_2),
        ]
    return Section("evolution", "Single runs, in time", "Drag across a chart to look closer.", charts)


NETWORK_1: Final = ((15.0, "min_th"), (45.0, "max_th"))
NETWORK_2: Final = ((5.0, "min_th"), (15.0, "max_th"))
"""RED's thresholds, kB (section V-A)."""


def _queue(series: pl.DataFrame, scheme: str, title: str, figure: str, levels: Sequence[tuple[float, str]]) -> Chart:
    lines = [
        Line("queue", series[f"queue_{scheme}"].to_list(), 2, thin=True),
        Line("RED's average", series[f"average_{scheme}"].to_list(), 1),
    ]
    return Chart(
        title, f"As figure {figure}. Sampled every 100 ms.", series["time_s"].to_list(), lines, "kilobytes", levels
    )
