"""ACKs a second through a window law in Python, beside the simulator's own Reno, whose tables are the same.

Prints a table to standard error and one JSON object to standard output. The laws take turns, so that other work on the machine
meets both; of each the least processor time counts. "grow" is examples/laws/reno.py, which is called where the window may open;
"on_ack" has a method for each ACK besides, which reads its RTT.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

from ecnlab.engines.frames import frame
from ecnlab.scenario import read_scenario

ROOT = Path(__file__).parent.parent
RENO = ROOT / "examples" / "laws" / "reno.py"
SAMPLED = """
    def on_ack(self, window, sample):
        self.rtt = sample.rtt
"""
OVERRIDES = {
    "duration": "100 s",
    "warmup": "1 s",
    "link.bottleneck.rate": "100 Mbps",
    "queue.step.limit": "2000 packets",
    "queue.step.discipline": "droptail",
    "flow.bulk.count": 10,
    "tcp.default.ack_every": 1,
}


def main() -> int:
    """Time each law."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="times that each law runs")
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as folder:
        sampled = Path(folder) / "sampled.py"
        sampled.write_text(RENO.read_text() + SAMPLED)
        laws: dict[str, object] = {"reno": "reno"}
        laws |= {name: {"python": f"{path}:Reno"} for name, path in {"grow": RENO, "on_ack": sampled}.items()}
        questions = {
            name: read_scenario(ROOT / "examples" / "userlaws.toml").with_overrides(
                OVERRIDES | {"tcp.default.congestion": law}
            )
            for name, law in laws.items()
        }
        least = dict.fromkeys(laws, float("inf"))
        tables = {}
        for _ in range(repeat):
            for name, question in questions.items():
                began = time.process_time()
                tables[name] = question.run(1)
                least[name] = min(least[name], time.process_time() - began)
    links = frame(tables["reno"]["links_run"])
    acks = int(links.row(by_predicate=pl.col("link") == "bottleneck~reverse", named=True)["delivered"])
    found = {
        name: {"seconds": seconds, "acks_per_second": acks / seconds, "times_reno": seconds / least["reno"]}
        for name, seconds in least.items()
    }
    for name, one in found.items():
        print(f"{name:8} {one['acks_per_second']:10.0f} ACKs/s   {one['times_reno']:5.2f} x reno", file=sys.stderr)
    print(json.dumps({"acks": acks, "laws": found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
