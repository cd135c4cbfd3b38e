"""Web sessions in ns-2.35 and in ecnlab: objects, their delays and losses, with 95% intervals over seeds.

Usage: python tests/tools/crosscheck/web.py [SEEDS]
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import ecnlab
from ecnlab.base import stats

HERE = Path(__file__).parent
COLUMNS = ("objects", "mean_delay_s", "median_delay_s", "answered_s", "drops")
LIMITS = (1000, 20)
"""``limit_`` of the link: one that is never reached, and one that drops a packet of thirty."""


def ns2(seed: int, limit: int, recycle: bool) -> tuple[float, ...]:
    """One run of web.tcl."""
    command = ["ns", str(HERE / "web.tcl"), str(seed), str(limit), str(int(not recycle))]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    asked: dict[str, float] = {}
    answered: dict[str, float] = {}
    done: dict[str, float] = {}
    arrived = dropped = 0.0
    for words in map(str.split, text.splitlines()):
        match words:
            case ["req", "+", name, *_, time]:
                asked[name] = float(time)
            case ["resp", "+", name, *_, time]:
                answered[name] = float(time)
            case ["resp", "-", name, *_, time]:
                done[name] = float(time)
            case ["link", a, d]:
                arrived, dropped = float(a), float(d)
    delays = [done[name] - asked[name] for name in done]
    waits = [answered[name] - asked[name] for name in answered]
    return len(asked), float(np.mean(delays)), float(np.median(delays)), float(np.mean(waits)), dropped / arrived


def ours(seed: int, limit: int) -> tuple[float, ...]:
    """One run of web.toml."""
    run = ecnlab.run(HERE / "web.toml", seed=seed, overrides={"queue.tail.limit": f"{limit - 1} packets"})
    done, link = run.objects.drop_nulls("delay_s"), run.queues.filter(link="pipe", group="all").row(0, named=True)
    delays, waits = done["delay_s"].to_numpy(), run.objects.drop_nulls("answered_s")
    answered = float((waits["answered_s"] - waits["asked_s"]).to_numpy().mean())
    drops = link["dropped"] / link["arrived"]
    return run.objects.height, float(delays.mean()), float(np.median(delays)), answered, drops


def main(seeds: int) -> None:
    """Print a row for each limit and simulator."""
    print("limit", "simulator", *COLUMNS, sep="\t")
    for limit in LIMITS:
        sides = {
            "ns-2": lambda seed, limit=limit: ns2(seed, limit, recycle=True),
            "ns-2, new agents": lambda seed, limit=limit: ns2(seed, limit, recycle=False),
            "ecnlab": lambda seed, limit=limit: ours(seed, limit),
        }
        for name, side in sides.items():
            with ThreadPoolExecutor(2) as pool:
                values = np.array(list(pool.map(side, range(1, seeds + 1))))
            means = [stats.mean_interval(column) for column in values.T]
            print(limit, name, *(f"{m.mean:.4g} ± {m.high - m.mean:.2g}" for m in means), sep="\t")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
