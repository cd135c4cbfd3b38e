"""Results and their pages for the tests in a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from analysed import of_all
from conftest import EXPERIMENT, SCENARIO
from pages import stored
from small_paper import in_place_of_the_papers
from synthetic import PAPER, MadeUp

import ecnlab
from ecnlab import papers
from ecnlab.papers import rfc2884
from ecnlab.papers.layout import paper_page
from ecnlab.papers.paper import Drawn
from ecnlab.papers.published import read_published
from ecnlab.papers.rfc2884 import runs
from ecnlab.papers.rfc2884.grid import GRID
from ecnlab.report import (
    Axis,
    Chart,
    Distance,
    Figure,
    Finding,
    Forest,
    Group,
    Line,
    Multiples,
    Page,
    Point,
    Row,
    Rows,
    Rug,
    Section,
    Series,
    Table,
    Tally,
    render,
)
from ecnlab.scenario.files import read_scenario
from ecnlab.stages.building import write
from ecnlab.stages.comparison_page import comparison_page
from ecnlab.trace.page import capture_page

TIMES = [i / 2 for i in range(21)]
"""0 to 10 s."""

LEVELS = [12.0 * t if t <= 5 else 120.0 - 12.0 * t for t in TIMES]
WINDOWS = [4.0 + i % 5 for i in range(21)]
QUEUE = Chart(
    "Queue length", "Rises for five seconds.", TIMES, [Line("length", LEVELS)], "packets", rugs=[Rug("mark", [2.0, 7.0], 1)]
)  # fmt: skip
WINDOW = Chart("Congestion window", "One flow.", TIMES, [Line("window", WINDOWS, 2, steps=True)], "segments")
OTHER = Chart("Length by rank", "No time.", TIMES, [Line("rank", LEVELS)], "packets", x="rank")
EACH = Multiples("Each flow", "Two flows.", [QUEUE, WINDOW])
POINTS = [Point(1.0, 20.0, 15.0, 25.0, 10), Point(2.0, 40.0, 38.0, 42.0, 10), Point(4.0, 80.0, 60.0, 100.0, 10)]
GAIN = Figure("Gain", "Of three loads.", Axis("load"), Axis("gain, %"), [Series("measured", POINTS)])
ROWS = [
    Row(f"R{i}", f"value, {i}", "1 printed, 2 measured", "differs", "no", [("source", "long_name_" * 9)], "Why.")
    for i in range(30)
]
FOREST = Forest(
    "Printed against measured", "Thirty rows.", [Distance(r.name, 2.0, 1.5, 2.5, "no", f"#{r.name}") for r in ROWS]
)


def known() -> Page:
    """A page whose values the tests know, with each kind of block."""
    return Page(
        "Known values",
        "test",
        "What is drawn is known.",
        [Tally("30 numbers:", [("agree", "yes", 0), ("differ", "no", 30)])],
        [Finding("yes", "yes", "It is known.", "By construction.")],
        [
            Section("charts", "Charts", "Over time.", [QUEUE, WINDOW, OTHER, EACH]),
            Section("points", "Points", "", [Group([GAIN])]),
            Section("rows", "Rows", "", [Rows("30 numbers that differ", ROWS, folded=True)], folded=True),
            Section("table", "Table", "", [Table("Two cells", ["a", "b"], [["1", "2"]])], folded="narrow"),
        ],
        "Made by a test.",
        [("seed", "1")],
        "All is known.",
        FOREST,
    )


class Pages:
    """The files of the pages under test by name; a page is made when it is first used."""

    def __init__(self, where: Path) -> None:
        self._where = where
        self._made: dict[str, Path] = {}

    def __getitem__(self, name: str) -> Path:
        if name not in self._made:
            self._made |= MAKERS[name](self._where)
        return self._made[name]


def _page(name: str, html: Callable[[Path], str]) -> Callable[[Path], dict[str, Path]]:
    """Writes the page ``name``, whose text is ``html`` of the folder."""

    def write_page(where: Path) -> dict[str, Path]:
        (where / f"{name}.html").write_text(html(where))
        return {name: where / f"{name}.html"}

    return write_page


def _run(where: Path) -> dict[str, Path]:
    (where / "pipe.toml").write_text(SCENARIO)
    busy = read_scenario(where / "pipe.toml").with_overrides({"queue.red.quantiles": True})
    return {"run": write(ecnlab.run(busy, events=True, out=where / "run"), where / "run.html")}


def _sweep(where: Path) -> dict[str, Path]:
    (where / "pipe.toml").write_text(SCENARIO)
    (where / "gain.toml").write_text(EXPERIMENT)
    return {"sweep": write(ecnlab.sweep(where / "gain.toml", where / "sweep", workers=1), where / "sweep.html")}


def _both(where: Path) -> str:
    """The comparison of two runs."""
    (where / "pipe.toml").write_text(SCENARIO)
    runs = [where / f"seed {seed}" for seed in (1, 2)]
    for seed, run in enumerate(runs, 1):
        ecnlab.run(where / "pipe.toml", seed=seed, out=run)
    return render(comparison_page(*runs, tuple(run.name for run in runs))[0])


def _small(where: Path) -> dict[str, Path]:
    """A small paper and the index of papers."""
    out = where / "papers" / "out"
    with pytest.MonkeyPatch.context() as patch:
        in_place_of_the_papers(where, SCENARIO, patch)
        papers.reproduce_all(out)
    return {"small": out / "small" / "report.html", "index": out / "index.html"}


def _capture(where: Path) -> str:
    """A capture in which packets break rules: retransmissions are ECN-capable, and ns-2's response sends CWR twice."""
    against = {
        "tcp.ecn.ecn": "ecn-becn",
        "tcp.ecn.ecn_response": "ns-2",
        "queue.red.max_p": 0.4,
        "queue.red.weight": 0.02,
    }
    (where / "pipe.toml").write_text(SCENARIO)
    tapped = read_scenario(where / "pipe.toml").with_overrides({**against, "capture.server": {"node": "server"}})
    ecnlab.run(tapped, captures=where)
    return capture_page(ecnlab.trace(where / "server.pcapng"))


def _paper(where: Path) -> str:
    """The page of RFC 2884 of its full size, from made-up tables."""
    measured = of_all("rfc2884", {step.name: MadeUp(step.name) for step in rfc2884.PAPER.steps if not step.drawn})
    facts = {"evolution": {"seed": 1, "min_th": 20e3, "max_th": 60e3}}
    drawn = Drawn(runs.over_time(MadeUp("evolution", 1)), facts)
    tables = stored(where, read_published(PAPER), measured, GRID, drawn)
    return render(paper_page(PAPER, tables, rfc2884.PAPER))


MAKERS = {
    "known": _page("known", lambda _where: render(known())),
    "run": _run,
    "sweep": _sweep,
    "both": _page("both", _both),
    "capture": _page("capture", _capture),
    "small": _small,
    "index": _small,
    "rfc2884": _page("rfc2884", _paper),
}


def long_names(where: Path) -> tuple[Path, Path]:
    """A run with a capture, and a sweep, in which every name that a user chooses has 64 letters."""
    scenario, experiment = SCENARIO.replace("weight = 0.002", "weight = 0.002\nquantiles = true"), EXPERIMENT
    for name in ("server", "client", "r1", "r2", "pipe", "left", "right", "marked", "dropped"):
        long = (name * 64)[:64]
        for quoted, other in ((f'"{name}"', f'"{long}"'), (f".{name}]", f".{long}]"), (f"{name} = {{", f"{long} = {{")):
            scenario, experiment = scenario.replace(quoted, other), experiment.replace(quoted, other)
    for name, other in (("red", "q" * 64), ("ecn", "t" * 64), ("plain", "p" * 64)):
        for word in ("queue", "tcp"):
            scenario = scenario.replace(f'{word} = "{name}"', f'{word} = "{other}"').replace(
                f"[{word}.{name}]", f"[{word}.{other}]"
            )
    experiment = experiment.replace("queue.red", f"queue.{'q' * 64}").replace("grid.max_p", f"grid.{'x' * 64}")
    for name in ("arm.red", "arm.blind", "advantage", '"low"', '"high"'):
        head, word = ("arm.", name[4:]) if name.startswith("arm.") else ("", name.strip('"'))
        mark = '"' if name.startswith('"') else ""
        experiment = experiment.replace(name, f"{mark}{head}{(word * 64)[:64]}{mark}")
    (where / "pipe.toml").write_text(scenario)
    (where / "gain.toml").write_text(experiment)
    run = ecnlab.run(where / "pipe.toml", out=where / "run", overrides={"capture.c": {"link": ("pipe" * 64)[:64]}})
    sweep = ecnlab.sweep(where / "gain.toml", out=where / "sweep", replicates=2, workers=2)
    assert run.folder and sweep.folder
    return run.folder, sweep.folder
