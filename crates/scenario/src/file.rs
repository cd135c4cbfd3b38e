//! Keys of a scenario file. The descriptions here are those of the JSON schema.

use std::collections::BTreeMap;

use ecnlab_base::{Bytes, Dist, Dur, Rate};
use ecnlab_engine::Reads;
use ecnlab_wire::{Dscp, IpVersion};
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

use crate::aggregation::Aggregation;
use crate::boxes::HostileBox;
use crate::outages::Outages;
use crate::quantity::{LinkDelay, LinkRate};
use crate::tunnel::Tunnel;
use crate::wire::{BurstLoss, Jitter};

/// The version of the scenario and experiment formats that this build reads and writes.
pub const FORMAT: u64 = 1;

/// Name of the queue of a link, and the TCP of a flow, that names none.
pub(crate) const DEFAULT: &str = "default";

/// Time between reads of an application with a `read_rate`.
const READ_INTERVAL: Dur = Dur::from_ms(10);

/// Profile of a scenario that names none.
pub(crate) const DEFAULT_PROFILE: &str = "modern";

/// The keys of a scenario outside its tables.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    /// Version of the format: 1.
    pub format: u64,
    /// Title of the scenario, shown in reports; no effect on results. Default: the path of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Length of a run, in virtual time; at most 2400 h.
    pub duration: Dur,
    /// Flows, by the names of their tables, each of which transfers one file: the run ends when all these files have arrived, if that is after `warmup` and before `duration`. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub end_after: Vec<String>,
    /// Time at which measuring begins; counters of a result cover the time from then to the end. Default 0 s.
    #[serde(default)]
    pub warmup: Dur,
    /// Interval of the time series of queues and windows. Default: no time series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Dur>,
    /// Record the events of each packet on each link. Default false.
    #[serde(default)]
    pub packets: bool,
    /// The TCP profile of every `[tcp.NAME]` without a `profile` of its own. Default `modern`.
    #[serde(default = "default_profile")]
    pub profile: String,
    /// Nodes. Only arrays must be listed; a link creates a single node by naming it.
    #[serde(default, rename = "node", skip_serializing)]
    #[schemars(with = "BTreeMap<String, Node>")]
    _node: BTreeMap<String, Table>,
    /// Links between nodes.
    #[serde(default, rename = "link", skip_serializing)]
    #[schemars(with = "BTreeMap<String, Link>")]
    _link: BTreeMap<String, Table>,
    /// Queues that links name.
    #[serde(default, rename = "queue", skip_serializing)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    _queue: BTreeMap<String, Table>,
    /// TCP settings that flows name: a profile and the settings that differ from it.
    #[serde(default, rename = "tcp", skip_serializing)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    _tcp: BTreeMap<String, Table>,
    /// QUIC settings that flows name: a stack and its settings.
    #[serde(default, rename = "quic", skip_serializing)]
    #[schemars(with = "BTreeMap<String, ecnlab_quic::Settings>")]
    _quic: BTreeMap<String, Table>,
    /// Flows between nodes.
    #[serde(default, rename = "flow", skip_serializing)]
    #[schemars(with = "BTreeMap<String, Flow>")]
    _flow: BTreeMap<String, Table>,
    /// Captures: packets written to files. No effect on results.
    #[serde(default, rename = "capture", skip_serializing)]
    #[schemars(with = "BTreeMap<String, Capture>")]
    _capture: BTreeMap<String, Table>,
    /// Middleboxes that interfere with ECN, which links name.
    #[serde(default, rename = "box", skip_serializing)]
    #[schemars(with = "BTreeMap<String, HostileBox>")]
    _box: BTreeMap<String, Table>,
    /// Tunnels, which links name.
    #[serde(default, rename = "tunnel", skip_serializing)]
    #[schemars(with = "BTreeMap<String, Tunnel>")]
    _tunnel: BTreeMap<String, Table>,
}

/// A table that is parsed separately, so that its errors do not hide those of other tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table;

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Table, D::Error> {
        BTreeMap::<String, IgnoredAny>::deserialize(d).map(|_| Table)
    }
}

fn default_profile() -> String {
    DEFAULT_PROFILE.to_owned()
}

/// A node, or an array of nodes.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Node {
    /// Number of nodes of the array: NAME[0], NAME[1], …. Default: a single node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

/// A link, or an array of links: duplex by default.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Link {
    /// The node at its start.
    pub from: String,
    /// The node at its end.
    pub to: String,
    /// Number of links of the array. Link i joins node i of both ends; a shorter array of nodes starts again at 0.
    /// Default: one link for each node of the longer end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Add a direction from `to` to `from`, described by `reverse`. Default true.
    #[serde(default = "yes")]
    pub duplex: bool,
    /// Transmission rate; "unlimited" for a link that only delays; or a rate that changes.
    pub rate: LinkRate,
    /// Propagation delay, or a bounded distribution from which one is drawn for each link and run; or a delay that
    /// changes.
    pub delay: LinkDelay,
    /// Name of the `[queue.NAME]` in front of the link. Default `default`.
    #[serde(default = "default_queue")]
    pub queue: String,
    /// A token bucket slower than the link. Shapers within the queue are disciplines: `tbf`, `htb`, `cbq`. Default:
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shaper: Option<Shaper>,
    /// A delay in addition to `delay`, drawn for each packet. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// Times at which the link carries no packets. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outages: Option<Outages>,
    /// Packets leave and arrive in bursts. Default: one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<Aggregation>,
    /// Probability that a packet is lost on the wire, independent of other packets. Default 0.
    #[serde(default)]
    pub loss: f64,
    /// Losses in bursts, in addition to those of `loss`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_loss: Option<BurstLoss>,
    /// Numbers of the packets of the link, from 1, that are lost on the wire. Default: none.
    #[serde(default)]
    pub drop: Vec<u64>,
    /// Numbers of the packets of the link, from 1, that get CE on the wire if they are ECN-capable. Default: none.
    #[serde(default)]
    pub mark: Vec<u64>,
    /// By name of a flow: numbers of its data segments on this link, from 1, that are lost on the wire: `{ bulk = [3]
    /// }`. Retransmissions are counted. The name of an array stands for each of its flows. Default: none.
    #[serde(default)]
    pub drop_segments: BTreeMap<String, Vec<u64>>,
    /// By name of a flow: numbers of its data segments on this link, from 1, that get CE on the wire if they are
    /// ECN-capable. Default: none.
    #[serde(default)]
    pub mark_segments: BTreeMap<String, Vec<u64>>,
    /// Names of the `[box.NAME]` at the far end, in the order in which packets pass them. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boxes: Vec<String>,
    /// Name of the `[tunnel.NAME]` that the link is part of. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<String>,
    /// The direction from `to` to `from`. Defaults: rate and delay of this direction, the default queue, no losses, marks,
    /// jitter, outages, bursts, boxes or tunnel.
    #[serde(default, rename = "reverse", skip_serializing)]
    #[schemars(with = "Option<serde_json::Value>")]
    _reverse: Option<Table>,
}

fn yes() -> bool {
    true
}

fn default_queue() -> String {
    DEFAULT.to_owned()
}

/// A token bucket.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shaper {
    /// Long-term rate, below the link's.
    pub rate: Rate,
    /// Bytes that may go at the link's own rate after a pause; at least a packet.
    pub burst: Bytes,
}

/// A flow, or an array of flows.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flow {
    /// The node that sends the data.
    pub from: String,
    /// The node that receives it.
    pub to: String,
    /// Number of flows of the array; 0 switches the flow off. Flow i joins node i of both ends; a shorter array of
    /// nodes starts again at 0. Default: one flow for each node of the longer end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Kind of traffic: a name such as "ftp", or a table with `kind` and settings.
    pub traffic: ecnlab_traffic::Params,
    /// Name of the `[tcp.NAME]` of both ends. Default: `"default"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<String>,
    /// Name of the `[tcp.NAME]` of the sending end, if it differs from `tcp`. Default: `tcp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_from: Option<String>,
    /// Name of the `[tcp.NAME]` of the receiving end, if it differs from `tcp`. Default: `tcp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_to: Option<String>,
    /// Name of the `[quic.NAME]` of both ends, which have QUIC in place of TCP; `tcp` is then without effect. Default: none, the
    /// flow has TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quic: Option<String>,
    /// Name of the `[quic.NAME]` of the sending end, if it differs from `quic`. Default: `quic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quic_from: Option<String>,
    /// Name of the `[quic.NAME]` of the receiving end, if it differs from `quic`. Default: `quic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quic_to: Option<String>,
    /// The group under which queues and results count the flow. Default: the name of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The DSCP of the flow's packets in both directions: a number from 0 to 63, or a name such as "EF". Default: CS0,
    /// which is 0.
    #[serde(default, skip_serializing_if = "Dscp::is_default")]
    pub dscp: Dscp,
    /// The IP version of the flow's packets in both directions, 4 or 6. An IPv6 header has 40 bytes, 20 more than IPv4's;
    /// `mss` of its TCP is 20 bytes less unless it is set there. Sizes of datagrams include the header. Default 4.
    #[serde(default, skip_serializing_if = "IpVersion::is_v4")]
    pub ip: IpVersion,
    /// Start time, drawn for each flow and run. Default 0 s.
    #[serde(default)]
    pub start: Dist<Dur>,
    /// Stop time, drawn for each flow and run; later than every `start` that can be drawn. From then on the source
    /// starts nothing new, and a bulk transfer ends with the data already sent. Default: the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Dist<Dur>>,
    /// Rate at which the application at `to` reads the data of a bulk transfer. Data that it has not read stay in the
    /// receive buffer and close the window. Default: it reads at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_rate: Option<Rate>,
    /// Time between reads, each of at most `read_rate` times this; the first is one such time after `start`. Default
    /// 10 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_interval: Option<Dur>,
}

impl Flow {
    /// Name of the TCP of the sending end.
    pub fn tcp_from(&self) -> &str {
        self.tcp_from.as_ref().or(self.tcp.as_ref()).map_or(DEFAULT, String::as_str)
    }

    /// Names of the QUIC settings of both ends, sender first; `None`: the flow has TCP, or lacks those of an end.
    pub fn quics(&self) -> Option<[&str; 2]> {
        let both = self.quic.as_deref();
        Some([self.quic_from.as_deref().or(both)?, self.quic_to.as_deref().or(both)?])
    }

    /// Returns whether any key gives it QUIC.
    pub fn names_quic(&self) -> bool {
        [&self.quic, &self.quic_from, &self.quic_to].into_iter().any(Option::is_some)
    }

    /// Returns whether its ends are TCP endpoints.
    pub fn uses_tcp(&self) -> bool {
        self.traffic.uses_tcp() && !self.names_quic()
    }

    /// Time between reads of the application.
    pub fn read_interval(&self) -> Dur {
        self.read_interval.unwrap_or(READ_INTERVAL)
    }

    /// Reads of the application, if it does not read at once.
    pub fn reads(&self) -> Option<Reads> {
        let every = self.read_interval();
        // Bits per second times picoseconds need 128 bits.
        let bits = u128::from(self.read_rate?.bps()) * u128::from(every.ps()) / 1_000_000_000_000;
        Some(Reads { bytes: u64::try_from(bits / 8).unwrap_or(u64::MAX), every })
    }

    /// Name of the TCP of the receiving end.
    pub fn tcp_to(&self) -> &str {
        self.tcp_to.as_ref().or(self.tcp.as_ref()).map_or(DEFAULT, String::as_str)
    }
}

/// A capture of the packets at an end of a link, or at all interfaces of a node.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Capture {
    /// The link whose packets are captured, both directions, at one of its ends; the name of an array stands for all
    /// of its links. Default: none; a capture has this or `node`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// In place of a link: the node whose packets are captured, at all its interfaces. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The end of the link. Default: `"from"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
    /// Where outgoing packets are captured: before the queue, with marks and drops of the queue; or after it, when
    /// they leave for the wire. Default `before`.
    #[serde(default)]
    pub queue: QueueSide,
    /// Bytes stored of each packet. Default 128 B, in which all headers fit; if a flow has QUIC 65535 B, for only whole packets
    /// can be decrypted.
    #[serde(default = "default_snap")]
    pub snap: Bytes,
    /// The file format; "pcap" has no interface names and no comments. Default `pcapng`.
    #[serde(default)]
    pub format: CaptureFormat,
}

fn default_snap() -> Bytes {
    Bytes(128)
}

/// An end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum End {
    /// The node at the link's start.
    From,
    /// The node at the link's end.
    To,
}

/// A side of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum QueueSide {
    /// Every packet when it arrives at the queue, also those that the queue drops. Marks and drops of the queue have a
    /// comment.
    #[default]
    Before,
    /// Packets when they leave the queue for the wire.
    After,
}

/// A format of capture files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CaptureFormat {
    /// Interface names, directions, comments.
    #[default]
    Pcapng,
    /// Packets and times.
    Pcap,
}
