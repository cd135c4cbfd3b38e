"""
The model and the simulator
===========================

The closed-form model predicts RED's average queue from the scenario alone, without a run. The line is the model, the points are runs of the
simulator with different numbers of flows. Up to ten flows they are close; with 15 and 20 flows the model is too high.
"""

# %%

import matplotlib.pyplot as plt

import ecnlab

ecnlab.copy_example("dumbbell")
counts = [4, 6, 8, 10, 15, 20]
overrides = [{"flow.bulk.count": count, "duration": "40 s"} for count in counts]
model = [ecnlab.run("dumbbell.toml", engine="model", overrides=one).table("prediction") for one in overrides]
runs = [ecnlab.run("dumbbell.toml", overrides=one).links.filter(link="bottleneck") for one in overrides]

figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
axes.plot(counts, [run["average_mean_packets"].item() for run in runs], "o", label="simulator")
axes.plot(counts, [one["queue_packets"].item() for one in model], "-", label="model")
axes.set(xlabel="flows", ylabel="average queue, packets", title="RED's average queue: model and simulator", ylim=0)
axes.legend(loc="lower right")
figure
