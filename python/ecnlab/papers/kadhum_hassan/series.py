"""Sections of the report: one run of each case over time, as the paper's figures show them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import polars as pl

from ecnlab.papers.kadhum_hassan.draw import EVERY
from ecnlab.papers.kadhum_hassan.grid import GRID, QUEUES
from ecnlab.papers.paper import Stored
from ecnlab.report import Chart, Line, Section
from ecnlab.report.page import Block

FIGURES: Final = {
    ("10", "droptail"): ("6", "4", "5"),
    ("10", "red"): ("10", "8", "9"),
    ("10", "ecn"): ("14", "12", "13"),
    ("30", "droptail"): ("19", "17", "18"),
    ("30", "red"): ("23", "21", "22"),
    ("30", "ecn"): ("27", "25", "26"),
}
"""The paper's figures of each case: the queue, the windows of three connections, the windows of all."""

THRESHOLDS: Final = {"10": ((2.5, "min_th"), (7.5, "max_th")), "30": ((30.0, "min_th"), (40.0, "max_th"))}
"""RED's, kB."""

COLOURS: Final = 5


def over_time(users: str, tables: Stored) -> Section:
    """Queues, windows, round trips and throughput of a scenario."""
    queue = tables["drawn_queue"].filter(pl.col("users") == users)
    flows = tables["drawn_flows"].filter(pl.col("users") == users)
    throughput = tables["drawn_throughput"].filter(pl.col("users") == users)
    charts: list[Block] = []
    for name in QUEUES:
        here = pl.col("queue") == name
        charts += [_queue(users, name, queue.filter(here)), *_windows(users, name, flows.filter(here))]
    charts += [_round_trips(users, flows), _throughput(users, throughput)]
    return Section(
        f"time-{users}",
        f"{users} users, in time",
        f"One run, seed {tables.about['drawn_seed']}; the paper's figures show one run, too. Drag across a chart to look "
        "closer, double-click to see all.",
        charts,
    )


def _queue(users: str, queue: str, series: pl.DataFrame) -> Chart:
    figure, times = FIGURES[users, queue][0], series["time_s"].to_list()
    title = f"The queue: {GRID.named(queue)}, {users} users"
    if queue == "droptail":
        lines = [Line("queue", series["packets"].to_list(), 2, thin=True)]
        return Chart(title, f"As figure {figure}, in packets. The buffer holds 99.", times, lines, "packets")
    lines = [
        Line("queue", series["kilobytes"].to_list(), 2, thin=True),
        Line("RED's average", series["average_kilobytes"].to_list(), 1),
    ]
    caption = f"As figure {figure}, in kilobytes. RED's thresholds are dashed."
    return Chart(title, caption, times, lines, "kilobytes", THRESHOLDS[users])


def _windows(users: str, queue: str, flows: pl.DataFrame) -> list[Chart]:
    wide = flows.pivot(on="flow", index="time_s", values="window").sort("time_s").fill_null(math.nan)
    names = sorted(wide.columns[1:], key=lambda name: int(name.strip("]").partition("[")[2]))
    three, all_of_them = FIGURES[users, queue][1:]
    return [
        Chart(
            f"Windows of three connections: {GRID.named(queue)}, {users} users",
            f"As figure {three}.",
            wide["time_s"].to_list(),
            [Line(name, wide[name].to_list(), i) for i, name in enumerate(names[:3])],
            "segments",
        ),
        Chart(
            f"Windows of all connections: {GRID.named(queue)}, {users} users",
            f"As figure {all_of_them}; every {EVERY}th sample.",
            wide["time_s"].gather_every(EVERY).to_list(),
            [
                Line(name, wide[name].gather_every(EVERY).to_list(), i % COLOURS, thin=True, listed=False)
                for i, name in enumerate(names)
            ],
            "segments",
        ),
    ]


def _round_trips(users: str, flows: pl.DataFrame) -> Chart:
    first = flows.filter(pl.col("flow") == flows["flow"].min())
    figures = "7, 11 and 15" if users == "10" else "20, 24 and 28"
    return Chart(
        f"Round trip of one connection, {users} users",
        f"As figures {figures}: the sender's smoothed estimate.",
        *_by_queue(first.with_columns(value=pl.col("srtt_s") * 1e3)),
        "milliseconds",
    )


def _throughput(users: str, series: pl.DataFrame) -> Chart:
    figure = "16" if users == "10" else "29"
    return Chart(
        f"Throughput, {users} users",
        f"As figure {figure}: payload delivered in order to all users, each second.",
        *_by_queue(series.rename({"kilobits": "value"})),
        "kb/s",
    )


def _by_queue(series: pl.DataFrame) -> tuple[list[float], Sequence[Line]]:
    """The times and, for each queue, the line of ``value``."""
    wide = series.pivot(on="queue", index="time_s", values="value").sort("time_s").fill_null(math.nan)
    lines = [Line(GRID.named(queue), wide[queue].to_list(), style) for style, queue in enumerate(QUEUES)]
    return wide["time_s"].to_list(), lines
