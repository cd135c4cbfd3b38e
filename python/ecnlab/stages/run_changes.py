"""Rates and delays of links that change during a run, over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ecnlab._core import SpecError
from ecnlab.base.quantities import quantity
from ecnlab.base.types import DrawnChanges
from ecnlab.report import Chart, Line, Rug
from ecnlab.results.links import MAX_CHARTS, busiest
from ecnlab.scenario.changes import changing, drawn_changes
from ecnlab.scenario.links import REVERSE
from ecnlab.stages.registry import stage

if TYPE_CHECKING:
    from ecnlab.results.run import RunResult

SECOND: Final = 10**12
"""Picoseconds of a second."""


@stage("changes-over-time", of="run")
def changes_over_time(run: RunResult) -> list[Chart | str]:
    """The rate and the delay of the busiest links that change, and the starts of outages with losses."""
    spec = run.manifest["spec"]
    if run.manifest["seed"] is None or not changing(spec):
        return []
    path = run.manifest["wall"].get("file", "scenario")
    try:
        found = drawn_changes(spec, run.manifest["seed"], path)
    except SpecError as error:
        problem = error.diagnostics[0]["message"]
        return [f"No chart of the links that change: {problem}. Traces are read from the folder of {path}."]
    end = quantity(spec["duration"])
    return [chart for name in _shown(run, found) for chart in _charts(name, found[name], end)]


def _shown(run: RunResult, found: Mapping[str, DrawnChanges]) -> list[str]:
    """Return the first links of ``found``, busiest first; a reverse direction only if its changes differ."""
    own = [name for name, one in found.items() if one != found.get(name.removesuffix(REVERSE)) or REVERSE not in name]
    links = busiest(run)
    order = [] if links.is_empty() else links["link"].to_list()
    return sorted(own, key=lambda name: order.index(name) if name in order else len(order))[:MAX_CHARTS]


def _charts(name: str, own: DrawnChanges, end: float) -> list[Chart]:
    lost = [start / SECOND for start, _ in own.get("lost", [])]
    rugs = [Rug("outages with losses", lost, 3)] if lost else []
    charts = []
    if "rate" in own:
        caption = "Rate of the link; 0 in an outage that holds packets."
        charts.append(_chart(f"Rate of {name}", caption, "rate", own["rate"], 1e-6, "Mb/s", end, rugs))
    if "delay" in own:
        caption = "One-way delay of the link."
        charts.append(_chart(f"Delay of {name}", caption, "delay", own["delay"], 1e-9, "ms", end, rugs))
    return charts


def _chart(
    title: str,
    caption: str,
    line: str,
    steps: Sequence[tuple[int, int]],
    scale: float,
    unit: str,
    end: float,
    rugs: Sequence[Rug],
) -> Chart:
    """A line that holds each value up to the next step, the last one up to ``end``."""
    times = [*(start / SECOND for start, _ in steps), end]
    values = [value * scale for _, value in [*steps, steps[-1]]]
    return Chart(title, caption, times, [Line(line, values, steps=True)], unit, rugs=rugs, height=150)
