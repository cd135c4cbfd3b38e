"""Growth curves: packets per second and peak memory over the number of flows, on 50 pairs of hosts and on a pair for each flow.

    make curves

The scenario is that of the row `growth`: one second of d's network, with 2 Mbit/s of the bottleneck for each flow. Processor time of
the process less that of a run of 1 ms; medians. Prints the values as a table, and writes the figure of docs/performance.md.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
from growth import EMPTY, EMPTY_SPREAD, run, scenario
from matplotlib import pyplot
from measuring import ROOT, Options

FIGURE = ROOT / "docs" / "img" / "growth.svg"
OF_D = 50
"""Pairs of hosts in d.toml."""
SIZES: Mapping[str, Sequence[int]] = {
    "50 pairs of hosts": (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000),
    "a pair for each flow": (100, 300, 1_000, 3_000, 10_000),
}
"""Numbers of flows by curve."""
MIN_FLOWS = 10_000
"""Flows of all runs of a point, so that points of few flows have more runs; at least three runs up to as many flows, else one."""


@dataclass(frozen=True)
class Point:
    """A size: packets per second of processor time, and the peak resident set in bytes."""

    flows: int
    rate: float
    peak: int


def main() -> int:
    """Measure, print the table, write the figure."""
    options = Options(3, 1, ROOT / "target" / "release" / "ecnlab-bench", "cpu")
    curves = {name: [measure(options, name, flows) for flows in sizes] for name, sizes in SIZES.items()}
    print("\n".join(table(curves)))
    draw(curves)
    return 0


def measure(options: Options, name: str, flows: int) -> Point:
    """Return the point of a curve: medians of as many runs as `repeats` returns."""
    print(f"curves: {name}, {flows:,}", file=sys.stderr, flush=True)
    rates, peaks = [], []
    for _ in range(repeats(options, flows)):
        full, empty = run(options, text(name, flows)), run(options, text(name, flows, EMPTY, EMPTY_SPREAD))
        result = full.result()
        rates.append(result["packets"] / (full.cpu - empty.cpu))
        peaks.append(result["peak_bytes"])
    return Point(flows, statistics.median(rates), int(statistics.median(peaks)))


def repeats(options: Options, flows: int) -> int:
    """Return the number of runs of a point."""
    return max(options.repeat, MIN_FLOWS // flows) if flows <= MIN_FLOWS else 1


def text(name: str, flows: int, *times: str) -> str:
    """Return the scenario of a size of the curve ``name``."""
    pairs = OF_D if name == "50 pairs of hosts" else flows
    return scenario(flows, *times).replace(f"count = {OF_D}\n", f"count = {pairs}\n")


def table(curves: Mapping[str, Sequence[Point]]) -> list[str]:
    """Return the lines of a Markdown table: a row for each point."""
    lines = ["| hosts | flows | million packets/s | peak memory, MB |", "| --- | --- | --- | --- |"]
    return lines + [
        f"| {name} | {point.flows:,} | {point.rate / 1e6:.2f} | {point.peak / 1e6:,.0f} |"
        for name, points in curves.items()
        for point in points
    ]


def draw(curves: Mapping[str, Sequence[Point]]) -> None:
    """Write the figure: packets per second on the left, memory on the right, a line for each curve."""
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "ecnlab"}
    figure, (speed, memory) = pyplot.subplots(1, 2, figsize=(8, 2.8), layout="constrained")
    for name, points in curves.items():
        flows = [point.flows for point in points]
        speed.plot(flows, [point.rate / 1e6 for point in points], "o-", markersize=4, label=name)
        memory.plot(flows, [point.peak / 1e6 for point in points], "o-", markersize=4, label=name)
    speed.set(xscale="log", xlabel="flows", ylabel="million packets/s", ylim=(0, None))
    memory.set(xscale="log", yscale="log", xlabel="flows", ylabel="peak memory, MB")
    speed.legend(fontsize="small", frameon=False)
    figure.savefig(FIGURE, metadata={"Date": None})


if __name__ == "__main__":
    sys.exit(main())
