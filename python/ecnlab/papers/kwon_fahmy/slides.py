"""Parts of the report besides ``report.toml``, in its order: the summary, the tables, windows, the equilibrium."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from ecnlab.api.sweep import Sweep
from ecnlab.papers import blocks, run_series
from ecnlab.papers.judge import interval, verdict
from ecnlab.papers.kwon_fahmy import measure
from ecnlab.papers.kwon_fahmy.calibration import FITTED, FITTED_RATE
from ecnlab.papers.kwon_fahmy.grid import ARMS, AS_IS, GRID, MORE_FTP, MORE_UDP, PRIMARY
from ecnlab.papers.material import Material
from ecnlab.papers.paper import Drawn
from ecnlab.papers.published import Number
from ecnlab.papers.references import as_printed, quantity
from ecnlab.report import Axis, Figure, Finding, Group, Multiples, Point, Series, Table
from ecnlab.report.page import Cell

COLUMNS: Final = tuple(FITTED)
"""The metrics of the printed tables, in the order of their columns."""

# --------------------------------------------------------------- the summary


def values(given: Material) -> Finding:
    """How many of the cells that no calibration has seen are predicted."""
    verdicts = given.numbers["verdict"]
    agree = int((verdicts == "agrees").sum())
    return blocks.counted(
        agree,
        verdicts.len(),
        "Calibrated on Reno's row of slide 20 alone, the network gives the other cells of both tables.",
        f"{agree} of {verdicts.len()} agree; the five of the fitted row are not counted, nor UDP of the other two, whose rate is fitted.",
        least=0.5,
    )


def variants(given: Material) -> Table:
    """Return how many of the same cells agree with RED of slide 7, and with gentle RED and its calibrated network."""
    cells = str(len(_cells(given)))
    rows: list[list[Cell | str]] = [
        [name, *blocks.numeric(str(_agreeing(given, tests)), cells)] for name, tests in VARIANTS.items()
    ]
    return Table("Printed cells that agree; on slide 21 with ten more FTP sessions", ["RED", "agree", "of"], rows)


VARIANTS: Final = {
    "dropped above max_th (slide 7; judged)": {20: AS_IS, 21: MORE_FTP},
    "gentle, dropped above twice max_th": {20: "gentle drops", 21: "gentle drops + 10 FTP"},
    "gentle, marked": {20: "gentle marks", 21: "gentle marks + 10 FTP"},
}
"""Treatment of ECN-capable packets, and the tests with it, by slide."""


def _cells(given: Material) -> list[Number]:
    return [number for number in given.published.numbers if number.where["test"] in (AS_IS, MORE_FTP)]


def _agreeing(given: Material, tests: Mapping[int, str]) -> int:
    """Return how many printed cells agree with the measurements in ``tests``, by slide."""
    verdicts = []
    for number in _cells(given):
        point = given.point(number.metric, test=tests[number.slide], arm=str(number.where["arm"]))
        verdicts.append(verdict(number, given.metric(number.metric), interval(point)))
    return verdicts.count("agrees")


# --------------------------------------------------------------- slides 20 and 21, value by value


def printed_tables(given: Material) -> list[Table]:
    """A row a response, in each cell the printed value and the measured one."""
    return [
        _table(given, AS_IS, "Slide 20", 20),
        _table(given, MORE_FTP, "Slide 21, ten more FTP sessions", 21),
        _table(given, MORE_UDP, "Slide 21, ten more UDP sources", 21),
        *(
            _table(given, tests[slide], f"Slide {slide}{more}, ECN-capable packets {name}", slide)
            for name, tests in list(VARIANTS.items())[1:]
            for slide, more in ((20, ""), (21, ", ten more FTP sessions"))
        ),
    ]


def _table(given: Material, test: str, caption: str, slide: int) -> Table:
    rows = []
    for arm in ARMS:
        measured = {metric: given.with_interval(given.point(metric, test=test, arm=arm)) for metric in COLUMNS}
        cells = [Cell(f"{_printed(given, slide, arm, metric)}: {text}") for metric, text in measured.items()]
        rows.append([Cell(GRID.named(arm)), *cells])
    return Table(caption, ["response", *(given.metric(metric).name for metric in COLUMNS)], rows)


def _printed(given: Material, slide: int, arm: str, metric: str) -> str:
    """Return the printed entry of a table: a value, the fitted one, or none."""
    if arm not in PRIMARY:
        return "not printed"
    if (slide, arm) == (20, "reno"):
        return f"{quantity(FITTED[metric], given.metric(metric))} (fitted)"
    if (slide, metric) == (20, "udp"):
        return f"{quantity(FITTED_RATE[arm], given.metric(metric))} (rate fitted)"
    row = given.numbers.filter(pl.col("metric") == metric, pl.col("arm") == arm, pl.col("row") == f"W{slide - 9}")
    return as_printed(row["printed"].item(), given.metric(metric))


# --------------------------------------------------------------- slides 10 and 12: windows over time

FLOW: Final = "bulk[0]"
"""The flow whose window is drawn."""

SEGMENT_BYTES: Final = 1000.0

LINK: Final = "pipe"
"""The link whose marks and losses are drawn."""

BIN_S: Final = 0.05
"""Width of the bins of marks and losses: the interval of the window samples."""


def draw(sweeps: Mapping[str, Sweep]) -> Drawn:
    """One flow's windows under each response, and the control curves of slide 17."""
    sweep = sweeps["evolution"]
    flow = sweep.table("flow_series").filter(pl.col("flow") == FLOW, pl.col("replicate") == 0)
    windows = flow.select("arm", "time_s", window=pl.col("cwnd_bytes") / SEGMENT_BYTES).collect()
    events = run_series.marks_and_drops(sweep, LINK, BIN_S).filter(pl.col("flow") == FLOW)
    tables = {"drawn_windows": windows, "drawn_events": events.drop("flow"), "control": control_curves()}
    return Drawn(tables, {"drawn_seed": sweep.runs["seed"][0]})


def evolution(given: Material) -> Multiples:
    """The windows of `draw` with the flow's marks and losses, a chart for each response."""
    windows = run_series.side_by_side(given.tables["drawn_windows"], "arm", "window")
    events = given.tables["drawn_events"]
    return blocks.small_charts(
        "Congestion window of one flow",
        f"Slides 10 and 12. Strokes: marks and losses of its packets, at most one of a kind in each {BIN_S * 1e3:g} ms. "
        f"Seed {given.tables.about['drawn_seed']}.",
        windows,
        {arm: GRID.named(arm) for arm in ARMS},
        "segments",
        events={arm: blocks.rugs(events.filter(arm=arm)) for arm in ARMS},
    )


# --------------------------------------------------------------- slide 17: the equilibrium

QUEUES: Final = np.linspace(0.0, 120.0, 61)
"""Average queues at which the control curves are drawn, packets."""

CURVES: Final = {"queue": "gentle RED, p = H(q)", "senders": "20 senders that fill the link"}


def control_curves() -> pl.DataFrame:
    """Return the columns ``arm``, ``curve``, ``queue`` (packets), ``p``.

    ``queue`` is H(q) of gentle RED-ECN; ``senders`` the p at which a number of senders fill the link with an RTT that
    includes the queueing delay (slide 14; docs/models.md).
    """
    curves = []
    for arm in PRIMARY:
        fills = [measure.filling_p(arm, float(queue), 20.0) for queue in QUEUES]
        both = (measure.control_law(arm).probability(QUEUES), pl.Series(fills, dtype=pl.Float64))
        for curve, p in zip(CURVES, both, strict=True):
            frame = pl.DataFrame({"queue": QUEUES, "p": p})
            curves.append(frame.select(pl.lit(arm).alias("arm"), pl.lit(curve).alias("curve"), "queue", "p"))
    return pl.concat(curves).drop_nulls()


def crossings(given: Material) -> Group:
    """The control curves of queue and senders of each response."""
    return Group([_crossing(given, arm) for arm in PRIMARY])


def _crossing(given: Material, arm: str) -> Figure:
    """Where the curves of an arm cross, and where the run was."""
    here = given.tables["control"].filter(pl.col("arm") == arm).partition_by("curve", as_dict=True)
    curves = [
        Series(name, [Point(queue, p) for queue, p in here[(curve,)].select("queue", "p").iter_rows()], style)
        for style, (curve, name) in enumerate(CURVES.items())
    ]
    x, y = (given.point(f"{metric}_measured", arm=arm, flows="20") for metric in ("queue", "signals"))
    run = Point(x["mean"], y["mean"], y["low"], y["high"], y["n"])
    return Figure(
        f"Control curves: {GRID.named(arm)}",
        "Slide 17. The curves cross at the equilibrium; 20 flows, thresholds 28 and 84 packets, max_p 0.1.",
        Axis("average queue, packets"),
        Axis("marked or dropped"),
        [*curves, Series("the run", [run], len(curves))],
    )
