"""Delivered packets per second with 100 to 100,000 flows, relative to 100.

The network is d's: 50 pairs of hosts, RED, ECN, an RTT of 40 ms. The bottleneck has 2 Mbit/s for each flow; its buffer and
thresholds and the other links grow in proportion. All runs simulate the same second, in whose first 0.2 s the flows start: a
longer one would have less of slow start in it. Timed is the event loop; with ``--clock cpu`` it is the processor time of the
process less that of the same scenario with a duration of 1 ms. The runs of few flows are short, so that there are more of them.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from measuring import HERE, Finished, Options, Row, execute

REPEATS = {100: 5, 1_000: 5, 10_000: 1, 100_000: 1}
"""Numbers of flows, with the factor of the number of runs."""

DURATION, EMPTY = "1 s", "1 ms"
SPREAD, EMPTY_SPREAD = "0.2 s", "0.5 ms"
"""Time in which the flows start."""

TARGETS = {100_000: 0.5}
OF_D = 500
"""Number of flows in d.toml."""


def rows(options: Options) -> list[Row]:
    """Return a row for each number of flows above 100."""
    rates = {flows: [_rate(options, flows) for _ in range(repeats(flows, options.repeat))] for flows in REPEATS}
    middle = {flows: statistics.median(found) for flows, found in rates.items()}
    base = middle[100]
    return [
        Row(
            f"packets/s with {flows:,} flows relative to 100",
            middle[flows] / base,
            TARGETS.get(flows),
            "x",
            at_most=False,
            details={"packets_per_second": {"100": rates[100], str(flows): rates[flows]}},
        )
        for flows in REPEATS
        if flows > 100
    ]


def repeats(flows: int, repeat: int) -> int:
    """Return the number of runs: those of 100,000 flows take tens of seconds, so that there are at most three."""
    return min(repeat, 3) if flows >= 100_000 else repeat * REPEATS[flows]


def scenario(flows: int, duration: str = DURATION, spread: str = SPREAD) -> str:
    """Return d.toml with another number of flows, and rates, buffers and thresholds in proportion."""
    text = (HERE / "d.toml").read_text()
    times = flows / OF_D
    changes = {
        'duration = "20 s"': f'duration = "{duration}"',
        'rate = "10 Gbps"': f'rate = "{10_000 * times:.0f} Mbps"',
        'rate = "1 Gbps"': f'rate = "{1_000 * times:.0f} Mbps"',
        'limit = "5000 packets"': f'limit = "{max(1_000, round(5_000 * times))} packets"',
        'limit = "10000 packets"': f'limit = "{round(10_000 * times)} packets"',
        'min_th = "1000 packets"': f'min_th = "{round(1_000 * times)} packets"',
        'max_th = "3000 packets"': f'max_th = "{round(3_000 * times)} packets"',
        "weight = 0.00002": f"weight = {0.00002 / times:.12f}",
        "count = 500": f"count = {flows}",
        '["0 s", "1 s"]': f'["0 s", "{spread}"]',
    }
    for before, after in changes.items():
        if before not in text:
            raise ValueError(f"d.toml has no {before}")
        text = text.replace(before, after)
    return text


def _rate(options: Options, flows: int) -> float:
    full = run(options, scenario(flows))
    result = full.result()
    seconds = (
        full.cpu - run(options, scenario(flows, EMPTY, EMPTY_SPREAD)).cpu
        if options.clock == "cpu"
        else result["wall_s"]
    )
    return float(result["packets"] / seconds)


def run(options: Options, text: str) -> Finished:
    """Run the scenario ``text``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "growth.toml")
        path.write_text(text)
        return execute(options.bench(path, 1))
