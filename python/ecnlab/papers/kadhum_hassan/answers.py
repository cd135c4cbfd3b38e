"""The open questions about the paper, each with the runs that answer it, in the order of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ecnlab.papers import blocks
from ecnlab.papers.judge import interval, verdict
from ecnlab.papers.kadhum_hassan.grid import GRID, QUEUES, USERS
from ecnlab.papers.kadhum_hassan.measure import RATE_BPS
from ecnlab.papers.material import Material, Row
from ecnlab.papers.published import Number
from ecnlab.report import Axis, Finding, Group, Point, Series, Table
from ecnlab.report.page import Cell

WIRE_BYTES: Final = 592
PRINTED: Final = "as printed"
RED: Final = ("red", "ecn")
BUFFER: Final = "buffer of 50 kB"
ANY: Final = "marks at any chance"

# --------------------------------------------------------------- findings


def loss(given: Material, users: str) -> Finding:
    """Compare the losses of ECN-RED and drop-tail, with the fraction that each queue drops."""
    found = given.finding(
        f"K13.loss.{users}.ecn-droptail", f"{users} users: ECN-RED loses fewer packets than drop-tail."
    )
    rows = {queue: given.point("loss", users=users, queue=queue, variant=PRINTED) for queue in QUEUES}
    shares = ", ".join(f"{GRID.named(queue)} {given.with_interval(row)}" for queue, row in rows.items())
    return replace(found, evidence=f"Dropped: {shares}. ECN-RED's over drop-tail's: {found.evidence}.")


def unit(given: Material) -> Finding:
    """Test whether RED's printed averages are in kilobytes."""
    numbers = [number for number in _queues(given) if number.where["queue"] in RED]
    kilobytes, packets = (
        [_at(given, metric, number) for number in numbers] for metric in ("average_kilobytes", "queue_packets")
    )
    fit = _fitting(given, numbers, kilobytes)
    return blocks.counted(
        fit,
        len(numbers),
        "RED's printed averages are kilobytes, not packets.",
        f"Printed, and RED's average in kB: {_pairs(given, numbers, kilobytes)}. As kilobytes {fit} of {len(numbers)} agree, "
        f"as packets {_fitting(given, numbers, packets)}.",
        least=0.5,
    )


def buffer(given: Material) -> Finding:
    """Test whether drop-tail's printed queues are those of a buffer in bytes."""
    numbers = [number for number in _queues(given) if number.where["queue"] == "droptail"]
    rows = [_at(given, "queue_packets", number, BUFFER) for number in numbers]
    return blocks.counted(
        _fitting(given, numbers, rows),
        len(numbers),
        "Drop-tail's printed averages are those of a buffer of 50 kB, not of 100 packets.",
        f"Printed, and measured with 100 times 500 B in place of 100 packets: {_pairs(given, numbers, rows)}. This reading "
        "was found from the numbers, not in the paper.",
    )


def marks(given: Material) -> Finding:
    """How far ECN can act."""
    shares = {users: given.point("marked_share", users=users, queue="ecn", variant=PRINTED) for users in USERS}
    listed = ", ".join(f"{given.with_interval(row)} with {users} users" for users, row in shares.items())
    return blocks.counted(
        sum(row["low"] > 0.5 for row in shares.values()),
        len(shares),
        "In ECN-RED, congestion is signalled by marks.",
        f"Marks among all signals: {listed}. ns-2.29 drops ECN-capable packets, too, from a probability of 0.1 on.",
    )


# --------------------------------------------------------------- packets or kilobytes?


def units(given: Material) -> Table:
    """In which unit are the printed queues?"""
    rows: list[list[Cell | str]] = []
    for number in _queues(given):
        red = number.where["queue"] in RED
        readings = [
            _at(given, "queue_packets", number),
            _at(given, "queue_kilobytes", number),
            *([_at(given, "average_kilobytes", number)] if red else []),
            _at(given, "queue_packets", number, "RED in packets" if red else BUFFER),
        ]
        fits = ["yes" if _fits(given, number, row) else "no" for row in readings]
        cells = [
            Cell(given.with_interval(row), tone=blocks.ANSWERS[fit]) for fit, row in zip(fits, readings, strict=True)
        ]
        none = [] if red else [Cell("")]
        rows.append([_case(number), Cell(f"{number.value:g}", True), *cells[:-1], *none, cells[-1]])
    columns = ["case", "printed", "queue, packets", "queue, kB", "RED's average, kB", "otherwise, packets"]
    return Table("Which reading meets the printed value?", columns, rows)


def arithmetic(given: Material) -> Table:
    """The paper's delays, from its queues and from the runs."""
    printed = {(n.where["users"], n.where["queue"]): n for n in given.published.numbers if n.metric == "queue_delay"}
    rows: list[list[Cell | str]] = []
    for number in _queues(given):
        red, delay = number.where["queue"] in RED, printed[number.where["users"], number.where["queue"]]
        rows.append(
            [
                _case(number),
                Cell(f"{delay.value:.2f}", True),
                Cell(f"{number.value * WIRE_BYTES * 8 / RATE_BPS * 1e3:.3f}", True),
                Cell(f"{number.value * 1e3 * 8 / RATE_BPS * 1e3:.1f}" if red else "", True),
                Cell(given.with_interval(_at(given, "queue_delay", number)), True),
            ]
        )
    columns = ["case", "printed, ms", "N · 592 · 8 / 700,000, ms", "N kB · 8 / 700,000, ms", "measured, ms"]
    return Table("Delay in the queue.", columns, rows)


# --------------------------------------------------------------- predictions of the models


def models(given: Material) -> Group:
    """Compare the models' queue with the measured one."""
    predictions = given.tables["predictions"]
    cases = [*((PRINTED, queue) for queue in QUEUES), (ANY, "ecn")]
    places = [{"users": users, "variant": variant, "queue": queue} for users in USERS for variant, queue in cases]
    measured, predicted, ticks = [], [], []
    for x, place in enumerate(places, start=1):
        row = given.point("queue_packets", **place)
        measured.append(Point(x, row["mean"], row["low"], row["high"], row["n"]))
        predicted.append(Point(x, predictions.filter(**place).row(0, named=True)["queue_packets"]))
        star = "*" if place["variant"] == ANY else ""
        ticks.append((float(x), f"{place['users']} {GRID.named(place['queue'])}{star}"))
    figure = blocks.figure(
        "Predicted and measured queue",
        "Ten and thirty users. * marks at any chance. The prediction is the equilibrium of Padhye's senders and the "
        "queue's law; it knows the scenario and no measurement.",
        Axis("case", ticks),
        given.metric("queue_packets"),
        [Series("measured", measured, 0)],
        [Series("predicted", predicted, 1)],
    )
    return Group([figure])


# --------------------------------------------------------------- printed and measured queues


def _queues(given: Material) -> list[Number]:
    return [number for number in given.published.numbers if number.metric == "queue_packets"]


def _case(number: Number) -> Cell:
    return Cell(GRID.place({**number.where, "variant": ""}))


def _at(given: Material, metric: str, number: Number, variant: str = PRINTED) -> Row:
    return given.point(metric, **{**number.where, "variant": variant})


def _fits(given: Material, number: Number, row: Row) -> bool:
    return verdict(number, given.metric(number.metric), interval(row)) == "agrees"


def _fitting(given: Material, numbers: Sequence[Number], rows: Sequence[Row]) -> int:
    """How many of the printed numbers agree."""
    return sum(_fits(given, number, row) for number, row in zip(numbers, rows, strict=True))


def _pairs(given: Material, numbers: Sequence[Number], rows: Sequence[Row]) -> str:
    return "; ".join(f"{number.value:g}: {given.with_interval(row)}" for number, row in zip(numbers, rows, strict=True))
