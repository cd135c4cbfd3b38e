"""
BBRv3 and marks
===============

A BBRv3 flow and five CUBIC flows share a link behind CoDel. All use ECN, and a fair share of the BBRv3 flow is a sixth. The published code
of BBRv3 ignores marks unless its route is set up for them: then CUBIC answers all of them and BBRv3 none, and the faster the link, the
less is left to CUBIC. If a mark counts as a loss, as the draft requires, BBRv3's share is near that without ECN.
"""

# %%

import ecnlab

ecnlab.copy_example("bbr3")
goodput = {"table": "flows", "column": "goodput_bps", "aggregate": "sum"}
metrics = {"all": goodput, "bbr": {**goodput, "where": {"group": "bbr"}}, "share": {"ratio": ["bbr", "all"]}}
grid = {"rate": ("link.bottleneck.rate", ["5 Mbps", "10 Mbps", "20 Mbps", "40 Mbps"])}
arms = {
    "ignored": {"tcp.bbr.congestion.marks": "ignored"},
    "loss": {"tcp.bbr.congestion.marks": "loss"},
    "no ECN": {"tcp.bbr.ecn": "off", "tcp.cubic.ecn": "off"},
}
experiment = ecnlab.experiment("bbr3.toml", grid=grid, arms=arms, metrics=metrics, replicates=5)
sweep = ecnlab.sweep(experiment, "results/bbr3")
figure = sweep.plot.effect("share").with_(title="BBRv3's share of the goodput with five CUBIC flows")
figure
