"""The analysis of simulated captures gives the simulator's own counters, in every experiment of the papers.

Here a few runs of each experiment, shortened. `make captures` does every point of every experiment, one seed, at full
length (ECNLAB_EVERY_POINT=1).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from captured import BY_TIME, count, departures, not_compared, shortened, standard_response

import ecnlab
from ecnlab.scenario import read_experiment

PAPERS = Path(__file__).parents[2] / "papers"
EXPERIMENTS = sorted(path for path in PAPERS.glob("*/*.toml") if "\nscenario = " in path.read_text())
EVERY = bool(os.environ.get("ECNLAB_EVERY_POINT"))
FEW = 3
"""Points of an experiment in the quick test, at even distances in its grid."""


def points(path: Path) -> list[ecnlab._core.ExperimentRun]:
    """The first replicate of each point of the experiment, or of a few."""
    runs = list({run.id: run for run in read_experiment(path).with_replicates(1).runs}.values())
    return runs if EVERY else runs[:: max(1, len(runs) // (FEW - 1))][:FEW]


def differences(scenario: ecnlab.Scenario, seed: int) -> list[str]:
    """Counters that simulator and analysis count differently, and rules that no departure of the senders breaks."""
    counts, open_ = count(scenario, seed), not_compared(scenario)
    found = [f"breaks {rule}" for rule in sorted(counts.rules_broken - departures(scenario))]
    for of, simulated in counts.simulated.items():
        analysed = {name: counts.analysed[of][name] for name in simulated}
        wrong = [name for name in simulated if name not in open_ and simulated[name] != analysed[name]]
        found += [f"{of}: {name} is {simulated[name]}, by the capture {analysed[name]}" for name in wrong]
    return found


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_analysis_of_captures_gives_the_simulators_own_counters(path: Path) -> None:
    found = []
    for run in points(path):
        scenario = run.scenario if EVERY else shortened(run.scenario)
        standard = standard_response(scenario)
        # What cannot be compared under ns-2's answer to ECE is compared under RFC 3168's.
        both = [scenario] if not_compared(standard) == not_compared(scenario) else [scenario, standard]
        for asked in both:
            found += [f"{run.arm} {run.point}: {what}" for what in differences(asked, run.seed)]
    assert found == []


def test_the_causes_of_rack_are_told_but_for_a_few_in_a_hundred() -> None:
    for run in points(PAPERS / "rfc2884" / "agree.toml"):
        counts = count(shortened(run.scenario), run.seed)
        sums = {
            name: [sum(of[name] for of in side.values() if name in of) for side in (counts.simulated, counts.analysed)]
            for name in BY_TIME
        }
        everything = sum(sums[name][0] for name in ("retransmits_fast", "retransmits_timeout"))
        assert everything > 200
        for name, (simulated, analysed) in sums.items():
            assert abs(simulated - analysed) <= 0.06 * everything, (run.point, name, simulated, analysed)
