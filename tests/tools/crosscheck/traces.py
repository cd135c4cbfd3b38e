"""Packet by packet: one flow, chosen losses and marks, and no chance left but ns-2's clock phase.

Both simulators must put the same packets on the bottleneck in the same order at the same times.
"""

from __future__ import annotations

import random
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

import ns2
import simulated
from cells import HERE, RECOVERIES, Cell

SECONDS = 6
SEGMENT = 1000
TOLERANCE_S = 20e-6
"""ecnlab ends the handshake with a segment of 40 B (3.2 us on 100 Mbit/s), which ns-2's one-way TCP does not send."""

Sent = tuple[float, int]
"""When a data packet reached the bottleneck, and its number, from 1."""


@dataclass(frozen=True)
class Pattern:
    """The n-th data packets on the bottleneck, retransmissions counted, that are lost or marked there."""

    recovery: str
    lost: tuple[int, ...] = ()
    marked: tuple[int, ...] = ()


@dataclass(frozen=True)
class Difference:
    """Where two packet sequences part."""

    pattern: Pattern
    index: int
    ns2: list[Sent]
    ecnlab: list[Sent]


def patterns(count: int) -> list[Pattern]:
    """Make `count` patterns per recovery and kind: clusters of losses, or of marks, early and late in a flow.

    For Tahoe also `count` with losses and marks all through a flow: it falls again where ECN has just reduced.
    """
    draws = random.Random(2884)
    made: dict[Pattern, None] = {}
    for recovery in RECOVERIES:
        for i in range(count):
            first = draws.randint(1, 150)
            cluster = sorted({first + draws.randint(0, 12) for _ in range(1 + i % 5)})
            later = sorted({first + draws.randint(20, 120) for _ in range(i % 3)})
            chosen = tuple(sorted({*cluster, *later}))
            both = Pattern(recovery, lost=tuple(cluster), marked=tuple(n for n in later if n not in cluster))
            made |= dict.fromkeys((Pattern(recovery, lost=chosen), Pattern(recovery, marked=chosen), both))
    return list(made | dict.fromkeys(_mingled("tahoe", count)))


def _mingled(recovery: str, count: int) -> list[Pattern]:
    """Losses and marks at random, 400 packets long."""
    draws = random.Random(7)
    shares = ((0.02, 0.05), (0.05, 0.02), (0.02, 0.1), (0.05, 0.1), (0.01, 0.3))

    def chosen(share: float) -> tuple[int, ...]:
        return tuple(n for n in range(1, 400) if draws.random() < share)

    return [
        Pattern(recovery, lost=chosen(lost), marked=chosen(marked))
        for lost, marked in (shares[i % 5] for i in range(count))
    ]


def difference(pattern: Pattern) -> Difference | None:
    """Run a pattern on both sides; return where the sequences first part."""
    theirs, ours = _ns2(pattern), _ecnlab(pattern)
    for index, (a, b) in enumerate(zip(theirs, ours, strict=False)):
        if a[1] != b[1] or abs(a[0] - b[0]) > TOLERANCE_S:
            return Difference(pattern, index, theirs, ours)
    # The last packets of one side may fall just past the end of the other.
    return None if abs(len(theirs) - len(ours)) <= 1 else Difference(pattern, min(len(theirs), len(ours)), theirs, ours)


def load_explanations(path: Path, anchors: set[str]) -> dict[Pattern, str]:
    """Read which patterns are known to part, and the heading that says why."""
    known = {}
    for entry in tomllib.loads(path.read_text()).get("trace", []):
        if entry["anchor"] not in anchors:
            raise ValueError(f"{path.name}: docs/fidelity.md has no heading with the anchor '{entry['anchor']}'")
        known[Pattern(entry["recovery"], tuple(entry["lost"]), tuple(entry["marked"]))] = entry["anchor"]
    return known


def show(found: Difference, around: int = 6) -> str:
    """Print the packets about the place where two sequences part."""
    lines = [f"{found.pattern}: they part at packet {found.index}", f"{'ns-2.35':>24}{'ecnlab':>24}"]
    for i in range(max(0, found.index - around), found.index + around):
        sides = (f"{s[i][0]:.6f} {s[i][1]:>6}" if i < len(s) else "-" for s in (found.ns2, found.ecnlab))
        lines.append("".join(f"{side:>24}" for side in sides) + ("  <" if i == found.index else ""))
    return "\n".join(lines)


def _ns2(pattern: Pattern) -> list[Sent]:
    ecn = bool(pattern.marked)
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "packets")
        options: dict[str, object] = {
            "tcp": RECOVERIES[pattern.recovery], "ecn" if ecn else "plain": 1, "spread": 0, "end": SECONDS, "warmup": 0,
            "limit": 5000, "segment": SEGMENT, "window": 64, "packets": trace,
            "drop": " ".join(map(str, pattern.lost)), "mark": " ".join(map(str, pattern.marked)),
        }  # fmt: skip
        ns2.run(options, seed=1)
        words = [line.split() for line in trace.read_text().splitlines()]
    return [(float(w[1]), int(w[10])) for w in words if w[0] == "+" and int(w[10]) > 0]


def _ecnlab(pattern: Pattern) -> list[Sent]:
    overrides: dict[str, object] = {
        "tcp.sender.recovery": pattern.recovery,
        "tcp.sender.sack": pattern.recovery in ("sack", "fack"),
        "tcp.sender.ecn": "rfc2481" if pattern.marked else "off",
        "flow.bulk.count": 1,
        "flow.bulk.start": "0 s",
        "link.access.delay": "1 ms",
        "link.bottleneck.queue": "ample",
        "duration": f"{SECONDS} s",
        "warmup": "0 s",
        "packets": True,
    }
    for key, chosen in (("drop_segments", pattern.lost), ("mark_segments", pattern.marked)):
        if chosen:
            overrides[f"link.bottleneck.{key}"] = {"bulk": list(chosen)}
    cell = Cell("trace", HERE / "dumbbell.toml", ("plain",), red=False, overrides=overrides)
    table = simulated.run(cell, seed=1)["packets"]
    at_bottleneck = zip(table["link"], table["event"], strict=True)
    rows = zip(at_bottleneck, table["len"], table["time_s"], table["seq"], strict=True)
    sent = [(t, int(seq)) for place, size, t, seq in rows if place == (simulated.BOTTLENECK, "enqueue") and size]
    first = sent[0][1]
    return [(float(t), ((seq - first) % 2**32) // SEGMENT + 1) for t, seq in sent]
