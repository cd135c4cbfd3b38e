"""Marking and dropping probability of a queue in the steady state, as a function of its length.

A `ControlLaw` is a path: it starts at the empty queue and rises. Where the
probability jumps, as at RED's upper threshold, the path climbs the step; a
point on a step stands for a queue that spends part of its time on either
side of it. So every load has a point on the path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ecnlab.models.arguments import Array, positive, share

Spacing = Literal["geometric", "uniform", "wait"]


@dataclass(frozen=True, slots=True)
class ControlLaw:
    """Marking and dropping probability over the average queue: piecewise linear between corners."""

    queue: Array
    """Average queue at each corner, packets, non-decreasing; two corners of one length are a step."""
    marked: Array
    """Probability that a packet is chosen and marked, at each corner, before spacing."""
    dropped: Array
    """Probability that a packet is chosen and dropped, at each corner, before spacing."""
    spacing: Spacing = "geometric"
    """Spacing of signals: see `signalled`."""

    @property
    def last(self) -> int:
        """Index of the last corner."""
        return int(self.queue.size) - 1

    def point(self, position: float) -> tuple[float, float, float]:
        """Return queue (packets), mark and drop probability at ``position`` on the path: 1.5 is half way from corner 1 to 2."""
        i = min(int(position), self.last - 1)
        part = position - i
        queue = _mix(self.queue[i], self.queue[i + 1], part)
        if self.queue[i] == self.queue[i + 1]:
            ends = [self._spaced(self.marked[k], self.dropped[k]) for k in (i, i + 1)]
            return queue, _mix(ends[0][0], ends[1][0], part), _mix(ends[0][1], ends[1][1], part)
        marked, dropped = (_mix(values[i], values[i + 1], part) for values in (self.marked, self.dropped))
        return queue, *self._spaced(marked, dropped)

    def probability(self, queue: ArrayLike) -> Array:
        """Return H(q), the fraction of packets marked or dropped at an average of ``queue`` packets; on a step, its upper end."""
        q = np.asarray(queue, dtype=np.float64)
        if not np.all(q >= 0.0):
            raise ValueError("queue must not be negative: give an average in packets")
        i = np.clip(np.searchsorted(self.queue, q, side="right") - 1, 0, self.last - 1)
        width = self.queue[i + 1] - self.queue[i]
        part = np.clip(np.divide(q - self.queue[i], width, out=np.ones_like(q), where=width > 0.0), 0.0, 1.0)
        chosen = self.marked + self.dropped
        return signalled(chosen[i] + part * (chosen[i + 1] - chosen[i]), self.spacing)

    def scaled(self, factor: float) -> ControlLaw:
        """Return a law with ``factor`` times these probabilities, at most 1: RED in byte mode with packets of one size.

        ``factor`` is their size divided by RED's mean packet size. It applies to marks and drops alike.
        """
        size = float(positive("factor", factor, "a ratio of sizes"))
        certain = 1.0 / size
        corners: list[tuple[float, float, float]] = []
        for i, (queue, marked, dropped) in enumerate(zip(self.queue, self.marked, self.dropped, strict=True)):
            before = self.marked[i - 1] + self.dropped[i - 1] if i else certain
            if before < certain < marked + dropped and self.queue[i - 1] < queue:
                part = (certain - before) / (marked + dropped - before)
                edge = (_mix(self.marked[i - 1], marked, part), _mix(self.dropped[i - 1], dropped, part))
                corners.append((_mix(self.queue[i - 1], queue, part), size * edge[0], size * edge[1]))
            grown = 1.0 / max(marked + dropped, certain)
            corners.append((float(queue), marked * grown, dropped * grown))
        table = np.array(corners)
        return ControlLaw(table[:, 0], table[:, 1], table[:, 2], self.spacing)

    def _spaced(self, marked: float, dropped: float) -> tuple[float, float]:
        chosen = marked + dropped
        if chosen == 0.0:
            return 0.0, 0.0
        factor = float(signalled(chosen, self.spacing)) / chosen
        return marked * factor, dropped * factor


def red(
    min_th: float,
    max_th: float,
    max_p: float,
    *,
    gentle: bool = False,
    ecn: bool = False,
    above: Literal["drop", "mark"] = "drop",
    mark_p: float = np.inf,
    limit: float = np.inf,
    spacing: Spacing = "geometric",
) -> ControlLaw:
    """RED, gentle RED and their marking forms; thresholds and ``limit`` in packets.

    The probability is 0 up to ``min_th``, ``max_p`` at ``max_th``, then 1; with ``gentle`` it is 1 at twice
    ``max_th``. With ``ecn`` all traffic is ECN-capable and chosen packets are marked: below ``mark_p``, and where the
    probability is 1 only if ``above`` is ``mark``. At ``limit`` every arrival is dropped. The names are those of the
    scenario file (docs/laws/red.md).
    Source: Firoiu and Borden, "A study of active queue management for congestion control", INFOCOM 2000, the control
    function H; Floyd and Jacobson (1993); Kwon and Fahmy, slides 7 and 14.
    """
    _check_thresholds(min_th, max_th, max_p, mark_p)
    ramps = [(0.0, 0.0, min_th, 0.0), (min_th, 0.0, max_th, max_p)]
    if gentle:
        ramps.append((max_th, max_p, 2.0 * max_th, 1.0))
    corners: list[tuple[float, float, float]] = []
    for q0, p0, q1, p1 in ramps:
        cut = min(max(mark_p, p0), p1)
        q_cut = q1 if p1 == p0 else q0 + (q1 - q0) * (cut - p0) / (p1 - p0)
        corners += [_corner(q0, p0, ecn and cut > p0), _corner(q_cut, cut, ecn and cut > p0)]
        corners += [_corner(q_cut, cut, False), _corner(q1, p1, False)] if cut < p1 else []
    corners.append(_corner(ramps[-1][2], 1.0, ecn and above == "mark" and mark_p > 1.0))
    return _limited(corners, limit, spacing)


def drop_tail(limit: float) -> ControlLaw:
    """Return the law of a drop-tail queue of ``limit`` packets."""
    positive("limit", limit, "packets")
    return _limited([(0.0, 0.0, 0.0)], limit, "geometric")


def signalled(chosen: ArrayLike, spacing: Spacing) -> Array:
    """Return the fraction of packets that RED signals if its curve gives the probability ``chosen``, p_b.

    ``geometric`` signals each packet on its own: p_b. ``uniform`` is Floyd and Jacobson's p_b / (1 - count p_b), gaps
    even on 1..1/p_b: 2 p_b / (1 + p_b). ``wait`` is ns-2's default, gaps even on 1/p_b..2/p_b - 1: 2 p_b / (3 - p_b).
    Exact where 1/p_b is whole. The models take ``geometric``.
    Source: docs/laws/red.md, the table of mean gaps.
    """
    p = share("chosen", chosen)
    if spacing == "geometric":
        return p
    if spacing == "uniform":
        return np.asarray(2.0 * p / (1.0 + p))
    if spacing == "wait":
        return np.asarray(2.0 * p / (3.0 - p))
    raise ValueError(f'spacing must be "geometric", "uniform" or "wait", got {spacing!r}')


def _check_thresholds(min_th: float, max_th: float, max_p: float, mark_p: float) -> None:
    if not 0.0 <= min_th < max_th < np.inf:
        raise ValueError(f"min_th must be at least 0 and below max_th, got {min_th} and {max_th}: give both in packets")
    if not 0.0 < max_p <= 1.0:
        raise ValueError(f"max_p must be above 0 and at most 1, got {max_p}: give the probability at max_th")
    if not mark_p > 0.0:
        raise ValueError(f"mark_p must be above 0, got {mark_p}: leave it out to mark at any probability")


def _limited(corners: list[tuple[float, float, float]], limit: float, spacing: Spacing) -> ControlLaw:
    """Return the path through ``corners``, cut off at a queue of ``limit`` packets, where it rises to a drop probability of 1."""
    if not limit > 0.0:
        raise ValueError(f"limit must be above 0, got {limit}: give packets, or leave it out for an unlimited buffer")
    table = np.array(corners)
    if np.isfinite(limit):
        i = int(np.searchsorted(table[:, 0], limit))
        edge = np.array([limit, *table[-1, 1:]])
        if i < len(table):
            edge = table[i - 1] + (limit - table[i - 1, 0]) / (table[i, 0] - table[i - 1, 0]) * (
                table[i] - table[i - 1]
            )
        table = np.vstack([table[:i], edge, [limit, 0.0, 1.0]])
    return ControlLaw(table[:, 0], table[:, 1], table[:, 2], spacing)


def _corner(queue: float, p: float, marks: bool) -> tuple[float, float, float]:
    return (queue, p, 0.0) if marks else (queue, 0.0, p)


def _mix(a: float, b: float, part: float) -> float:
    return float(a + part * (b - a))
