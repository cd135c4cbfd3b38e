"""
RED's threshold and its queue
=============================

A sweep of ``min_th`` with paired seeds, ten replicates and 95 % intervals: a higher threshold means a longer queue.
"""

# %%

import ecnlab

ecnlab.copy_example("dumbbell")
queue = {"table": "links", "column": "queue_mean_packets", "where": {"link": "bottleneck"}}
grid = {"min_th": ("queue.red.min_th", ["2 packets", "5 packets", "10 packets", "15 packets", "20 packets"])}
experiment = ecnlab.experiment(
    "dumbbell.toml", grid=grid, metrics={"queue": queue}, overrides={"duration": "20 s", "warmup": "5 s"}, replicates=10
)
figure = ecnlab.sweep(experiment, "results/thresholds").plot.effect("queue").with_(title="Mean queue over RED's min_th")
figure
