"""Sections of the report, one for each experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from ecnlab.papers import blocks
from ecnlab.papers.akujobi.grid import GRID, SCHEMES
from ecnlab.papers.published import Published
from ecnlab.papers.samples import at
from ecnlab.report import Axis, Chart, Figure, Group, Line, Point, Section, Series, Table

MIXED: Final = {str(n): float(n) for n in (8, 12, 16, 18, 20, 26, 30, 36, 40, 46)}
ALIKE: Final = {str(n): float(n) for n in (10, 15, 25, 30, 35, 40, 45)}
FTP: Final = {str(n): float(n) for n in (5, 10, 15, 20, 25, 30, 35)}
LOSS: Final = {f"{n}%": float(n) for n in (0, 2, 4, 6, 8, 10)}


def mixed(points: pl.DataFrame, numbers: pl.DataFrame, published: Published) -> Section:
    """Experiment A."""
    at_46 = {"heavy_gain": "gain", "heavy_loss": "loss"}
    figures = []
    for printed, metric in at_46.items():
        marks = [
            mark
            for style, scheme in enumerate(SCHEMES)
            for mark in blocks.printed(
                at(numbers, printed, {"scheme": scheme}).with_columns(pl.lit("46").alias("flows")),
                "flows",
                MIXED,
                f"printed, {GRID.named(scheme)}",
                style,
            )
        ]
        title, number = {"gain": ("Gain over plain TCP", "3"), "loss": ("Loss", "4")}[metric]
        caption = f"As figure {number}. Hollow: what is printed, at 46 flows."
        figures.append(_over(points, published, metric, title, caption, "flows", MIXED, "flows in all", marks=marks))
    wanted = ["heavy_gain", "heavy_loss", "heavy_plain_loss", "gain", "loss", "plain_loss"]
    bases = ("ecn", "eb40", "eb20", "becn")
    steps = [f"{metric}_{base}" for metric in ("gain_over", "loss_to") for base in bases]
    ends = [f"ends_{metric}_{base}" for metric in ("gain_over", "loss_to") for base in ("ecn", "becn")]
    return Section(
        "mixed",
        "Experiment A: half the flows are plain TCP",
        "Half of the flows listen to marks or source quenches or both, half are plain TCP; all send without end for "
        "100 s through one RED queue. At 46 flows there are more seeds, and settings that the paper does not have: "
        "ECN+BECN with the threshold at min_th (15 kB), which the paper equates with BECN, and at max_th (45 kB), "
        "which it equates with ECN; source quenches of 56 bytes, which RFC 792 makes of them; hosts that hear every "
        "echo as in ECN (echoes heard); and hosts to which a round trip is over when data sent after the reduction is "
        "acknowledged (standard), not when all sent before it is, as in ns-2.",
        [
            Group(figures),
            _table(points, published, steps, "The schemes at 46 flows beside each other, by seed", ["scheme"], False),
            _table(points, published, ends, "The ends of the threshold, by seeds of their own", ["scheme"], False),
            _table(points, published, wanted, "All loads", ["flows", "scheme"]),
        ],
    )


def homogeneous(points: pl.DataFrame, numbers: pl.DataFrame, published: Published) -> Section:
    """Experiment B."""
    marks = [
        mark
        for style, scheme in enumerate(SCHEMES)
        for mark in blocks.printed(
            at(numbers, "utilisation", {"scheme": scheme}), "flows", ALIKE, f"printed, {GRID.named(scheme)}", style
        )
    ]
    saved = _scaled(points, numbers, "quench_share", "A16.1", "becn", "45", ALIKE, SCHEMES.index("eb40") - 1)
    figures = [
        _over(
            points,
            published,
            "utilisation",
            "Utilisation",
            "As figure 5. Hollow: the ends of the printed ranges, at 10 and 45 flows.",
            "flows",
            ALIKE,
            "flows",
            marks=marks,
            zero=False,
        ),
        _over(
            points,
            published,
            "quench_share",
            "Source quenches",
            "As figure 6. Hollow: the printed saving of 38.8%, taken from BECN's share here.",
            "flows",
            ALIKE,
            "flows",
            SCHEMES[1:],
            [saved],
        ),
        *(
            _over(points, published, metric, title, "No figure of the paper's.", "flows", ALIKE, "flows")
            for metric, title in (("queue_mean", "Mean queue"), ("queue_variance", "Variance of the queue"))
        ),
    ]
    wanted = [
        "utilisation",
        "utilisation_less_eb20",
        "utilisation_less_becn",
        "utilisation_way",
        "utilisation_printed",
        "quench_share",
        "quench_saving",
        "queue_mean",
        "queue_variance",
        "queue_variance_to_ecn",
        "homogeneous_loss",
        "loss_less_ecn",
        "loss_less_becn",
        "goodput_over_ecn",
        "goodput_over_becn",
    ]
    return Section(
        "homogeneous",
        "Experiment B: flows of one kind",
        "The paper's formula for utilisation lacks the time and adds what goes back to what the forward direction can "
        "carry; with the time put in it exceeds 100% (utilisation_printed in the table). Measured is what the forward "
        "direction carries over what it can.",
        [Group(figures), _table(points, published, wanted, "All loads", ["flows", "scheme"])],
    )


def lossy(points: pl.DataFrame, published: Published) -> Section:
    """Experiment C."""
    schemes = ("plain", "ecn", "eb6", "becn")
    figures = [
        _over(
            points,
            published,
            metric,
            title,
            "What the paper measures and shows no figure of.",
            "loss",
            LOSS,
            "loss of the way back, percent",
            schemes,
        )
        for metric, title in (
            ("surge", "The window's surges"),
            ("spread", "The average queue's spread"),
            ("lossy_goodput", "Goodput"),
            ("lossy_queue", "The average queue"),
        )
    ]
    wanted = [
        metric
        for name in ("surge", "spread", "lossy_goodput")
        for metric in (name, f"{name}_to_lossless", f"{name}_to_becn")
    ]
    wanted += ["lossy_goodput_to_ecn", "lossy_queue", "unharmed", "unharmed_queue", "unharmed_goodput"]
    return Section(
        "lossy",
        "Experiment C: the way back loses packets",
        "One flow on network 2; the link from the congested router back to the sender loses ACKs and source quenches "
        "alike. BECN alone has nothing but them.",
        [Group(figures), _table(points, published, wanted, "All rates of loss", ["loss", "scheme"])],
    )


def web(points: pl.DataFrame, numbers: pl.DataFrame, published: Published) -> Section:
    """Experiment D."""
    names = {
        "delay": ("Transfer delay", "13", "A21.4"),
        "delay_fairness": ("Fairness of delays", "15", "A21.5"),
        "web_loss": ("Loss of web packets", "14", "A21.3"),
        "web_queue": ("Mean queue", "16", "A21.2"),
        "web_variance": ("Variance of the queue", "17", "A21.1"),
    }
    shown = points.filter(pl.col("pages") == "start to start")
    figures = [
        _over(
            shown,
            published,
            metric,
            title,
            f"As figure {figure}. Hollow: what is printed of ECN at 15 flows, relative to ECN+BECN (20 kB) here.",
            "flows",
            FTP,
            "FTP flows beside",
            ("ecn", "eb40", "eb20"),
            [_scaled(shown, numbers, metric, number, "eb20", "15", FTP, 0)],
        )
        for metric, (title, figure, number) in names.items()
    ]
    beside = [f"{name}_of_ecn" for name in names]
    return Section(
        "web",
        "Experiment D: web transfers",
        "1000 sessions of ten pages (table I) from 50 s on, beside FTP flows of the same kind. ns-2.1b8a spaced the "
        "pages of a session from start to start, ns-2 since November 2001 from the end of one to the start of the next: "
        "at 15 FTP flows both are in the table.",
        [
            Group(figures),
            _table(points, published, beside, "ECN beside ECN+BECN, by seed", ["flows", "pages", "scheme"], False),
            _table(points, published, list(names), "All loads", ["flows", "pages", "scheme"]),
        ],
    )


def evolution(queue: pl.DataFrame, lossy_queue: pl.DataFrame, window: pl.DataFrame) -> Section:
    """Figures 7 to 12: queue and window over time."""
    charts = [
        _queue(queue, scheme, f"The queue under 15 {GRID.named(scheme)} flows", figure, NETWORK_1)
        for scheme, figure in (("ecn", "7"), ("eb20", "8"))
    ]
    for scheme, of_window, of_queue in (("becn", "9", "10"), ("eb6", "11", "12")):
        name = GRID.named(scheme)
        charts += [
            Chart(
                f"{name}: the window, 10% of the way back lost",
                f"As figure {of_window}. Sampled every 100 ms.",
                window["time_s"].to_list(),
                [Line("window", window[scheme].to_list(), 1)],
                "segments",
            ),
            _queue(lossy_queue, scheme, f"{name}: the queue, 10% of the way back lost", of_queue, NETWORK_2),
        ]
    return Section("evolution", "Single runs, in time", "Drag across a chart to look closer.", charts)


NETWORK_1: Final = ((15.0, "min_th"), (45.0, "max_th"))
NETWORK_2: Final = ((5.0, "min_th"), (15.0, "max_th"))
"""RED's thresholds, kB (section V-A)."""


def _queue(series: pl.DataFrame, scheme: str, title: str, figure: str, levels: Sequence[tuple[float, str]]) -> Chart:
    lines = [
        Line("queue", series[f"queue_{scheme}"].to_list(), 2, thin=True),
        Line("RED's average", series[f"average_{scheme}"].to_list(), 1),
    ]
    return Chart(
        title, f"As figure {figure}. Sampled every 100 ms.", series["time_s"].to_list(), lines, "kilobytes", levels
    )


def _scaled(
    points: pl.DataFrame,
    numbers: pl.DataFrame,
    metric: str,
    number: str,
    base: str,
    flows: str,
    scale: Mapping[str, float],
    style: int,
) -> Series:
    """The printed change that ``number`` is, taken from what ``base`` has here: the paper prints no value to take it from."""
    measured = at(points, metric, {"scheme": base, "flows": flows})["mean"].item()
    change = numbers.filter(pl.col("id") == number)["printed"].item()
    return Series(
        f"printed: {100 * change:+.3g}% from {GRID.named(base)}",
        [Point(scale[flows], measured * (1.0 + change))],
        style,
    )


def _over(
    points: pl.DataFrame,
    published: Published,
    metric: str,
    title: str,
    caption: str,
    axis: str,
    scale: Mapping[str, float],
    label: str,
    schemes: Sequence[str] = SCHEMES,
    marks: Sequence[Series] = (),
    zero: bool = True,
) -> Figure:
    """A metric along an axis, a curve for each scheme."""
    curves = [
        blocks.series(at(points, metric, {"scheme": scheme}), axis, scale, GRID.named(scheme), style)
        for style, scheme in enumerate(schemes)
    ]
    ticks = [(value, str(int(value))) for value in scale.values()]
    return blocks.figure(title, caption, Axis(label, ticks), published.metrics[metric], curves, marks, zero=zero)


def _table(
    points: pl.DataFrame,
    published: Published,
    metrics: Sequence[str],
    caption: str,
    keys: Sequence[str],
    folded: bool = True,
) -> Table:
    wanted = points.filter(pl.col("metric").is_in(list(metrics)))
    return blocks.table_of(wanted, published, caption, keys, GRID, folded)
