"""
Queue protection of DualPI2
===========================

A sender of bursts marks its packets ECT(1), which brings them into the low-latency queue, and responds to nothing. Queue protection sends
packets of the flow that causes the queue to the other queue. The picture has the queueing delays of a voice flow with and without it.
"""

# %%

import matplotlib.pyplot as plt

import ecnlab

ecnlab.copy_example("protected")
plain = {"link.bottleneck.queue": "plain", "queue.plain": {"discipline": "dualpi2", "nqb": ["NQB"], "quantiles": True}}
figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
for name, overrides in {"protection": {"queue.dual.quantiles": True}, "no protection": plain}.items():
    run = ecnlab.run("protected.toml", overrides={**overrides, "duration": "25 s"})
    bins = run.table("sojourn_bins").filter(link="bottleneck", group="voice")
    p99 = 1e3 * run.table("sojourns").filter(link="bottleneck", group="voice")["sojourn_p99_s"].item()
    share = bins["packets"].cum_sum() / bins["packets"].sum()
    axes.plot(1e3 * bins["to_s"], share, label=f"{name}: 99 % below {p99:.1f} ms")
axes.set(
    xlabel="queueing delay of the voice flow, ms", ylabel="share of packets", title="Voice and bursts in the queue L"
)
axes.legend(loc="lower right")
figure
