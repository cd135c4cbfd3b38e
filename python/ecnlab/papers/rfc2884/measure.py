"""What RFC 2884 measures that ``papers/rfc2884/metrics.toml`` cannot say: bytes up to a moment, and experiments compared."""

from __future__ import annotations

import polars as pl

from ecnlab.papers import measures
from ecnlab.papers.paper import Tables
from ecnlab.papers.rfc2884.grid import GRID


def bulk_gain_together(sweep: Tables) -> pl.LazyFrame:
    """Bytes that each side had when the first of the two finished."""
    competing = sweep.table("flows_run").filter(pl.col("group").is_in(["ecn", "plain"]))
    keys = GRID.run_keys(competing)
    first = competing.group_by(keys, maintain_order=True).agg(pl.col("finish_s").min().alias("until_s"))
    names = competing.select(*keys, pl.col("name").alias("flow"), "group")
    series = sweep.table("flow_series").select(*keys, "flow", "time_s", "delivered_bytes")
    seen = series.join(names, on=[*keys, "flow"]).join(first, on=keys).filter(pl.col("time_s") <= pl.col("until_s"))
    had = seen.group_by([*keys, "group"], maintain_order=True).agg(pl.col("delivered_bytes").sort_by("time_s").last())
    ecn, plain = (had.filter(pl.col("group") == side) for side in ("ecn", "plain"))
    return measures.pair(GRID, ecn, pl.col("delivered_bytes"), plain, pl.col("delivered_bytes"))


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
