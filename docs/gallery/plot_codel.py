"""
CoDel's control law
===================

Ten UDP flows send 50 % more than the link's rate and do not respond. As long as packets wait for longer than the target, CoDel drops
more and more often: the gap after the n-th drop is 100 ms divided by the square root of n (RFC 8289). The points are the gaps of the
run. A drop happens when a packet leaves, so that the gaps are multiples of the time of a packet on the link.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import ecnlab

ecnlab.copy_example("dumbbell")
udp = {"kind": "cbr", "rate": "1.5 Mbps", "packet": "1500 B"}
codel = {"discipline": "codel", "limit": "10000 packets"}
overrides = {"flow.bulk.traffic": udp, "queue.red": codel, "duration": "5 s", "warmup": "0 s"}
packets = ecnlab.run("dumbbell.toml", overrides=overrides, events=True).packets
gaps = 1e3 * np.diff(packets.filter(pl.col("event") == "drop_early")["time_s"].to_numpy())
count = np.arange(1, len(gaps) + 1)

figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
axes.loglog(count, gaps, ".", label="run")
axes.loglog(count, 100 / np.sqrt(count), "-", label="100 ms / √n")
axes.set(
    xlabel="number of the drop", ylabel="gap to the next, ms", title=f"Gaps between {len(gaps) + 1} drops by CoDel"
)
axes.legend()
figure
