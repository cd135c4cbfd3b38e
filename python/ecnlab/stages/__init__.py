"""The report of a run or a sweep as one HTML page.

A report is a list of stages: small functions from a stored result to a figure, a table or a finding, registered with
`stage`. Layouts in ``assets/`` name the stages of each section. See ``docs/reports.md``.
"""

from ecnlab.stages import (
    both_summary,
    clouds,
    provenance,
    run_changes,
    run_delays,
    run_flows,
    run_network,
    run_queues,
    run_signals,
    run_summary,
    sweep_figures,
    sweep_summary,
)
from ecnlab.stages.building import page, write
from ecnlab.stages.registry import Stage, seal, stage

BUILT_IN = (
    both_summary,
    clouds,
    provenance,
    run_changes,
    run_delays,
    run_flows,
    run_network,
    run_queues,
    run_signals,
    run_summary,
    sweep_figures,
    sweep_summary,
)
"""Modules that register the stages of ecnlab when they are imported."""

seal()

__all__ = ["Stage", "page", "stage", "write"]
