"""
A box that erases marks
=======================

Behind the bottleneck a middlebox rewrites CE to ECT(0) in some of the connections (orange). Their senders never receive a mark and
reduce their windows on losses only. They take the rate of the connections that respond to marks (blue).
"""

# %%

import matplotlib.pyplot as plt

import ecnlab

ecnlab.copy_example("dumbbell")
hide = {"box.hide": {"rewrite": {"ce": "ect0"}, "share": 0.5}, "link.exit.boxes": ["hide"]}
ecn = {"tcp.default.ecn_syn_fallback": False}  # a lost SYN is sent again with ECN
flows = ecnlab.run("dumbbell.toml", overrides={**hide, **ecn}, seed=2).flows.sort("goodput_bps")
erased = flows["ce_received"] == 0
marked, free = (1e-6 * flows.filter(which)["goodput_bps"].mean() for which in (~erased, erased))

figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
axes.bar(flows["name"], 1e-6 * flows["goodput_bps"], color=["#d55e00" if gone else "#0072b2" for gone in erased])
axes.tick_params("x", rotation=60)
axes.set(ylabel="goodput, Mbit/s", title=f"Mean goodput: {free:.2f} Mbit/s without marks, {marked:.2f} with marks")
figure
