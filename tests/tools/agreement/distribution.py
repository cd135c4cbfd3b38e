"""Queues that draw random numbers, in distribution: one list of arrivals to ours and to the kernel's, many times.

    python tests/tools/agreement/distribution.py [QUEUE ...]

Rule and results: docs/linux-validation.md, "Random queues in distribution".
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from ecnlab import laws
from ecnlab._core import Scenario, replay_packets
from ecnlab.agreement.arrivals import Arrival
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.twin import OWN, Twin
from ecnlab.linux.kernel import find
from ecnlab.linux.replay import Left, Line, Sent, replay

HEAD: Final = """format = 1
duration = "1 s"

link.l = {{ from = "a", to = "b", rate = "{rate} bps", delay = "5 ms", queue = "q" }}
flow.x = {{ from = "a", to = "b", traffic = "ftp" }}

[queue.q]
{keys}
"""

START_NS: Final = 2_000_000_000
"""First arrival: after the first update of PIE's probability on both sides."""

SPREAD_NS: Final = 16_000_000
"""Starts are spread over the time between two updates of PIE: the phase of the kernel's timer is not known."""

AFTER_NS: Final = 2_000_000_000
SIZE: Final = 1500


class Case(NamedTuple):
    """A queue, its line, and how the load changes."""

    keys: str
    rate_bps: int
    packets: int
    loads: tuple[float, float]
    """Loads of the line, which take turns."""
    phase: int
    """Packets after which they do, in the mean."""
    inner: bool = False
    """Whether the kernel reads the inner queue in the packet's priority."""
    lots: int = 40
    """Times that a trace comes to each side, with random numbers of its own."""


CASES: Final = {
    "red": Case(
        'discipline = "red"\nlimit = "150 kB"\nmin_th = "12 kB"\nmax_th = "36 kB"\nmax_p = 0.5\nweight = 0.001953125\n'
        'mean_packet = "1500 B"\necn = true\nfirst_passes = true\nidle = "linux"',
        20_000_000,
        4000,
        (0.7, 1.35),
        400,
    ),
    "choke": Case(
        'discipline = "choke"\nlimit = "100 packets"\nmin_th = "10 packets"\nmax_th = "30 packets"\nmax_p = 0.1\n'
        'weight = 0.001953125\nmean_packet = "1500 B"\necn = true',
        10_000_000,
        4000,
        (0.9, 1.5),
        800,
        lots=200,
    ),
    "sfb": Case('discipline = "sfb"\nlimit = "1000 packets"', 10_000_000, 6000, (0.8, 1.5), 800),
    "pie": Case('discipline = "pie"\nlimit = "1000 packets"\necn = true', 10_000_000, 4000, (0.8, 1.4), 800),
    "fq_pie": Case(
        'discipline = "fq_pie"\nlimit = "10240 packets"\necn = true',
        10_000_000,
        4000,
        (0.9, 1.06),
        800,
        inner=True,
        lots=20,
    ),
}


def arrivals(case: Case, seed: int) -> list[Arrival]:
    """Packets of four flows, two of them ECN-capable, in bursts of 1 to 8 of one flow."""
    rng = np.random.default_rng(seed)
    rows: list[Arrival] = []
    now, which, left = START_NS + 1001, 1, case.phase
    while len(rows) < case.packets:
        burst, flow = int(rng.integers(1, 9)), int(rng.integers(4))
        rows += [Arrival(now, SIZE, 2 if flow < 2 else 0, 0, flow)] * burst
        left -= burst
        if left <= 0:
            which, left = 1 - which, int(rng.integers(case.phase // 2, case.phase * 3 // 2))
        now += 1 + int(rng.exponential(burst * SIZE * 8e9 / case.rate_bps / case.loads[which]))
    return rows[: case.packets]


def measured(rows: Sequence[Arrival], left: Mapping[int, Left]) -> tuple[int, int, float]:
    """Marks, drops, and the mean wait in ms."""
    marks = sum(packet.tos != rows[i].tos for i, packet in left.items())
    wait = sum(packet.at_ns - rows[i].at_ns for i, packet in left.items()) / max(1, len(left))
    return marks, len(rows) - len(left), wait / 1e6


def compare(name: str, seed: int) -> None:
    """Print the means of both sides, their ratio and its 90 % interval."""
    case = CASES[name]
    scenario = Scenario(f"{name}.toml", HEAD.format(rate=case.rate_bps, keys=case.keys))
    words = laws.discipline(name).qdisc
    assert words is not None
    twin = Twin(words(scenario.resolved["queue"]["q"], "queue.q", case.rate_bps, Findings()))
    ours, lines, shifted = [], [], []
    for lot in range(case.lots):
        rows = [row._replace(at_ns=row.at_ns + SPREAD_NS * lot // case.lots) for row in arrivals(case, seed)]
        fates = replay_packets(scenario, 0, lot + 1, rows)
        ours.append(
            measured(rows, {i: Left(ps // 1000, tos) for i, (ps, tos, _, _) in enumerate(fates) if ps is not None})
        )
        sent = [
            Sent(row.at_ns, row.length, row.tos, (OWN << 16) + place[0] + 1 if case.inner else 0, busy_ns, row.flow)
            for row, (_, _, place, busy_ns) in zip(rows, fates, strict=True)
        ]
        lines.append(Line(twin, sent, rows[-1].at_ns + AFTER_NS))
        shifted.append(rows)
    kernels = [measured(rows, left) for rows, left in zip(shifted, replay(find(), lines), strict=True)]
    for metric, here, there in zip(
        ("marks", "drops", "wait, ms"), zip(*ours, strict=True), zip(*kernels, strict=True), strict=True
    ):
        mean, other = np.mean(here), np.mean(there)
        half = 1.645 * float(np.hypot(np.std(here, ddof=1), np.std(there, ddof=1))) / case.lots**0.5 / other
        ratio = mean / other
        sys.stdout.write(
            f"{name:7} {seed} {metric:9} {mean:9.2f} {other:9.2f}  {ratio:.3f} ({ratio - half:.3f}-{ratio + half:.3f})\n"
        )


if __name__ == "__main__":
    for chosen in sys.argv[1:] or CASES:
        for trace in (1, 2):
            compare(chosen, trace)
