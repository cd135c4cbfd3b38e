"""
BBR in shallow buffers
======================

A BBR flow and a CUBIC flow share 10 Mbit/s. The pipe holds 35 packets. Behind a shallow drop-tail buffer BBR, which does not halve its
rate on each loss, takes most of the link. The deeper the buffer, the more is left to CUBIC.
"""

# %%

import ecnlab

ecnlab.copy_example("bbr")
goodput = {"table": "flows", "column": "goodput_bps", "aggregate": "sum"}
metrics = {"all": goodput, "bbr": {**goodput, "where": {"group": "bbr"}}, "share": {"ratio": ["bbr", "all"]}}
grid = {"buffer": ("queue.fifo.limit", ["9 packets", "17 packets", "35 packets", "70 packets", "140 packets"])}
experiment = ecnlab.experiment("bbr.toml", grid=grid, metrics=metrics, replicates=5)
sweep = ecnlab.sweep(experiment, "results/bbr")
figure = sweep.plot.effect("share").with_(title="BBR's share of the goodput with CUBIC")
figure
