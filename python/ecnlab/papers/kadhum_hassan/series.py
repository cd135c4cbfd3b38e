"""Sections of the report: one run of each case over time, as the paper's figures show them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl

from ecnlab.papers.kadhum_hassan.draw import EVERY
from ecnlab.papers.kadhum_hassan.grid import GRID, QUEUES
from ecnlab.papers.kadhum_hassan.measure import WARMUP_S
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

THRESHOLDS: Final = {"10": (2.5, 7.5), "30": (30.0, 40.0)}
"""RED's, kB."""

PRINTED: Final = {
    ("10", "droptail"): 75.0,
    ("10", "red"): 8.0,
    ("10", "ecn"): 7.0,
    ("30", "droptail"): 80.0,
    ("30", "red"): 40.0,
    ("30", "ecn"): 40.0,
}
"""The average queues that the paper prints, in packets (sections 3.1 and 3.2)."""

AMPLITUDES: Final = {"10": 12.0, "30": 6.0}
"""How far the windows of drop-tail's three connections swing, as the paper prints it, in segments (section 3.2)."""

COLOURS: Final = 5


def over_time(users: str, tables: Stored) -> Section:
    """Queues, windows, round trips and throughput of a scenario."""
    queue = tables["drawn_queue"].filter(pl.col("users") == users)
    flows = tables["drawn_flows"].filter(pl.col("users") == users)
    throughput = tables["drawn_throughput"].filter(pl.col("users") == users)
    charts: list[Block] = []
    for name in QUEUES:
        here = pl.col("queue") == name
        charts += [*_queues(users, name, queue.filter(here)), *_windows(users, name, flows.filter(here))]
    charts += [_round_trips(users, flows), _throughput(users, throughput)]
    return Section(
        f"time-{users}",
        f"{users} users, in time",
        f"One run, seed {tables.about['drawn_seed']}; the paper's figures show one run, too. Drag across a chart to look "
        "closer, double-click to see all.",
        charts,
    )


def _queues(users: str, queue: str, series: pl.DataFrame) -> list[Chart]:
    """The queue in packets beside the printed average; RED's also in the kilobytes that ns-2.29 traces."""
    figure, value = FIGURES[users, queue][0], PRINTED[users, queue]
    title, times = f"The queue: {GRID.named(queue)}, {users} users", series["time_s"].to_list()
    printed = (value, f"printed: {value:g}")
    packets = [Line("queue", series["packets"].to_list(), 2, thin=True)]
    if queue == "droptail":
        within = Line("queue, buffer of 50 kB", series["packets_50_kb"].to_list(), 1, thin=True)
        caption = f"As figure {figure}, in packets. The buffer holds 99; the other line is of a buffer of 50 kB."
        return [Chart(title, caption, times, [*packets, within], "packets", [printed])]
    packets.append(Line("RED's average", series["average_packets"].to_list(), 1))
    kilobytes = [
        Line("queue", series["kilobytes"].to_list(), 2, thin=True),
        Line("RED's average", series["average_kilobytes"].to_list(), 1),
    ]
    in_packets = f"As figure {figure}, with the printed average read as packets."
    in_kilobytes = f"As figure {figure}, with the printed average read as kilobytes."
    return [
        Chart(f"{title}, in packets", in_packets, times, packets, "packets", [printed]),
        Chart(f"{title}, in kilobytes", in_kilobytes, times, kilobytes, "kilobytes", _levels(users, value)),
    ]


def _levels(users: str, printed: float) -> list[tuple[float, str]]:
    """RED's thresholds and the printed average, which lies so near the upper one that the two share a name."""
    least, most = THRESHOLDS[users]
    lower, upper = sorted((most, printed))
    named = (upper, f"max_th: {most:g}, printed: {printed:g}")
    return [(least, "min_th"), named] if lower == upper else [(least, "min_th"), (lower, ""), named]


def _windows(users: str, queue: str, flows: pl.DataFrame) -> list[Chart]:
    wide = flows.pivot(on="flow", index="time_s", values="window").sort("time_s").fill_null(math.nan)
    names = sorted(wide.columns[1:], key=lambda name: int(name.strip("]").partition("[")[2]))
    three, all_of_them = FIGURES[users, queue][1:]
    return [
        Chart(
            f"Windows of three connections: {GRID.named(queue)}, {users} users",
            f"As figure {three}.{_said_of_amplitude(users, queue)}",
            wide["time_s"].to_list(),
            [Line(name, wide[name].to_list(), i) for i, name in enumerate(names[:3])],
            "segments",
            _amplitude(users, queue, flows.filter(pl.col("flow").is_in(names[:3]))),
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


def _amplitude(users: str, queue: str, windows: pl.DataFrame) -> list[tuple[float, str]]:
    """Two levels as far apart as the printed amplitude, from the 5th percentile of ``windows`` on, once all have begun."""
    if queue != "droptail":
        return []
    least = float(np.quantile(windows.filter(pl.col("time_s") >= WARMUP_S)["window"].to_numpy(), 0.05))
    return [(least, ""), (least + AMPLITUDES[users], f"printed amplitude: {AMPLITUDES[users]:g}")]


def _said_of_amplitude(users: str, queue: str) -> str:
    if queue != "droptail":
        return ""
    return (
        f" The dashed lines are the printed {AMPLITUDES[users]:g} apart, about the mean window from {WARMUP_S:g} s on."
    )


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
