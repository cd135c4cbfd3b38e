"""Meaning and unit of every column of every table.

One registry for the manifest (units), the metrics (which names exist), the documentation (``docs/run-folder.md`` is
tested against it) and the reader.
"""

from __future__ import annotations

from typing import Final

from ecnlab import laws
from ecnlab.laws.kinds import Column

FLOWS: Final = {
    "flow": Column("", "number of the flow instance, from 0; the key of the other tables"),
    "name": Column("", "name of the flow instance", "text"),
    "group": Column("", "group the flow is counted in", "text"),
    "from": Column("", "node that sends the main data; of a pool, its first and last node", "text"),
    "to": Column("", "node that receives the main data; of a pool, its first and last node", "text"),
    "start_s": Column("s", "time at which the flow started"),
    "finish_s": Column("s", "time at which the flow had delivered all its data; missing if it did not"),
    "ecn": Column("", "whether `from` sent data as ECN-capable, on any of its connections", "flag"),
    "connections": Column("count", "TCP connections opened since the start of the run"),
    "connections_established": Column("count", "of connections, those whose handshake was completed at `from`"),
    "ecn_connections": Column("count", "of connections, those on which `from` sent its data as ECN-capable"),
    "ecn_fallbacks": Column(
        "count", "of connections, those that fell back to no ECN because an ECN-setup SYN was not answered in time"
    ),
    "bytes_delivered": Column("bytes", "payload delivered to the application; with TCP, in order"),
    "goodput_bps": Column("bit/s", "bytes_delivered divided by the length of the window"),
    "segments_sent": Column("count", "segments or datagrams sent by the sending end, of any kind"),
    "data_segments_sent": Column("count", "of segments_sent, those with data, with retransmissions"),
    "bytes_sent": Column("bytes", "payload sent, with retransmissions"),
    "retransmits": Column("count", "segments retransmitted, for any reason"),
    "retransmits_fast": Column("count", "of retransmits, by fast retransmit"),
    "retransmits_timeout": Column("count", "of retransmits, after a timeout"),
    "retransmits_recovery": Column("count", "of retransmits, later in a recovery (partial ACK or SACK)"),
    "timeouts": Column("count", "expiries of the retransmission timer"),
    "fast_recoveries": Column("count", "entries into fast recovery"),
    "ecn_reductions": Column(
        "count", "window reductions on ECN-Echo: at most one per window of data, none of a law that ignores marks"
    ),
    "quench_reductions": Column(
        "count", "window reductions on ICMP source quench; for UDP, source quenches that made the pauses longer"
    ),
    "quenches_received": Column("count", "source quenches received, with those ignored"),
    "ce_received": Column("count", "packets that arrived with CE"),
    "ece_received": Column("count", "ACKs that arrived with ECN-Echo"),
    "bytes_marked": Column("bytes", "payload that ACKs reported as marked"),
    "cwr_sent": Column("count", "segments sent with CWR"),
    "duplicate_bytes_received": Column("bytes", "payload that had already arrived before"),
    "rtt_mean_s": Column("s", "mean of the sender's round-trip samples"),
    "rtt_min_s": Column("s", "smallest round-trip sample"),
    "rtt_max_s": Column("s", "largest round-trip sample"),
    "exchanges": Column(
        "count", "files completed, or requests completed with their responses; not a transfer that `stop` ended early"
    ),
}

TRANSACTIONS: Final = {
    "flow": Column("", "number of the flow instance"),
    "name": Column("", "name of the flow instance", "text"),
    "group": Column("", "group of the flow", "text"),
    "index": Column("", "number of the transaction in its flow, from 0"),
    "start_s": Column("s", "time at which the client sent its SYN"),
    "established_s": Column("s", "time at which the client's connection was established"),
    "end_s": Column("s", "time at which the client had received the whole response"),
    "latency_s": Column("s", "end_s minus start_s"),
    "request_bytes": Column("bytes", "size of the request"),
    "response_bytes": Column("bytes", "size of the response"),
    "retransmits": Column("count", "segments retransmitted by either side"),
    "timeouts": Column("count", "expiries of either side's retransmission timer"),
    "measured": Column("", "whether the transaction ended inside the measurement window", "flag"),
}

OBJECTS: Final = {
    "flow": Column("", "number of the flow instance"),
    "name": Column("", "name of the flow instance", "text"),
    "group": Column("", "group of the flow", "text"),
    "session": Column("", "number of the session in its flow, from 0"),
    "page": Column("", "number of the page in its session, from 0"),
    "index": Column("", "number of the object in its page, from 0"),
    "from": Column("", "node that sent the object, the server", "text"),
    "to": Column("", "node that requested the object, the client", "text"),
    "bytes": Column("bytes", "size of the object"),
    "asked_s": Column("s", "time at which the client sent the SYN of its request"),
    "answered_s": Column("s", "time at which the server sent the SYN of its response; missing if it did not"),
    "transferred_s": Column("s", "time at which the server had the ACK of the last byte; missing if it did not"),
    "delay_s": Column("s", "transferred_s minus asked_s"),
    "complete": Column("", "whether the object was transferred", "flag"),
    "measured": Column("", "whether the object was transferred inside the measurement window", "flag"),
}

QUEUES: Final = {
    "link": Column("", "link whose queue it is", "text"),
    "group": Column("", 'flow group, or "all"', "text"),
    "arrived": Column("count", "packets that arrived at the queue"),
    "arrived_ect": Column("count", "of arrived, ECN-capable packets (ECT or CE)"),
    "ce_arrived": Column("count", "of arrived, packets that had CE"),
    "arrived_bytes": Column("bytes", "sizes of these packets on the wire"),
    "departed": Column("count", "packets that left for the link"),
    "departed_bytes": Column("bytes", "sizes of these packets on the wire"),
    "marks": Column("count", "packets set to CE by this queue; on the Linux kernel also those of `marks_on_ce`"),
    "marks_on_ce": Column("count", "packets that the discipline signalled and that had arrived with CE"),
    "dropped": Column("count", "packets dropped, for any reason"),
    "early_drops": Column("count", "of dropped, by the discipline's probability"),
    "early_drops_ect": Column("count", "of early_drops, ECN-capable packets; only if the queue has ECN off"),
    "forced_drops": Column("count", "of dropped, because the average was above its limit"),
    "forced_drops_ect": Column("count", "of forced_drops, ECN-capable packets"),
    "tail_drops": Column("count", "of dropped, because the buffer was full"),
    "tail_drops_ect": Column("count", "of tail_drops, ECN-capable packets"),
    "quenches": Column("count", "source quenches sent to the senders of marked and dropped packets"),
}

QUANTILES: Final = {
    "sojourn_p50_s": Column("s", "median of the sojourn times, to 0.4 %"),
    "sojourn_p95_s": Column("s", "95th percentile"),
    "sojourn_p99_s": Column("s", "99th percentile"),
    "sojourn_p999_s": Column("s", "99.9th percentile"),
}
"""From a histogram whose bins are at most 0.8 % wide: a quantile is the middle of its bin."""

LINKS: Final = {
    "link": Column("", "link (one direction)", "text"),
    "from": Column("", "node at the link's start", "text"),
    "to": Column("", "node at the link's end", "text"),
    "rate_bps": Column("bit/s", "rate, after any shaper"),
    "delay_s": Column("s", "propagation delay"),
    "entered": Column("count", "packets given to the link"),
    "delivered": Column("count", "packets that reached the far end"),
    "delivered_bytes": Column("bytes", "sizes of these packets on the wire"),
    "lost": Column("count", "packets that the link lost"),
    "held": Column("count", "packets queued or in flight at the end"),
    "utilisation": Column("ratio", "share of the window in which the link was sending"),
    "queue_mean_packets": Column("packets", "time average of the queue length"),
    "queue_mean_bytes": Column("bytes", "time average of the queue length"),
    "queue_var_packets": Column("packets^2", "variance over time of the queue length"),
    **laws.columns("links"),
    "sojourn_mean_s": Column("s", "mean time of a packet in the queue"),
    "sojourn_max_s": Column("s", "longest time of a packet in the queue"),
    **{
        name: Column("s", f"{column.meaning}; missing if the queue keeps no quantiles")
        for name, column in QUANTILES.items()
    },
}

CLASSES: Final = {
    "link": Column("", "link whose queue it is", "text"),
    "class": Column("", 'class: "all" of the queue as a whole, OUTER/INNER of a class in a class', "text"),
    "arrived": Column("count", "packets that arrived"),
    "arrived_ect": Column("count", "of arrived, ECN-capable packets (ECT or CE)"),
    "ce_arrived": Column("count", "of arrived, packets that had CE"),
    "departed": Column("count", "packets that left"),
    "departed_bytes": Column("bytes", "sizes of these packets on the wire"),
    "marks": Column("count", "packets set to CE by this queue; on the Linux kernel also those of `marks_on_ce`"),
    "marks_on_ce": Column("count", "packets that the discipline signalled and that had arrived with CE"),
    "marks_threshold": Column(
        "count", "of marks, by a threshold for all ECN-capable packets (`ce_threshold`, `step_thresh`)"
    ),
    "marks_coupled": Column("count", "of marks, by the congestion of another class that a law couples to this one"),
    "dropped": Column("count", "packets dropped, for any reason"),
    "early_drops": Column("count", "of dropped, as signals of the discipline"),
    "forced_drops": Column("count", "of dropped, because the discipline dropped every packet"),
    "tail_drops": Column("count", "of dropped, because the buffer was full, whichever packet was dropped"),
    "queue_mean_packets": Column("packets", "time average of the class's queue length"),
    "queue_mean_bytes": Column("bytes", "time average of the class's queue length"),
    **laws.columns("classes"),
    "sojourn_mean_s": Column("s", "mean sojourn time of a packet"),
    **QUANTILES,
    "sojourn_max_s": Column("s", "longest sojourn time"),
}

SOJOURNS: Final = {
    "link": Column("", "link whose queue it is", "text"),
    "group": Column("", "flow group", "text"),
    "departed": Column("count", "packets of the group that left the queue"),
    "sojourn_mean_s": Column("s", "mean sojourn time of these packets"),
    **QUANTILES,
    "sojourn_max_s": Column("s", "longest sojourn time"),
}

SOJOURN_BINS: Final = {
    "link": Column("", "link whose queue it is", "text"),
    "class": Column("", 'class as in `classes`; "all" of the queue as a whole', "text"),
    "group": Column("", 'flow group, of the queue as a whole; "all" of all groups', "text"),
    "from_s": Column("s", "least sojourn time of the bin"),
    "to_s": Column("s", "start of the next bin, at most 0.8 % further"),
    "packets": Column("count", "packets that left with such a sojourn time"),
}

BOXES: Final = {
    "link": Column("", "link (one direction) at whose far end the box is", "text"),
    "box": Column("", "name of the box", "text"),
    "packets": Column("count", "packets that arrived"),
    "concerned": Column("count", "of packets, those of connections that the box acts on"),
    "connections": Column(
        "count", "connections whose first packet arrived; the datagrams of a flow are one connection"
    ),
    "connections_concerned": Column("count", "of connections, those that the box acts on"),
    "rewritten": Column("count", "packets whose codepoint the box changed"),
    "ce_erased": Column("count", "of rewritten, packets that arrived with CE"),
    "ce_set": Column("count", "of rewritten, packets that left with CE"),
    "stripped": Column("count", "SYNs and SYN-ACKs in which the box cleared ECE and CWR"),
    "ece_cleared": Column("count", "other segments in which the box cleared ECE"),
    "cwr_cleared": Column("count", "other segments in which the box cleared CWR"),
    "dropped": Column("count", "packets that the box dropped"),
    "resets": Column("count", "of dropped, those that the box answered with an RST"),
}

TUNNELS: Final = {
    "link": Column("", "link (one direction) that is part of the tunnel", "text"),
    "tunnel": Column("", "name of the tunnel", "text"),
    "encapsulated": Column("count", "packets encapsulated before this link"),
    "decapsulated": Column("count", "packets decapsulated behind this link, including dropped ones"),
    "ce_propagated": Column("count", "of decapsulated, packets to whose inner header the egress copied CE"),
    "ect1_propagated": Column("count", "of decapsulated, packets whose inner ECT(0) became the outer ECT(1)"),
    "ce_discarded": Column("count", "of decapsulated, packets with CE in the outer header that left without CE"),
    "dropped": Column("count", "of decapsulated, packets that the egress dropped for CE in the outer header"),
    "dangerous": Column(
        "count", "of decapsulated, packets with a pair of codepoints marked (!!!) in RFC 6040, figure 4"
    ),
    "possibly_dangerous": Column("count", "of decapsulated, packets with the pair marked (!) there"),
}

QUIC: Final = {
    "name": Column("", "name of the flow", "text"),
    "group": Column("", "group of the flow", "text"),
    "connection": Column("", "number of the connection in its flow, from 0"),
    "start_s": Column("s", "first packet"),
    "established_s": Column("s", "handshake complete at the client; null if it never was"),
    "end_s": Column("s", "both ends have ended; null if the connection lasts"),
    "from_closed": Column(
        "", "end of the connection at `from`: open, closed here, closed by the peer, idle timeout, or its error", "text"
    ),
    "from_stream_bytes_read": Column("bytes", "data of streams that the application at `from` has read"),
    "from_packets_lost": Column("count", "QUIC packets of `from` declared lost"),
    "from_congestion_events": Column("count", "responses of its controller to losses and marks"),
    "from_ecn_events": Column("count", "of these, those to marks; null where the stack does not report it"),
    "from_probe_timeouts": Column("count", "probe timeouts; null where the stack does not report them"),
    "from_mtu": Column("bytes", "UDP payload of its largest packets at the end"),
    "from_black_holes": Column("count", "MTU black holes that it has detected"),
    "from_srtt_s": Column("s", "smoothed RTT at the end; null without a sample"),
    "from_not_ect_received": Column("count", "datagrams that arrived at `from` as Not-ECT"),
    "from_ect1_received": Column("count", "datagrams that arrived as ECT(1)"),
    "from_ect0_received": Column("count", "datagrams that arrived as ECT(0)"),
    "from_ce_received": Column("count", "datagrams that arrived with CE"),
    "to_closed": Column(
        "", "end of the connection at `to`: open, closed here, closed by the peer, idle timeout, or its error", "text"
    ),
    "to_stream_bytes_read": Column("bytes", "data of streams that the application at `to` has read"),
    "to_packets_lost": Column("count", "QUIC packets of `to` declared lost"),
    "to_congestion_events": Column("count", "responses of its controller to losses and marks"),
    "to_ecn_events": Column("count", "of these, those to marks; null where the stack does not report it"),
    "to_probe_timeouts": Column("count", "probe timeouts; null where the stack does not report them"),
    "to_mtu": Column("bytes", "UDP payload of its largest packets at the end"),
    "to_black_holes": Column("count", "MTU black holes that it has detected"),
    "to_srtt_s": Column("s", "smoothed RTT at the end; null without a sample"),
    "to_not_ect_received": Column("count", "datagrams that arrived at `to` as Not-ECT"),
    "to_ect1_received": Column("count", "datagrams that arrived as ECT(1)"),
    "to_ect0_received": Column("count", "datagrams that arrived as ECT(0)"),
    "to_ce_received": Column("count", "datagrams that arrived with CE"),
}
"""The table ``quic`` of connections over QUIC."""

QUEUE_SERIES: Final = {
    "time_s": Column("s", "time of the sample"),
    "link": Column("", "link whose queue it is", "text"),
    "packets": Column("packets", "queue length"),
    "bytes": Column("bytes", "queue length"),
    "arrived": Column("count", "packets that arrived at the queue since the start of the run"),
    "marks": Column("count", "packets set to CE since the start of the run"),
    "early_drops": Column("count", "packets dropped by the discipline's probability since the start of the run"),
    "forced_drops": Column(
        "count", "packets dropped because the average was above its limit, since the start of the run"
    ),
    "tail_drops": Column("count", "packets dropped because the buffer was full, since the start of the run"),
    "sojourn_mean_s": Column(
        "s", "mean sojourn time of the packets that left since the last sample; missing if none left"
    ),
    "sojourn_p50_s": Column(
        "s", "median of these sojourn times, to 0.4 %; missing if none left or if the queue keeps no quantiles"
    ),
    "sojourn_p99_s": Column("s", "their 99th percentile; missing if none left or if the queue keeps no quantiles"),
    **laws.columns("queue_series"),
}

CLASS_SERIES: Final = {
    "time_s": Column("s", "time of the sample"),
    "link": Column("", "link whose queue it is", "text"),
    "class": Column("", "class, as in `classes`", "text"),
    "packets": Column("packets", "queue length of the class"),
    "bytes": Column("bytes", "queue length of the class"),
    **laws.columns("class_series"),
}

FLOW_SERIES: Final = {
    "time_s": Column("s", "time of the sample"),
    "flow": Column("", "name of the flow instance", "text"),
    "cwnd_bytes": Column("bytes", "congestion window"),
    "ssthresh_bytes": Column("bytes", "slow-start threshold; missing while unset", fraction=True),
    "flight_bytes": Column("bytes", "data sent and not yet acknowledged"),
    "srtt_s": Column("s", "smoothed round-trip time; missing before the first sample"),
    "rto_s": Column("s", "retransmission timeout"),
    "delivered_bytes": Column("bytes", "payload delivered in order since the start"),
    "bytes_marked": Column(
        "bytes",
        "payload that ACKs reported as marked since the start of the run; missing if the feedback does not count marks",
        fraction=True,
    ),
    "marks": Column(
        "count", "packets of the flow, in both directions, that queues set to CE since the start of the run"
    ),
    "early_drops": Column(
        "count",
        "packets of the flow, in both directions, dropped by a discipline's probability since the start of the run",
    ),
    "forced_drops": Column(
        "count",
        "packets of the flow, in both directions, dropped because an average was above its limit, since the start of the run",
    ),
    "tail_drops": Column(
        "count",
        "packets of the flow, in both directions, dropped because a buffer was full, since the start of the run",
    ),
} | laws.columns("flow_series")

PACKETS: Final = {
    "time_s": Column("s", "time of the event, rounded"),
    "time_ps": Column("ps", "time of the event, exact"),
    "link": Column("", "link of the event", "text"),
    "event": Column(
        "",
        "enqueue, dequeue, mark, drop_early, drop_forced, drop_tail, loss, deliver, drop_box or drop_tunnel",
        "text",
    ),
    "flow": Column("", "name of the flow instance", "text"),
    "connection": Column("", "number of the connection in the run"),
    "from_sender": Column("", "whether the flow's sending end (its `from`) sent the packet", "flag"),
    "protocol": Column("", "tcp, udp or icmp (source quench)", "text"),
    "seq": Column("", "sequence number; for UDP the number of the datagram in its flow"),
    "ack": Column("", "acknowledgement number; for UDP 0"),
    "len": Column("bytes", "payload"),
    "wire_len": Column("bytes", "size on the wire"),
    "ecn": Column("", "ECN field at the event: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE"),
    "flags": Column("", "TCP flags, as in the header; for UDP 0"),
}

PREDICTION: Final = {
    "flow": Column("", "flow table of the scenario", "text"),
    "group": Column("", "group of its flows", "text"),
    "flows": Column("count", "number of flows; the other columns are for one of them"),
    "ecn": Column("", "whether both ends have ECN", "flag"),
    "goodput_bps": Column("bit/s", "payload that passes the queue"),
    "sent_pps": Column("packets/s", "full segments sent, with retransmissions"),
    "window_segments": Column("segments", "mean window: segments sent in a round trip"),
    "rtt_s": Column("s", "round trip, with the queue's delay"),
    "timeout_s": Column("s", "first timeout of a series, as assumed"),
    "marked": Column("ratio", "fraction of the flow's packets that are marked"),
    "dropped": Column("ratio", "fraction of the flow's packets that are dropped"),
    "link": Column("", "bottleneck that all flows share", "text"),
    "queue_packets": Column("packets", "average queue, in full segments"),
    "queue_bytes": Column("bytes", "average queue, in bytes"),
    "utilisation": Column("ratio", "rate that the flows carry, divided by the link's capacity"),
}
"""The table ``prediction`` of the engine ``model``."""

TIMING: Final = {
    "what": Column(
        "", "delivery: a packet written to its host's device; reading: a host's packet taken from its device", "text"
    ),
    "count": Column("count", "deliveries; for readings, the measurements, 500 a second"),
    "p50_s": Column("s", "median lateness"),
    "p99_s": Column("s", "99th percentile"),
    "max_s": Column("s", "greatest lateness"),
}
"""The table ``timing`` of runs in real time."""

TABLES: Final[dict[str, dict[str, Column]]] = {
    "flows": FLOWS,
    "flows_run": FLOWS,
    "transactions": TRANSACTIONS,
    "objects": OBJECTS,
    "queues": QUEUES,
    "queues_run": QUEUES,
    "links": LINKS,
    "links_run": LINKS,
    "classes": CLASSES,
    "classes_run": CLASSES,
    "sojourns": SOJOURNS,
    "sojourns_run": SOJOURNS,
    "sojourn_bins": SOJOURN_BINS,
    "boxes": BOXES,
    "boxes_run": BOXES,
    "tunnels": TUNNELS,
    "tunnels_run": TUNNELS,
    "quic": QUIC,
    "queue_series": QUEUE_SERIES,
    "class_series": CLASS_SERIES,
    "flow_series": FLOW_SERIES,
    "packets": PACKETS,
}
"""Every table of a simulated run. ``X`` counts the measurement window, ``X_run`` the whole run."""

SUMMARY: Final = tuple(name for name, columns in TABLES.items() if columns in (FLOWS, QUEUES, LINKS))
"""The tables with one row per flow, queue or link, which a sweep always stores."""


def units(table: str) -> dict[str, str]:
    """The unit of each column of ``table`` that has one."""
    columns = {"prediction": PREDICTION, "timing": TIMING}.get(table) or TABLES.get(table, {})
    return {name: column.unit for name, column in columns.items() if column.unit}
