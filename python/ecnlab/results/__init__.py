"""Results of runs and sweeps as values: read from their folders, compared, their metrics with paired effects."""
