"""Writes the tables of docs/quic-stacks.md from sweeps and cards in results: ``make quic-stacks``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

import ecnlab
from ecnlab.scoring.criteria import limit, times, worst_cases
from ecnlab.scoring.sheet import Kind, built_in

ROOT: Final = Path(__file__).parents[1]
RESULTS: Final = ROOT / "results"
PAGE: Final = ROOT / "docs" / "quic-stacks.md"

SENDERS: Final = ("quinn-cubic", "quinn-newreno", "quinn-bbr", "noq-cubic", "noq-newreno")
"""Names of the cards for RFC 9743."""

Row = Mapping[str, Any]


def summary(name: str) -> pl.DataFrame:
    """Return the means of the sweep ``name`` with their intervals, in the order of the runs."""
    sweep = ecnlab.load(RESULTS / name)
    assert isinstance(sweep, ecnlab.Sweep)
    return sweep.summary()


def table(columns: Sequence[str], rows: Iterator[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield f"| {' | '.join(columns)} |"
    yield "| --- |" + " --- |" * (len(columns) - 1)
    yield from (f"| {' | '.join(row)} |" for row in rows)


def settings(name: str, keys: Sequence[str]) -> Iterator[tuple[tuple[str, ...], dict[str, Row]]]:
    """Yield the settings of a sweep, values of ``keys``, each with the row of each metric."""
    for setting, rows in summary(name).group_by(*keys, maintain_order=True):
        yield tuple(map(str, setting)), {row["metric"]: row for row in rows.iter_rows(named=True)}


def cards(kind: Kind, names: Sequence[str]) -> Iterator[str]:
    """Yield the verdicts of the cards ``names``, and of the senders that they compare with: a row for each scenario that was run."""
    made: list[dict[str, Any]] = [
        json.loads((RESULTS / f"score-{name}" / "card.json").read_text(encoding="utf-8")) for name in names
    ]
    runs = [{one["name"]: one for one in card["scenarios"]} for card in made]
    others = ["reference", *made[0]["incumbents"]]

    def rows() -> Iterator[list[str]]:
        for scenario in built_in(kind).scenarios:
            found = [one.get(scenario.name) for one in runs]
            first = next(filter(None, found), None)
            if first:
                compared = [first.get("incumbents", {}).get(arm, first) for arm in others]
                yield [f"`{scenario.name}`", *map(verdict, found), *map(verdict, compared)]

    labels = [card["subject"]["label"] for card in made]
    return table(("scenario", *labels, *(made[0][arm]["label"] for arm in others)), rows())


def verdict(scored: Row | None) -> str:
    """Return the verdict on a scenario, with the criteria that decide it and their worst values; "-" if it was not run."""
    if scored is None:
        return "-"
    deciding = {"fails": "no", "inconclusive": "undecided"}.get(scored["verdict"])
    rows = [row for row in worst_cases(scored) if row["outcome"] == deciding]
    named = ", ".join(f"{row['name']} {times(row)}, {limit(row)}" for row in rows)
    return f"{scored['verdict']}: {named}" if named else str(scored["verdict"])


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
    """Replace the generated parts of the page."""
    text = PAGE.read_text(encoding="utf-8")
    for name, lines in {
        "cards": cards("cc", SENDERS),
        "l4s": cards("l4s", ["l4s-quinn-cubic"]),
        "shares": pairs("share", "{:.2f}".format),
        "delays": pairs("delay", lambda seconds: f"{1e3 * seconds:.1f}"),
        "marks": responses(),
        "gain": gain(),
        "boxes": boxes(),
        "acks": ping_pong(),
    }.items():
        begin, end = f"<!-- written by make quic-stacks: {name} -->\n", f"<!-- end of {name} -->"
        before, rest = text.split(begin)
        text = before + begin + "\n" + "\n".join([*lines, "", ""]) + rest[rest.index(end) :]
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
