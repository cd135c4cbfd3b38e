//! What a scenario file says, key by key. The descriptions here are those of the JSON schema.

use std::collections::BTreeMap;

use ecnlab_base::{Bytes, Dist, Dur, Rate};
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

use crate::boxes::HostileBox;
use crate::quantity::LinkRate;
use crate::wire::{BurstLoss, Jitter};

/// The version of the scenario and experiment formats that this build reads and writes.
pub const FORMAT: u64 = 1;

/// The queue of a link that names none, and the TCP of a flow that names none.
pub(crate) const DEFAULT: &str = "default";

/// The profile of a scenario that names none.
pub(crate) const DEFAULT_PROFILE: &str = "modern";

/// The keys of a scenario outside its tables.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    /// Version of the format: 1.
    pub format: u64,
    /// What the scenario is about; shown in reports, of no effect on results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How long a run lasts, in virtual time.
    pub duration: Dur,
    /// When measuring begins; counters of a result cover the time from here to the end.
    #[serde(default)]
    pub warmup: Dur,
    /// Interval of the time series of queues and windows; left out, there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Dur>,
    /// Whether each packet's events on each link are recorded.
    #[serde(default)]
    pub packets: bool,
    /// The TCP profile on which every `[tcp.NAME]` without its own `profile` builds.
    #[serde(default = "default_profile")]
    pub profile: String,
    /// Nodes. Ends of links need not be listed here, unless they are arrays.
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
    /// TCP settings that flows name: a profile and what departs from it.
    #[serde(default, rename = "tcp", skip_serializing)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    _tcp: BTreeMap<String, Table>,
    /// Flows between nodes.
    #[serde(default, rename = "flow", skip_serializing)]
    #[schemars(with = "BTreeMap<String, Flow>")]
    _flow: BTreeMap<String, Table>,
    /// Captures: packets written down where they pass. Of no effect on results.
    #[serde(default, rename = "capture", skip_serializing)]
    #[schemars(with = "BTreeMap<String, Capture>")]
    _capture: BTreeMap<String, Table>,
    /// Boxes that are hostile to ECN, which links name.
    #[serde(default, rename = "box", skip_serializing)]
    #[schemars(with = "BTreeMap<String, HostileBox>")]
    _box: BTreeMap<String, Table>,
}

/// A table that is read on its own, so that its errors do not hide its neighbours'.
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
    /// Makes this an array of so many nodes: NAME[0], NAME[1], …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

/// A link, or an array of links: duplex unless it says otherwise.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Link {
    /// The node it leaves.
    pub from: String,
    /// The node it reaches.
    pub to: String,
    /// Makes this an array of so many links, the i-th between the i-th nodes of its ends (which
    /// begin again where they are fewer). Left out, there is a link for each node of the longer end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Whether there is also a direction from `to` to `from`, described by `reverse`; true by default.
    #[serde(default = "yes")]
    pub duplex: bool,
    /// Transmission rate, or "unlimited" for a delay box.
    pub rate: LinkRate,
    /// Propagation delay; of a distribution with an upper end, one is drawn for each link and run.
    pub delay: Dist<Dur>,
    /// Name of the `[queue.NAME]` in front of it; "default" if left out.
    #[serde(default = "default_queue")]
    pub queue: String,
    /// A slower pipe inside the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shaper: Option<Shaper>,
    /// A delay of each packet's own on top of `delay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// Probability that a packet is lost on the wire, each on its own.
    #[serde(default)]
    pub loss: f64,
    /// Losses in bursts, besides those of `loss`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_loss: Option<BurstLoss>,
    /// The n-th packets of the link, from 1, that are lost on the wire.
    #[serde(default)]
    pub drop: Vec<u64>,
    /// The n-th packets of the link, from 1, that get CE on the wire if they are ECN-capable.
    #[serde(default)]
    pub mark: Vec<u64>,
    /// By name of a flow: its n-th data segments on this link, from 1, that are lost on the wire.
    #[serde(default)]
    pub drop_segments: BTreeMap<String, Vec<u64>>,
    /// By name of a flow: its n-th data segments on this link, from 1, that get CE on the wire.
    #[serde(default)]
    pub mark_segments: BTreeMap<String, Vec<u64>>,
    /// Names of the `[box.NAME]` at its far end, in the order in which packets pass them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boxes: Vec<String>,
    /// The direction from `to` to `from`: the rate and delay of this one, the default queue and a
    /// perfect wire, but for what this table says.
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
    /// Makes this an array of so many flows, the i-th between the i-th nodes of its ends (which
    /// begin again where they are fewer); 0 switches it off. Left out, there is a flow for each node
    /// of the longer end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// What is sent: a kind such as "ftp", or a table with its `kind` and settings.
    pub traffic: ecnlab_traffic::Params,
    /// Name of the `[tcp.NAME]` of both ends; "default" if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<String>,
    /// Name of the `[tcp.NAME]` of the sending end, where it differs from `tcp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_from: Option<String>,
    /// Name of the `[tcp.NAME]` of the receiving end, where it differs from `tcp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_to: Option<String>,
    /// The group by which queues count and results are gathered; the flow's name if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// When it begins, drawn for each flow and run; at once if left out.
    #[serde(default)]
    pub start: Dist<Dur>,
    /// When it stops, drawn for each flow and run: from then on it asks for nothing new, and a bulk transfer ends with
    /// what has been sent. Left out, it goes on to the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Dist<Dur>>,
}

/// A capture of the packets at an end of a link, or at all interfaces of a node.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Capture {
    /// The link whose packets are captured, both directions, at one of its ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Instead of a link: the node whose packets are captured, at all its interfaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The end of the link: "from" (if left out) or "to".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
    /// Where outgoing packets are seen: as they come to the queue, "before" it (if left out), with what it then makes
    /// of them; or "after" it, as they go onto the wire.
    #[serde(default)]
    pub queue: QueueSide,
    /// Bytes kept of each packet; 128 B, in which all headers fit, if left out.
    #[serde(default = "default_snap")]
    pub snap: Bytes,
    /// The file format: "pcapng" (if left out), or "pcap", which has no interface names and no comments.
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
    /// The node it leaves.
    From,
    /// The node it reaches.
    To,
}

/// A side of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum QueueSide {
    /// Every packet when it comes to the queue: with its mark, if the queue gives it one, and those that it drops too;
    /// both have a comment.
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
