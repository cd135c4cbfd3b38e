"""
Marks that a tunnel loses
=========================

RED marks the outer header of packets in a tunnel. An egress of RFC 6040 copies the mark to the inner header. An egress of RFC 2003 discards
it: the senders learn of congestion by losses only.
"""

# %%

import ecnlab

ecnlab.copy_example("tunnel")
egress = {"RFC 6040": {}, "RFC 3168 limited": {"tunnel.vpn.egress": "rfc3168-limited"}}
egress["RFC 2003"] = {"tunnel.vpn.egress": "rfc2003"}
metrics = {
    "queue": {"table": "links", "column": "queue_mean_packets", "where": {"link": "core"}, "aggregate": "mean"},
    "retransmits": {"table": "flows", "column": "retransmits", "aggregate": "sum"},
}
experiment = ecnlab.experiment("tunnel.toml", arms=egress, metrics=metrics, replicates=5)
sweep = ecnlab.sweep(experiment, "results/tunnel")
print(sweep.metrics.group_by("metric", "arm", maintain_order=True).mean().select("metric", "arm", "value"))
figure = sweep.plot.effect("queue", by="arm").with_(title="Mean queue, by the egress of the tunnel")
figure
