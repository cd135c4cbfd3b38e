"""Scenario and experiment files: read and checked, with advice, and the metrics that experiments define."""

from ecnlab.scenario.files import check, read_experiment, read_scenario

__all__ = ["check", "read_experiment", "read_scenario"]
