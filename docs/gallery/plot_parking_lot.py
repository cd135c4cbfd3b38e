"""
A parking lot
=============

One flow crosses three bottlenecks with RED, and shares each with three flows that cross only this one. It is marked at every hop and has
the longer RTT: its rate is below an equal share.
"""

# %%

import matplotlib.pyplot as plt

import ecnlab

ecnlab.copy_example("parking-lot")
flows = ecnlab.run("parking-lot.toml").flows.sort("goodput_bps")
long = 1e-6 * flows.filter(group="long")["goodput_bps"].item()
colours = ["#d55e00" if group == "long" else "#0072b2" for group in flows["group"]]

figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
axes.bar(flows["name"], 1e-6 * flows["goodput_bps"], color=colours)
axes.axhline(2.5, color="black", linewidth=1, linestyle="--", label="equal share")
axes.tick_params("x", rotation=60)
axes.set(ylabel="goodput, Mbit/s", title=f"The long flow gets {long:.2f} Mbit/s of 10", ylim=(0, 4))
axes.legend(loc="upper left")
figure
