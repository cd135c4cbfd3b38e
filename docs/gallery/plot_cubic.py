"""
CUBIC and Reno after a loss
===========================

After a reduction CUBIC grows quickly towards its old window, slowly around it, and then quickly again, by the time since the reduction.
Reno grows by one segment per RTT. Both flows run alone at 100 Mbit/s with an RTT of 100 ms.
"""

# %%

import matplotlib.pyplot as plt

import ecnlab

ecnlab.copy_example("dumbbell")
rates = {
    f"link.{name}.rate": rate for name, rate in (("access", "1 Gbps"), ("bottleneck", "100 Mbps"), ("exit", "1 Gbps"))
}
fifo = {
    "queue.red": {"discipline": "droptail", "limit": "200 packets"},
    "link.bottleneck.delay": "48 ms",
    "link.access.delay": "1 ms",
}
one = {"flow.bulk.count": 1, "duration": "120 s", "warmup": "20 s"}
figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
for law in ("reno", "cubic"):
    run = ecnlab.run("dumbbell.toml", overrides={**rates, **fifo, **one, "tcp.default.congestion": law})
    series, rate = run.flow_series.filter(run.flow_series["time_s"] > 20), 1e-6 * run.flows["goodput_bps"].item()
    axes.plot(series["time_s"], 1e-3 * series["cwnd_bytes"], label=f"{law}: {rate:.1f} Mbit/s")
axes.set(xlabel="time, s", ylabel="window, kB", title="Windows at 100 Mbit/s", ylim=0)
axes.legend(loc="lower right", ncols=2)
figure
