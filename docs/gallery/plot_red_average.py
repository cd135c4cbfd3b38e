"""
RED's average against its queue
===============================

RED compares its thresholds with an exponentially weighted average of the queue, not with the queue itself. The average follows
the load and smooths bursts: its standard deviation in this run is the smaller of the two that are printed.
"""

# %%

import ecnlab

ecnlab.copy_example("dumbbell")
run = ecnlab.run("dumbbell.toml", overrides={"duration": "20 s", "sample": "20 ms"})
series = run.queue_series.filter(link="bottleneck")
steady = series.tail(750)  # the last 15 s
print(f"queue:   {steady['packets'].mean():.1f} packets on average, standard deviation {steady['packets'].std():.1f}")
print(
    f"average: {steady['average_packets'].mean():.1f} packets, standard deviation {steady['average_packets'].std():.1f}"
)
figure = run.plot.queue("bottleneck").with_(start="10 s", end="15 s", title="RED's average and its queue")
figure
