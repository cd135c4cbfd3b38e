"""
Throughput and the square root of the loss rate
===============================================

The classic model of Reno: the rate is the segment size divided by the RTT, times the square root of 3 / (2 p) without delayed ACKs, where p
is the loss rate. The points are runs of one flow over a link of 1 Gbit/s that loses packets at random.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

import ecnlab

ecnlab.copy_example("dumbbell")
one = {"node.source.count": 1, "node.sink.count": 1, "flow.bulk.count": 1, "tcp.default.ack_every": 1}
links = {f"link.{name}.rate": "1 Gbps" for name in ("access", "bottleneck", "exit")}
fixed = {"link.access.delay": "5 ms", "queue.red": {"discipline": "droptail", "limit": "2000 packets"}}
losses = np.array([0.0005, 0.001, 0.002, 0.005, 0.01, 0.02])
runs = [
    ecnlab.run("dumbbell.toml", overrides={**one, **links, **fixed, "link.bottleneck.loss": float(loss)}).flows
    for loss in losses
]
rates = [1e-6 * flows["goodput_bps"].item() for flows in runs]
model = [1e-6 * 8 * 1448 / flows["rtt_mean_s"].item() * np.sqrt(1.5 / p) for flows, p in zip(runs, losses, strict=True)]

figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
axes.loglog(100 * losses, rates, "o", label="runs")
axes.loglog(100 * losses, model, "-", label="model")
axes.set(xlabel="loss rate, %", ylabel="goodput, Mbit/s", title="Goodput of Reno over the loss rate")
axes.legend()
figure
