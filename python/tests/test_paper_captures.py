"""The analysis of simulated captures gives the simulator's own counters, in every experiment of the papers.

Here a few runs of each experiment, shortened. `make captures` does every point of every experiment, one seed, at full
length (ECNLAB_EVERY_POINT=1).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from captured import Counts, count, departures, not_compared, shortened, standard_response, started_together, tcps
from conftest import mostly_slow

import ecnlab
from ecnlab.scenario.files import read_experiment

PAPERS = Path(__file__).parents[2] / "papers"
EXPERIMENTS = sorted(path for path in PAPERS.glob("*/*.toml") if "\nscenario = " in path.read_text())
EVERY = bool(os.environ.get("ECNLAB_EVERY_POINT"))
LARGE = ("akujobi", "dualpi2eval", "ecn-today", "kwon-fahmy", "rfc2884")
"""Papers with the largest captures: in the quick test, all flows start in the first 2 s."""
FEW = 3
"""Points of an experiment in the quick test, at even distances in its grid."""


def points(path: Path) -> list[ecnlab._core.ExperimentRun]:
    """The first replicate of each point of the experiment, or of a few."""
    runs = list({run.id: run for run in read_experiment(path).with_replicates(1).runs}.values())
    return runs if EVERY else runs[:: max(1, len(runs) // (FEW - 1))][:FEW]


def quick(path: Path, scenario: ecnlab.Scenario) -> ecnlab.Scenario:
    """The scenario of a run of the experiment, shortened."""
    return shortened(started_together(scenario) if path.parent.name in LARGE else scenario)


def differences(scenario: ecnlab.Scenario, counts: Counts) -> list[str]:
    """Counters that simulator and analysis count differently, and rules that no departure of the senders breaks."""
    open_ = not_compared(scenario)
    found = [f"breaks {rule}" for rule in sorted(counts.rules_broken - departures(scenario))]
    for of, simulated in counts.simulated.items():
        analysed = {name: counts.analysed[of][name] for name in simulated}
        wrong = [name for name in simulated if name not in open_ and simulated[name] != analysed[name]]
        found += [f"{of}: {name} is {simulated[name]}, by the capture {analysed[name]}" for name in wrong]
    return found


FAST = [
    next(path for path in EXPERIMENTS if path.parent.name == paper)
    for paper in sorted({p.parent.name for p in EXPERIMENTS} - {"ecn-today", "kwon-fahmy"})
]
"""The first experiment of each paper, without two that take longer."""


@pytest.mark.parametrize("path", mostly_slow(EXPERIMENTS, *FAST), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_analysis_of_captures_gives_the_simulators_own_counters(path: Path) -> None:
    found = []
    for run in points(path):
        scenario = run.scenario if EVERY else quick(path, run.scenario)
        standard = standard_response(scenario)
        # What cannot be compared under ns-2's answer to ECE is compared under RFC 3168's.
        both = [scenario] if not_compared(standard) == not_compared(scenario) else [scenario, standard]
        for asked in both:
            found += [f"{run.arm} {run.point}: {what}" for what in differences(asked, count(asked, run.seed))]
    assert found == []


@pytest.mark.slow
def test_senders_with_rack_are_told_apart_and_agree_at_every_point() -> None:
    runs = {run.id: run for run in read_experiment(PAPERS / "rfc2884" / "agree.toml").with_replicates(1).runs}
    found, compared = [], 0
    for run in runs.values():
        scenario = shortened(run.scenario)
        assert {tcp["recovery"] for tcp in tcps(scenario)} == {"rack"}
        counts = count(scenario, run.seed)
        found += [f"{run.point}: {what}" for what in differences(scenario, counts)]
        causes = ("retransmits_fast", "retransmits_timeout")
        compared += sum(of.get(cause, 0) for of in counts.simulated.values() for cause in causes)
    assert found == []
    assert compared > 5000


def test_losses_after_spurious_timeouts_of_flows_that_start_together_agree() -> None:
    # Ten flows start within 2 s: the first queue makes a timeout of some of them spurious, and a loss follows.
    runs = {run.id: run for run in read_experiment(PAPERS / "rfc2884" / "linux-bulk.toml").with_replicates(1).runs}
    found = []
    for run in runs.values():
        scenario = shortened(started_together(run.scenario))
        found += [f"{run.point}: {what}" for what in differences(scenario, count(scenario, run.seed))]
    assert found == []
