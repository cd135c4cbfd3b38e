"""
Small steps fill FQ-CoDel when the rate falls
=============================================

The rate falls from 50 to 1 Mbit/s, and CoDel soon marks every packet. Reno halves its window once per RTT. Prague reduces its window by half
of alpha, a moving average of the marked share over RTTs. Alpha is 0.02 before the fall, and grows slowly as each RTT now takes two seconds:
Prague's queue stays long.
"""

# %%

import matplotlib.pyplot as plt

import ecnlab

ecnlab.copy_example("changing-rate")
run = ecnlab.run("changing-rate.toml", overrides={"duration": "40 s"})
figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
for name in ("prague", "halving"):
    flow = run.flow_series.filter(flow=name)
    axes.plot(flow["time_s"], flow["srtt_s"], label=name, linewidth=1)
axes.set(xlabel="time, s", ylabel="smoothed RTT, s", title="A fall from 50 to 1 Mbit/s at 10 s, behind FQ-CoDel")
axes.legend(loc="upper right")
figure
