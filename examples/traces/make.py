"""Writes the traces of this folder and README.md: ``python make.py [FOLDER]``; the default folder is that of this file.

Each trace is a synthetic pattern with a fixed seed, no measurement. It has the same bytes on every machine: of `random` only
``Random.random`` is used, which Python keeps unchanged, and of `math` only ``sqrt``, which IEEE 754 rounds correctly. Times are
whole milliseconds; rates are whole kbit/s and delays whole microseconds until they are written.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Final

LENGTH: Final = 60_000
"""Length of each trace in milliseconds."""

PACKET: Final = 12_000
"""Bits of an opportunity to send in a trace of Mahimahi."""

Steps = list[tuple[int, int]]
"""Times in milliseconds, and kbit/s or microseconds from then on."""


@dataclass(frozen=True)
class Trace:
    """A trace: the name of its file, the link that it imitates, its parameters, and its values by seed."""

    name: str
    imitates: str
    parameters: str
    seed: int
    made: Callable[[Random], Iterator[tuple[int, int]]]
    column: str = "rate_mbps"

    def steps(self) -> Steps:
        """Return its steps; each differs from the one before."""
        found: Steps = []
        for at, value in self.made(Random(self.seed)):
            if not found or found[-1][1] != value:
                found.append((at, value))
        return found

    def text(self) -> str:
        """Return the content of its file."""
        head = f"# {self.imitates}\n# Synthetic, not measured: make.py, seed {self.seed}. {self.parameters}\n"
        rows = "".join(f"{thousandths(at)},{thousandths(value)}\n" for at, value in self.steps())
        return f"{head}time_s,{self.column}\n{rows}"


def thousandths(value: int) -> str:
    """Return ``value`` thousandths as the shortest decimal number."""
    return f"{value // 1000}.{value % 1000:03}".rstrip("0").rstrip(".")


def between(rng: Random, low: float, high: float) -> float:
    """Return a number between ``low`` and ``high``."""
    return low + (high - low) * rng.random()


def normal(rng: Random) -> float:
    """Return a number with mean 0 and variance 1, nearly normal: twelve uniform numbers, added."""
    total = -6.0
    for _ in range(12):
        total += rng.random()
    return total


def fading(rng: Random, kept: float, deviation: float) -> Iterator[float]:
    """Values in dB around 0 without end: the share ``kept`` of each goes into the next one."""
    fresh, value = math.sqrt(1 - kept * kept), normal(rng)
    while True:
        yield deviation * value
        value = kept * value + fresh * normal(rng)


def cellular(mhz: float, db: float) -> int:
    """Return kbit/s of a cell of ``mhz`` at a signal-to-noise ratio in ``db``: 0.25 bit/s/Hz per dB, from 0.15 to 5.5."""
    return tens(1000 * mhz * min(max(0.25 * db, 0.15), 5.5))


def tens(value: float) -> int:
    """Return ``value`` in whole tens."""
    return 10 * round(value / 10)


def triangle(at: int, period: int) -> float:
    """Return 0 at the ends of each ``period`` and 1 in its middle."""
    return 1 - abs(2 * (at % period) / period - 1)


def _lte_slow(rng: Random) -> Iterator[tuple[int, int]]:
    for at, fade in zip(range(0, LENGTH, 100), fading(rng, 0.97, 6.0), strict=False):
        yield at, cellular(10, 14 + fade)


def _lte_fast(rng: Random) -> Iterator[tuple[int, int]]:
    for at, fade in zip(range(0, LENGTH, 50), fading(rng, 0.6, 6.0), strict=False):
        yield at, cellular(10, 14 + fade)


def _lte_edge(rng: Random) -> Iterator[tuple[int, int]]:
    for at, fade in zip(range(0, LENGTH, 100), fading(rng, 0.9, 2.5), strict=False):
        yield at, cellular(0.72, 4 + fade)


def _lte_handovers(rng: Random) -> Iterator[tuple[int, int]]:
    for at, fade in zip(range(0, LENGTH, 50), fading(rng, 0.8, 3.0), strict=False):
        outage = at >= 12_000 and at % 12_000 < 50
        yield at, 0 if outage else cellular(10, 2 + 20 * triangle(at, 12_000) + fade)


def _mmwave(rng: Random) -> Iterator[tuple[int, int]]:
    begins, ends = [], []
    at = tens(between(rng, 2000, 6000))
    while at < LENGTH:
        begins.append(20 * (at // 20))
        ends.append(begins[-1] + 20 * int(between(rng, 15, 75)))
        at = ends[-1] + tens(between(rng, 2000, 8000))
    clear = 800_000
    for at in range(0, LENGTH, 20):
        if at % 100 == 0:
            clear = 1000 * int(between(rng, 720, 880))
        number = bisect_right(begins, at) - 1
        blocked = number >= 0 and at < ends[number]
        edge = blocked and (at == begins[number] or at == ends[number] - 20)
        yield at, clear // 4 if edge else clear // 40 if blocked else clear


def _wifi_suspension(rng: Random) -> Iterator[tuple[int, int]]:
    for scan in range(5000, LENGTH, 10_000):
        first = scan + tens(between(rng, -300, 300))
        if scan == 5000:
            yield 0, 80_000
        for channel in range(6):
            yield first + 310 * channel, 0
            yield first + 310 * channel + 110, 80_000


def _wifi_interference(rng: Random) -> Iterator[tuple[int, int]]:
    levels = (6_500, 13_000, 19_500, 26_000, 39_000, 52_000, 58_500, 65_000)
    at = 0
    while at < LENGTH:
        level = 7 - int(between(rng, 0, 2))
        yield at, tens(levels[level] * 0.7)
        at += tens(between(rng, 500, 3500))
        end = min(at + tens(between(rng, 200, 2000)), LENGTH)
        for slot in range(at, end, 100):
            yield slot, tens(levels[level - int(between(rng, 1, 4))] * 0.7 * between(rng, 0.2, 0.6))
        at = end


def _power_save(rng: Random) -> Iterator[tuple[int, int]]:
    for beacon in range(LENGTH * 10 // 1024 + 1):
        at = beacon * 1024 // 10
        yield at, 40_000
        yield at + int(between(rng, 20, 60)), 0


def _leo_rate(rng: Random) -> Iterator[tuple[int, int]]:
    level = between(rng, 60, 220)
    for at in range(0, LENGTH, 100):
        if at % 15_000 == 12_000:
            level = between(rng, 60, 220)
            yield at, 0
        elif at % 200 == 0 or at % 15_000 == 12_100:
            yield at, 100 * round(10 * level * between(rng, 0.85, 1.15))


def _leo_delay(rng: Random) -> Iterator[tuple[int, int]]:
    path, drift = between(rng, 14, 28), between(rng, -0.3, 0.3)
    for at in range(0, LENGTH, 500):
        if at % 15_000 == 12_000:
            path, drift = between(rng, 14, 28), between(rng, -0.3, 0.3)
        yield at, 100 * round(10 * (path + between(rng, -0.5, 0.5)))
        path += drift / 2


def _geo_rain(rng: Random) -> Iterator[tuple[int, int]]:
    for at in range(0, LENGTH, 1000):
        rain = 0 if not 10_000 <= at < 50_000 else 14 * triangle(at - 10_000, 40_000) + 0.7 * normal(rng)
        yield at, 40_000 - 2_600 * min(max(round(rain), 0), 15)


def _dsl_retrain(_rng: Random) -> Iterator[tuple[int, int]]:
    yield from [(0, 50_000), (15_000, 0), (40_000, 32_000)]


def _cable_evening(rng: Random) -> Iterator[tuple[int, int]]:
    active = 1
    for at in range(0, LENGTH, 250):
        draw = rng.random()
        if draw < 0.2:
            active += 1
        elif draw > 0.9:
            active = max(active - 1, 1)
        yield at, min(500_000, tens(1_000_000 / active))


def _train_tunnel(rng: Random) -> Iterator[tuple[int, int]]:
    for at, fade in zip(range(0, LENGTH, 50), fading(rng, 0.7, 4.0), strict=False):
        inside = min(at - 20_000, 30_000 - at)
        if inside >= 1500:
            yield at, 0
        elif inside >= 0:
            yield at, tens(cellular(10, 14 + fade) * (1500 - inside) / 3000)
        else:
            yield at, cellular(10, 14 + fade)


CELL: Final = "of 10 MHz, 0.25 bit/s/Hz per dB, from 0.15 to 5.5 bit/s/Hz"

TRACES: Final = (
    Trace(
        "lte-slow",
        "LTE downlink at walking speed: slow fading.",
        f"A cell {CELL}; 14 dB, deviation 6 dB, steps of 100 ms that keep 0.97 of the fade.",
        1,
        _lte_slow,
    ),
    Trace(
        "lte-fast",
        "LTE downlink in a car: fast fading.",
        f"A cell {CELL}; 14 dB, deviation 6 dB, steps of 50 ms that keep 0.6 of the fade.",
        2,
        _lte_fast,
    ),
    Trace(
        "lte-edge",
        "LTE uplink at the edge of a cell.",
        "0.72 MHz, 0.25 bit/s/Hz per dB, from 0.15 bit/s/Hz; 4 dB, deviation 2.5 dB, steps of 100 ms that keep 0.9 of the fade.",
        3,
        _lte_edge,
    ),
    Trace(
        "lte-handovers",
        "LTE downlink on a motorway: a handover every 12 s.",
        f"Cells {CELL}; 2 dB at their edges, 22 dB in their middle, fading of 3 dB, steps of 50 ms; 50 ms without a link.",
        4,
        _lte_handovers,
    ),
    Trace(
        "mmwave-blockage",
        "5G at millimetre waves, blocked by people and vehicles.",
        "800 Mbit/s ± 10 %; after 2 to 8 s a fortieth of it for 0.3 to 1.5 s, a quarter in the 20 ms at its edges.",
        5,
        _mmwave,
    ),
    Trace(
        "wifi-suspension",
        "Wi-Fi station that scans other channels every 10 s.",
        "80 Mbit/s; each scan leaves the channel six times for 110 ms, 200 ms apart; its start varies by 300 ms.",
        6,
        _wifi_suspension,
    ),
    Trace(
        "wifi-interference",
        "Wi-Fi at 20 MHz next to a busy neighbour.",
        "70 % of 58.5 or 65 Mbit/s; after 0.5 to 3.5 s, for 0.2 to 2 s, one to three modulations less and 20 to 60 % of the time.",
        7,
        _wifi_interference,
    ),
    Trace(
        "power-save",
        "Wi-Fi station that sleeps between beacons.",
        "40 Mbit/s for 20 to 60 ms after each beacon; a beacon every 102.4 ms.",
        8,
        _power_save,
    ),
    Trace(
        "leo-rate",
        "Satellite in low orbit: rate with a handover every 15 s.",
        "60 to 220 Mbit/s in each interval, ± 15 % every 200 ms; handovers from 12 s, 100 ms without a link.",
        9,
        _leo_rate,
    ),
    Trace(
        "leo-delay",
        "Satellite in low orbit: one-way delay with a handover every 15 s.",
        "14 to 28 ms at each handover, from 12 s, then a drift of up to 0.3 ms/s and ± 0.5 ms every 500 ms.",
        10,
        _leo_delay,
        "delay_ms",
    ),
    Trace(
        "geo-rain",
        "Geostationary satellite in a shower, an hour in a minute: adaptive coding and modulation.",
        "40 Mbit/s, 2.6 Mbit/s less per dB in steps of 1 dB each second; rain from 10 to 50 s, 14 dB at its height.",
        11,
        _geo_rain,
    ),
    Trace(
        "dsl-retrain",
        "DSL line that loses synchronisation and returns at a lower rate.",
        "50 Mbit/s, from 15 to 40 s none, then 32 Mbit/s.",
        12,
        _dsl_retrain,
    ),
    Trace(
        "cable-evening",
        "Cable network whose neighbours come home, an evening in a minute.",
        "1 Gbit/s divided by the active users, at most 500 Mbit/s; every 250 ms one more (0.2) or one less (0.1).",
        13,
        _cable_evening,
    ),
    Trace(
        "train-tunnel",
        "LTE downlink in a train through a tunnel.",
        f"A cell {CELL}; 14 dB, deviation 4 dB, steps of 50 ms that keep 0.7 of the fade; tunnel from 20 to 30 s: half the rate, falling to none in 1.5 s.",
        14,
        _train_tunnel,
    ),
)

MAHIMAHI: Final = "lte-edge"
"""The trace that is also written for Mahimahi; a slow one, as each packet takes a line."""


def spans(steps: Steps) -> Iterator[tuple[int, int, int]]:
    """Start, end and value of each step up to `LENGTH`."""
    for (start, value), (end, _) in pairwise([*steps, (LENGTH, 0)]):
        yield start, end, value


def mean(steps: Steps) -> int:
    """Return the mean over time, rounded down."""
    return sum((end - start) * value for start, end, value in spans(steps)) // LENGTH


def mahimahi(steps: Steps) -> str:
    """Return the steps as a trace of Mahimahi: the millisecond, from 1, in which each packet of 1500 bytes is complete."""
    found, bits = [], 0
    for start, end, kbps in spans(steps):
        for ms in range(start + 1, end + 1):
            bits += kbps  # 1 kbit/s is one bit in each millisecond
            while bits >= PACKET:
                bits -= PACKET
                found.append(ms)
    return "".join(f"{ms}\n" for ms in found)


README: Final = """# Traces of links that change

Patterns of 60 s for `rate` and `delay` of a [link that changes](../../docs/changing-links.md). They are synthetic: they imitate a
kind of link, with the parameters in the head of each file, and are not measurements. `make build` writes them, by `make.py`.

```toml
rate = { csv = "traces/lte-slow.csv", every = "60 s" }
```

| trace | imitates | mean | minimum | maximum |
| --- | --- | ---: | ---: | ---: |
"""

LAST: Final = """
{name}.mahimahi is {name}.csv as a trace of Mahimahi: `rate = {{ mahimahi = "traces/{name}.mahimahi" }}`.
"""


def readme() -> str:
    """Return the page: a row for each trace."""
    rows = []
    for trace in TRACES:
        steps = trace.steps()
        values = [value for _, value in steps]
        unit = "ms" if trace.column == "delay_ms" else "Mbit/s"
        cells = [f"{thousandths(value)} {unit}" for value in (mean(steps), min(values), max(values))]
        rows.append(f"| `{trace.name}.csv` | {trace.imitates} | {' | '.join(cells)} |\n")
    return README + "".join(rows) + LAST.format(name=MAHIMAHI)


def main() -> None:
    """Write all files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    files = {f"{trace.name}.csv": trace.text() for trace in TRACES}
    files[f"{MAHIMAHI}.mahimahi"] = mahimahi(next(one for one in TRACES if one.name == MAHIMAHI).steps())
    files["README.md"] = readme()
    for name, text in files.items():
        (folder / name).write_bytes(text.encode())


if __name__ == "__main__":
    main()
