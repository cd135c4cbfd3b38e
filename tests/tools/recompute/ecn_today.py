"""What is measured of ECN today, by the definitions in its metrics.toml."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
from tables import Recipe, Results, against, c, one_against, per_run

HOSTS = (
    ("reno-ecn", "reno"), ("reno-abe", "reno-ecn"), ("reno-accecn", "reno-ecn"), ("cubic-ecn", "cubic"),
    ("cubic-abe", "cubic-ecn"), ("cubic-accecn", "cubic-ecn"), ("dctcp", "cubic"), ("prague", "cubic"),
    ("bbr", "cubic"), ("prague", "cubic-ecn"),
)  # fmt: skip


def hosts(of: Callable[[Results], pl.DataFrame]) -> Recipe:
    """A quantity of one kind of host beside that of another, of the same seed."""

    def compared(results: Results) -> pl.DataFrame:
        values = of(results)
        return pl.concat(
            against(values.filter(c("host") == one), values.filter(c("host") == other).drop("host")).with_columns(
                pl.lit(other).alias("against")
            )
            for one, other in HOSTS
        )

    return compared


def of_group(step: str, table: str, group: str, value: pl.Expr, where: pl.Expr | None = None) -> Recipe:
    """``value`` over the rows of a group of flows, in each run."""
    chosen = c("group") == group
    return lambda results: per_run(results, step, table, value, chosen if where is None else chosen & where)


AT_BOTTLENECK = c("link") == "bottleneck"
RETRANSMITTED = c("retransmits").sum() / c("data_segments_sent").sum()


def latency(value: pl.Expr) -> Recipe:
    """Times of the transactions of the client with ECN beside those of the client without."""
    two = [of_group("transactions", "transactions", group, value, c("measured")) for group in ("ecn", "plain")]
    return lambda results: against(two[0](results), two[1](results))


def pages(results: Results) -> pl.DataFrame:
    """Times of the pages of the clients with ECN beside those of the clients without; at most 60 s a page."""

    def time(group: str) -> pl.DataFrame:
        asked = c("asked_s").is_between(10, 140, closed="left") & (c("group") == group)
        page = ["queue", "path", "replicate", "name", "session", "page"]
        whole = results.read("pages", "objects", asked).group_by(page).agg(
            pl.len().alias("objects"),
            c("transferred_s").is_null().any().alias("missing"),
            (c("transferred_s").max() - c("asked_s").min()).alias("took"),
        )  # fmt: skip
        took = pl.when(c("missing") | (c("took") > 60)).then(60.0).otherwise(c("took"))
        of_run = whole.filter(c("objects") == 20).group_by(page[:3]).agg(took.mean().alias("value"))
        return of_run.with_columns(pl.lit("").alias("arm")).collect()

    return against(time("ecn"), time("plain"))


def share_of_four(results: Results) -> pl.DataFrame:
    """What two of four flows have of the goodput of all."""
    goodput = c("goodput_bps")
    part = goodput.filter(c("group") == "bulk").sum() / goodput.sum()
    return per_run(results, "together", "flows", part.fill_nan(None), c("group").is_in(["bulk", "other"]))


def harm(results: Results) -> pl.DataFrame:
    """The goodput of CUBIC's flows beside that next to CUBIC."""
    return one_against(of_group("together", "flows", "other", c("goodput_bps").sum())(results), "host", "cubic")


def unconverted(results: Results) -> pl.DataFrame:
    """A host's goodput where others are converted beside that where none is; where all are, there is none."""
    each = of_group("converted", "flows", "bulk", c("goodput_bps").mean())(results)
    return one_against(each, "converted", "0 %")


def new_over_old(results: Results) -> pl.DataFrame:
    """A converted host's goodput beside an unconverted one's."""
    new, old = (of_group("converted", "flows", group, c("goodput_bps").mean())(results) for group in ("new", "bulk"))
    return against(new, old)


JAIN = c("goodput_bps").sum() ** 2 / (c("goodput_bps").len() * (c("goodput_bps") ** 2).sum())
P99 = c("sojourn_p99_s").first() * 1e3
ECN_TODAY: dict[str, Recipe] = {
    "goodput_change": hosts(of_group("alone", "flows", "bulk", c("goodput_bps").sum())),
    "p99_change": hosts(of_group("alone", "sojourns", "bulk", P99, AT_BOTTLENECK)),
    "p99_ms": of_group("alone", "sojourns", "bulk", P99, AT_BOTTLENECK),
    "retransmit_change": hosts(of_group("alone", "flows", "bulk", RETRANSMITTED)),
    "timeouts_change": hosts(of_group("alone", "flows", "bulk", c("timeouts").sum())),
    "jain_change": hosts(of_group("alone", "flows", "bulk", JAIN)),
    "share": share_of_four,
    "harm": harm,
    "latency_change": latency(c("latency_s").mean()),
    "tail_change": latency(c("latency_s").quantile(0.95, "linear")),
    "page_change": pages,
    "old_change": unconverted,
    "new_over_old": new_over_old,
    "load_change": hosts(of_group("load", "flows", "bulk", c("goodput_bps").sum())),
    "moving_goodput": hosts(of_group("changing", "flows", "bulk", c("goodput_bps").sum())),
    "moving_p99": hosts(of_group("changing", "sojourns", "bulk", P99, AT_BOTTLENECK)),
    "moving_latency": hosts(of_group("changing", "transactions", "short", c("latency_s").mean(), c("measured"))),
}
