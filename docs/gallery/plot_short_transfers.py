"""
Why marks beat drops for short transfers
========================================

Requests for 20 kB share a RED queue with bulk transfers, once with drops and once with marks. A transfer waits for the retransmission of
a dropped segment; a mark delays nothing. The picture shows the share of transfers that take at least the time on the x axis. Both
lines have a tail beyond one second: SYNs are not ECN-capable, so that RED drops them in both arms.
"""

# %%

import polars as pl

import ecnlab

ecnlab.copy_example("fair")
red = {"discipline": "red", "limit": "250 packets", "min_th": "5 packets", "max_th": "15 packets", "gentle": True}
arms = {"drops": {"tcp.default.ecn": "off"}, "marks": {"tcp.default.ecn": "rfc3168"}}
p90 = {"table": "transactions", "column": "latency_s", "aggregate": "p90", "where": {"measured": True}}
overrides = {"queue.fair": {**red, "max_p": 0.1, "ecn": True}}
experiment = ecnlab.experiment("fair.toml", arms=arms, metrics={"p90": p90}, overrides=overrides, replicates=3)
sweep = ecnlab.sweep(experiment, "results/short", keep=["transactions"])
done = sweep.table("transactions").filter(pl.col("measured"))
setup = pl.col("established_s") - pl.col("start_s")
print(
    done.group_by("arm").agg(pl.quantile("latency_s", 0.9), (setup > 1).mean().alias("SYNs lost")).sort("arm").collect()
)
figure = sweep.plot.completion(tail=True).with_(title="Completion times of 20 kB, with drops and with marks")
figure
