"""
The sawtooth of AIMD
====================

One Reno flow fills a bottleneck with a drop-tail queue. The window grows by one segment per RTT and is halved at each loss.
The title has the mean goodput as a share of the link's rate.
"""

# %%

import ecnlab

ecnlab.copy_example("dumbbell")
one = {"node.source.count": 1, "node.sink.count": 1, "flow.bulk.count": 1, "tcp.default.congestion": "reno"}
fifo = {"discipline": "droptail", "limit": "50 packets"}
run = ecnlab.run("dumbbell.toml", overrides={**one, "queue.red": fifo})
share = run.flows["goodput_bps"].sum() / 10e6
print(f"{run.flows['fast_recoveries'].sum()} reductions in 50 s, {run.flows['timeouts'].sum()} timeouts")
figure = run.plot.cwnd().with_(title=f"Window of one Reno flow: {share:.0%} of the link's rate")
figure
