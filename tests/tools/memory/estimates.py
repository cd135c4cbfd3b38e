"""Print the table of docs/reliability.md: the estimated memory of runs beside what they take.

    python tests/tools/memory/estimates.py [WORD]    only the rows whose name contains WORD

Each run is `ecnlab.run` in a process of its own: once with a threshold from which glibc asks the kernel for a block of its own that
moves, and once with the least and the greatest of the stated ones (python/tests/test_memory.py).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import ecnlab

SCENARIO = """\
format = 1
duration = "2 s"
link.pipe = { from = "a", to = "b", rate = "1 Gbps", delay = "10 ms", queue = "q" }
queue.q = { discipline = "droptail", limit = "1000 packets" }
flow.f = { from = "a", to = "b", traffic = "ftp", start = { uniform = ["0 s", "1 s"] } }
"""

PAIRS = """\
node.a = { count = 10000 }
node.b = { count = 10000 }
link.left = { from = "a", to = "x", rate = "1 Gbps", delay = "1 ms", queue = "l" }
link.right = { from = "y", to = "b", rate = "1 Gbps", delay = "1 ms", queue = "l" }
link.pipe = { from = "x", to = "y", rate = "1 Gbps", delay = "10 ms", queue = "q" }
queue.l = { discipline = "droptail", limit = "1000 packets" }
"""

MEASURE = """\
import json, sys
from pathlib import Path
import ecnlab
ecnlab.run(sys.argv[1], out=sys.argv[2], overrides=json.loads(sys.argv[3]) or None)
line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(int(line.split()[1]) * 1024)
"""

THRESHOLDS = ("", "131072", "33554432")

WEB = {
    "kind": "web",
    "sessions": 400,
    "inter_session": "100 ms",
    "pages": 20,
    "inter_page": "500 ms",
    "objects": 10,
    "inter_object": "10 ms",
    "object_size": "2 kB",
    "packet": "1000 B",
}
CRR = {"kind": "crr", "request": "100 B", "response": "1 kB", "think": "10 ms"}
UDP = {"kind": "cbr", "packet": "1500 B"}


def fq(*flows: int, inner: str = "droptail") -> dict[str, Any]:
    """Drop-tail or another queue in `fq` in `fq`, each with so many queues."""
    queue: dict[str, Any] = {"discipline": inner, "limit": "1000 packets"}
    for number in reversed(flows):
        queue = {"discipline": "fq", "limit": "1000 packets", "flows": number, "class": {"each": queue}}
    return {"queue.q": queue}


def many(count: int, traffic: Any = "ftp", duration: str = "2 s") -> dict[str, Any]:
    """So many flows of one kind."""
    return {"flow.f.count": count, "flow.f.traffic": traffic, "duration": duration}


def quic(stack: str) -> dict[str, Any]:
    """QUIC in place of TCP."""
    return {"quic.host": {"stack": stack}, "flow.f.quic": "host"}


ROWS: dict[str, dict[str, Any]] = {
    "one flow": {},
    **{f"`ftp`: {count:,} flows": many(count) for count in (1_000, 10_000, 100_000, 300_000)},
    **{f"`ftp` over {stack}: 2,000 flows": many(2_000) | quic(stack) for stack in ("quinn", "noq")},
    **{f"`crr`: {count:,} flows": many(count, CRR | {"think": "1 s"}) for count in (1_000, 10_000, 100_000)},
    "`crr`, think 10 ms: 1,000 flows, 30 s": many(1_000, CRR, "30 s"),
    "the same, 60 s": many(1_000, CRR, "60 s"),
    "the same, 100 flows, 60 s": many(100, CRR, "60 s"),
    "`web`: 10 flows, 60 s": many(10, WEB, "60 s"),
    "`web`: 3 flows, 30 s": many(3, WEB, "30 s"),
    "`cbr`: 10,000 flows": many(10_000, UDP | {"rate": "100 kbps"}),
    "`fq` of 65,536 queues, drop-tail": fq(65_536),
    "`fq` of 65,536 queues, CoDel": fq(65_536, inner="codel"),
    "`fq` of 65,536 in 65,536: 10 flows": fq(65_536, 65_536) | many(10),
    "`fq` of 1,024 in 1,024: 10 flows": fq(1_024, 1_024) | many(10),
    "`fq` of 1,024 in 1,024: 10,000 flows": fq(1_024, 1_024) | many(10_000),
    "`fq` of 256 in 256: 10,000 flows": fq(256, 256) | many(10_000),
    "100,000 `ftp` flows, `quantiles` at the bottleneck": many(100_000) | {"queue.q.quantiles": True},
    "10,000 pairs of hosts with links of their own: 10 flows": {"flow.f.count": 10},
    "10,000 pairs of hosts: 10,000 flows": {"flow.f.count": 10_000},
    "10,000 pairs of hosts: 10 flows, `quantiles`": {"flow.f.count": 10, "queue.l.quantiles": True},
    "10,000 pairs of hosts: 10,000 flows, `quantiles`": {"flow.f.count": 10_000, "queue.l.quantiles": True},
    "10,000 flows, `sample` of 10 ms": many(10_000) | {"sample": "10 ms"},
    "1,000 flows, `packets`": many(1_000) | {"packets": True},
    "UDP fills a buffer of a million packets, 20 s": many(1, UDP | {"rate": "2 Gbps"}, "20 s")
    | {"queue.q.limit": "1000000 packets"},
    "20,000 `ftp` flows, a buffer of a million packets, 20 s": many(20_000, duration="20 s")
    | {"queue.q.limit": "1000000 packets"},
}


def main() -> None:
    """Measure the rows and print them."""
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    print("| run | estimate | moving | 131072 | 33554432 |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        for label, overrides in ROWS.items():
            if word in label:
                text = SCENARIO if "pairs" not in label else _pairs()
                found = [_estimate(text, overrides), *(_peak(Path(name), text, overrides, t) for t in THRESHOLDS)]
                print(f"| {label} | {' | '.join(f'{value / 1e6:.0f}' for value in found)} |", flush=True)


def _pairs() -> str:
    lines = [line for line in SCENARIO.splitlines() if not line.startswith("link.")]
    return "\n".join([*lines, PAIRS])


def _estimate(text: str, overrides: dict[str, Any]) -> int:
    scenario = ecnlab.Scenario("x.toml", text)
    return (scenario.with_overrides(overrides) if overrides else scenario).memory


def _peak(folder: Path, text: str, overrides: dict[str, Any], threshold: str) -> int:
    file = folder / "x.toml"
    file.write_text(text)
    with tempfile.TemporaryDirectory(dir=folder) as out:
        command = [sys.executable, "-c", MEASURE, str(file), f"{out}/r", json.dumps(overrides)]
        env = os.environ | ({"GLIBC_TUNABLES": f"glibc.malloc.mmap_threshold={threshold}"} if threshold else {})
        return int(subprocess.run(command, capture_output=True, check=True, text=True, env=env).stdout)


if __name__ == "__main__":
    main()
