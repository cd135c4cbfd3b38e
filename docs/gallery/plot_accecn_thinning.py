"""
AccECN under ACK thinning
=========================

DCTCP reduces its window by the share of marked bytes, which ACKs report. Here a share of the ACKs is lost on the way back. The feedback
of RFC 8257 is a state in each ACK, which applies to all bytes that the ACK acknowledges. AccECN's is a counter, which a later ACK
brings up to date. The picture shows the reported share of marks divided by the true one.
"""

# %%

import ecnlab

ecnlab.copy_example("dumbbell")
count = {"table": "flows", "aggregate": "sum"}
metrics = {
    "bytes_marked": {**count, "column": "bytes_marked"},
    "bytes": {**count, "column": "bytes_sent"},
    "ce": {**count, "column": "ce_received"},
    "packets": {**count, "column": "data_segments_sent"},
    "reported": {"ratio": ["bytes_marked", "bytes"]},
    "marked": {"ratio": ["ce", "packets"]},
    "accuracy": {"ratio": ["reported", "marked"]},
}
arms = {"RFC 8257": {"tcp.default.ecn": "dctcp"}, "AccECN": {"tcp.default.ecn": "accecn", "tcp.default.dsack": True}}
grid = {"loss": ("link.bottleneck.reverse.loss", [0.0, 0.1, 0.2, 0.3, 0.4])}
overrides = {"tcp.default.congestion": "dctcp", "duration": "30 s"}
experiment = ecnlab.experiment(
    "dumbbell.toml", arms=arms, grid=grid, metrics=metrics, overrides=overrides, replicates=5
)
sweep = ecnlab.sweep(experiment, "results/thinning")
figure = sweep.plot.effect("accuracy").with_(title="Reported marks divided by marks, over the loss of ACKs")
figure
