"""Bytes per flow and per pair of hosts: the slope of the peak resident set of `ecnlab-bench` (`VmHWM`) between two sizes.

All flows are endless, with a receive window of one segment, so that each has at most one segment or ACK in flight. The run
lasts 3 s and the flows start in the first, with an RTT of 0.44 s: at the end all are established at both ends. Rates and
buffers are ample: nothing is lost. The slope leaves out the program and all that does not grow with the number of flows.

- A flow: 10,000 and 50,000 flows on 50 pairs of hosts. A second slope with windows of two segments gives the bytes of a
  segment in flight, and the difference the bytes of a flow without one.
- A pair of hosts: 1,000 and 5,000 pairs, each with an access link, an exit link and one flow; less the bytes of the flow.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from measuring import Finished, Options, Row, execute, slope

FLOWS = (10_000, 50_000)
PAIRS = (1_000, 5_000)
HOSTS = 50
MILLION = 1_000_000

SCENARIO = """\
format = 1
title = "flows with windows of few segments"
duration = "3 s"
warmup = "0 s"
profile = "modern"

node.source = {{ count = {pairs} }}
node.sink = {{ count = {pairs} }}
link.access = {{ from = "source", to = "r1", rate = "100 Gbps", delay = "10 ms", queue = "ample" }}
link.bottleneck = {{ from = "r1", to = "r2", rate = "100 Gbps", delay = "200 ms", queue = "ample" }}
link.exit = {{ from = "r2", to = "sink", rate = "100 Gbps", delay = "10 ms", queue = "ample" }}
queue.ample = {{ discipline = "droptail", limit = "1000000 packets" }}
tcp.default = {{ mss = "1460 B", receive_buffer = "{window} B" }}
flow.bulk = {{ count = {flows}, from = "source", to = "sink", traffic = "ftp", start = {{ uniform = ["0 s", "1 s"] }} }}
"""


def rows(options: Options) -> list[Row]:
    """Return the bytes per flow and per pair of hosts."""
    one, two = (_by_flows(options, segments) for segments in (1, 2))
    flow, segment = without_segments(slope(*one), slope(*two))
    both = slope(*[(pairs, _peak(_run(options, pairs, pairs))) for pairs in PAIRS])
    pair = both - slope(*one)
    details = {"peaks_of_flows": {"one segment": one, "two segments": two}, "bytes_per_segment_in_flight": segment}
    return [
        Row("bytes per established flow, both ends", flow, 3_000, "B", details=details),
        Row("bytes per pair of hosts with its links", pair, 8_000, "B", details={"with_flow": both}),
    ]


def without_segments(one: float, two: float) -> tuple[float, float]:
    """Return the bytes of a flow with nothing in flight and of a segment, from flows with one and two segments."""
    return one - (two - one), two - one


def million(options: Options) -> list[Row]:
    """Return the peak memory of a million flows with a window of one segment, on 50 pairs of hosts."""
    run = _run(options, MILLION, HOSTS)
    details = {"wall_s": run.wall, "cpu_s": run.cpu, "packets": run.result()["packets"]}
    return [Row("a million flows: peak memory", _peak(run) / 2**30, 24, "GiB", details=details)]


def _by_flows(options: Options, segments: int) -> list[tuple[float, float]]:
    return [(flows, _peak(_run(options, flows, HOSTS, segments))) for flows in FLOWS]


def _run(options: Options, flows: int, pairs: int, segments: int = 1) -> Finished:
    """Run so many flows, with windows of so many segments.

    Raises RuntimeError if fewer segments than flows were delivered: not all flows were established.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "flows.toml")
        path.write_text(SCENARIO.format(pairs=pairs, flows=flows, window=1460 * segments))
        run = execute(options.bench(path, 1))
    if run.result()["packets"] < flows:
        raise RuntimeError(f"{flows} flows delivered {run.result()['packets']} segments: not all are established")
    return run


def _peak(run: Finished) -> int:
    return int(run.result()["peak_bytes"])
