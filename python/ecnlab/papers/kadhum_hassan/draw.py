"""What the report draws besides means: the first seed of each of the six cases over time, and the models' predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from ecnlab.papers.kadhum_hassan.measure import LINK, SEGMENT_BYTES
from ecnlab.papers.paper import Drawn
from ecnlab.prediction import prediction
from ecnlab.sweep import Sweep

EVERY: Final = 4
"""Of the windows of all flows, every fourth sample is drawn: 0.12 s."""


def draw(sweeps: Mapping[str, Sweep]) -> Drawn:
    """Queue, windows, round trips and throughput of one seed."""
    sweep = sweeps["queues"]
    case = [pl.col("users"), pl.col("queue")]
    first = pl.col("replicate") == 0
    in_bytes = (
        sweeps["tail-in-bytes"]
        .table("queue_series")
        .filter(first, pl.col("link") == LINK)
        .select(*case, "time_s", pl.col("packets").alias("packets_50_kb"))
    )
    queue = (
        sweep.table("queue_series")
        .filter(first, pl.col("link") == LINK)
        .join(in_bytes, on=["users", "queue", "time_s"], how="left", maintain_order="left")
        .select(
            *case,
            "time_s",
            "packets_50_kb",
            "packets",
            "average_packets",
            (pl.col("bytes") / 1e3).alias("kilobytes"),
            (pl.col("average_bytes") / 1e3).alias("average_kilobytes"),
        )
    )
    flows = (
        sweep.table("flow_series")
        .filter(first)
        .select(
            *case,
            "flow",
            "time_s",
            (pl.col("cwnd_bytes") / SEGMENT_BYTES).alias("window"),
            "srtt_s",
            "delivered_bytes",
        )
        .collect()
    )
    seconds = pl.col("time_s").floor()
    throughput = (
        flows.group_by(*case, "flow", seconds, maintain_order=True)
        .agg(pl.col("delivered_bytes").last())
        .group_by(*case, "time_s", maintain_order=True)
        .agg(pl.col("delivered_bytes").sum())
        .with_columns(kilobits=pl.col("delivered_bytes").diff().over(case) * 8 / 1e3)
    )
    seed = sweep.runs.filter(first)["seed"][0]
    return Drawn(
        {
            "drawn_queue": queue.collect(),
            "drawn_flows": flows.drop("delivered_bytes"),
            "predictions": _predictions([sweep, sweeps["variants-10"], sweeps["variants-30"]]),
            "drawn_throughput": throughput.drop_nulls().select(*case, "time_s", "kilobits"),
        },
        {"drawn_seed": seed},
    )


def _predictions(sweeps: Sequence[Sweep]) -> pl.DataFrame:
    """What the models say of every place of the grid."""
    rows = []
    for sweep in sweeps:
        keys, specs = ["variant", "users", "queue"], sweep.specs
        for run in sweep.runs.unique([*keys, "spec_hash"], maintain_order=True).iter_rows(named=True):
            said = prediction(specs[run["spec_hash"]]["spec"]).row(0, named=True)
            chosen = {"queue_packets": said["queue_packets"], "signalled": said["marked"] + said["dropped"]}
            rows.append({**{key: run[key] for key in keys}, **chosen})
    return pl.DataFrame(rows)
