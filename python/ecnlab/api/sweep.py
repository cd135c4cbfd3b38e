"""The result of a sweep, with its paired comparisons, its figures and its report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ecnlab.base.lazy_imports import pl
from ecnlab.results.sweep import SweepResult

if TYPE_CHECKING:
    from ecnlab.plots.sweep import SweepPlots


class Sweep(SweepResult):
    """The result of an experiment: its runs, their metrics and their tables."""

    def differences(self, metric: str, against: str) -> pl.DataFrame:
        """Paired differences of ``metric``, each other arm minus the arm ``against``, over the replicates.

        The columns are those of `summary`. Runs with equal axes and replicate are a pair: they have the same seed. Pairs
        in which the metric is not defined are left out. ``low`` and ``high`` bound the 95 % interval (Student's t,
        clipped to the range of the difference), null where there is one pair. Raises ValueError if there is no such
        metric or arm.
        Source: Jain (1991), section 13.4.1, paired observations.
        """
        from ecnlab.results import paired  # loads the statistics

        return paired.difference_rows(self, metric, against)

    def ratios(self, metric: str, against: str) -> pl.DataFrame:
        """Paired ratios of ``metric``, each other arm divided by the arm ``against``, over the replicates.

        Runs are paired as in `differences`. The columns are ``arm``, the axes, ``metric``, ``ratio``, ``low``, ``high``
        and ``pairs``. ``ratio`` is the geometric mean of the pairs' ratios; ``low`` and ``high`` bound its 95 % interval
        (Student's t of the logarithms), null where there is one pair; ``pairs`` counts them. Raises ValueError if there
        is no such metric or arm, or if a value is zero or negative.
        Source: Jain (1991), sections 12.4 (geometric mean) and 13.4.1 (paired observations).
        """
        from ecnlab.results import paired  # loads the statistics

        return paired.ratio_rows(self, metric, against)

    @property
    def plot(self) -> SweepPlots:
        """Its figures: ``sweep.plot.effect("goodput", by="max_p")``, see ``docs/plots.md``."""
        from ecnlab.plots.sweep import SweepPlots  # only needed for drawing

        return SweepPlots(self)

    def report(
        self,
        file: str | os.PathLike[str],
        *,
        stages: str | os.PathLike[str] | None = None,
        layout: str | os.PathLike[str] | None = None,
    ) -> Path:
        """Write its page to ``file`` and return the path, see ``docs/reports.md``. Arguments and errors as `Run.report`."""
        from ecnlab.stages import write  # only needed for pages

        return write(self, file, stages=stages, layout=layout)
