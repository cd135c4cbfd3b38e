"""
DCTCP and step marking keep the queue short
===========================================

DCTCP reduces its window by half the share of marked bytes, Reno by half. Behind the same step marking at 15 packets the queue of the
DCTCP flows varies less.
"""

# %%

import matplotlib.pyplot as plt

import ecnlab

ecnlab.copy_example("dumbbell")
step = {
    "queue.red": {"discipline": "step", "threshold": "15 packets", "limit": "200 packets", "ecn": True},
    "sample": "20 ms",
}
laws = {
    "reno": {"tcp.default.ecn": "rfc3168"},
    "dctcp": {"tcp.default.ecn": "dctcp", "tcp.default.congestion": "dctcp"},
}
figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
for name, law in laws.items():
    overrides = {**step, **law, "flow.bulk.count": 2, "duration": "30 s"}
    queue = ecnlab.run("dumbbell.toml", overrides=overrides).queue_series.filter(link="bottleneck").tail(250)
    deviation = queue["packets"].std()
    axes.plot(queue["time_s"], queue["packets"], label=f"{name}: standard deviation {deviation:.1f}", linewidth=1)
axes.set(xlabel="time, s", ylabel="queue, packets", title="Two flows behind step marking at 15 packets", ylim=(0, 42))
axes.legend(loc="upper right")
figure
