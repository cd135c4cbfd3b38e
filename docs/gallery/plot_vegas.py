"""
Vegas keeps the queue short
===========================

Vegas reduces its window when the RTT grows, before packets are lost. With one flow behind a drop-tail queue of 50 packets its queue stays
far below that of Reno.
"""

# %%

import matplotlib.pyplot as plt

import ecnlab

ecnlab.copy_example("dumbbell")
one = {"node.source.count": 1, "node.sink.count": 1, "flow.bulk.count": 1, "duration": "30 s"}
fifo = {"queue.red": {"discipline": "droptail", "limit": "50 packets"}}
figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
for law in ("reno", "vegas"):
    run = ecnlab.run("dumbbell.toml", overrides={**one, **fifo, "tcp.default.congestion": law})
    queue, rate = run.queue_series.filter(link="bottleneck"), 1e-6 * run.flows["goodput_bps"].sum()
    axes.plot(queue["time_s"], queue["packets"], label=f"{law}: {rate:.1f} Mbit/s", linewidth=1)
axes.set(xlabel="time, s", ylabel="queue, packets", title="Queue of one flow", ylim=(0, 75))
axes.legend(loc="upper right", ncols=2)
figure
