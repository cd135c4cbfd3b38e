"""
PIE's probability follows the load
==================================

PIE updates the probability of a drop from the queueing delay and its trend. Ten UDP flows send 20 % more than the link's rate, without
response. PIE raises the probability until it drops the excess, one sixth (dashed). The probability itself is higher, because PIE does
not drop two packets shortly one after the other (RFC 8033, section 5.4).
"""

# %%

import matplotlib.pyplot as plt

import ecnlab

ecnlab.copy_example("dumbbell")
udp = {"kind": "cbr", "rate": "1.2 Mbps", "packet": "1500 B"}
pie = {"discipline": "pie", "limit": "1000 packets", "ecn": False}
run = ecnlab.run("dumbbell.toml", overrides={"flow.bulk.traffic": udp, "queue.red": pie, "duration": "30 s"})
series = run.queue_series.filter(link="bottleneck")
last = series.tail(100)
dropped = last["early_drops"].last() - last["early_drops"].first()
share = dropped / (last["arrived"].last() - last["arrived"].first())

figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
axes.plot(series["time_s"], series["pie_p"])
axes.axhline(1 / 6, color="black", linewidth=1, linestyle="--")
axes.set(xlabel="time, s", ylabel="drop probability", title=f"PIE at 20 % overload drops {share:.1%} of the packets")
figure
