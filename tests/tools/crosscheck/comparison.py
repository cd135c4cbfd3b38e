"""Two samples of runs side by side: means, 95% intervals, and a test that knows how many rows it is asked about."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scipy import stats

LEVEL = 0.05
"""Chance of one or more false differences in the whole table (Holm's method)."""


@dataclass(frozen=True)
class Sample:
    """Mean of independent runs, with the half-width of its 95% Student interval."""

    n: int
    mean: float
    variance: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Sample:
        """Summarise at least two runs."""
        mean = math.fsum(values) / len(values)
        return cls(len(values), mean, math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))

    @property
    def half_width(self) -> float:
        """Half of the 95% interval of the mean."""
        return float(stats.t.ppf(0.975, self.n - 1)) * math.sqrt(self.variance / self.n)

    def covers(self, value: float) -> bool:
        """Whether `value` is in the 95% interval of the mean."""
        return abs(value - self.mean) <= self.half_width


@dataclass
class Row:
    """One metric of one cell, in both simulators."""

    cell: str
    metric: str
    ns2: Sample
    ecnlab: Sample
    p: float
    verdict: str = ""
    anchor: str = ""

    @property
    def difference(self) -> float | None:
        """(ecnlab - ns-2) / ns-2; None if ns-2's mean is 0."""
        return (self.ecnlab.mean - self.ns2.mean) / self.ns2.mean if self.ns2.mean else None

    @property
    def difference_half_width(self) -> float | None:
        """Half-width of the 95% interval of the relative difference of means, ns-2's mean taken as exact scale."""
        if not self.ns2.mean:
            return None
        spread, freedom = _welch(self.ns2, self.ecnlab)
        return float(stats.t.ppf(0.975, freedom)) * spread / abs(self.ns2.mean) if spread else 0.0


def _welch(a: Sample, b: Sample) -> tuple[float, float]:
    """Return the standard error of the difference of means and Welch-Satterthwaite's degrees of freedom."""
    u, v = a.variance / a.n, b.variance / b.n
    if u + v == 0:
        return 0.0, 1.0
    return math.sqrt(u + v), (u + v) ** 2 / (u * u / (a.n - 1) + v * v / (b.n - 1))


def compare(cell: str, metric: str, ns2: Sequence[float], ecnlab: Sequence[float]) -> Row:
    """Test the equality of two means with Welch's t."""
    a, b = Sample.of(ns2), Sample.of(ecnlab)
    spread, freedom = _welch(a, b)
    if spread == 0:
        p = 1.0 if a.mean == b.mean else 0.0
    else:
        p = 2 * float(stats.t.sf(abs(a.mean - b.mean) / spread, freedom))
    return Row(cell, metric, a, b, p)


def judge(rows: Sequence[Row], explained: dict[tuple[str, str], str]) -> None:
    """Give each row its verdict.

    - inside: each mean is in the other's 95% interval;
    - chance: it is not, yet Holm's method at `LEVEL` over all rows sees no difference. Two equal means of equal
      spread miss each other's intervals in one row of six: P(|Z| > 1.96 / sqrt 2) = 0.17;
    - explained: they differ, and docs/fidelity.md says why;
    - DIFFERS: they differ and nothing says why.
    """
    different = True
    for rank, row in enumerate(sorted(rows, key=lambda r: r.p)):
        different = different and row.p <= LEVEL / (len(rows) - rank)
        if not different:
            both = row.ns2.covers(row.ecnlab.mean) and row.ecnlab.covers(row.ns2.mean)
            row.verdict = "inside" if both else "chance"
            continue
        row.anchor = explained.get((row.cell, row.metric), "")
        row.verdict = "explained" if row.anchor else "DIFFERS"


def load_explanations(path: Path, fidelity: Path) -> dict[tuple[str, str], str]:
    """Read which rows docs/fidelity.md explains; each anchor must be a heading there."""
    known = anchors(fidelity)
    explained = {}
    for entry in tomllib.loads(path.read_text()).get("explained", []):
        if entry["anchor"] not in known:
            raise ValueError(f"{path.name}: no heading of {fidelity.name} has the anchor '{entry['anchor']}'")
        for metric in entry["metrics"]:
            explained[entry["cell"], metric] = entry["anchor"]
    return explained


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    return {_anchor(h) for h in re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)}


def _anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
