"""Sections of the report: the open questions about the paper, each with the runs that answer it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import polars as pl

from ecnlab import stats
from ecnlab.papers import blocks
from ecnlab.papers.kadhum_hassan.grid import GRID, QUEUES, USERS
from ecnlab.papers.kadhum_hassan.measure import BINS_S, RATE_BPS
from ecnlab.papers.layout import Material
from ecnlab.papers.published import Number, Published
from ecnlab.papers.samples import at
from ecnlab.report import Axis, Figure, Finding, Group, Point, Section, Series, Table
from ecnlab.report.page import Cell, Tone
from ecnlab.stats import Interval

WIRE_BYTES: Final = 592
PRINTED: Final[dict[str, str | list[str]]] = {"variant": "as printed"}
RED: Final = ("red", "ecn")
BUFFER: Final = "buffer of 50 kB"
ANY: Final = "marks at any chance"

BIN_AXIS: Final = Axis("width of the bins, s", [(b, f"{b:g}") for b in BINS_S], log=True)


def unit_finding(points: pl.DataFrame, published: Published) -> Finding:
    """Whether RED's printed averages are kilobytes."""
    fits = {n.id: _fits(n, _one(points, "average_kilobytes", n)) for n in _queues(published) if n.where["queue"] in RED}
    packets = [_fits(n, _one(points, "queue_packets", n)) for n in _queues(published) if n.where["queue"] in RED]
    said = "; ".join(
        f"{n.value:g}: {blocks.with_interval(_one(points, 'average_kilobytes', n), published.metrics['average_kilobytes'])}"
        for n in _queues(published)
        if n.where["queue"] in RED
    )
    tone: Tone = "yes" if all(fits.values()) else "partly" if any(fits.values()) else "no"
    return Finding(
        {"yes": "Yes", "partly": "Mostly", "no": "No"}[tone],
        tone,
        "RED's printed averages are kilobytes, not packets.",
        f"Printed, and RED's average in kB: {said}. As kilobytes {sum(fits.values())} of {len(fits)} agree, as packets "
        f"{sum(packets)}.",
    )


def buffer_finding(points: pl.DataFrame, published: Published) -> Finding:
    """Whether drop-tail's printed queues are those of a buffer in bytes."""
    tails = [n for n in _queues(published) if n.where["queue"] == "droptail"]
    found = [_one(points, "queue_packets", n, BUFFER) for n in tails]
    fits = [_fits(n, row) for n, row in zip(tails, found, strict=True)]
    metric = published.metrics["queue_packets"]
    said = "; ".join(f"{n.value:g}: {blocks.with_interval(row, metric)}" for n, row in zip(tails, found, strict=True))
    tone: Tone = "yes" if all(fits) else "partly" if any(fits) else "no"
    return Finding(
        {"yes": "Yes", "partly": "Partly", "no": "No"}[tone],
        tone,
        "Drop-tail's printed averages are those of a buffer of 50 kB, not of 100 packets.",
        f"Printed, and measured with 100 times 500 B in place of 100 packets: {said}. This reading was found from the "
        "numbers, not in the paper.",
    )


def marks_finding(points: pl.DataFrame, published: Published) -> Finding:
    """How far ECN can act."""
    metric = published.metrics["marked_share"]
    shares = {users: _at(points, "marked_share", users, "ecn") for users in USERS}
    most = max(row["high"] for row in shares.values())
    tone: Tone = "no" if most < 0.5 else "partly"
    said = ", ".join(f"{blocks.with_interval(row, metric)} with {users} users" for users, row in shares.items())
    return Finding(
        "No" if tone == "no" else "Partly",
        tone,
        "In ECN-RED, congestion is signalled by marks.",
        f"Marks among all signals: {said}. ns-2.29 drops ECN-capable packets, too, from a probability of 0.1 on.",
    )


def loss_finding(given: Material, users: str) -> Finding:
    """Whether ECN-RED loses less than drop-tail, with the share that each queue drops."""
    said = given.say(f"K13.loss.{users}.ecn-droptail", f"{users} users: ECN-RED loses fewer packets than drop-tail.")
    metric = given.published.metrics["loss"]
    shares = ", ".join(
        f"{GRID.named(queue)} {blocks.with_interval(_at(given.points, 'loss', users, queue), metric)}"
        for queue in QUEUES
    )
    return replace(said, evidence=f"Dropped: {shares}. ECN-RED's over drop-tail's: {said.evidence}.")


def units(points: pl.DataFrame, published: Published) -> Section:
    """In which unit are the printed queues?"""
    rows: list[list[Cell | str]] = []
    for number in _queues(published):
        red = number.where["queue"] in RED
        readings = [
            _one(points, "queue_packets", number),
            _one(points, "queue_kilobytes", number),
            _one(points, "average_kilobytes", number) if red else None,
            _one(points, "queue_packets", number, "RED in packets" if red else BUFFER),
        ]
        rows.append(
            [_case(number), Cell(f"{number.value:g}", True), *(_reading(number, row, published) for row in readings)]
        )
    columns = [
        "case",
        "printed",
        "queue, packets",
        "queue, kB",
        "RED's average, kB",
        "otherwise, packets",
    ]
    return Section(
        "units",
        "Packets or kilobytes?",
        "Since October 2004 RED in ns-2 counts bytes, and traces its queue and average in bytes. A queue that averages 40 "
        "packets under a minimum threshold of 60 packets would drop nothing; RED that counts packets has another queue "
        "altogether. Drop-tail counts packets unless queue_in_bytes_ is set; then 100 packets are 100 times its "
        "mean_pktsize_ of 500 B, as they are for RED. The last column has RED in packets, and drop-tail with a buffer of 50 kB.",
        [Table("Which reading meets the printed value?", columns, rows, cards=True)],
    )


def arithmetic(points: pl.DataFrame, published: Published) -> Section:
    """The paper's delays, from its queues and from the runs."""
    delays = {(n.where["users"], n.where["queue"]): n for n in published.numbers if n.metric == "queue_delay"}
    rows: list[list[Cell | str]] = []
    for number in _queues(published):
        printed = delays[number.where["users"], number.where["queue"]]
        exact = number.value * WIRE_BYTES * 8 / RATE_BPS * 1e3
        as_kilobytes = number.value * 1e3 * 8 / RATE_BPS * 1e3
        measured = _one(points, "queue_delay", number)
        rows.append(
            [
                _case(number),
                Cell(f"{printed.value:.2f}", True),
                Cell(f"{exact:.3f}", True),
                Cell(f"{as_kilobytes:.1f}" if number.where["queue"] in RED else "", True),
                Cell(blocks.with_interval(measured, published.metrics["queue_delay"]), True),
            ]
        )
    columns = ["case", "printed, ms", "N · 592 · 8 / 700,000, ms", "N kB · 8 / 700,000, ms", "measured, ms"]
    return Section(
        "arithmetic",
        "The delay arithmetic",
        "The paper turns N packets into a delay of N · 592 · 8 / 700,000 s. The arithmetic is right, cut off after two "
        "decimals; 592 B are 552 B of data and 40 B of headers. Where N is kilobytes the delay is N · 8000 / 700,000 s, and "
        "that is what packets wait.",
        [Table("Delay in the queue.", columns, rows, cards=True)],
    )


def signals(points: pl.DataFrame, published: Published) -> Section:
    """Marks against drops, in every reading of the marking rule."""
    names = ("marked_share", "loss", "timeouts", "goodput", "average_kilobytes")
    cases = [
        ("red", "as printed"),
        *(("ecn", variant) for variant in ("as printed", ANY, "marks at max_th only", "not gentle")),
    ]
    rows = [
        _row([f"{users} users", GRID.named(queue), variant], names, points, published, users, queue, variant)
        for users in USERS
        for queue, variant in cases
    ]
    columns = ["users", "queue", "settings", *(published.metrics[name].name for name in names)]
    return Section(
        "signals",
        "How far can ECN act?",
        "ns-2.26 to 2.29 mark while RED's probability is below mark_p_ = 0.1 and drop from there on, ECN-capable or not. "
        '0.1 is the probability at the maximum threshold, above which the averages lie. "Marks at any chance" lets it '
        'mark up to twice the threshold. The paper says that the bit is set "when the maximum threshold is reached" '
        '(section 2.1), which is not RED with ECN: "marks at max_th only" takes it to the letter, no signal below and '
        'one on every packet above. "Not gentle" drops everything above the maximum threshold, as section 2.2 says.',
        [Table("Signals and what they do.", columns, rows, cards=True)],
    )


def throughput(points: pl.DataFrame, published: Published) -> Section:
    """Figures 16 and 29, in numbers."""
    names = ("goodput", "throughput", "loss", "timeouts")
    rows = [
        _row([f"{users} users", GRID.named(queue)], names, points, published, users, queue, "as printed")
        for users in USERS
        for queue in QUEUES
    ]
    differences = points.filter(
        pl.col("metric").is_in(["goodput_difference", "throughput_difference"]), pl.col("thresholds") == ""
    )
    return Section(
        "throughput",
        "Throughput",
        "Figures 16 and 29 carry no numbers. The link is full in all six cases, so its throughput cannot tell them apart; "
        "what differs is how much of it repeats what was lost.",
        [
            Table(
                "Goodput and throughput.",
                ["users", "queue", *(published.metrics[name].name for name in names)],
                rows,
                cards=True,
            ),
            blocks.table_of(
                differences,
                published,
                "Differences under the same seeds",
                ["variant", "users", "queue", "against"],
                GRID,
            ),
        ],
    )


def synchronisation(points: pl.DataFrame, published: Published) -> Section:
    """Whether windows are cut together."""
    metric = published.metrics["cut_correlation"]
    scale = {f"{b:g} s": b for b in BINS_S}
    figures: list[Figure] = []
    for users in USERS:
        curves = [
            blocks.series(
                at(points, "cut_correlation", PRINTED | {"users": users, "queue": queue}),
                "bin",
                scale,
                GRID.named(queue),
                style,
            )
            for style, queue in enumerate(QUEUES)
        ]
        figures.append(blocks.figure(f"Cuts, {users} users", metric.definition, BIN_AXIS, metric, curves))
    names = ("window_correlation", "window_swing", "reductions", "window_mean", "delay_deviation")
    rows = [
        _row([f"{users} users", GRID.named(queue)], names, points, published, users, queue, "as printed")
        for users in USERS
        for queue in QUEUES
    ]
    return Section(
        "synchronisation",
        "Synchronisation, measured",
        "The paper sees synchronisation in figures of windows, and speaks of windows: judged is the correlation of windows, "
        "0 if each moves by itself, 1 if all move as one. Flows that share a full link and nothing else have one a little "
        "below 0, for what one gains another lacks. Our limits are 0.5 for a high level of synchronisation and 0.1 for none. "
        "The correlation of cuts is beside it; it depends on how near in time two cuts have to be, and the paper does not say. "
        "A round trip is 0.15 s with the short queues and 0.7 s with the long ones.",
        [
            Table(
                "Windows and delays.",
                ["users", "queue", *(published.metrics[name].name for name in names)],
                rows,
                cards=True,
            ),
            Group(figures),
        ],
    )


def apart(points: pl.DataFrame, published: Published) -> Section:
    """Users, thresholds and starts, each by itself."""
    names = ("queue_kilobytes", "average_kilobytes", "marked_share", "loss", "goodput")
    varied = points.filter(pl.col("thresholds") != "", pl.col("metric").is_in(names))
    rows: list[list[Cell | str]] = []
    for key, group in varied.group_by(["users", "thresholds", "starts", "queue"], maintain_order=True):
        here = {row["metric"]: row for row in group.iter_rows(named=True)}
        rows.append(
            [*(Cell(GRID.named(str(part))) for part in key), *(_cell(here.get(n), n, published) for n in names)]
        )
    columns = ["users", "thresholds", "starts", "queue", *(published.metrics[name].name for name in names)]
    return Section(
        "apart",
        "What made the difference",
        "From scenario 1 to scenario 2 the paper changes the users, RED's thresholds and the starts together. Each by "
        "itself:",
        [Table("Users, thresholds and starts.", columns, rows, cards=True)],
    )


def models(points: pl.DataFrame, predictions: pl.DataFrame, published: Published) -> Section:
    """The models' queue beside the measured one."""
    cases = [*(("as printed", queue) for queue in QUEUES), (ANY, "ecn")]
    places = [(users, variant, queue) for users in USERS for variant, queue in cases]
    measured, predicted, ticks = [], [], []
    for x, (users, variant, queue) in enumerate(places, start=1):
        row = _at(points, "queue_packets", users, queue, variant)
        here = predictions.filter(users=users, variant=variant, queue=queue).row(0, named=True)
        measured.append(Point(x, row["mean"], row["low"], row["high"], row["n"]))
        predicted.append(Point(x, here["queue_packets"]))
        ticks.append((float(x), f"{users} {GRID.named(queue)}{'*' if variant == ANY else ''}"))
    figure = blocks.figure(
        "Predicted and measured queue",
        "Ten and thirty users. * marks at any chance. The prediction is the equilibrium of Padhye's senders and the "
        "queue's law; it knows the scenario and no measurement.",
        Axis("case", ticks),
        published.metrics["queue_packets"],
        [Series("measured", measured, 0)],
        [Series("predicted", predicted, 1)],
    )
    return Section(
        "models",
        "What the models say",
        "ecnlab run --engine model, for the same scenarios (docs/models.md).",
        [Group([figure])],
    )


def _queues(published: Published) -> list[Number]:
    return [number for number in published.numbers if number.metric == "queue_packets"]


def _case(number: Number) -> Cell:
    return Cell(GRID.place({key: number.where.get(key, "") for key in GRID.keys if key != "variant"} | {"variant": ""}))


def _reading(number: Number, row: Mapping[str, Any] | None, published: Published) -> Cell:
    if row is None:
        return Cell("")
    return Cell(blocks.with_interval(row, published.metrics[row["metric"]]), tone="yes" if _fits(number, row) else "no")


def _fits(number: Number, row: Mapping[str, Any]) -> bool:
    measured = Interval(row["mean"], row["low"], row["high"], row["n"])
    return stats.verdict(measured, number.value, number.margin or 0.0, None) == "agrees"


def _one(points: pl.DataFrame, metric: str, number: Number, variant: str = "as printed") -> Mapping[str, Any]:
    return _at(points, metric, str(number.where["users"]), str(number.where["queue"]), variant)


def _at(points: pl.DataFrame, metric: str, users: str, queue: str, variant: str = "as printed") -> Mapping[str, Any]:
    return at(points, metric, {"users": users, "queue": queue, "variant": variant}).row(0, named=True)


def _row(
    head: Sequence[str],
    names: Sequence[str],
    points: pl.DataFrame,
    published: Published,
    users: str,
    queue: str,
    variant: str,
) -> list[Cell | str]:
    """A case with its means and intervals."""
    found = points.filter(pl.col("users") == users, pl.col("queue") == queue, pl.col("variant") == variant)
    here = {row["metric"]: row for row in found.filter(pl.col("against") == "").iter_rows(named=True)}
    return [*(Cell(text) for text in head), *(_cell(here.get(name), name, published) for name in names)]


def _cell(row: Mapping[str, Any] | None, metric: str, published: Published) -> Cell:
    return Cell(blocks.with_interval(row, published.metrics[metric]) if row else "", True)
