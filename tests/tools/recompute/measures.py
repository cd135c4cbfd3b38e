"""From the run tables of a results folder to one value a seed and place, by the definitions in metrics.toml.

Written beside the project's own code and without it: polars reads the tables, numpy and scipy do the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
from tables import Recipe, Results, against, c, one_against, per_run, steps


def sides(
    table: str, ecn: pl.Expr, plain: pl.Expr, where: pl.Expr | None = None
) -> Callable[[Results, str], pl.DataFrame]:
    """A quantity of the ECN client's flow beside one of the other client's."""

    def of(results: Results, step: str) -> pl.DataFrame:
        two = []
        for group, value in (("ecn", ecn), ("plain", plain)):
            chosen = c("group") == group if where is None else (c("group") == group) & where
            two.append(per_run(results, step, table, value, chosen))
        return against(two[0], two[1])

    return of


def only(
    table: str, group: str, value: pl.Expr, other: pl.Expr | None = None, where: pl.Expr | None = None
) -> Callable[[Results, str], pl.DataFrame]:
    """A quantity of one client, over another of the same client."""
    chosen = c("group") == group if where is None else (c("group") == group) & where

    def of(results: Results, step: str) -> pl.DataFrame:
        found = per_run(results, step, table, value, chosen)
        return found if other is None else against(found, per_run(results, step, table, other, chosen))

    return of


speed = (c("bytes_delivered") * 8 / (c("finish_s") - c("start_s"))).first()
rate = c("exchanges").first() / 180
again, sent, expiries = c("retransmits").sum(), c("data_segments_sent").sum(), c("timeouts").sum()
lost = (c("early_drops") + c("forced_drops") + c("tail_drops")).sum()
BULK, SHORT = ("bulk", "bulk-recovery"), ("transactions", "transactions-recovery")


def fairness(results: Results, step: str) -> pl.DataFrame:
    x = c("goodput_bps")
    return per_run(results, step, "flows", x.mean() ** 2 / (x * x).mean())


def mice(results: Results) -> pl.DataFrame:
    short, long = (
        both(results).with_columns(value=c("value") / c("other"))
        for both in (steps(sides("flows", rate, rate), "transactions"), steps(sides("flows_run", speed, speed), "bulk"))
    )
    return against(short, long.drop("arm"))


# Faults of tail drop: where each experiment stands, what its queue holds, and from when on windows and queue are looked at.
SHAPERS = c("link") == "pipe"
FAULTS = {"disciplines": 30.0, "tail-drop": 20.0, "synchrony": 20.0}
SMALL = c("setting").str.contains("small buffer|^phase")
ROOM = {
    "disciplines": pl.lit(60_000),
    "tail-drop": pl.when(SMALL).then(15_000).otherwise(60_000),
    "synchrony": pl.when(c("setting").str.contains("^8 ")).then(30_000).otherwise(15_000),
}
HEARD = {
    "TCP, 40 ms": "plain",
    "TCP, 200 ms": "far",
    "UDP, 300 kb/s": "fast",
    "UDP, 75 kb/s": "smooth",
    "UDP, 75 kb/s in bursts": "bursts",
    "UDP, 75 kb/s, packets of 500 B": "small",
}


def placed(frame: pl.DataFrame) -> pl.DataFrame:
    """Runs of an experiment without settings are the testbed's."""
    return frame if "setting" in frame.columns else frame.with_columns(setting=pl.lit("testbed"))


def full(results: Results, step: str) -> pl.DataFrame:
    after = SHAPERS & (c("time_s") >= FAULTS[step])
    return placed(per_run(results, step, "queue_series", (c("bytes") * 10 >= 9 * ROOM[step]).mean(), after))


def together(results: Results, step: str) -> pl.DataFrame:
    return placed(windows_together(results, step, FAULTS[step]))


def windows_together(results: Results, step: str, since: float | pl.Expr) -> pl.DataFrame:
    """Mean correlation over all pairs of windows, by the matrix of correlations."""
    kept = (c("time_s") >= since) & c("cwnd_bytes").is_not_null()
    rows = results.read(step, "flow_series", kept).collect()
    keys, found = results.axes(step), []
    for place, series in rows.group_by(keys):
        wide = series.pivot(on="flow", index="time_s", values="cwnd_bytes").drop("time_s").drop_nulls().to_numpy().T
        moving = wide[wide.std(axis=1) > 0].astype(float)
        if len(moving) > 1:
            matrix = np.corrcoef(moving)
            found.append((*place, float(matrix[np.triu_indices_from(matrix, 1)].mean())))
    return pl.DataFrame(found, schema=[*keys, "value"], orient="row")


def busy(results: Results, step: str) -> pl.DataFrame:
    return placed(per_run(results, step, "links", c("utilisation").first(), SHAPERS))


def least(results: Results, step: str) -> pl.DataFrame:
    x, kept = c("goodput_bps"), ~c("group").is_in(["bursts", "smooth"])
    return placed(per_run(results, step, "flows", x.min() * pl.len() / x.sum(), kept))


def fault(of: Callable[[Results, str], pl.DataFrame]) -> Recipe:
    return steps(of, *FAULTS)


def beside_red(recipe: Recipe) -> Recipe:
    def of(results: Results) -> pl.DataFrame:
        values = recipe(results)
        return against(values.filter(c("variant") == "tail").drop("variant"), values.filter(c("variant") == "red"))

    return of


def _fate(results: Results, step: str, group: str, of: str) -> pl.DataFrame:
    return per_run(results, step, "queues", (c("dropped") / c(of)).first(), SHAPERS & (c("group") == group))


def bursts(results: Results) -> pl.DataFrame:
    def of(results: Results, step: str) -> pl.DataFrame:
        return placed(against(*(_fate(results, step, group, "arrived") for group in ("bursts", "smooth"))))

    return steps(of, "tail-drop", "shares")(results)


def more_than_smooth(results: Results) -> pl.DataFrame:
    return bursts(results).with_columns(value=c("value") - c("other")).drop("other")


def drops_by_share(size: str) -> Recipe:
    def of(results: Results) -> pl.DataFrame:
        everything = _fate(results, "shares", "all", size)
        return pl.concat(
            against(_fate(results, "shares", group, size), everything).with_columns(setting=pl.lit(label))
            for label, group in HEARD.items()
        )

    return of


def over_reno(value: pl.Expr, table: str, step: str) -> Recipe:
    """The gain of each seed with another recovery beside that with Reno."""

    def of(results: Results) -> pl.DataFrame:
        both = sides(table, value, value)(results, step)
        return one_against(both.with_columns(value=c("value") / c("other") - 1).drop("other"), "recovery", "reno")

    return of


def ends(values: Recipe, axis: str, there: str, here: str) -> Recipe:
    """The label ``there`` of an axis beside ``here``, each seed: the two ends of a line of the grid."""

    def of(results: Results) -> pl.DataFrame:
        found = values(results)
        return against(found.filter(c(axis) == there).drop(axis), found.filter(c(axis) == here).drop(axis))

    return of


def gains(table: str, value: pl.Expr, *names: str) -> Recipe:
    """The gain of each seed in which there is something to gain on."""
    both = steps(sides(table, value, value), *names)
    return lambda results: (
        both(results).filter(c("other") > 0).with_columns(value=c("value") / c("other") - 1).drop("other")
    )


def distances(table: str, value: pl.Expr, *names: str) -> Recipe:
    """What the ECN client has more, each seed."""
    both = steps(sides(table, value, value), *names)
    return lambda results: both(results).with_columns(value=c("value") - c("other")).drop("other")


def often(results: Results) -> pl.DataFrame:
    """1 for each test with 1 in 200 segments of the ECN flow sent again, else 0."""
    return steps(only("flows_run", "ecn", (again / sent >= 0.005).cast(pl.Int8)), *BULK)(results)


def all_against_none(value: pl.Expr) -> Recipe:
    """Of all flows together, where all use ECN beside where none does."""
    return ends(steps(lambda r, step: per_run(r, step, "flows", value), "homogeneous-bulk"), "arm", "ecn", "plain")


def timer_share(table: str, step: str, over: pl.Expr) -> Recipe:
    """The part of ``over`` that is timeouts, of the non-ECN client's flow in each run."""
    return steps(only(table, "plain", expiries / over), step)


def other_recoveries(recipe: Recipe) -> Recipe:
    return lambda results: one_against(recipe(results), "recovery", "reno")


def link_of_faults(value: pl.Expr) -> Recipe:
    return beside_red(fault(lambda r, step: placed(per_run(r, step, "links", value, SHAPERS))))


SIZES, VERY_HIGH = "transactions-size", "very-high"
EPISODES, GOODPUT = c("fast_recoveries").sum() + expiries, c("goodput_bps").first()

RECIPES: dict[str, Recipe] = {
    "bulk_gain": steps(sides("flows_run", speed, speed), *BULK),
    "bulk_difference": steps(sides("flows_run", speed, speed), *BULK),
    "transaction_gain": steps(sides("flows", rate, rate), *SHORT),
    "transaction_difference": steps(sides("flows", rate, rate), *SHORT),
    "transaction_ecn": steps(only("flows", "ecn", rate), *SHORT),
    "longer_gain": steps(sides("flows", rate, rate), "transactions-longer"),
    "jain": steps(fairness, "fairness"),
    "jain_difference": lambda results: one_against(fairness(results, "fairness"), "background", "plain"),
    "marks_to_drops": steps(sides("queues", c("marks").sum(), lost, c("link") == "pipe"), "equal"),
    "mark_rate_to_drop_rate": steps(
        sides("queues", c("marks").sum() / c("arrived").sum(), lost / c("arrived").sum(), c("link") == "pipe"), "equal"
    ),
    "retransmits_ecn": steps(only("flows_run", "ecn", again, sent), *BULK),
    "retransmits_saved": lambda results: against(
        *(steps(only("flows_run", side, again / sent), *BULK)(results) for side in ("plain", "ecn"))
    ),
    "retransmits_ecn_often": often,
    "bulk_gain_by_load": ends(gains("flows_run", speed, "bulk"), "congestion", "high", "low"),
    "bulk_difference_by_load": ends(distances("flows_run", speed, "bulk"), "congestion", "high", "low"),
    "bulk_gain_by_max_p": ends(gains("flows_run", speed, "bulk"), "maxp", "0.5", "0.02"),
    "transaction_gain_by_load": ends(gains("flows", rate, "transactions"), "congestion", "high", "low"),
    "transaction_difference_by_load": ends(distances("flows", rate, "transactions"), "congestion", "high", "low"),
    "transaction_gain_by_max_p": ends(gains("flows", rate, "transactions"), "maxp", "0.5", "0.02"),
    "size_gain_by_load": ends(gains("flows", rate, SIZES), "congestion", "high", "moderate"),
    "size_gain_by_max_p": ends(gains("flows", rate, SIZES), "maxp", "0.5", "0.02"),
    "size_gain_by_size": ends(gains("flows", rate, SIZES), "size", "20 KB", "5 KB"),
    "timeouts_over_reno": other_recoveries(timer_share("flows_run", "bulk", again)),
    "very_high_timeouts_over_reno": other_recoveries(timer_share("flows", VERY_HIGH, again)),
    "very_high_gain_over_reno": other_recoveries(gains("flows", GOODPUT, VERY_HIGH)),
    "longer_by_timer": steps(only("flows", "plain", expiries, EPISODES), "transactions-longer"),
    "by_timer_by_size": ends(timer_share("flows", SIZES, EPISODES), "size", "20 KB", "5 KB"),
    "fault_queue_against_red": link_of_faults(c("queue_mean_packets").first()),
    "fault_queue_deviation_against_red": link_of_faults(c("queue_var_packets").first().sqrt()),
    "homogeneous_total_gain": all_against_none(c("goodput_bps").sum()),
    "homogeneous_resent": all_against_none(again / sent),
    "timeouts_ecn": steps(only("flows_run", "ecn", expiries, sent), *BULK),
    "timeouts_plain": steps(only("flows_run", "plain", expiries, again), *BULK),
    "timeouts_inferred": steps(only("flows_run", "plain", again - c("retransmits_fast").sum(), again), *BULK),
    "losses_per_episode": steps(only("flows_run", "plain", again, c("fast_recoveries").sum() + expiries), *BULK),
    "loss_needs_timeout": steps(
        only("transactions", "plain", (c("timeouts") > 0).sum(), pl.len(), c("measured") & (c("retransmits") > 0)),
        "transactions",
    ),
    "mice_over_bulk": mice,
    "fault_full": fault(full),
    "fault_full_against_red": beside_red(fault(full)),
    "fault_synchrony": fault(together),
    "fault_synchrony_against_red": beside_red(fault(together)),
    "fault_utilisation_against_red": beside_red(fault(busy)),
    "fault_least": fault(least),
    "fault_least_against_red": beside_red(fault(least)),
    "fault_bursts": bursts,
    "fault_bursts_excess_against_red": beside_red(more_than_smooth),
    "drop_share": drops_by_share("departed"),
    "drop_share_of_bytes": drops_by_share("departed_bytes"),
    "degenerate_above": steps(
        lambda results, step: per_run(results, step, "links", c("share_above").first(), SHAPERS), "degenerate"
    ),
    "degenerate_gain": steps(sides("flows", c("goodput_bps").first(), c("goodput_bps").first()), "degenerate"),
    "bulk_gain_over_reno": over_reno(speed, "flows_run", "bulk"),
    "transaction_gain_over_reno": over_reno(rate, "flows", "transactions-like-reno"),
}
