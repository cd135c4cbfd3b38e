"""The packet-by-packet comparison with the kernel as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ecnlab.agreement.packets import Fate, Trace
from ecnlab.report import Chart, Line, Page, Section, Table, Tally, render
from ecnlab.report.page import Block, Cell
from ecnlab.report.words import counted


def packets_page(file: Path, traces: Sequence[Trace]) -> str:
    """Return the page of the ``traces`` of the scenario ``file`` as HTML text, which makes no request."""
    links = list(dict.fromkeys(trace.question.link for trace in traces))
    packets = sum(len(trace.fates) for trace in traces)
    wrong = [trace for trace in traces if trace.differences]
    differing = sum(trace.differences for trace in wrong)
    answer = (
        f"{differing:,} of {packets:,} packets differ from the kernel's, in {len(wrong)} of {len(traces)} traces."
        if wrong
        else f"All {packets:,} packets of {counted(len(traces), 'trace')} leave as in the kernel: fate, codepoint, order and nanosecond."
    )
    return render(
        Page(
            title=f"{file.name}, packet by packet",
            kicker="ecnlab agree --packets",
            answer=answer,
            lede="The same random packets arrive at each queue in the simulator and at the same discipline in the Linux kernel, "
            "in virtual time.",
            tallies=[
                Tally(
                    f"{len(traces)} traces:", [("equal", "yes", len(traces) - len(wrong)), ("differ", "no", len(wrong))]
                )
            ],
            findings=[],
            sections=[_section(link, [trace for trace in traces if trace.question.link == link]) for link in links],
            footer="Made by ecnlab agree --packets. The page is one file and needs no network.",
        )
    )


def _section(link: str, traces: Sequence[Trace]) -> Section:
    question = traces[0].question
    blocks: list[Block] = [_table(traces)]
    for trace in traces:
        if trace.differences:
            blocks += [_first(trace), _drift(trace)]
            break
    blocks += [
        f"{one['key']} is {one['asked']!r} in the simulator and {one['kernel']!r} in the kernel."
        for one in question.instead
    ]
    return Section(link, link, f"{question.law}, compared with tc's `{question.twin.words}`.", blocks)


def _table(traces: Sequence[Trace]) -> Table:
    rows: list[Sequence[Cell | str]] = [
        [
            f"seed {trace.seed}",
            Cell(f"{len(trace.fates):,}", True),
            Cell(f"{sum(fate.ours is None for fate in trace.fates):,}", True),
            Cell(f"{sum(_marked(fate) for fate in trace.fates):,}", True),
            Cell("equal", tone="yes") if not trace.differences else Cell(f"{trace.differences:,} differ", tone="no"),
        ]
        for trace in sorted(traces, key=lambda trace: -trace.differences)
    ]
    columns = ("trace", "packets", "dropped in the simulator", "marked in the simulator", "verdict")
    return Table("Traces, those that differ first", columns, rows, folded=len(rows) > 40)


def _marked(fate: Fate) -> bool:
    return fate.ours is not None and fate.ours.tos != fate.arrival.tos


def _first(trace: Trace) -> Table:
    head, *rows = (line.split("  ") for line in trace.first().splitlines())
    parts = [[cell.strip() for cell in row if cell.strip()] for row in (head, *rows)]
    return Table(
        f"Seed {trace.seed}: the first packet that differs (>), with the packets around it; times in ns",
        parts[0],
        parts[1:],
    )


def _drift(trace: Trace) -> Chart:
    """Departure in the simulator less that in the kernel, of packets that left both."""
    both = [
        (fate.arrival.at_ns * 1e-9, fate.ours.at_ns - fate.kernels.at_ns)
        for fate in trace.fates
        if fate.ours and fate.kernels
    ]
    dropped = sum((fate.ours is None) != (fate.kernels is None) for fate in trace.fates)
    marked = sum(
        fate.ours is not None and fate.kernels is not None and fate.ours.tos != fate.kernels.tos for fate in trace.fates
    )
    caption = (
        f"{counted(dropped, 'packet')} dropped in one only; {counted(marked, 'packet')} with different codepoints."
    )
    title = f"Seed {trace.seed}: departure in the simulator less that in the kernel"
    return Chart(
        title, caption, [at for at, _ in both], [Line("difference", [float(ns) for _, ns in both], dots=True)], "ns",
        x="arrival, s",
    )  # fmt: skip
