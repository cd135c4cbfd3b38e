"""Figures of runs and sweeps, for papers and notebooks. See ``docs/plots.md``."""
