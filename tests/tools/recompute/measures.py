"""From the run tables of a results folder to one value a seed and place, by the definitions in metrics.toml.

Written beside the project's own code and without it: polars reads the tables, numpy and scipy do the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
from ecn_today import ECN_TODAY
from tables import Recipe, Results, against, c, one_against, pairs, per_run, steps

# ------------------------------------------------------------------------------------------------------ RFC 2884


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

RFC2884: dict[str, Recipe] = {
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

# ------------------------------------------------------------------------------------------------------ Akujobi et al.

HEAVY, ALIKE, LOSSY = ("heavy", "nearest"), ("homogeneous", "nearest-alike"), ("lossy", "nearest-lossy")
WEB = ("web", "web-fifteen", "nearest-web")
PIPE = c("link") == "pipe"
SETTLED = 20.0


def heavy_gain(results: Results, *names: str) -> pl.DataFrame:
    def of(results: Results, step: str) -> pl.DataFrame:
        able, plain = (
            per_run(results, step, "flows", c("goodput_bps").mean(), c("group") == g) for g in ("able", "plain")
        )
        return against(able, plain)

    return steps(of, *(names or HEAVY))(results)


def _dropped(group: str, *names: str) -> Recipe:
    def of(results: Results, step: str) -> pl.DataFrame:
        here = PIPE & (c("group") == group)
        dropped = per_run(results, step, "queues", 100.0 * c("dropped").sum(), here)
        return against(dropped, per_run(results, step, "queues", c("arrived").sum(), here))

    return steps(of, *names)


def _quotient(frame: pl.DataFrame, less: float = 0.0) -> pl.DataFrame:
    return frame.with_columns(value=c("value") / c("other") - less).drop("other")


def over(recipe: Recipe, base: str) -> Recipe:
    """Each scheme beside ``base``; one in another reading beside ``base`` in that reading."""

    def of(results: Results) -> pl.DataFrame:
        values = recipe(results)
        standard = c("scheme").str.ends_with(", standard")
        return pl.concat(
            [
                one_against(values.filter(~standard), "scheme", base),
                *(
                    [one_against(values.filter(standard), "scheme", f"{base}, standard")]
                    if values.filter(standard).height
                    else []
                ),
            ]
        )

    return of


def link(column: str, *names: str, scale: float = 1.0) -> Recipe:
    return steps(lambda results, step: per_run(results, step, "links", c(column).first() * scale, PIPE), *names)


def quenches(results: Results) -> pl.DataFrame:
    def of(results: Results, step: str) -> pl.DataFrame:
        sent_ = per_run(results, step, "queues", c("quenches").sum(), PIPE & (c("group") == "all"))
        acks = per_run(results, step, "links", c("delivered").sum(), c("link") == "pipe~reverse")
        return against(sent_, acks).with_columns(value=c("value") / (c("value") + c("other"))).drop("other")

    return steps(of, *ALIKE)(results)


def mean_goodput(results: Results) -> pl.DataFrame:
    return steps(lambda r, step: per_run(r, step, "flows", c("goodput_bps").mean()), *ALIKE)(results)


def surge(*names: str) -> Recipe:
    top = c("cwnd_bytes").quantile(0.99) / 1000
    return steps(lambda r, step: per_run(r, step, "flow_series", top, c("time_s") >= SETTLED), *names)


def spread(results: Results, *names: str) -> pl.DataFrame:
    sigma = c("average_bytes").std() / 1000
    after = PIPE & (c("time_s") >= SETTLED)
    return steps(lambda r, step: per_run(r, step, "queue_series", sigma, after), *(names or LOSSY))(results)


def lossy_goodput(*names: str) -> Recipe:
    return steps(lambda r, step: per_run(r, step, "flows", c("goodput_bps").first()), *names)


def _ends_gain(results: Results) -> pl.DataFrame:
    return _quotient(heavy_gain(results, "ends"), 1.0)


def _ends_loss(results: Results) -> pl.DataFrame:
    return _quotient(_dropped("able", "ends")(results))


def web(value: Callable[[Results, str], pl.DataFrame]) -> Recipe:
    """ECN beside each scheme, placed at that scheme."""

    def of(results: Results, step: str) -> pl.DataFrame:
        values = value(results, step)
        others = values.filter(c("scheme") != "ecn").rename({"value": "other"})
        keys = [k for k in values.columns if k not in ("scheme", "value")]
        both = others.join(values.filter(c("scheme") == "ecn").drop("scheme"), on=keys)
        return both.with_columns(pages=pl.lit("start to start")) if step == "web" else both

    return steps(of, *WEB)


def _objects(value: pl.Expr) -> Callable[[Results, str], pl.DataFrame]:
    return lambda r, step: per_run(r, step, "objects", value, c("complete"))


def _web_link(column: str) -> Callable[[Results, str], pl.DataFrame]:
    return lambda r, step: per_run(r, step, "links", c(column).first(), PIPE)


def _web_loss(results: Results, step: str) -> pl.DataFrame:
    return per_run(results, step, "queues", c("dropped").sum() / c("arrived").sum(), PIPE & (c("group") == "web"))


def web_losses(results: Results) -> pl.DataFrame:
    def of(results: Results, step: str) -> pl.DataFrame:
        percent = _web_loss(results, step).with_columns(c("value") * 100)
        return percent.with_columns(pages=pl.lit("start to start")) if step == "web" else percent

    return steps(of, *WEB)(results)


over_ecn = over(link("utilisation", *ALIKE), "ecn")


def lead(results: Results) -> pl.DataFrame:
    return over_ecn(results).with_columns(value=c("value") - c("other")).drop("other")


def _gain(results: Results) -> pl.DataFrame:
    return _quotient(heavy_gain(results), 1.0)


def _loss(results: Results) -> pl.DataFrame:
    return _quotient(_dropped("able", *HEAVY)(results))


def _all_loss(results: Results) -> pl.DataFrame:
    return _quotient(_dropped("all", *ALIKE)(results))


def lossless(recipe: Recipe) -> Recipe:
    return lambda results: one_against(recipe(results), "loss", "0%")


AKUJOBI: dict[str, Recipe] = {
    "heavy_gain": heavy_gain,
    "heavy_loss": _dropped("able", *HEAVY),
    **{f"gain_over_{base}": over(_gain, base) for base in ("ecn", "eb40", "eb20", "becn")},
    **{f"loss_to_{base}": over(_loss, base) for base in ("ecn", "eb40", "eb20", "becn")},
    "utilisation": link("utilisation", *ALIKE, scale=100.0),
    "quench_share": quenches,
    "quench_saving": over(quenches, "becn"),
    "queue_variance_to_ecn": over(link("queue_var_packets", *ALIKE), "ecn"),
    "loss_less_ecn": over(_all_loss, "ecn"),
    "goodput_over_becn": over(mean_goodput, "becn"),
    "goodput_over_ecn": over(mean_goodput, "ecn"),
    "surge_to_becn": over(surge(*LOSSY), "becn"),
    "surge_to_lossless": lossless(surge(*LOSSY)),
    "spread_to_becn": over(spread, "becn"),
    "spread_to_lossless": lossless(spread),
    "unharmed": lossless(surge("lossy-unharmed")),
    "unharmed_queue": lossless(lambda results: spread(results, "lossy-unharmed")),
    "unharmed_goodput": lossless(lossy_goodput("lossy-unharmed")),
    "lossy_goodput_to_lossless": lossless(lossy_goodput(*LOSSY)),
    **{f"lossy_goodput_to_{base}": over(lossy_goodput(*LOSSY), base) for base in ("ecn", "becn")},
    **{f"ends_gain_over_{base}": over(_ends_gain, base) for base in ("ecn", "becn")},
    **{f"ends_loss_to_{base}": over(_ends_loss, base) for base in ("ecn", "becn")},
    "utilisation_less_eb20": over(link("utilisation", *ALIKE, scale=100.0), "eb20"),
    "utilisation_less_becn": over(link("utilisation", *ALIKE, scale=100.0), "becn"),
    "loss_less_becn": over(_all_loss, "becn"),
    "utilisation_way": over(lead, "becn"),
    "web_loss": web_losses,
    "delay_of_ecn": web(_objects(c("delay_s").mean())),
    "delay_fairness_of_ecn": web(_objects(c("delay_s").mean() ** 2 / (c("delay_s") ** 2).mean())),
    "web_loss_of_ecn": web(_web_loss),
    "web_queue_of_ecn": web(_web_link("queue_mean_packets")),
    "web_variance_of_ecn": web(_web_link("queue_var_packets")),
}

# ------------------------------------------------------------------------------------------------------ Kadhum & Hassan

CASES = ("queues", "tail-in-bytes")
EVERY = (*CASES, "variants-10", "variants-30", "apart")
NECK = c("link") == "bottleneck"
BEGUN = 10.0


def neck(value: pl.Expr) -> Recipe:
    return steps(lambda r, step: per_run(r, step, "links", value, NECK), *EVERY)


def total_goodput(results: Results) -> pl.DataFrame:
    return steps(lambda r, step: per_run(r, step, "flows", c("goodput_bps").sum() / 1000), *EVERY)(results)


def delay_deviation(results: Results) -> pl.DataFrame:
    sigma = (c("bytes") * 8 / 700).std()
    return steps(lambda r, step: per_run(r, step, "queue_series", sigma, NECK & (c("time_s") >= BEGUN)), *CASES)(
        results
    )


def early_peak(results: Results) -> pl.DataFrame:
    return steps(
        lambda r, step: per_run(r, step, "queue_series", c("bytes").max() / 1000, NECK & (c("time_s") < BEGUN)), *CASES
    )(results)


def window_swing(results: Results) -> pl.DataFrame:
    window = c("cwnd_bytes")

    def of(results: Results, step: str) -> pl.DataFrame:
        keys, rows = results.axes(step), results.read(step, "flow_series", c("time_s") >= BEGUN)
        each = rows.group_by([*keys, "flow"]).agg(
            ((window.quantile(0.95) - window.quantile(0.05)) / 552).alias("value")
        )
        return each.group_by(keys).agg(c("value").mean()).collect()

    return steps(of, *CASES)(results)


def cuts(results: Results, width: float, of_matrix: Callable[[np.ndarray], float]) -> pl.DataFrame:
    """``of_matrix`` of each run's table of flows by bins, 1 where the flow was cut in the bin."""

    def of(results: Results, step: str) -> pl.DataFrame:
        keys, rows = results.axes(step), []
        needed = ("flow", "time_s", "cwnd_bytes", "ssthresh_bytes")
        series = results.read(step, "flow_series", c("time_s") >= BEGUN).select(*keys, *needed).collect()
        for place, run in series.group_by(keys):
            table = []
            for _, flow in run.sort("time_s").group_by("flow", maintain_order=True):
                threshold, window = flow["ssthresh_bytes"].fill_null(-1), flow["cwnd_bytes"]
                cut = ((threshold != threshold.shift(1)) | (window < 0.9 * window.shift(1))).fill_null(False).to_numpy()
                bins = np.floor((flow["time_s"].to_numpy() - BEGUN) / width).astype(int)
                table.append(np.bincount(bins, weights=cut) > 0)
            rows.append((*place, of_matrix(np.array(table, dtype=float))))
        return pl.DataFrame(rows, schema=[*keys, "value"], orient="row", infer_schema_length=None)

    return steps(of, *CASES)(results).with_columns(bin=pl.lit(f"{width:g} s"))


def mean_correlation(table: np.ndarray) -> float:
    """Over all pairs of the flows that were cut at all, and not always."""
    found = np.corrcoef(table[table.std(axis=1) > 0])
    n = len(found)
    return float((found.sum() - n) / (n * (n - 1)))


def others_cut(table: np.ndarray) -> float:
    """Of each cut, the share of the other flows cut in its bin: over all cuts."""
    total, n = table.sum(axis=0), len(table)
    return float((total * (total - 1)).sum() / (total * (n - 1)).sum())


def all_bins(results: Results) -> pl.DataFrame:
    return pl.concat([cuts(results, width, mean_correlation) for width in (0.1, 0.25, 0.5, 1.0)])


def delay(results: Results) -> pl.DataFrame:
    return steps(lambda r, step: per_run(r, step, "links", c("sojourn_mean_s").first() * 1000, NECK), *CASES)(results)


def dropped_share(results: Results) -> pl.DataFrame:
    share, here = c("dropped").sum() / c("arrived").sum(), NECK & (c("group") == "all")
    return steps(lambda r, step: per_run(r, step, "queues", share, here), *CASES)(results)


def reductions(results: Results) -> pl.DataFrame:
    count = c("fast_recoveries") + c("timeouts") + c("ecn_reductions")
    return steps(lambda r, step: per_run(r, step, "flows", count.mean() / 40), *CASES)(results)  # 40 s are measured


def round_trips(results: Results) -> pl.DataFrame:
    def of(results: Results, step: str) -> pl.DataFrame:
        keys, rows = results.axes(step), results.read(step, "flow_series", c("time_s") >= BEGUN)
        each = rows.group_by([*keys, "flow"]).agg((c("srtt_s").std() * 1000).alias("value"))
        return each.group_by(keys).agg(c("value").mean()).collect()

    return steps(of, *CASES)(results)


def queue_follows(results: Results) -> pl.DataFrame:
    def of(results: Results, step: str) -> pl.DataFrame:
        keys, since = results.axes(step), c("time_s") >= BEGUN
        queue = results.read(step, "queue_series", since & NECK).select(*keys, "time_s", "bytes")
        windows = results.read(step, "flow_series", since).group_by([*keys, "time_s"]).agg(c("cwnd_bytes").sum())
        both = queue.join(windows, on=[*keys, "time_s"]).collect()
        rows = [
            (*place, float(np.corrcoef(run["bytes"].to_numpy(), run["cwnd_bytes"].to_numpy())[0, 1]))
            for place, run in both.group_by(keys)
        ]
        return pl.DataFrame(rows, schema=[*keys, "value"], orient="row", infer_schema_length=None)

    return steps(of, *CASES)(results)


def timeouts(results: Results) -> pl.DataFrame:
    return steps(lambda r, step: per_run(r, step, "flows", expiries), *CASES)(results)


def recoveries(results: Results) -> pl.DataFrame:
    both = expiries + c("fast_recoveries").sum()
    return steps(lambda r, step: per_run(r, step, "flows", both), *CASES)(results)


def correlation(results: Results) -> pl.DataFrame:
    return steps(lambda r, step: windows_together(r, step, BEGUN), *CASES)(results)


def two(recipe: Recipe) -> Recipe:
    return lambda results: pairs(recipe(results), "queue", "against")


KADHUM_HASSAN: dict[str, Recipe] = {
    "queue_packets": neck(c("queue_mean_packets").first()),
    "queue_delay": delay,
    "queue_delay_difference": two(delay),
    "loss_to": two(dropped_share),
    "reductions_difference": two(reductions),
    "window_correlation": correlation,
    "window_correlation_difference": two(correlation),
    "window_swing_difference": two(window_swing),
    "queue_difference": two(neck(c("queue_mean_packets").first())),
    "throughput_difference": two(neck(c("delivered_bytes").first() / 5000)),  # 8 bits in 40 s, in kb/s
    "goodput_difference": two(total_goodput),
    "delay_deviation_difference": two(delay_deviation),
    "rtt_deviation_difference": two(round_trips),
    "queue_follows": queue_follows,
    "timeouts_difference": two(timeouts),
    "timeout_share": lambda results: against(timeouts(results), recoveries(results)),
    "early_peak": early_peak,
    "window_swing": window_swing,
    "cut_correlation": all_bins,
    "cut_correlation_difference": two(all_bins),
    "cut_together": lambda results: cuts(results, 1.0, others_cut).drop("bin"),
}

# ------------------------------------------------------------------------------------------------------ Kwon & Fahmy

TABLES = ("tables", "above", "sensitivity")


def column(table: str, value: pl.Expr, where: pl.Expr, *names: str) -> Recipe:
    return steps(lambda r, step: per_run(r, step, table, value, where), *(names or TABLES))


COLUMNS: dict[str, tuple[str, pl.Expr, pl.Expr]] = {
    "delay": ("objects", c("delay_s").mean(), c("measured")),
    "drops": (
        "queues",
        c("dropped").sum() / c("arrived").sum(),
        c("link").is_in([f"L{i}" for i in range(1, 10)]) & (c("group") == "all"),
    ),
    **{name: ("flows", c("goodput_bps").sum() / 1e6, c("group") == name) for name in ("web", "udp", "ftp")},
    "goodput": ("flows", c("goodput_bps").sum() / 1e6, pl.lit(True)),
}


def arms(recipe: Recipe) -> Recipe:
    return lambda results: pairs(recipe(results), "arm", "against")


def rivals(results: Results) -> pl.DataFrame:
    bulk, rival = (
        per_run(results, "share", "flows", c("goodput_bps").mean(), c("group") == g) for g in ("bulk", "rival")
    )
    return against(bulk, rival)


def kept(results: Results) -> pl.DataFrame:
    """Window in the second after a reduction (10 samples of 100 ms), over the window before, mean over all reductions."""
    rows = results.read("short", "flow_series", c("time_s") >= 20).collect()
    keys, found = results.axes("short"), []
    for place, run in rows.group_by(keys):
        shares: list[float] = []
        for _, flow in run.sort("time_s").group_by("flow"):
            window = flow["cwnd_bytes"].to_numpy().astype(float)
            threshold = flow["ssthresh_bytes"].fill_null(-1).to_numpy()
            shares += [
                window[i : i + 10].mean() / window[i - 1]
                for i in range(1, len(window) - 9)
                if window[i] < window[i - 1] and threshold[i] != threshold[i - 1]
            ]
        found.append((*place, float(np.mean(shares))))
    return pl.DataFrame(found, schema=[*keys, "value"], orient="row")


def pipe_queue(results: Results) -> pl.DataFrame:
    return per_run(results, "vegas", "links", c("queue_mean_packets").first(), PIPE)


KWON_FAHMY: dict[str, Recipe] = {
    **{f"{name}_gain": arms(column(*how)) for name, how in COLUMNS.items()},
    **{
        f"{name}_change": (
            lambda results, how=COLUMNS[name]: one_against(column(*how, "tables")(results), "test", "as is")
        )
        for name in ("udp", "ftp")
    },
    **{name: column(*how, "tables", "above") for name, how in COLUMNS.items()},
    "kept_gain": arms(kept),
    "vegas_gain": arms(pipe_queue),
    "share_gain": rivals,
}

# ------------------------------------------------------------------------------------------------------ DualPI2's data

CELLS = ("mixed-rtt", "overload-c", "overload-l")


def in_cell_of(found: pl.DataFrame, step: str) -> pl.DataFrame:
    """With the queue discipline and the queue of UDP, which the steps with UDP do not vary."""
    if step == "mixed-rtt":
        return found
    return found.with_columns(pl.lit("dualpi2").alias("aqm"), pl.lit(step[-1].upper()).alias("udp_in"))


def in_cells(table: str, value: pl.Expr, where: pl.Expr) -> Recipe:
    def of(results: Results, step: str) -> pl.DataFrame:
        return in_cell_of(per_run(results, step, table, value, (c("link") == "bottleneck") & where), step)

    return steps(of, *CELLS)


def waits(name: str, value: str, *more: str) -> Recipe:
    """A delay of the packets of a flow group, in ms; of mixed round trips and of the steps ``more``."""
    mine = (c("link") == "bottleneck") & (c("group") == name)
    return steps(
        lambda results, step: per_run(results, step, "sojourns", c(value).first() * 1e3, mine), "mixed-rtt", *more
    )


def of_class(name: str) -> Recipe:
    """The mean delay of a class of DualPI2 under UDP, in ms."""
    mine = (c("link") == "bottleneck") & (c("class") == name) & (c("arrived") > 0)
    return steps(
        lambda results, step: in_cell_of(
            per_run(results, step, "classes", c("sojourn_mean_s").first() * 1e3, mine), step
        ),
        *CELLS[1:],
    )


def group(name: str, value: str) -> Recipe:
    return in_cells("queues", c(value).first(), (c("group") == name) & (c("arrived") > 0))


def over(value: Recipe, other: Recipe) -> Recipe:
    return lambda results: against(value(results), other(results))


def group_rate(name: str) -> Recipe:
    def of(results: Results, step: str) -> pl.DataFrame:
        return in_cell_of(per_run(results, step, "flows", c("goodput_bps").sum(), c("group") == name), step)

    return steps(of, *CELLS)


def coupling(results: Results) -> pl.DataFrame:
    marked, dropped = (
        over(group(name, top), group(name, below))(results).with_columns(value=c("value") / c("other"))
        for name, top, below in (("ecn", "marks", "departed"), ("cubic", "dropped", "arrived"))
    )
    both = against(marked.drop("other"), dropped.filter(c("value") > 0).drop("other"))
    return both.with_columns(value=c("value") / (2 * c("other").sqrt())).drop("other")


DUALPI2EVAL: dict[str, Recipe] = {
    "rate_ratio": over(group_rate("ecn"), group_rate("cubic")),
    "ecn_delay": waits("ecn", "sojourn_mean_s"),
    "ecn_p99": waits("ecn", "sojourn_p99_s"),
    "cubic_delay": waits("cubic", "sojourn_mean_s"),
    "cubic_p99": waits("cubic", "sojourn_p99_s"),
    "l_delay": of_class("L"),
    "c_delay": of_class("C"),
    "marked": over(group("ecn", "marks"), group("ecn", "departed")),
    "dropped": over(group("cubic", "dropped"), group("cubic", "arrived")),
    "ecn_dropped": over(group("ecn", "dropped"), group("ecn", "arrived")),
    "utilisation": in_cells("links", c("utilisation").first(), pl.lit(True)),
    "coupling": coupling,
}

RECIPES: dict[str, dict[str, Recipe]] = {
    "rfc2884": RFC2884,
    "akujobi": AKUJOBI,
    "kadhum-hassan": KADHUM_HASSAN,
    "kwon-fahmy": KWON_FAHMY,
    "dualpi2eval": DUALPI2EVAL,
    "ecn-today": ECN_TODAY,
}
"""What can be computed again, by paper and metric. The rest takes models of docs/models.md, which are tested elsewhere."""
