"""
Goodput over delay of four queues
=================================

The graph of RFC 7928: points further up and to the left are better. Each point is a run, each ellipse a standard deviation around the mean
of a queue. Drop-tail has the longest delay.
"""

# %%

import ecnlab

ecnlab.copy_example("dumbbell")
queues = {
    "drop-tail": {"discipline": "droptail", "limit": "100 packets"},
    "codel": {"discipline": "codel", "limit": "1000 packets", "ecn": True},
    "pie": {"discipline": "pie", "limit": "1000 packets", "ecn": True},
    "red": {"discipline": "red", "limit": "100 packets", "min_th": "10 packets", "max_th": "30 packets", "ecn": True},
}
metrics = {
    "goodput": {"table": "flows", "column": "goodput_bps", "aggregate": "sum"},
    "delay": {"table": "links", "column": "sojourn_mean_s", "where": {"link": "bottleneck"}},
}
arms = {name: {"queue.red": queue} for name, queue in queues.items()}
experiment = ecnlab.experiment(
    "dumbbell.toml", arms=arms, metrics=metrics, overrides={"duration": "30 s"}, replicates=8
)
figure = ecnlab.sweep(experiment, "results/delay").plot.goodput_over_delay().with_(title="Goodput over delay")
figure
