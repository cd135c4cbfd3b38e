"""Writes the tables of docs/quic-stacks.md from sweeps and cards in results: ``make quic-stacks``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl
from page_parts import draw_shares, replace, table

import ecnlab
from ecnlab.scoring.criteria import limit, times, worst_cases

ROOT: Final = Path(__file__).parents[1]
RESULTS: Final = ROOT / "results"
PAGE: Final = ROOT / "docs" / "quic-stacks.md"
PICTURE: Final = ROOT / "docs" / "img" / "quic-shares.svg"

SENDERS: Final = ("quinn-cubic", "quinn-newreno", "quinn-bbr", "noq-cubic", "noq-newreno")
"""Names of the cards for RFC 9743."""

Row = Mapping[str, Any]


def summary(name: str) -> pl.DataFrame:
    """Return the means of the sweep ``name`` with their intervals, in the order of the runs."""
    sweep = ecnlab.load(RESULTS / name)
    assert isinstance(sweep, ecnlab.Sweep)
    return sweep.summary()


def settings(name: str, keys: Sequence[str]) -> Iterator[tuple[tuple[str, ...], dict[str, Row]]]:
    """Yield the settings of a sweep, values of ``keys``, each with the row of each metric."""
    for setting, rows in summary(name).group_by(*keys, maintain_order=True):
        yield tuple(map(str, setting)), {row["metric"]: row for row in rows.iter_rows(named=True)}


Card = dict[str, Any]


def read_cards(names: Sequence[str]) -> list[Card]:
    """Return the cards ``names``."""
    paths = (RESULTS / f"score-{name}" / "card.json" for name in names)
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def scored(cards: Sequence[Card]) -> Iterator[tuple[str, dict[str, Row]]]:
    """Yield each scenario with what each sender of ``cards`` has in it, and each sender that the first compares with."""
    first, runs = cards[0], [{one["name"]: one for one in card["scenarios"]} for card in cards]
    for name, reference in runs[0].items():
        found = {card["subject"]["label"]: run[name] for card, run in zip(cards, runs, strict=True)}
        compared = reference.get("incumbents", {})
        for arm in ("reference", *first["incumbents"]):
            found[first[arm]["label"]] = compared.get(arm, reference)
        yield name, found


SIGNS: Final = {"meets": "✓", "fails": "✗", "inconclusive": "?", "not applicable": "-"}


def verdicts(cards: Sequence[Card]) -> Iterator[str]:
    """Yield the sign of the verdict on each sender in each scenario."""
    rows = [(name, found) for name, found in scored(cards)]
    body = ([f"`{name}`", *(SIGNS[one["verdict"]] for one in found.values())] for name, found in rows)
    return table(("scenario", *(label.replace("/", " ") for label in rows[0][1])), body)


def deciding(cards: Sequence[Card]) -> Iterator[str]:
    """Yield the criteria that decide where a sender does not meet a scenario, in their worst cases."""
    outcomes = {"fails": "no", "inconclusive": "undecided"}
    rows = (
        [f"`{name}`", label, str(one["verdict"]), row["name"], times(row), limit(row)]
        for name, found in scored(cards)
        for label, one in found.items()
        for row in worst_cases(one)
        if row["outcome"] == outcomes.get(one["verdict"])
    )
    return table(("scenario", "sender", "verdict", "criterion", "worst", "limit"), rows)


def shares() -> pl.DataFrame:
    """Return the mean share of the QUIC flow of each pair behind each queue over the paths."""
    found = summary("quic-queues").filter(metric="share")
    named = found.with_columns(pair=pl.concat_str("sender", "other", separator=" / "))
    return named.group_by("pair", "queue", maintain_order=True).agg(pl.col("mean").mean())


def pairs(metric: str, show: Callable[[float], str]) -> Iterator[str]:
    """Yield the mean of ``metric`` for each pair and queue over the paths, with the least and greatest of the paths' means."""
    found = summary("quic-queues").filter(metric=metric)
    queues = found["queue"].unique(maintain_order=True).to_list()

    def rows() -> Iterator[list[str]]:
        for (sender, other), cells in found.group_by("sender", "other", maintain_order=True):
            by_queue = (cells.filter(queue=queue)["mean"].to_list() for queue in queues)
            means = ((sum(each) / len(each), min(each), max(each)) for each in by_queue)
            yield [f"{sender} / {other}", *("{} ({} to {})".format(*map(show, mean)) for mean in means)]

    return table(("pair", *queues), rows())


def responses() -> Iterator[str]:
    """Yield marks and responses of the QUIC flow for each pair and queue, means over paths and seeds."""
    found = summary("quic-queues")
    queues = [one for one in found["queue"].unique(maintain_order=True) if one != "drop-tail"]

    def count(cells: pl.DataFrame, queue: str) -> str:
        means = cells.filter(queue=queue).group_by("metric").agg(pl.col("mean").mean())
        by_metric = dict(means.iter_rows())
        return f"{by_metric['marks']:.0f}, {by_metric['responses']:.0f}"

    rows = (
        [f"{sender} / {other}", *(count(cells, queue) for queue in queues)]
        for (sender, other), cells in found.group_by("sender", "other", maintain_order=True)
    )
    return table(("pair", *queues), rows)


def gain() -> Iterator[str]:
    """Yield the gain of ECN: means with intervals for each queue, stack and arm."""

    def interval(row: Row, scale: float, digits: int) -> str:
        mean, low, high = (f"{scale * row[key]:.{digits}f}" for key in ("mean", "low", "high"))
        return f"{mean} ({low} to {high})"

    def rows() -> Iterator[list[str]]:
        for (queue, stack, arm), cells in settings("quic-gain", ("queue", "stack", "arm")):
            times = [
                interval(cells[name], 1e3, 0) for name in ("response", "response_p99", "object", "object_p99", "delay")
            ]
            counts = [f"{cells[name]['mean']:.0f}" for name in ("marks", "drops")]
            yield [queue, stack, ARMS[arm], interval(cells["goodput"], 1e-6, 2), *times, *counts]

    columns = ("queue", "stack", "ECN", "bulk, Mb/s", "response, ms", "its p99, ms", "object, ms", "its p99, ms")
    return table((*columns, "queue, ms", "marks", "drops"), rows())


ARMS: Final = {"ecn": "yes", "no-ecn": "no"}

COUNTS: Final = {
    "sent": "sent",
    "sent_ect": "of these ECN-capable",
    "received_not_ect": "Not-ECT",
    "received_ect0": "ECT(0)",
    "received_ect1": "ECT(1)",
    "received_ce": "CE",
    "responses": "responses",
    "lost": "lost",
}


def boxes() -> Iterator[str]:
    """Yield what each stack does behind each box."""
    rows = (
        [
            *setting,
            *(f"{cells[name]['mean']:.0f}" for name in COUNTS),
            f"{cells['goodput']['mean'] / 1e6:.2f}",
            f"{1e3 * cells['delay']['mean']:.1f}",
        ]
        for setting, cells in settings("quic-boxes", ("box", "stack"))
    )
    return table(("box", "stack", *COUNTS.values(), "goodput, Mb/s", "queue, ms"), rows)


def ping_pong() -> Iterator[str]:
    """Yield the datagrams of a connection with one response of 20 kB."""
    rows = (
        [*setting, f"{1e3 * cells['response']['mean']:.0f}", *(f"{cells[name]['mean']:.0f}" for name in ENDS)]
        for setting, cells in settings("quic-ping-pongs", ("marked", "stack"))
    )
    return table(("CE in datagrams", "stack", "response, ms", *ENDS.values()), rows)


ENDS: Final = {"to_client": "datagrams to the client", "to_server": "datagrams to the server"}


def main() -> None:
    """Replace the generated parts of the page, and draw its picture."""
    draw_shares(shares(), "Share of the QUIC flow in the goodput, mean of two paths", PICTURE)
    cc, l4s = read_cards(SENDERS), read_cards(["l4s-quinn-cubic"])
    parts = {
        "cards": verdicts(cc),
        "criteria": deciding(cc),
        "l4s": verdicts(l4s),
        "l4s criteria": deciding(l4s),
        "shares": pairs("share", "{:.2f}".format),
        "delays": pairs("delay", lambda seconds: f"{1e3 * seconds:.1f}"),
        "marks": responses(),
        "gain": gain(),
        "boxes": boxes(),
        "acks": ping_pong(),
    }
    replace(PAGE, "quic-stacks", parts)


if __name__ == "__main__":
    main()
