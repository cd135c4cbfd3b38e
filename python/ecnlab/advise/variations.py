"""Variations of a line, on which the advice is tested: a longer round trip, another buffer, another use of ECN, a slower line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from ecnlab.advise.advice import Advice, advise
from ecnlab.advise.candidates import NONE
from ecnlab.advise.line import LONGEST_RTT_S, SLOWEST_BPS
from ecnlab.advise.question import Ecn, Question
from ecnlab.runs.sweep_doing import Progress

SEEDS: Final = 5
"""Most seeds of a variation."""

QUEUES: Final = 3
"""Candidates of a variation: the advised one, that without a shaper, and the best others in the first measure."""


@dataclass(frozen=True, slots=True)
class Variation:
    """The advice on a changed line."""

    label: str
    advice: Advice


def variations(
    advice: Advice, *, workers: int | None = None, progress: Callable[[str], Progress] | None = None
) -> list[Variation]:
    """Run the variations of ``advice`` in its folder. ``progress`` starts the progress of one. Raises as `advise` does."""
    base = replace(advice.question, queues=_queues(advice), seeds=min(SEEDS, advice.question.seeds))
    found = []
    for name, label, question in _changed(base):
        report = progress(label) if progress else None
        folder = advice.folder / "variations" / name
        found.append(Variation(label, advise(question, folder, workers=workers, progress=report)))
    return found


def _queues(advice: Advice) -> tuple[str, ...]:
    first = advice.measures[0]
    means = {name: mean.mean for name in advice.question.queues if (mean := advice.mean(first, name))}
    best = sorted(means, key=lambda name: -means[name] if first.more else means[name])
    chosen = list(dict.fromkeys([NONE, advice.decision.advised, *best]))[:QUEUES]
    return tuple(name for name in advice.question.queues if name in chosen)


def _changed(base: Question) -> Iterator[tuple[str, str, Question]]:
    """Yield file name, label and question of each variation."""
    line = base.line
    rtt = 3 * line.rtt_s
    if rtt <= LONGEST_RTT_S:
        yield "rtt", f"RTT {1e3 * rtt:g} ms", replace(base, line=replace(line, rtt_s=rtt))
    short = line.buffer_s / 5
    yield "buffer", f"buffers of {1e3 * short:g} ms", replace(base, line=replace(line, buffer_s=short))
    ecn: Ecn = "off" if base.ecn == "on" else "on"
    yield "ecn", f"{'every' if ecn == 'on' else 'no'} TCP flow offers ECN", replace(base, ecn=ecn)
    if min(line.down_bps, line.up_bps) >= 2 * SLOWEST_BPS:
        slow = replace(line, down_bps=line.down_bps / 2, up_bps=line.up_bps / 2)
        yield "rate", f"{slow.down_bps / 1e6:g} / {slow.up_bps / 1e6:g} Mb/s", replace(base, line=slow)
