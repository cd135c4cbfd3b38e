"""One run of each case over time, as in the paper's figures, and the models' predictions for each: stored, then drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import polars as pl

from ecnlab.api.sweep import Sweep
from ecnlab.papers import blocks, run_series
from ecnlab.papers.kadhum_hassan.grid import GRID, QUEUES
from ecnlab.papers.kadhum_hassan.measure import LINK, SEGMENT_BYTES, WARMUP_S
from ecnlab.papers.material import Material
from ecnlab.papers.paper import Drawn
from ecnlab.prediction import prediction
from ecnlab.report import Chart, Line, Multiples

EVERY: Final = 8
"""Interval of the drawn samples of all windows: every eighth sample, 0.24 s."""

FEW: Final = 2
"""Interval of the drawn samples of queues and of three windows: every second sample, 0.06 s."""

CASE: Final = ("users", "queue")

FIGURES: Final = {
    ("10", "droptail"): ("6", "4", "5"),
    ("10", "red"): ("10", "8", "9"),
    ("10", "ecn"): ("14", "12", "13"),
    ("30", "droptail"): ("19", "17", "18"),
    ("30", "red"): ("23", "21", "22"),
    ("30", "ecn"): ("27", "25", "26"),
}
"""The paper's figures of each case: the queue, the windows of three connections, the windows of all."""

OF_ALL: Final = {"10": ("7, 11 and 15", "16"), "30": ("20, 24 and 28", "29")}
"""Its figures of round trips and of throughput."""

THRESHOLDS: Final = {"10": (2.5, 7.5), "30": (30.0, 40.0)}
"""RED's, kB."""

AMPLITUDES: Final = {"10": 12.0, "30": 6.0}
"""How far the windows of drop-tail's three connections swing, as the paper prints it, in segments (section 3.2)."""

COLOURS: Final = 5

# --------------------------------------------------------------- stored data


def draw(sweeps: Mapping[str, Sweep]) -> Drawn:
    """Draw queue, windows, RTTs and throughput of one seed, and the models' predictions for every place of the grid."""
    sweep, first = sweeps["queues"], pl.col("replicate") == 0
    in_bytes = run_series.queue_over_time(sweeps["tail-in-bytes"], LINK, "replicate", *CASE, packets_50_kb="packets")
    queue = run_series.queue_over_time(sweep, LINK, "replicate", *CASE, "packets", "average_packets")
    both = queue.filter(first).join(
        in_bytes.filter(first).select(*CASE, "time_s", "packets_50_kb"),
        on=[*CASE, "time_s"],
        how="left",
        maintain_order="left",
    )
    flows = sweep.table("flow_series").filter(first)
    window = (pl.col("cwnd_bytes") / SEGMENT_BYTES).alias("window")
    seen = flows.select(*CASE, "flow", "time_s", window, "srtt_s", "delivered_bytes").collect()
    kept = ("packets_50_kb", "packets", "average_packets", "kilobytes", "average_kilobytes")
    return Drawn(
        {
            "drawn_queue": both.select(*CASE, "time_s", *kept).collect(),
            "drawn_flows": seen.drop("delivered_bytes"),
            "predictions": _predictions([sweep, sweeps["variants-10"], sweeps["variants-30"]]),
            "drawn_throughput": _throughput(seen),
        },
        {"drawn_seed": sweep.runs.filter(first)["seed"][0]},
    )


def _throughput(flows: pl.DataFrame) -> pl.DataFrame:
    """Payload delivered in order to all users in each second, kilobits."""
    last = flows.group_by(*CASE, "flow", pl.col("time_s").floor(), maintain_order=True).agg(
        pl.col("delivered_bytes").last()
    )
    total = last.group_by(*CASE, "time_s", maintain_order=True).agg(pl.col("delivered_bytes").sum())
    kilobits = total.with_columns(kilobits=pl.col("delivered_bytes").diff().over(CASE) * 8 / 1e3)
    return kilobits.drop_nulls().select(*CASE, "time_s", "kilobits")


def _predictions(sweeps: Sequence[Sweep]) -> pl.DataFrame:
    rows = []
    for sweep in sweeps:
        keys, specs = ["variant", *CASE], sweep.specs
        for run in sweep.runs.unique([*keys, "spec_hash"], maintain_order=True).iter_rows(named=True):
            stored = specs[run["spec_hash"]]
            predicted = prediction(stored["spec"], stored.get("in_force", {})).row(0, named=True)
            chosen = {
                "queue_packets": predicted["queue_packets"],
                "signalled": predicted["marked"] + predicted["dropped"],
            }
            rows.append({**{key: run[key] for key in keys}, **chosen})
    return pl.DataFrame(rows)


# --------------------------------------------------------------- how it is drawn


def seed(given: Material) -> str:
    """The seed of the runs that are drawn."""
    return str(given.tables.about["drawn_seed"])


def over_time(given: Material, users: str) -> list[Chart | Multiples]:
    """Queues, windows, round trips and throughput of a scenario."""
    queue, flows, throughput = (
        given.tables[f"drawn_{name}"].filter(pl.col("users") == users) for name in ("queue", "flows", "throughput")
    )
    charts: list[Chart | Multiples] = []
    for name in QUEUES:
        here = pl.col("queue") == name
        charts += [
            *_queues(given, users, name, queue.filter(here).gather_every(FEW)),
            _windows(users, name, flows.filter(here)),
        ]
    one = flows.filter(pl.col("flow") == flows["flow"].min()).with_columns(milliseconds=pl.col("srtt_s") * 1e3)
    names, (of_round_trips, of_throughput) = {queue: GRID.named(queue) for queue in QUEUES}, OF_ALL[users]
    return [
        *charts,
        _all_windows(users, flows),
        blocks.lines_over_time(
            f"Round trip of one connection, {users} users",
            f"As figures {of_round_trips}: the sender's smoothed estimate.",
            run_series.side_by_side(one, "queue", "milliseconds"),
            names,
            "milliseconds",
        ),
        blocks.lines_over_time(
            f"Throughput, {users} users",
            f"As figure {of_throughput}: payload delivered in order to all users, each second.",
            run_series.side_by_side(throughput, "queue", "kilobits"),
            names,
            "kb/s",
        ),
    ]


def _queues(given: Material, users: str, queue: str, series: pl.DataFrame) -> Iterator[Chart]:
    """Return the queue in packets with the printed average; RED's also in the kilobytes that ns-2.29 traces."""
    figure, value = FIGURES[users, queue][0], _printed(given, users, queue)
    title, printed = f"The queue: {GRID.named(queue)}, {users} users", [(value, f"printed: {value:g}")]
    if queue == "droptail":
        lines = [
            Line("queue", series["packets"].to_list(), 2, thin=True),
            Line("queue, buffer of 50 kB", series["packets_50_kb"].to_list(), 1, thin=True),
        ]
        caption = f"As figure {figure}, in packets; every second sample. The buffer holds 99; the other line is of a buffer of 50 kB."
        yield Chart(title, caption, series["time_s"].to_list(), lines, "packets", printed)
        return
    for unit, levels in (("packets", printed), ("kilobytes", _levels(users, value))):
        caption = f"As figure {figure}; every second sample. The printed average is read as {unit}."
        yield blocks.queue_over_time(f"{title}, in {unit}", caption, series, (unit, f"average_{unit}"), levels, unit)


def _printed(given: Material, users: str, queue: str) -> float:
    """The average queue that the paper prints, in packets (sections 3.1 and 3.2)."""
    numbers = (number for number in given.published.numbers if number.metric == "queue_packets")
    return next(float(n.value) for n in numbers if (n.where["users"], n.where["queue"]) == (users, queue))


def _levels(users: str, printed: float) -> list[tuple[float, str]]:
    """RED's thresholds and the printed average, which lies so near the upper one that the two share a name."""
    least, most = THRESHOLDS[users]
    lower, upper = sorted((most, printed))
    named = (upper, f"max_th: {most:g}, printed: {printed:g}")
    return [(least, "min_th"), named] if lower == upper else [(least, "min_th"), (lower, ""), named]


def _windows(users: str, queue: str, flows: pl.DataFrame) -> Multiples:
    """Return the windows of three connections, with the printed amplitude for drop-tail."""
    wide = run_series.side_by_side(flows, "flow", "window")
    names = _connections(wide)[:3]
    note, levels = _amplitude(users, flows.filter(pl.col("flow").is_in(names))) if queue == "droptail" else ("", [])
    return blocks.small_charts(
        f"Windows of three connections: {GRID.named(queue)}, {users} users",
        f"As figure {FIGURES[users, queue][1]}; every second sample.{note}",
        wide.gather_every(FEW),
        {name: name for name in names},
        "segments",
        levels,
    )


def _all_windows(users: str, flows: pl.DataFrame) -> Multiples:
    """Return the windows of all connections, a chart for each queue."""
    figures = ", ".join(FIGURES[users, queue][2] for queue in QUEUES)
    return Multiples(
        f"Windows of all connections, {users} users",
        f"As figures {figures}; every {EVERY}th sample. Synchronised windows rise and fall together.",
        [_overlaid(queue, flows.filter(queue=queue)) for queue in QUEUES],
    )


def _overlaid(queue: str, flows: pl.DataFrame) -> Chart:
    wide = run_series.side_by_side(flows, "flow", "window").gather_every(EVERY).fill_null(math.nan)
    lines = [
        Line(name, wide[name].to_list(), i % COLOURS, thin=True, listed=False)
        for i, name in enumerate(_connections(wide))
    ]
    return Chart(GRID.named(queue), "", wide["time_s"].to_list(), lines, "segments", height=blocks.SMALL)


def _connections(wide: pl.DataFrame) -> list[str]:
    """Return the names of the connections in their order."""
    return sorted(wide.columns[1:], key=lambda name: int(name.strip("]").partition("[")[2]))


def _amplitude(users: str, windows: pl.DataFrame) -> tuple[str, list[tuple[float, str]]]:
    """Two levels as far apart as the printed amplitude, from the 5th percentile of ``windows`` on, once all have begun."""
    apart = AMPLITUDES[users]
    least = float(np.quantile(windows.filter(pl.col("time_s") >= WARMUP_S)["window"].to_numpy(), 0.05))
    note = f" The dashed lines are the printed {apart:g} apart, about the mean window from {WARMUP_S:g} s on."
    return note, [(least, ""), (least + apart, f"printed amplitude: {apart:g}")]
