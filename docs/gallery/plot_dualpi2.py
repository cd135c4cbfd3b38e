"""
DualPI2 with Prague and CUBIC
=============================

A Prague flow and a CUBIC flow share a link behind DualPI2, which couples the marks of its two queues so that both kinds of flows get
similar rates. The picture shows the ratio of their goodputs with the settings of Linux: at 10 Mbit/s CUBIC gets more, at 80 Mbit/s
Prague does.
"""

# %%

import ecnlab

ecnlab.copy_example("prague")
goodput = {"table": "flows", "column": "goodput_bps", "aggregate": "sum"}
metrics = {group: {**goodput, "where": {"group": group}} for group in ("prague", "cubic")}
metrics["ratio"] = {"ratio": ["prague", "cubic"]}
grid = {"rate": ("link.bottleneck.rate", ["10 Mbps", "20 Mbps", "40 Mbps", "80 Mbps"])}
experiment = ecnlab.experiment("prague.toml", grid=grid, metrics=metrics, replicates=5)
sweep = ecnlab.sweep(experiment, "results/dualpi2")
figure = sweep.plot.effect("ratio").with_(title="Goodput of Prague divided by that of CUBIC")
figure
