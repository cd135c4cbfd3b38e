"""RFC 2884, "Performance Evaluation of Explicit Congestion Notification (ECN) in IP Networks", end to end.

The experiments are the files of ``papers/rfc2884``; ``metrics.toml`` there defines the measurements of each,
``report.toml`` the report.
"""

from __future__ import annotations

from typing import Final

from ecnlab.papers.paper import Paper, Step, named
from ecnlab.papers.rfc2884 import faults, linux, readings, runs, thresholds
from ecnlab.papers.rfc2884.grid import GRID

SERIES: Final = ("flow_series", "queue_series")

PAPER: Final = Paper(
    "rfc2884",
    GRID,
    (
        # Steps that decide a number or claim begin with the first look; those whose claims need more than the budget have 2 or 3 seeds,
        # and those that the quick size only shows, 1.
        Step("red-search", 2, 20),
        Step("fairness", 4, 30),
        Step("equal", 4, 30),
        Step("bulk", 4, 30, ("flow_series",)),
        Step("bulk-recovery", 4, 30, ("flow_series",)),
        Step("transactions", 4, 40, ("transactions",)),
        Step("transactions-recovery", 3, 40),
        # At 40 seeds a difference of gains is known to about 20 points, the tolerance itself; at 150 to half of that.
        Step("transactions-like-reno", 4, 150),
        Step("transactions-size", 4, 40),
        # At 150 seeds the slope to 160 KB is known to about 1.5 points a doubling, that to 20 KB to about 5; at 1500 to a third.
        Step("transactions-longer", 3, 1500),
        Step("transactions-alone", 3, 40),
        Step("envelope", 1, 20),
        Step("homogeneous-bulk", 4, 30),
        Step("homogeneous-transactions", 3, 40),
        Step("thresholds-ecn", 4, 20),
        Step("thresholds-goodput", 1, 20),
        Step("variants-bulk", 1, 30),
        Step("variants-transactions", 1, 40),
        Step("disciplines", 4, 20, SERIES),
        Step("tail-drop", 4, 20, SERIES),
        Step("synchrony", 4, 20, SERIES),
        Step("shares", 4, 20),
        Step("degenerate", 4, 20),
        Step("very-high", 4, 30),
        Step("joint-bulk", 1, 20),
        Step("joint-bulk-max_p", 1, 20),
        Step("joint-transactions", 1, 20),
        Step("joint-transactions-max_p", 1, 20),
        Step("joint-fairness", 1, 20),
        Step("evolution", 1, 1, (*SERIES[::-1], "packets"), drawn=True),
    ),
    runs.draw,
    linux.STEPS,
    own=named(runs.bulk_gain_together, faults.drop_share, faults.drop_share_of_bytes),
    findings=named(runs.faster, runs.left_over, readings.worth, faults.four_faults),
    blocks=named(
        readings.taken,
        readings.side_by_side,
        readings.resamples,
        readings.misses,
        readings.nearest,
        readings.chosen,
        runs.evolution,
        faults.by_fault,
        faults.everywhere,
        linux.beside_the_kernel,
    ),
    words=named(linux.on_linux),
    budget=4800,
    printed=400,
    of_samples=thresholds.resampled,
)
