//! Conversion of the tree to typed tables: each is read separately; profiles and reverse directions are merged in.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecnlab_base::Bytes;
use ecnlab_wire::IpVersion;
use serde::Deserialize;
use {ecnlab_aqm as aqm, ecnlab_quic as quic, ecnlab_tcp as tcp};

use crate::boxes::HostileBox;
use crate::de::{Keys, read, read_with};
use crate::diagnostic::{Diagnostic, suggest};
use crate::file::{Capture, DEFAULT, DEFAULT_PROFILE, FORMAT, Flow, Head, Link, Node as NodeTable};
use crate::names::{NAMES, is_name};
use crate::path::Path;
use crate::profile;
use crate::queue::read_queue;
use crate::tree::{Entry, Node, Table, Value};
use crate::tunnel::Tunnel;

/// The tables of a scenario with all defaults. Names in them may not exist; `check` reports that.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    pub head: Head,
    pub nodes: BTreeMap<String, NodeTable>,
    pub links: BTreeMap<String, Duplex>,
    pub queues: BTreeMap<String, Arc<aqm::Config>>,
    pub tcps: BTreeMap<String, Tcp>,
    pub quics: BTreeMap<String, Arc<quic::Settings>>,
    pub flows: BTreeMap<String, Flow>,
    pub captures: BTreeMap<String, Capture>,
    pub boxes: BTreeMap<String, HostileBox>,
    pub tunnels: BTreeMap<String, Tunnel>,
}

/// Both directions of a link.
#[derive(Clone, Debug)]
pub(crate) struct Duplex {
    pub forward: Link,
    /// From `forward.to` to `forward.from`; `None` for a simplex link.
    pub reverse: Option<Link>,
    /// The reverse direction sets its own delay, and so draws a random one separately.
    pub own_delay: bool,
}

impl Duplex {
    /// Its directions.
    pub fn directions(&self) -> impl Iterator<Item = &Link> {
        [Some(&self.forward), self.reverse.as_ref()].into_iter().flatten()
    }
}

/// A TCP: its profile and its effective values.
#[derive(Clone, Debug)]
pub(crate) struct Tcp {
    pub profile: String,
    pub config: Arc<tcp::Config>,
}

/// Sections whose tables have user-defined names.
pub(crate) const SECTIONS: [&str; 9] = ["node", "link", "queue", "tcp", "quic", "flow", "capture", "box", "tunnel"];

/// Defaults of every scenario: a queue and a TCP for links and flows that name none.
const BUILT_IN: &str = r#"
[queue.default]
discipline = "droptail"
limit = "1000 packets" # Linux's txqueuelen of an Ethernet device
[tcp.default]
"#;

/// The longest packet of IP.
const LONGEST_PACKET: Bytes = Bytes(65_535);

/// Keys that the reverse direction of a link takes from the forward one.
pub(crate) const SHARED_BY_DIRECTIONS: [&str; 5] = ["from", "to", "count", "duplex", "reverse"];

/// Rejects a file with another format version before any other check.
pub(crate) fn check_format(tree: &Node) -> Result<(), Vec<Diagnostic>> {
    let path = Path::of(&["format"]);
    let refuse = |message: String| {
        let help = format!("this build reads format {FORMAT}: write `format = {FORMAT}`");
        Err(vec![Diagnostic::new(tree.place_of(&path), &path, message, help)])
    };
    match tree.get(&path).map(|n| &n.value) {
        Some(Value::Integer(version)) if u64::try_from(*version) == Ok(FORMAT) => Ok(()),
        Some(Value::Integer(version)) => refuse(format!("unknown format version {version}")),
        Some(_) => refuse("`format` is not a version".to_owned()),
        None => refuse("`format` is missing".to_owned()),
    }
}

/// Adds the built-in tables and expands short forms: `traffic = "ftp"`.
pub(crate) fn complete(tree: &mut Node) {
    let built_in = Node::parse("built-in", BUILT_IN).ok();
    for section in ["queue", "tcp"] {
        let path = Path::of(&[section, DEFAULT]);
        let Some(table) = built_in.as_ref().and_then(|b| b.get(&path)) else { continue };
        let outer = tree.at(&[section]);
        if tree.get(&path).is_none() && outer.is_none_or(|n| n.table().is_some()) {
            let entry = Entry { key: table.place.clone(), node: table.clone() };
            // The section is a table or missing: both can be set.
            let _ = tree.set(&path, entry);
        }
    }
    for tcp in names(tree, "tcp") {
        let path = Path::of(&["tcp", &tcp, "congestion"]);
        let Some(table) = tree.get(&path).and_then(Node::table).filter(|table| !table.contains_key("kind")) else {
            continue;
        };
        let mut named = tcp::registry::WindowLaw::named_by().filter_map(|(key, law)| Some((table.get(key)?, law)));
        let Some((by, law)) = named.next() else { continue };
        let entry =
            Entry { key: by.key.clone(), node: Node { value: Value::Text(law.to_owned()), place: by.key.clone() } };
        let _ = tree.set(&path.key("kind"), entry);
    }
    for flow in names(tree, "flow") {
        let path = Path::of(&["flow", &flow, "traffic"]);
        let Some(node) = tree.get(&path).filter(|n| n.text().is_some()) else { continue };
        let (kind, place) = (Entry { key: node.place.clone(), node: node.clone() }, node.place.clone());
        let mut table = Table::new();
        table.insert("kind".to_owned(), kind);
        let entry = Entry { key: tree.key_of(&path).clone(), node: Node { value: Value::Table(table), place } };
        let _ = tree.set(&path, entry);
    }
}

/// Returns the names of the tables of a section.
pub(crate) fn names(tree: &Node, section: &str) -> Vec<String> {
    tree.at(&[section]).and_then(Node::table).map(|t| t.keys().cloned().collect()).unwrap_or_default()
}

impl Tables {
    /// Reads a completed tree, or reports all errors table by table.
    pub fn read(tree: &Node) -> Result<Tables, Vec<Diagnostic>> {
        let mut reader = Reader { tree, found: Vec::new() };
        let head = reader.keep(read::<Head>(tree, &Path::default()));
        let default_profile = tree.at(&["profile"]).and_then(Node::text).unwrap_or(DEFAULT_PROFILE).to_owned();
        let nodes = reader.section("node", |_, node, path| read::<NodeTable>(node, path));
        let links = reader.section("link", |_, node, path| read_link(node, path));
        let queues = reader.section("queue", |_, node, path| read_queue(node, path).map(Arc::new));
        let mut tcps = reader.section("tcp", |tree, node, path| read_tcp(tree, node, path, &default_profile));
        let quics = reader.section("quic", |_, node, path| read::<quic::Settings>(node, path).map(Arc::new));
        let flows = reader.section("flow", |_, node, path| read::<Flow>(node, path));
        default_mss(&mut tcps, &flows, tree);
        let mut captures = reader.section("capture", |_, node, path| read::<Capture>(node, path));
        default_snap(&mut captures, &flows, tree);
        let boxes = reader.section("box", |_, node, path| read::<HostileBox>(node, path));
        let tunnels = reader.section("tunnel", |_, node, path| read::<Tunnel>(node, path));
        match head {
            Some(head) if reader.found.is_empty() => {
                Ok(Tables { head, nodes, links, queues, tcps, quics, flows, captures, boxes, tunnels })
            }
            _ => Err(reader.found),
        }
    }
}

/// Names of the flows over a version of IP that use the TCP called `tcp`.
pub(crate) fn flows_over<'a>(
    ip: IpVersion,
    tcp: &'a str,
    flows: &'a BTreeMap<String, Flow>,
) -> impl Iterator<Item = &'a str> {
    let uses = move |flow: &Flow| flow.uses_tcp() && [flow.tcp_from(), flow.tcp_to()].contains(&tcp);
    let on = |flow: &Flow| flow.count != Some(0);
    flows.iter().filter(move |(_, flow)| flow.ip == ip && uses(flow) && on(flow)).map(|(name, _)| name.as_str())
}

/// Adapts the MSS of TCPs that have only IPv6 flows and do not set it: the profiles' values are those of IPv4.
fn default_mss(tcps: &mut BTreeMap<String, Tcp>, flows: &BTreeMap<String, Flow>, tree: &Node) {
    let longer = u64::from(IpVersion::V6.header_len() - IpVersion::V4.header_len());
    for (name, tcp) in tcps {
        let used = [IpVersion::V4, IpVersion::V6].map(|ip| flows_over(ip, name, flows).next().is_some());
        if used == [false, true] && tree.at(&["tcp", name, "mss"]).is_none() {
            let mss = &mut Arc::make_mut(&mut tcp.config).mss;
            *mss = Bytes(mss.0.saturating_sub(longer));
        }
    }
}

/// Makes captures that do not set `snap` store whole packets if a flow has QUIC.
fn default_snap(captures: &mut BTreeMap<String, Capture>, flows: &BTreeMap<String, Flow>, tree: &Node) {
    if flows.values().any(Flow::names_quic) {
        let short = |name: &str| tree.at(&["capture", name, "snap"]).is_none();
        captures.iter_mut().filter(|(name, _)| short(name)).for_each(|(_, capture)| capture.snap = LONGEST_PACKET);
    }
}

/// Collects errors while reading continues.
struct Reader<'a> {
    tree: &'a Node,
    found: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn keep<T>(&mut self, result: Result<T, Vec<Diagnostic>>) -> Option<T> {
        result.map_err(|found| self.found.extend(found)).ok()
    }

    /// Reads every table of a section, by name.
    fn section<T>(
        &mut self,
        section: &str,
        read: impl Fn(&Node, &Node, &Path) -> Result<T, Vec<Diagnostic>>,
    ) -> BTreeMap<String, T> {
        let mut all = BTreeMap::new();
        for name in names(self.tree, section) {
            let path = Path::of(&[section, &name]);
            if !is_name(&name) {
                let message = format!("`{name}` cannot be a name");
                self.found.push(Diagnostic::new(self.tree.key_of(&path), &path, message, NAMES));
            }
            // An instance that is not a table was reported with the head.
            let Some(node) = self.tree.get(&path).filter(|n| n.table().is_some()) else { continue };
            if let Some(value) = self.keep(read(self.tree, node, &path)) {
                all.insert(name, value);
            }
        }
        all
    }
}

fn read_link(node: &Node, path: &Path) -> Result<Duplex, Vec<Diagnostic>> {
    let forward = read::<Link>(node, path)?;
    let inside = path.key("reverse");
    let reverse = node.at(&["reverse"]);
    if let (false, Some(_)) = (forward.duplex, reverse) {
        let message = format!("`{path}` is simplex and has no reverse direction");
        let help = "leave out this table or `duplex = false`";
        return Err(vec![Diagnostic::new(node.key_of(&Path::of(&["reverse"])), &inside, message, help)]);
    }
    if !forward.duplex {
        return Ok(Duplex { forward, reverse: None, own_delay: false });
    }
    let own = reverse.and_then(Node::table).cloned().unwrap_or_default();
    if let Some((key, entry)) = own.iter().find(|(k, _)| SHARED_BY_DIRECTIONS.contains(&k.as_str())) {
        let message = format!("`{inside}.{key}` cannot be set for the reverse direction");
        return Err(vec![Diagnostic::new(&entry.key, &inside.key(key), message, format!("set `{path}.{key}`"))]);
    }
    let own_delay = own.contains_key("delay");
    let keys = Keys { more: &[], less: &SHARED_BY_DIRECTIONS };
    let reverse = read_with(&reversed(node, own), &inside, keys, |node| Link::deserialize(node))?;
    Ok(Duplex { forward, reverse: Some(reverse), own_delay })
}

/// Returns the table of the reverse direction: its own keys, with the rate and delay of the forward one as defaults.
fn reversed(forward: &Node, own: Table) -> Node {
    let mut table = Table::new();
    let pairs = [("from", "to"), ("to", "from"), ("rate", "rate"), ("delay", "delay")];
    for (key, source) in pairs {
        if let Some(entry) = forward.table().and_then(|t| t.get(source)) {
            table.insert(key.to_owned(), entry.clone());
        }
    }
    table.extend(own);
    Node { value: Value::Table(table), place: forward.place.clone() }
}

fn read_tcp(tree: &Node, node: &Node, path: &Path, default: &str) -> Result<Tcp, Vec<Diagnostic>> {
    let own = node.at(&["profile"]);
    let name = match own {
        Some(n) => n.text().map(str::to_owned).ok_or_else(|| {
            let inside = path.key("profile");
            vec![Diagnostic::new(&n.place, &inside, format!("`{inside}` is {}, not a string", n.kind()), "")]
        })?,
        None => default.to_owned(),
    };
    let Some(base) = profile::tree(&name) else {
        let (place, key) = match own {
            Some(n) => (&n.place, path.key("profile")),
            None => (tree.place_of(&Path::of(&["profile"])), Path::of(&["profile"])),
        };
        let message = format!("`{key}` cannot be `{name}`");
        return Err(vec![Diagnostic::new(place, &key, message, suggest(&name, &profile::names(), "values"))]);
    };
    let departures = node.part(&|key| key != "profile");
    let mut table = base.table().cloned().unwrap_or_default();
    table.extend(departures.table().cloned().unwrap_or_default());
    let merged = Node { value: Value::Table(table), place: node.place.clone() };
    let is_rule = |key: &str| tcp::Rules::KEYS.contains(&key);
    let rules = read::<tcp::Rules>(&merged.part(&is_rule), path);
    let keys = Keys { more: &[&["profile"], &tcp::Rules::KEYS[..]].concat(), less: &[] };
    let config = read_with(&merged.part(&|key| !is_rule(key)), path, keys, |node| tcp::Config::deserialize(node));
    match (rules, config) {
        (Ok(rules), Ok(config)) => {
            let config = tcp::Config { rules, ..config }.settled(&name);
            Ok(Tcp { profile: name, config: Arc::new(config) })
        }
        (rules, config) => Err([rules.err(), config.err()].map(Option::unwrap_or_default).concat()),
    }
}
