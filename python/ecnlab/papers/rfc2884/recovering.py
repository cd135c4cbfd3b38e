"""The share of time that the senders of the competing flows spend in loss recovery, from the packet events of single runs.

A command, since packet events of all runs are too large to keep::

    python -m ecnlab.papers.rfc2884.recovering papers/rfc2884/recovery-time.toml
"""

from __future__ import annotations

import sys
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ecnlab.base.errors import EcnlabError
from ecnlab.base.quantities import quantity
from ecnlab.base.stats import mean_interval, paired_difference
from ecnlab.papers.rfc2884.runs import COMPETING
from ecnlab.runs.run import run as simulate
from ecnlab.scenario.files import read_experiment

SENDERS_LINK: Final = "ethernet"
"""The link at whose end the sender of all data is."""

SPACE: Final = 1 << 32
"""Number of sequence numbers."""

Values = NDArray[np.float64]
Numbers = NDArray[np.int64]


def recoveries(
    sent_s: Values, start: Numbers, stop: Numbers, acked_s: Values, ack: Numbers
) -> list[tuple[float, float]]:
    """Return when each recovery of a sender began and ended, in seconds; the last may have no end (infinity).

    ``start`` and ``stop`` bound the data sent at ``sent_s``, ``ack`` is what the ACK received at ``acked_s`` acknowledges: offsets
    in bytes, times in order. A recovery begins with data sent a second time, and ends when all data sent before is acknowledged.
    """
    highest, acknowledged = np.maximum.accumulate(stop), np.maximum.accumulate(ack)
    again = 1 + np.flatnonzero(start[1:] < highest[:-1])
    found: list[tuple[float, float]] = []
    for one in again:
        if found and sent_s[one] < found[-1][1]:
            continue
        end = np.searchsorted(acknowledged, highest[one])
        found.append((float(sent_s[one]), float(acked_s[end]) if end < len(acked_s) else np.inf))
    return found


def of_flow(packets: pl.DataFrame, flow: str) -> list[tuple[float, float]]:
    """Return the recoveries of the sender of ``flow``, which has one connection, from the packet events of a run of the testbed."""
    its = packets.filter(pl.col("flow") == flow)
    sent = its.filter((pl.col("link") == SENDERS_LINK) & (pl.col("event") == "enqueue") & (pl.col("len") > 0))
    acked = its.filter((pl.col("link") == f"{SENDERS_LINK}~reverse") & (pl.col("event") == "deliver"))
    first = int(sent["seq"][0])
    start, ack = (_offsets(numbers, first) for numbers in (sent["seq"], acked["ack"]))
    stop = start + sent["len"].to_numpy()
    return recoveries(sent["time_s"].to_numpy(), start, stop, acked["time_s"].to_numpy(), ack)


def share(found: list[tuple[float, float]], from_s: float, to_s: float) -> float:
    """Return the share of the time from ``from_s`` to ``to_s`` that the recoveries take."""
    return sum(max(0.0, min(end, to_s) - max(begin, from_s)) for begin, end in found) / (to_s - from_s)


def _offsets(numbers: pl.Series, first: int) -> Numbers:
    """Offsets in bytes from the sequence number ``first``; those before it, of the handshake, are negative."""
    offsets = (numbers.to_numpy().astype(np.int64) - first + SPACE // 2) % SPACE - SPACE // 2
    return offsets.astype(np.int64)


def measured(path: str) -> pl.DataFrame:
    """The shares of each run of the experiment: its axes, ``replicate``, ``ecn`` and ``plain``. Raises EcnlabError, OSError."""
    rows = []
    for run in read_experiment(path).runs:
        done = simulate(run.scenario, run.seed)
        times = [quantity(run.scenario.resolved[name]) for name in ("warmup", "duration")]
        packets = done.table("packets")
        shares = {group: share(of_flow(packets, group), *times) for group in COMPETING}
        rows.append({**run.point, "replicate": run.replicate, **shares})
    return pl.DataFrame(rows)


def summary(shares: pl.DataFrame) -> pl.DataFrame:
    """The mean of each client at each place, and of the paired differences the mean and its 95% interval."""
    axes = [name for name in shares.columns if name not in ("replicate", *COMPETING)]
    rows = []
    for place, runs in shares.group_by(axes, maintain_order=True):
        ecn, plain = (runs[group].to_numpy() for group in COMPETING)
        less = paired_difference(ecn, plain)
        means = {group: mean_interval(values).mean for group, values in (("ecn", ecn), ("plain", plain))}
        rows.append(
            {
                **dict(zip(axes, place, strict=True)),
                **means,
                "difference": less.mean,
                "low": less.low,
                "high": less.high,
            }
        )
    return pl.DataFrame(rows)


def main(arguments: list[str]) -> int:
    """Print the summary of the experiment that is named, as CSV."""
    try:
        if len(arguments) != 1:
            raise EcnlabError("name one experiment, such as papers/rfc2884/recovery-time.toml")
        sys.stdout.write(summary(measured(arguments[0])).write_csv())
    except (EcnlabError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
