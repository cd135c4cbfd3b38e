"""Closed forms as an engine: the prediction of `ecnlab.models` for a scenario."""
