"""From runs to samples: what Akujobi et al. measure, one value per run.

Each function reads the tables of one experiment (``Tables``) and gives the samples of the metrics that
``papers/akujobi/metrics.toml`` defines. Sections are the paper's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from ecnlab.papers import measures
from ecnlab.papers.akujobi.grid import GRID
from ecnlab.papers.paper import Tables

PIPE: Final = "pipe"
"""The congested link: r1 to r2."""

DATA_BYTES: Final = 1000
SMALL_BYTES: Final = 40
"""Sizes in the paper's equation (1): of data, and of ACKs and ICMP packets."""

COMPARED: Final = {
    "ecn": ("eb45", "eb40", "eb20", "becn", "eb40, echoes heard", "eb20, echoes heard"),
    "eb40": ("eb20", "becn"),
    "eb20": ("becn", "eb20, echoes heard"),
    "becn": ("eb15",),
    "ecn, standard": ("eb40, standard", "eb20, standard", "becn, standard"),
}
"""Schemes at 46 flows that are set beside another of the same seed."""

ENDS: Final = {"ecn": ("eb45",), "becn": ("eb15",)}
"""What ECN+BECN is to be with its threshold at either end, and how that is called."""

SETTLED_S: Final = 20.0
"""When windows and queue of experiment C are looked at: past the slow start, which all schemes share. It begins within 5 s,
and with a tenth of ACKs lost one run in ten has its window still at 10 s, one in a hundred at 20 s.
"""


def mixed(sweep: Tables) -> pl.DataFrame:
    """Experiment A: goodput and loss of the able and the plain flows of the same run."""
    rates = _goodputs(sweep)
    return pl.concat([GRID.samples("gain", rates), *_losses(sweep)])


def heavy(sweep: Tables) -> pl.DataFrame:
    """Experiment A at 46 flows, with each scheme beside others of the same seed."""
    compared = _compared(sweep, COMPARED)
    return pl.concat([GRID.samples("heavy_gain", _goodputs(sweep)), *_losses(sweep, "heavy_"), *compared])


def ends(sweep: Tables) -> pl.DataFrame:
    """Section IV: ECN+BECN with the threshold at either end beside what it is to be there."""
    return pl.concat(_compared(sweep, ENDS, "ends_"))


def variants(sweep: Tables) -> pl.DataFrame:
    """Experiment A at 46 flows over what the paper leaves open."""
    gain = GRID.samples("variant_gain", _goodputs(sweep))
    compared = _compared(sweep, {base: COMPARED[base] for base in ("ecn", "eb40")}, "variant_")
    return pl.concat([gain, _loss(sweep, "variant_loss", "able"), *compared])


def _compared(sweep: Tables, pairs: Mapping[str, Sequence[str]], prefix: str = "") -> list[pl.DataFrame]:
    """Gain and loss of the able flows of each scheme beside those of its base. Schemes that a sweep lacks give no row."""
    rates = _goodputs(sweep)
    gains = rates.select(pl.exclude("value", "other"), (pl.col("value") / pl.col("other") - 1.0).alias("value"))
    loss = _rate(_pipe_queue(sweep, "able"), "dropped", "arrived")
    parts = []
    for base, schemes in pairs.items():
        name = base.removesuffix(", standard")
        parts.append(GRID.samples(f"{prefix}gain_over_{name}", _against(gains, base, schemes)))
        parts.append(GRID.samples(f"{prefix}loss_to_{name}", _against(loss, base, schemes)))
    return parts


def homogeneous(sweep: Tables) -> pl.DataFrame:
    """Experiment B: utilisation, source quenches, queue; and goodput and loss beside the other schemes."""
    share, goodput = _quench_share(sweep), _total_goodput(sweep)
    variance, loss = _link(sweep, "queue_var_packets"), _rate(_pipe_queue(sweep, "all"), "dropped", "arrived")
    used = measures.of_link(GRID, sweep, PIPE, 100 * pl.col("utilisation"))
    return pl.concat(
        [
            GRID.samples("utilisation", used),
            GRID.samples("utilisation_less_eb20", _against(used, "eb20", ("eb40",))),
            GRID.samples("utilisation_less_becn", _against(used, "becn", ("eb40", "eb20"))),
            GRID.samples("utilisation_way", _way(used, ("eb40", "eb20"))),
            GRID.samples("utilisation_printed", _printed_utilisation(sweep)),
            GRID.samples("quench_share", share),
            GRID.samples("quench_saving", _against(share, "becn", ("eb40", "eb20"))),
            GRID.samples("queue_mean", _link(sweep, "queue_mean_packets")),
            GRID.samples("queue_variance", variance),
            GRID.samples("queue_variance_to_ecn", _against(variance, "ecn", ("eb40", "eb20", "becn"))),
            GRID.samples("homogeneous_loss", loss),
            GRID.samples("loss_less_ecn", _against(loss, "ecn", ("eb40", "eb20", "becn"))),
            GRID.samples("loss_less_becn", _against(loss, "becn", ("eb40", "eb20"))),
            GRID.samples("goodput_over_ecn", _against(goodput, "ecn", ("eb40", "eb20", "becn"))),
            GRID.samples("goodput_over_becn", _against(goodput, "becn", ("eb40", "eb20"))),
        ]
    )


def lossy(sweep: Tables) -> pl.DataFrame:
    """Experiment C: one flow, by the loss of its way back, and beside no loss."""
    parts = []
    for name, values in (("surge", _surge(sweep)), ("spread", _spread(sweep)), ("lossy_goodput", _goodput(sweep))):
        parts.append(GRID.samples(name, values))
        parts.append(GRID.samples(f"{name}_to_lossless", _to_lossless(values)))
        parts.append(GRID.samples(f"{name}_to_becn", _against(values, "becn", ("plain", "ecn", "eb6"))))
    parts.append(GRID.samples("lossy_goodput_to_ecn", _against(_goodput(sweep), "ecn", ("eb6",))))
    mean = sweep.table("links").filter(pl.col("link") == PIPE)
    parts.append(GRID.samples("lossy_queue", _columns(mean, pl.col("average_mean_bytes") / 1e3)))
    return pl.concat(parts)


def unharmed(sweep: Tables) -> pl.DataFrame:
    """Experiment C: whether ECN+BECN suffers from a lossy way back, on seeds of its own."""
    return pl.concat(
        [
            GRID.samples("unharmed", _to_lossless(_surge(sweep))),
            GRID.samples("unharmed_queue", _to_lossless(_spread(sweep))),
            GRID.samples("unharmed_goodput", _to_lossless(_goodput(sweep))),
        ]
    )


def web_loads(sweep: Tables) -> pl.DataFrame:
    """Experiment D over its other loads."""
    return _web(sweep, ("eb20",)).with_columns(pl.lit("start to start").alias("pages"))


def web(sweep: Tables) -> pl.DataFrame:
    """Experiment D at 15 FTP flows."""
    return _web(sweep, ("eb20", "eb40"))


def _web(sweep: Tables, schemes: Sequence[str]) -> pl.DataFrame:
    """Delay of objects and its fairness, loss of web packets, and the queue."""
    done = sweep.table("objects").filter(pl.col("complete"))
    delay = measures.mean_of(GRID, done, "delay_s")
    loss = _rate(_pipe_queue(sweep, "web"), "dropped", "arrived")
    parts = []
    for name, values in (
        ("delay", delay),
        ("delay_fairness", _fairness(done, delay)),
        ("web_loss", loss),
        ("web_queue", _link(sweep, "queue_mean_packets")),
        ("web_variance", _link(sweep, "queue_var_packets")),
    ):
        parts.append(GRID.samples(name, values))
        parts += [GRID.samples(f"{name}_of_ecn", _against_all(values, "ecn", scheme)) for scheme in schemes]
    return pl.concat(parts)


def _fairness(objects: pl.LazyFrame, delay: pl.LazyFrame) -> pl.LazyFrame:
    """Equation (2) of section V-B as (mean T)^2 / mean T^2, from the mean ``delay`` of each run."""
    keys = GRID.run_keys(objects)
    squares = measures.mean_of(GRID, objects.with_columns(square=pl.col("delay_s") ** 2), "square")
    both = delay.join(squares.rename({"value": "square"}), on=keys)
    return both.select(*keys, (pl.col("value") ** 2 / pl.col("square")).alias("value"))


def _goodputs(sweep: Tables) -> pl.LazyFrame:
    """Average goodput of the able flows and, as ``other``, of the plain flows (section V-B)."""
    flows = sweep.table("flows")
    means = flows.group_by([*GRID.run_keys(flows), "group"], maintain_order=True).agg(pl.col("goodput_bps").mean())
    able, plain = means.filter(pl.col("group") == "able"), means.filter(pl.col("group") == "plain")
    return measures.pair(GRID, able, pl.col("goodput_bps"), plain, pl.col("goodput_bps"))


def _losses(sweep: Tables, prefix: str = "") -> list[pl.DataFrame]:
    """Packets dropped at the bottleneck over packets injected into it, of either group (section V-B)."""
    return [_loss(sweep, f"{prefix}loss", "able"), _loss(sweep, f"{prefix}plain_loss", "plain")]


def _loss(sweep: Tables, metric: str, group: str) -> pl.DataFrame:
    queue = _pipe_queue(sweep, group)
    return GRID.samples(metric, measures.pair(GRID, queue, 100 * pl.col("dropped"), queue, pl.col("arrived")))


def _quench_share(sweep: Tables) -> pl.LazyFrame:
    """Source quenches among the packets that r1 sends back: the ACKs that crossed the bottleneck's way back, and they."""
    sent = _pipe_queue(sweep, "all").select(*_keys(sweep), pl.col("quenches"))
    acks = sweep.table("links").filter(pl.col("link") == f"{PIPE}~reverse").select(*_keys(sweep), pl.col("delivered"))
    share = pl.col("quenches") / (pl.col("quenches") + pl.col("delivered"))
    return sent.join(acks, on=_keys(sweep)).select(*_keys(sweep), share.alias("value"))


def _printed_utilisation(sweep: Tables) -> pl.LazyFrame:
    """Equation (1) with the time that it lacks: data, ACKs and source quenches over what the pipe can carry one way."""
    keys = _keys(sweep)
    links = sweep.table("links").select(*keys, "link", "delivered", "rate_bps")
    there = links.filter(pl.col("link") == PIPE)
    back = links.filter(pl.col("link") == f"{PIPE}~reverse").select(*keys, pl.col("delivered").alias("acks"))
    quenches = _pipe_queue(sweep, "all").select(*keys, "quenches")
    bits = 8.0 * (DATA_BYTES * pl.col("delivered") + SMALL_BYTES * (pl.col("acks") + pl.col("quenches")))
    whole = there.join(back, on=keys).join(quenches, on=keys)
    return whole.select(*keys, (100 * bits / (pl.col("rate_bps") * DURATION_S)).alias("value"))


DURATION_S: Final = 100.0
"""Duration of the runs of network 1."""


def _total_goodput(sweep: Tables) -> pl.LazyFrame:
    return _over_time(sweep.table("flows"), pl.col("goodput_bps").mean())


def _spread(sweep: Tables) -> pl.LazyFrame:
    """How far RED's average strays over time, kB."""
    queue = sweep.table("queue_series").filter(pl.col("link") == PIPE, pl.col("time_s") >= SETTLED_S)
    return _over_time(queue, pl.col("average_bytes").std() / 1e3)


def _goodput(sweep: Tables) -> pl.LazyFrame:
    """Goodput of the one flow, kb/s."""
    return _columns(sweep.table("flows"), pl.col("goodput_bps") / 1e3)


def _surge(sweep: Tables) -> pl.LazyFrame:
    """The 99th percentile of the one flow's window, in segments."""
    window = sweep.table("flow_series").filter(pl.col("time_s") >= SETTLED_S)
    return _over_time(window, pl.col("cwnd_bytes").quantile(0.99) / DATA_BYTES)


def _to_lossless(values: pl.LazyFrame) -> pl.LazyFrame:
    """``value`` and, as ``other``, that of the same scheme and seed without loss."""
    on = [key for key in GRID.run_keys(values) if key != "loss"]
    base = values.filter(pl.col("loss") == "0%").select(*on, pl.col("value").alias("other"))
    return values.filter(pl.col("loss") != "0%").join(base, on=on)


def _against(values: pl.LazyFrame, base: str, schemes: Sequence[str]) -> pl.LazyFrame:
    """``value`` of each of ``schemes`` and, as ``other``, of ``base`` under the same seed."""
    return pl.concat(
        [
            measures.beside(GRID, values, "scheme", scheme, base).with_columns(pl.lit(scheme).alias("scheme"))
            for scheme in schemes
        ]
    )


def _way(values: pl.LazyFrame, schemes: Sequence[str]) -> pl.LazyFrame:
    """How far each of ``schemes`` lies above ECN and, as ``other``, how far BECN does, under the same seed."""
    above = pl.col("value") - pl.col("other")
    lead = _against(values, "ecn", (*schemes, "becn")).with_columns(above.alias("value")).drop("other")
    return _against(lead, "becn", schemes)


def _against_all(values: pl.LazyFrame, scheme: str, base: str) -> pl.LazyFrame:
    """``value`` of ``scheme`` beside that of ``base``, placed at ``base``."""
    return measures.beside(GRID, values, "scheme", scheme, base).with_columns(pl.lit(base).alias("scheme"))


def _pipe_queue(sweep: Tables, group: str) -> pl.LazyFrame:
    return sweep.table("queues").filter(pl.col("link") == PIPE, pl.col("group") == group)


def _rate(frame: pl.LazyFrame, part: str, whole: str) -> pl.LazyFrame:
    """One column over another, in percent."""
    return _columns(frame, 100 * pl.col(part) / pl.col(whole))


def _columns(frame: pl.LazyFrame, value: pl.Expr) -> pl.LazyFrame:
    return frame.select(*GRID.run_keys(frame), value.cast(pl.Float64).alias("value"))


def _over_time(frame: pl.LazyFrame, value: pl.Expr) -> pl.LazyFrame:
    """``value`` over all rows of each run."""
    return frame.group_by(GRID.run_keys(frame), maintain_order=True).agg(value.cast(pl.Float64).alias("value"))


def _link(sweep: Tables, column: str) -> pl.LazyFrame:
    return measures.of_link(GRID, sweep, PIPE, pl.col(column))


def _keys(sweep: Tables) -> list[str]:
    return GRID.run_keys(sweep.table("links"))
