"""From runs to samples: what RFC 2884 measures, one value per run.

Each function reads the tables of one experiment (``Tables``) and gives the
samples of the metrics that ``papers/rfc2884/metrics.toml`` defines. Groups
keep their order: a sum of floats is the same bytes only in one order.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from ecnlab.papers import measures
from ecnlab.papers.paper import Tables
from ecnlab.papers.rfc2884.grid import GRID

TEST_S: Final = 180.0
"""A transaction test lasts three minutes (section 5.3)."""

INITIAL_RTO_S: Final = 2.9
"""Just under the three seconds before Linux 2.0 and 2.2 send a SYN again."""

PIPE: Final = "pipe"
"""The congested link: r1 to r2."""


def bulk(sweep: Tables) -> pl.DataFrame:
    """Section 5.2: two files side by side."""
    flows, speed = _competing(sweep, "flows_run"), speeds(sweep)
    return pl.concat(
        [
            GRID.samples("bulk_gain", speed),
            GRID.samples("bulk_difference", speed),
            *_each("bulk", speed),
            GRID.samples("bulk_gain_together", _together(sweep)),
            *_retransmissions(flows),
            GRID.samples("region_share", _link(sweep, "share_in_region")),
            GRID.samples("utilisation", _link(sweep, "utilisation")),
        ]
    )


def speeds(sweep: Tables) -> pl.LazyFrame:
    """Of the two files, b/s."""
    duration = pl.col("finish_s") - pl.col("start_s")
    return _sides(_competing(sweep, "flows_run"), pl.col("bytes_delivered") * 8 / duration)


def search(sweep: Tables) -> pl.DataFrame:
    """Section 4.4: the region, the gain, and how the non-ECN flow recovers, over thresholds."""
    plain = sweep.table("flows").filter(pl.col("group") == "plain")
    again, episodes = pl.col("retransmits"), pl.col("fast_recoveries") + pl.col("timeouts")
    return pl.concat(
        [
            window(sweep, "search_gain", "search_share"),
            GRID.samples("search_timeouts", measures.pair(GRID, plain, pl.col("timeouts"), plain, again)),
            GRID.samples("search_losses_per_episode", measures.pair(GRID, plain, again, plain, episodes)),
        ]
    )


def window(sweep: Tables, metric: str = "window_gain", share: str = "window_share") -> pl.DataFrame:
    """Bulk transfers without end: goodput of the two competing flows over the window."""
    goodput = _sides(_competing(sweep, "flows"), pl.col("goodput_bps"))
    return pl.concat([GRID.samples(metric, goodput), GRID.samples(share, _link(sweep, "share_in_region"))])


def rates(sweep: Tables) -> pl.LazyFrame:
    """Transactions of the two clients, per second."""
    return _sides(_competing(sweep, "flows"), pl.col("exchanges") / TEST_S)


def transactions(sweep: Tables, prefix: str = "transaction") -> pl.DataFrame:
    """Section 5.3: two clients side by side."""
    both = rates(sweep)
    return pl.concat(
        [
            GRID.samples(f"{prefix}_gain", both),
            GRID.samples(f"{prefix}_difference", both),
            *_each(prefix, both),
            GRID.samples(f"{prefix}_region_share", _link(sweep, "share_in_region")),
        ]
    )


def longer(sweep: Tables) -> pl.DataFrame:
    """Section 5.3, beyond its sizes: two clients side by side."""
    return GRID.samples("longer_gain", rates(sweep))


def like_reno(sweep: Tables) -> pl.DataFrame:
    """Section 5.3: other recoveries beside Reno."""
    return over_reno(GRID.samples("transaction_gain", rates(sweep)), "transaction_gain")


def losses(sweep: Tables) -> pl.DataFrame:
    """Section 5.3: non-ECN transactions that lost something, and those of them that waited for the timer."""
    lossy = sweep.table("transactions").filter(
        pl.col("group") == "plain", pl.col("measured"), pl.col("retransmits") > 0
    )
    counted = lossy.group_by(GRID.run_keys(lossy), maintain_order=True).agg(
        (pl.col("timeouts") > 0).sum().cast(pl.Float64).alias("value"), pl.len().cast(pl.Float64).alias("other")
    )
    return pl.concat(
        [GRID.samples("loss_needs_timeout", counted), *(_handshakes(sweep, side) for side in ("ecn", "plain"))]
    )


def _handshakes(sweep: Tables, side: str) -> pl.DataFrame:
    """Transactions whose SYN or SYN-ACK was lost: the connection took the initial timeout to stand."""
    done = sweep.table("transactions").filter(pl.col("group") == side, pl.col("measured"))
    waited = pl.col("established_s") - pl.col("start_s") > INITIAL_RTO_S
    keys = GRID.run_keys(done)
    counted = done.group_by(keys, maintain_order=True).agg(
        waited.sum().cast(pl.Float64).alias("value"), pl.len().cast(pl.Float64).alias("other")
    )
    return GRID.samples(f"handshake_lost_{side}", counted)


def fairness(sweep: Tables) -> pl.DataFrame:
    """Section 5.1: Jain's index over all flows, and its difference between the two backgrounds."""
    index = measures.jain(GRID, sweep.table("flows"))
    both = measures.beside(GRID, index, "background", "ecn", "plain")
    return pl.concat([GRID.samples("jain", index), GRID.samples("jain_difference", both)])


def signals(sweep: Tables) -> pl.DataFrame:
    """Section 5.1: marks of the ECN group and drops of the non-ECN group, equal numbers of flows."""
    queues = sweep.table("queues").filter(pl.col("link") == PIPE)
    drops = pl.col("early_drops") + pl.col("forced_drops") + pl.col("tail_drops")
    ecn = queues.filter(pl.col("group") == "ecn")
    plain = queues.filter(pl.col("group") == "plain")
    counts = measures.pair(GRID, ecn, pl.col("marks"), plain, drops)
    rates = measures.pair(GRID, ecn, pl.col("marks") / pl.col("arrived"), plain, drops / pl.col("arrived"))
    return pl.concat([GRID.samples("marks_to_drops", counts), GRID.samples("mark_rate_to_drop_rate", rates)])


def alone(sweep: Tables) -> pl.DataFrame:
    """One client at a time: the arms are compared under the same seeds."""
    flows = sweep.table("flows").filter(pl.col("group") == "ecn")
    return GRID.samples("alone_gain", _arms(flows, pl.col("exchanges").sum() / TEST_S))


def homogeneous_bulk(sweep: Tables) -> pl.DataFrame:
    """All flows ECN against all flows not: goodput of all, and of the two competing flows."""
    flows = sweep.table("flows")
    competing = flows.filter(pl.col("group").is_in(["ecn", "plain"]))
    return pl.concat(
        [
            GRID.samples("homogeneous_total_gain", _arms(flows, pl.col("goodput_bps").sum())),
            GRID.samples("homogeneous_gain", _arms(competing, pl.col("goodput_bps").mean())),
        ]
    )


def homogeneous_transactions(sweep: Tables) -> pl.DataFrame:
    """All flows ECN against all flows not: transactions of both clients."""
    flows = sweep.table("flows").filter(pl.col("group").is_in(["ecn", "plain"]))
    return GRID.samples("homogeneous_transaction_gain", _arms(flows, pl.col("exchanges").sum() / TEST_S))


def disciplines(sweep: Tables) -> pl.DataFrame:
    """Section 2: what a full queue does, by who is dropped; and RED."""
    return pl.concat(
        [
            GRID.samples("discipline_jain", measures.jain(GRID, sweep.table("flows"))),
            GRID.samples("discipline_utilisation", _link(sweep, "utilisation")),
            GRID.samples("discipline_queue", _link(sweep, "queue_mean_packets")),
            GRID.samples("discipline_synchrony", measures.window_correlation(GRID, sweep, since_s=30.0)),
        ]
    )


def against_nobody(mixed: Tables, homogeneous: Tables, column: str, prefix: str) -> pl.DataFrame:
    """Each client among mixed flows against the same client where nobody uses ECN.

    Says who pays: an ECN client that gains what the non-ECN client loses has only been given its share.
    """
    nobody = homogeneous.table("flows").filter(pl.col("arm") == "plain").drop("arm").collect()
    parts = []
    for group in ("ecn", "plain"):
        here = mixed.table("flows").filter(pl.col("group") == group, pl.col("variant") == "primary")
        base = nobody.lazy().filter(pl.col("group") == group)
        on = [key for key in GRID.run_keys(base) if key != "variant"]
        value = here.select(*on, pl.col(column).cast(pl.Float64).alias("value"))
        other = base.select(*on, pl.col(column).cast(pl.Float64).alias("other"))
        parts.append(GRID.samples(f"{prefix}_{group}_against_nobody", value.join(other, on=on)))
    return pl.concat(parts)


def mice_over_bulk(short: pl.DataFrame, long: pl.DataFrame) -> pl.DataFrame:
    """Section 6: the gain of short transfers over that of long ones, paired by seed."""
    on = ["recovery", "congestion", "maxp", "replicate"]
    ratio = (pl.col("value") / pl.col("other")).alias("value")
    mice = short.filter(pl.col("metric") == "transaction_gain").select(*on, ratio)
    elephants = long.filter(pl.col("metric") == "bulk_gain").select(*on, ratio.alias("other"))
    return GRID.samples("mice_over_bulk", mice.join(elephants, on=on))


def over_reno(found: pl.DataFrame, metric: str) -> pl.DataFrame:
    """The gain of each other recovery beside Reno's, paired by seed; each is the gain of its own seed."""
    on = ["congestion", "maxp", "replicate"]
    gain = (pl.col("value") / pl.col("other") - 1.0).alias("value")
    gains = found.filter(pl.col("metric") == metric)
    others, base = gains.filter(pl.col("recovery") != "reno"), gains.filter(pl.col("recovery") == "reno")
    both = others.select(*on, "recovery", gain).join(base.select(*on, gain.alias("other")), on=on)
    return GRID.samples(f"{metric}_over_reno", both)


def _retransmissions(flows: pl.LazyFrame) -> list[pl.DataFrame]:
    ecn, plain = flows.filter(pl.col("group") == "ecn"), flows.filter(pl.col("group") == "plain")
    again, sent, timeouts = pl.col("retransmits"), pl.col("data_segments_sent"), pl.col("timeouts")
    return [
        GRID.samples("retransmits_ecn", measures.pair(GRID, ecn, again, ecn, sent)),
        GRID.samples("retransmits_plain", measures.pair(GRID, plain, again, plain, sent)),
        GRID.samples("timeouts_ecn", measures.pair(GRID, ecn, timeouts, ecn, sent)),
        GRID.samples("timeouts_plain", measures.pair(GRID, plain, timeouts, plain, again)),
        GRID.samples("timeouts_inferred", measures.pair(GRID, plain, again - pl.col("retransmits_fast"), plain, again)),
        GRID.samples("retransmits_saved", measures.pair(GRID, plain, again / sent, ecn, again / sent)),
        GRID.samples(
            "losses_per_episode", measures.pair(GRID, plain, again, plain, pl.col("fast_recoveries") + timeouts)
        ),
    ]


def _each(prefix: str, both: pl.LazyFrame) -> list[pl.DataFrame]:
    """The two sides of a comparison by themselves."""
    plain = both.select(pl.exclude("value", "other"), pl.col("other").alias("value"))
    return [GRID.samples(f"{prefix}_ecn", both.select(pl.exclude("other"))), GRID.samples(f"{prefix}_plain", plain)]


def _together(sweep: Tables) -> pl.LazyFrame:
    """Bytes that each side had when the first of the two finished."""
    competing = _competing(sweep, "flows_run")
    keys = GRID.run_keys(competing)
    first = competing.group_by(keys, maintain_order=True).agg(pl.col("finish_s").min().alias("until_s"))
    names = competing.select(*keys, pl.col("name").alias("flow"), "group")
    series = sweep.table("flow_series").select(*keys, "flow", "time_s", "delivered_bytes")
    seen = series.join(names, on=[*keys, "flow"]).join(first, on=keys).filter(pl.col("time_s") <= pl.col("until_s"))
    had = seen.group_by([*keys, "group"], maintain_order=True).agg(pl.col("delivered_bytes").sort_by("time_s").last())
    return _sides(had, pl.col("delivered_bytes"))


def _competing(sweep: Tables, table: str) -> pl.LazyFrame:
    return sweep.table(table).filter(pl.col("group").is_in(["ecn", "plain"]))


def _sides(flows: pl.LazyFrame, value: pl.Expr) -> pl.LazyFrame:
    """``value`` of the ECN flow and, as ``other``, of the non-ECN flow of the same run."""
    return measures.pair(
        GRID, flows.filter(pl.col("group") == "ecn"), value, flows.filter(pl.col("group") == "plain"), value
    )


def _arms(flows: pl.LazyFrame, value: pl.Expr) -> pl.LazyFrame:
    """``value`` of each run of the ECN arm beside the other arm's of the same seed."""
    per_run = flows.group_by(["arm", *GRID.run_keys(flows)], maintain_order=True).agg(value.alias("value"))
    return measures.beside(GRID, per_run, "arm", "ecn", "plain")


def _link(sweep: Tables, column: str) -> pl.LazyFrame:
    return measures.of_link(GRID, sweep, PIPE, pl.col(column))
