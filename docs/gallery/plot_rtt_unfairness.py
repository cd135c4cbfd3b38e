"""
RTT unfairness
==============

Ten Reno flows with different propagation delays share a drop-tail queue. A flow adds one segment per RTT, so that a flow with a long
RTT grows slowly. The curve is a least-squares fit of the logarithms; the title has its exponent.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

import ecnlab

ecnlab.copy_example("dumbbell")
fifo = {"discipline": "droptail", "limit": "60 packets"}
delays = {"link.access.delay": {"uniform": ["1 ms", "100 ms"]}, "duration": "120 s"}
flows = ecnlab.run("dumbbell.toml", overrides={**delays, "queue.red": fifo}).flows.sort("rtt_mean_s")
rtt, goodput = 1e3 * flows["rtt_mean_s"].to_numpy(), 1e-6 * flows["goodput_bps"].to_numpy()
slope, level = np.polyfit(np.log(rtt), np.log(goodput), 1)

figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
axes.plot(rtt, goodput, "o", rtt, np.exp(level) * rtt**slope, "-")
axes.set(
    xlabel="mean RTT, ms", ylabel="goodput, Mbit/s", title=f"Goodput falls as RTT to the power {slope:.2f}", ylim=0
)
figure
