"""What every column of every table means, and its unit.

One registry for the manifest (units), the metrics (which names exist), the documentation
(``docs/run-folder.md`` is tested against it) and the reader.
"""

from __future__ import annotations

from typing import Final

from ecnlab import laws
from ecnlab.laws.kinds import Column

FLOWS: Final = {
    "flow": Column("", "number of the flow instance, from 0; the key of the other tables"),
    "name": Column("", "name of the flow instance", "text"),
    "group": Column("", "group the flow is counted in", "text"),
    "from": Column("", "node the main data leave; of a pool, the first and last", "text"),
    "to": Column("", "node the main data reach; of a pool, the first and last", "text"),
    "start_s": Column("s", "when the flow started"),
    "finish_s": Column("s", "when the flow had delivered all it had to; missing if it did not"),
    "ecn": Column("", "whether `from` sent data as ECN-capable, on any of its connections", "flag"),
    "connections": Column("count", "TCP connections opened since the start of the run"),
    "ecn_connections": Column("count", "of these, on which `from` sent its data as ECN-capable"),
    "ecn_fallbacks": Column("count", "of connections, that gave ECN up: a SYN that asked for it had no answer in time"),
    "bytes_delivered": Column("bytes", "payload delivered to the application, over TCP in order"),
    "goodput_bps": Column("bit/s", "bytes_delivered over the window"),
    "segments_sent": Column("count", "segments or datagrams sent by the sending end, of any kind"),
    "data_segments_sent": Column("count", "of these, with data, retransmissions included"),
    "bytes_sent": Column("bytes", "payload sent, retransmissions included"),
    "retransmits": Column("count", "segments sent again, for any reason"),
    "retransmits_fast": Column("count", "of these, by fast retransmit"),
    "retransmits_timeout": Column("count", "of these, after a timeout"),
    "retransmits_recovery": Column("count", "of these, later in a recovery (partial ACK or SACK)"),
    "timeouts": Column("count", "expiries of the retransmission timer"),
    "fast_recoveries": Column("count", "entries into fast recovery"),
    "ecn_reductions": Column("count", "window reductions on ECN-Echo"),
    "quench_reductions": Column(
        "count", "window reductions on ICMP source quench; of datagrams, source quenches that made their pauses longer"
    ),
    "quenches_received": Column("count", "source quenches received, unheard ones included"),
    "ce_received": Column("count", "packets that arrived with CE"),
    "ece_received": Column("count", "ACKs that arrived with ECN-Echo"),
    "bytes_marked": Column("bytes", "payload whose ACKs reported them as marked"),
    "cwr_sent": Column("count", "segments sent with CWR"),
    "duplicate_bytes_received": Column("bytes", "payload that arrived and had arrived before"),
    "rtt_mean_s": Column("s", "mean of the sender's round-trip samples"),
    "rtt_min_s": Column("s", "smallest round-trip sample"),
    "rtt_max_s": Column("s", "largest round-trip sample"),
    "exchanges": Column(
        "count", "files, or requests with their responses, completed; a transfer that `stop` cut is none"
    ),
}

TRANSACTIONS: Final = {
    "flow": Column("", "number of the flow instance"),
    "name": Column("", "name of the flow instance", "text"),
    "group": Column("", "group of the flow", "text"),
    "index": Column("", "number of the transaction in its flow, from 0"),
    "start_s": Column("s", "when the client sent its SYN"),
    "established_s": Column("s", "when the client's connection was established"),
    "end_s": Column("s", "when the client had the whole response"),
    "latency_s": Column("s", "end_s minus start_s"),
    "request_bytes": Column("bytes", "size of the request"),
    "response_bytes": Column("bytes", "size of the response"),
    "retransmits": Column("count", "segments sent again by either side"),
    "timeouts": Column("count", "expiries of either side's retransmission timer"),
    "measured": Column("", "whether it ended inside the measurement window", "flag"),
}

OBJECTS: Final = {
    "flow": Column("", "number of the flow instance"),
    "name": Column("", "name of the flow instance", "text"),
    "group": Column("", "group of the flow", "text"),
    "session": Column("", "number of the session in its flow, from 0"),
    "page": Column("", "number of the page in its session, from 0"),
    "index": Column("", "number of the object in its page, from 0"),
    "from": Column("", "node that sent it, the server", "text"),
    "to": Column("", "node that asked for it, the client", "text"),
    "bytes": Column("bytes", "its size"),
    "asked_s": Column("s", "when the client sent the SYN of its request"),
    "answered_s": Column("s", "when the server sent the SYN of its answer; missing if it did not"),
    "transferred_s": Column("s", "when the server had the ACK of the last byte; missing if it did not"),
    "delay_s": Column("s", "transferred_s minus asked_s"),
    "complete": Column("", "whether it has been transferred", "flag"),
    "measured": Column("", "whether it was transferred inside the measurement window", "flag"),
}

QUEUES: Final = {
    "link": Column("", "link whose queue it is", "text"),
    "group": Column("", 'flow group, or "all"', "text"),
    "arrived": Column("count", "packets that came to the queue"),
    "arrived_ect": Column("count", "of these, ECN-capable (ECT or CE)"),
    "arrived_bytes": Column("bytes", "their sizes on the wire"),
    "departed": Column("count", "packets that left for the link"),
    "departed_bytes": Column("bytes", "their sizes on the wire"),
    "marks": Column("count", "packets set to CE"),
    "dropped": Column("count", "packets dropped, for any reason"),
    "early_drops": Column("count", "of these, by the discipline's probability"),
    "early_drops_ect": Column("count", "of early_drops, ECN-capable: only where the queue has ECN off"),
    "forced_drops": Column("count", "of dropped, because the average was above its limit"),
    "forced_drops_ect": Column("count", "of forced_drops, ECN-capable"),
    "tail_drops": Column("count", "of dropped, because the buffer was full"),
    "tail_drops_ect": Column("count", "of tail_drops, ECN-capable"),
    "quenches": Column("count", "source quenches sent to the senders of marked and dropped packets"),
}

LINKS: Final = {
    "link": Column("", "link (one direction)", "text"),
    "from": Column("", "node it leaves", "text"),
    "to": Column("", "node it reaches", "text"),
    "rate_bps": Column("bit/s", "rate, after any shaper"),
    "delay_s": Column("s", "propagation delay"),
    "entered": Column("count", "packets handed to the link"),
    "delivered": Column("count", "packets that reached the far end"),
    "delivered_bytes": Column("bytes", "their sizes on the wire"),
    "lost": Column("count", "packets lost by the link's error model"),
    "held": Column("count", "packets queued or in flight at the end"),
    "utilisation": Column("ratio", "share of the window the link was sending"),
    "queue_mean_packets": Column("packets", "time average of the queue"),
    "queue_mean_bytes": Column("bytes", "time average of the queue"),
    "queue_var_packets": Column("packets^2", "variance over time of the queue"),
    **laws.columns("links"),
    "sojourn_mean_s": Column("s", "mean time of a packet in the queue"),
    "sojourn_max_s": Column("s", "longest time of a packet in the queue"),
}

CLASSES: Final = {
    "link": Column("", "link whose queue it is", "text"),
    "class": Column("", 'class: "all" of the queue as a whole, OUTER/INNER of a class in a class', "text"),
    "arrived": Column("count", "packets that came to it"),
    "arrived_ect": Column("count", "of these, ECN-capable (ECT or CE)"),
    "departed": Column("count", "packets that left it"),
    "departed_bytes": Column("bytes", "their sizes on the wire"),
    "marks": Column("count", "packets set to CE"),
    "marks_threshold": Column("count", "of these, by a threshold for all that are ECN-capable (`ce_threshold`)"),
    "dropped": Column("count", "packets dropped, for any reason"),
    "early_drops": Column("count", "of these, as signals of the discipline"),
    "forced_drops": Column("count", "of dropped, because the discipline dropped all"),
    "tail_drops": Column("count", "of dropped, for want of room, whoever made room for whom"),
    "queue_mean_packets": Column("packets", "time average of what it held"),
    "queue_mean_bytes": Column("bytes", "time average of what it held"),
    **laws.columns("links"),
    "sojourn_mean_s": Column("s", "mean time of a packet in it"),
    "sojourn_p50_s": Column("s", "median of these times, to 0.4 %"),
    "sojourn_p95_s": Column("s", "95th percentile"),
    "sojourn_p99_s": Column("s", "99th percentile"),
    "sojourn_p999_s": Column("s", "99.9th percentile"),
    "sojourn_max_s": Column("s", "longest of these times"),
}

BOXES: Final = {
    "link": Column("", "link (one direction) at whose far end it stands"),
    "box": Column("", "its name"),
    "packets": Column("count", "packets that came to it"),
    "concerned": Column("count", "of these, packets of connections that it is concerned with"),
    "connections": Column("count", "connections whose first packet came to it, datagrams of a flow counted as one"),
    "connections_concerned": Column("count", "of these, connections that it is concerned with"),
    "rewritten": Column("count", "packets whose codepoint it changed"),
    "ce_erased": Column("count", "of these, packets that came with CE"),
    "ce_set": Column("count", "of rewritten, packets that left with CE"),
    "stripped": Column("count", "SYNs and SYN-ACKs from which it took ECE and CWR"),
    "ece_cleared": Column("count", "other segments from which it took ECE"),
    "cwr_cleared": Column("count", "other segments from which it took CWR"),
    "dropped": Column("count", "SYNs and SYN-ACKs that it dropped"),
    "resets": Column("count", "of these, those that it answered with an RST"),
}

QUEUE_SERIES: Final = {
    "time_s": Column("s", "time of the sample"),
    "link": Column("", "link whose queue it is", "text"),
    "packets": Column("packets", "queue"),
    "bytes": Column("bytes", "queue"),
    **laws.columns("queue_series"),
}

CLASS_SERIES: Final = {
    "time_s": Column("s", "time of the sample"),
    "link": Column("", "link whose queue it is", "text"),
    "class": Column("", "class, as in `classes`", "text"),
    "packets": Column("packets", "what it holds"),
    "bytes": Column("bytes", "what it holds"),
    **laws.columns("queue_series"),
}

FLOW_SERIES: Final = {
    "time_s": Column("s", "time of the sample"),
    "flow": Column("", "name of the flow instance", "text"),
    "cwnd_bytes": Column("bytes", "congestion window"),
    "ssthresh_bytes": Column("bytes", "slow-start threshold; missing while unset"),
    "flight_bytes": Column("bytes", "sent and not yet acknowledged"),
    "srtt_s": Column("s", "smoothed round-trip time; missing before the first sample"),
    "rto_s": Column("s", "retransmission timeout"),
    "delivered_bytes": Column("bytes", "payload delivered in order since the start"),
}

PACKETS: Final = {
    "time_s": Column("s", "time of the event, rounded"),
    "time_ps": Column("ps", "time of the event, exact"),
    "link": Column("", "link where it happened", "text"),
    "event": Column(
        "", "enqueue, dequeue, mark, drop_early, drop_forced, drop_tail, loss, deliver or drop_box", "text"
    ),
    "flow": Column("", "name of the flow instance", "text"),
    "connection": Column("", "serial number of the connection in the run"),
    "from_sender": Column("", "whether the flow's sending end (its `from`) sent it", "flag"),
    "protocol": Column("", "tcp, udp or icmp (source quench)", "text"),
    "seq": Column("", "sequence number; of UDP the number of the datagram in its flow"),
    "ack": Column("", "acknowledgement number; of UDP 0"),
    "len": Column("bytes", "payload"),
    "wire_len": Column("bytes", "size on the wire"),
    "ecn": Column("", "ECN field at the event: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE"),
    "flags": Column("", "TCP flags, as in the header; of UDP 0"),
}

PREDICTION: Final = {
    "flow": Column("", "flow table of the scenario", "text"),
    "group": Column("", "group of its flows", "text"),
    "flows": Column("count", "how many flows it stands for; the numbers are those of one"),
    "ecn": Column("", "whether both ends have ECN", "flag"),
    "goodput_bps": Column("bit/s", "payload that passes the queue"),
    "sent_pps": Column("packets/s", "full segments sent, retransmissions included"),
    "window_segments": Column("segments", "mean window: what is sent in a round trip"),
    "rtt_s": Column("s", "round trip, the queue's delay included"),
    "timeout_s": Column("s", "first timeout of a series, as assumed"),
    "marked": Column("ratio", "part of its packets that are marked"),
    "dropped": Column("ratio", "part of its packets that are dropped"),
    "link": Column("", "the slow link that all flows share", "text"),
    "queue_packets": Column("packets", "its average queue, in full segments"),
    "queue_bytes": Column("bytes", "the same"),
    "utilisation": Column("ratio", "what the flows carry over what the link can"),
}
"""The table ``prediction`` of the engine ``model``."""

TIMING: Final = {
    "what": Column(
        "", "delivery: a packet written to its host's device; reading: a host's packet taken from its device", "text"
    ),
    "count": Column("count", "deliveries; of readings those that were tried, 500 a second"),
    "p50_s": Column("s", "median of how late it was"),
    "p99_s": Column("s", "99th percentile"),
    "max_s": Column("s", "the latest"),
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
    "boxes": BOXES,
    "boxes_run": BOXES,
    "queue_series": QUEUE_SERIES,
    "class_series": CLASS_SERIES,
    "flow_series": FLOW_SERIES,
    "packets": PACKETS,
}
"""Every table of a simulated run. ``X`` counts the measurement window, ``X_run`` the whole run."""

SUMMARY: Final = tuple(name for name, columns in TABLES.items() if columns in (FLOWS, QUEUES, LINKS))
"""The tables with one row a flow, queue or link: what a sweep always stores."""


def units(table: str) -> dict[str, str]:
    """The unit of each column of ``table`` that has one."""
    columns = {"prediction": PREDICTION, "timing": TIMING}.get(table) or TABLES.get(table, {})
    return {name: column.unit for name, column in columns.items() if column.unit}
