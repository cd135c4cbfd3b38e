//! A scenario: one file with defaults filled in, checked and ready to run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use ecnlab_tcp::Config;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};

use crate::check::check;
use crate::diagnostic::{Diagnostic, Diagnostics, suggest};
use crate::file::Link;
use crate::grid::Values;
use crate::layout::Layout;
use crate::memory;
use crate::names::{self, Reference};
use crate::path::{Part, Path};
use crate::queue::merged;
use crate::tables::{self, SECTIONS, Tables};
use crate::traces;
use crate::tree::{Entry, Node};
use crate::userlaws::{self, Supplier};

/// A scenario in which all names exist and all values are valid. Copies share their content.
#[derive(Clone, Debug)]
pub struct Scenario(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    tree: Node,
    /// Loads user-defined laws, for this scenario and for overrides.
    supplier: Option<Arc<dyn Supplier>>,
    tables: Tables,
    layout: Layout,
    hash: OnceLock<String>,
}

/// A TCP value that differs from its profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Departure {
    /// The dotted key, `tcp.plain.ecn`.
    pub key: String,
    /// Name of the profile.
    pub profile: String,
    /// The profile's value.
    pub profile_value: Json,
    /// The value in use.
    pub value: Json,
    /// Source of the profile's value.
    pub source: String,
}

/// Parses the scenario file `path` with contents `text`. Nothing is read from disk; user-defined laws are not loaded.
///
/// # Errors
/// All errors, each with its line and a remedy.
pub fn parse_scenario(path: &str, text: &str) -> Result<Scenario, Diagnostics> {
    read(path, text, None)
}

/// [`parse_scenario`] for a scenario with laws in files, which `supplier` loads.
///
/// # Errors
/// As [`parse_scenario`], and errors of the supplier.
pub fn parse_scenario_with(path: &str, text: &str, supplier: Arc<dyn Supplier>) -> Result<Scenario, Diagnostics> {
    read(path, text, Some(supplier))
}

pub(crate) fn read(path: &str, text: &str, supplier: Option<Arc<dyn Supplier>>) -> Result<Scenario, Diagnostics> {
    Node::parse(path, text).and_then(|tree| Scenario::from_tree(tree, supplier)).map_err(Diagnostics::of)
}

impl Scenario {
    fn from_tree(mut tree: Node, supplier: Option<Arc<dyn Supplier>>) -> Result<Scenario, Vec<Diagnostic>> {
        tables::check_format(&tree)?;
        tables::complete(&mut tree);
        let strange = names::of_scenario(&tree, &SECTIONS);
        if !strange.is_empty() {
            return Err(strange);
        }
        let mut tables = Tables::read(&tree)?;
        if let Some(supplier) = &supplier {
            userlaws::supply(&mut tables, &tree, supplier.as_ref())?;
            traces::supply(&mut tables, &tree, supplier.as_ref())?;
            memory::check(&tables, &tree, supplier.as_ref())?;
        }
        let layout = check(&tables, &tree)?;
        Ok(Scenario(Arc::new(Inner { tree, supplier, tables, layout, hash: OnceLock::new() })))
    }

    /// Returns this scenario with other values at dotted keys: `("link.pipe.delay", "40 ms")`. A table given as a value
    /// is merged into the table of a queue, and replaces any other table.
    ///
    /// # Errors
    /// As [`parse_scenario`]; errors in overrides are reported in a file called `override` with one line per override.
    pub fn with(&self, overrides: &[(String, toml::Value)]) -> Result<Scenario, Diagnostics> {
        let line = |(key, value): &(String, toml::Value)| format!("{} = {value}\n", toml::Value::from(key.as_str()));
        let text: String = overrides.iter().map(line).collect();
        let tree = Node::parse("override", &text).map_err(Diagnostics::of)?;
        let entries = tree.table().into_iter().flatten().map(|(key, entry)| (key.clone(), entry.clone()));
        self.with_entries(&entries.collect()).map_err(Diagnostics::of)
    }

    /// [`Scenario::with`] for values from a file, set in order.
    pub(crate) fn with_entries(&self, overrides: &Values) -> Result<Scenario, Vec<Diagnostic>> {
        if overrides.is_empty() {
            return Ok(self.clone());
        }
        let mut tree = self.0.tree.clone();
        let grafted = overrides.iter().filter_map(|(key, entry)| graft(&mut tree, key, entry).err());
        let found: Vec<Diagnostic> = grafted.flatten().collect();
        if found.is_empty() { Scenario::from_tree(tree, self.0.supplier.clone()) } else { Err(found) }
    }

    /// Title in the file; its path if it has none.
    pub fn title(&self) -> &str {
        self.tables().head.title.as_deref().unwrap_or(self.0.tree.place.file())
    }

    /// Returns the whole scenario with all defaults, itself a valid scenario in JSON. Keys are in alphabetical order;
    /// arrays of nodes, links and flows are not expanded.
    pub fn resolved(&self) -> Json {
        let tables = self.tables();
        let mut all = object(json!(tables.head));
        let mut nodes = Map::new();
        for name in self.0.layout.nodes.iter().map(|node| Reference::parse(node).name) {
            nodes.insert(name.to_owned(), json!(tables.nodes.get(name).cloned().unwrap_or_default()));
        }
        all.insert("node".into(), Json::Object(nodes));
        all.insert("link".into(), each(&tables.links, |_, link| resolved_link(link)));
        all.insert("queue".into(), each(&tables.queues, |_, queue| json!(**queue)));
        all.insert("tcp".into(), each(&tables.tcps, |_, tcp| resolved_tcp(tcp)));
        if !tables.quics.is_empty() {
            all.insert("quic".into(), each(&tables.quics, |_, quic| json!(**quic)));
        }
        all.insert("flow".into(), each(&tables.flows, |name, _| self.resolved_flow(name)));
        if !tables.boxes.is_empty() {
            all.insert("box".into(), json!(tables.boxes));
        }
        if !tables.tunnels.is_empty() {
            all.insert("tunnel".into(), json!(tables.tunnels));
        }
        if !tables.captures.is_empty() {
            all.insert("capture".into(), json!(tables.captures));
        }
        Json::Object(all)
    }

    /// Returns the values that laws derive: for each link, by name, the keys of its queue whose effective values differ
    /// from [`Scenario::resolved`], such as automatic thresholds, gains and values of a profile. `seed` is that of the
    /// run, from which delays are drawn.
    pub fn in_force(&self, seed: u64) -> Json {
        let mut all = Map::new();
        for link in self.plan(seed).links {
            let in_force = link.queue.in_force(link.context());
            if let Some(derived) = changed(&json!(*link.queue), json!(in_force)) {
                all.insert(link.name, derived);
            }
        }
        Json::Object(all)
    }

    fn resolved_flow(&self, name: &str) -> Json {
        let mut flow = self.tables().flows[name].clone();
        if let Some([from, to]) = flow.quics().map(|ends| ends.map(str::to_owned)) {
            (flow.quic_from, flow.quic_to) = (Some(from), Some(to));
        } else if flow.traffic.uses_tcp() {
            flow.tcp_from = Some(flow.tcp_from().to_owned());
            flow.tcp_to = Some(flow.tcp_to().to_owned());
        }
        (flow.tcp, flow.quic) = (None, None);
        flow.group.get_or_insert_with(|| name.to_owned());
        json!(flow)
    }

    /// SHA-256 in hexadecimal of the resolved scenario without its title and captures: all inputs of the results except
    /// the seed.
    pub fn hash(&self) -> &str {
        self.0.hash.get_or_init(|| hex(&self.digest()))
    }

    /// [`Scenario::hash`] as bytes.
    pub(crate) fn digest(&self) -> [u8; 32] {
        let mut all = object(self.resolved());
        all.remove("title");
        all.remove("capture");
        Sha256::digest(Json::Object(all).to_string()).into()
    }

    /// Name of the file from which it was read.
    pub fn path(&self) -> &str {
        self.0.tree.place.file()
    }

    /// Returns the scenario as a file, including all overrides, for another process.
    pub fn to_toml(&self) -> String {
        let line = |(key, entry): (&String, &Entry)| {
            format!("{} = {}\n", toml::Value::from(key.as_str()), entry.node.to_toml())
        };
        self.0.tree.table().into_iter().flatten().map(line).collect()
    }

    /// Returns all TCP values that differ from their profiles, by key.
    pub fn departures(&self) -> Vec<Departure> {
        self.tables().tcps.iter().flat_map(|(name, tcp)| departures(name, tcp)).collect()
    }

    /// Converts findings of a later check, such as another engine's, each (dotted key, message, help), into errors
    /// located at the line of the key's value or the nearest enclosing table.
    ///
    /// `findings` must not be empty.
    pub fn refuse(&self, findings: &[(String, String, String)]) -> Diagnostics {
        let diagnostic = |(key, message, help): &(String, String, String)| {
            let path = Path::parse(key).unwrap_or_default();
            Diagnostic::new(self.0.tree.place_of(&path), &path, message, help)
        };
        Diagnostics::of(findings.iter().map(diagnostic).collect())
    }

    /// Returns the names in the column `of` of a run's tables: "node", "link", "flow", "group", "class", "box",
    /// "quic" or "tunnel"; empty for other columns.
    pub fn names(&self, of: &str) -> Vec<String> {
        let layout = self.layout();
        match of {
            "node" => layout.nodes.clone(),
            "link" => layout.ways(self.tables()).into_iter().map(|way| way.name).collect(),
            "flow" => layout.flows.iter().map(|flow| flow.name.clone()).collect(),
            "group" => layout.groups.clone(),
            "class" => {
                let named: BTreeSet<String> = self.plan(0).links.iter().flat_map(|x| x.queue.class_names()).collect();
                named.into_iter().collect()
            }
            "box" => self.tables().boxes.keys().cloned().collect(),
            "quic" => self.tables().quics.keys().cloned().collect(),
            "tunnel" => self.tables().tunnels.keys().cloned().collect(),
            _ => Vec::new(),
        }
    }

    /// Estimated memory of a run in bytes, including its process.
    pub fn memory(&self) -> u64 {
        memory::of(self.tables()).bytes()
    }

    pub(crate) fn tables(&self) -> &Tables {
        &self.0.tables
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.0.layout
    }
}

/// Returns the parts of `now` that differ from `before`; `None` if equal.
fn changed(before: &Json, now: Json) -> Option<Json> {
    match (before, now) {
        (Json::Object(before), Json::Object(now)) => {
            let mut news = Map::new();
            for (key, value) in now {
                if let Some(new) = changed(before.get(&key).unwrap_or(&Json::Null), value) {
                    news.insert(key, new);
                }
            }
            (!news.is_empty()).then_some(Json::Object(news))
        }
        (before, now) => (*before != now).then_some(now),
    }
}

/// Returns the `members` of a section, each converted by `value`.
fn each<T>(members: &BTreeMap<String, T>, value: impl Fn(&str, &T) -> Json) -> Json {
    let mut all = Map::new();
    for (name, member) in members {
        all.insert(name.clone(), value(name, member));
    }
    Json::Object(all)
}

fn resolved_tcp(tcp: &tables::Tcp) -> Json {
    let mut keys = object(json!(*tcp.config));
    keys.insert("profile".into(), json!(tcp.profile));
    Json::Object(keys)
}

fn resolved_link(link: &tables::Duplex) -> Json {
    let mut all = object(json!(link.forward));
    if let Some(reverse) = &link.reverse {
        all.insert("reverse".into(), resolved_reverse(reverse, link.own_delay));
    }
    Json::Object(all)
}

fn resolved_reverse(reverse: &Link, own_delay: bool) -> Json {
    let mut keys = object(json!(reverse));
    for key in tables::SHARED_BY_DIRECTIONS {
        keys.remove(key);
    }
    if !own_delay {
        keys.remove("delay");
    }
    Json::Object(keys)
}

/// Sets a dotted key to a value from elsewhere; a table for a queue is merged into the queue's table.
fn graft(tree: &mut Node, key: &str, entry: &Entry) -> Result<(), Vec<Diagnostic>> {
    let wrong = |message: String, help: String| vec![Diagnostic::new(&entry.key, &Path::of(&[key]), message, help)];
    let example = "write a key such as \"link.pipe.delay\", in quotes on the left of `=`";
    let path = Path::parse(key).ok_or_else(|| wrong(format!("`{key}` is not a dotted key"), example.into()))?;
    let names: Vec<&str> =
        path.0.iter().filter_map(|s| if let Part::Key(k) = s { Some(k.as_str()) } else { None }).collect();
    match names.as_slice() {
        [section] if SECTIONS.contains(section) => {
            return Err(wrong(format!("`{key}` is a whole section"), example.into()));
        }
        [section, name, _, ..] if SECTIONS.contains(section) => {
            let known = known_names(tree, section);
            if !known.iter().any(|n| n == name) {
                let message = format!("`{key}`: there is no {section} `{name}`");
                return Err(wrong(message, suggest(name, &known, &format!("{section}s"))));
            }
        }
        _ => {}
    }
    let mut entry = entry.clone();
    if let (["queue", _], Some(queue)) = (names.as_slice(), tree.get(&path)) {
        entry.node = merged(queue, &entry.node);
    }
    tree.set(&path, entry).map_err(|inside| {
        let kind = tree.get(&inside).map_or("nothing", |node| node.kind());
        wrong(format!("`{key}`: `{inside}` is {kind}, not a table"), format!("set `{inside}` as a whole"))
    })
}

/// Returns the names in a section; for nodes also those at the ends of links.
fn known_names(tree: &Node, section: &str) -> Vec<String> {
    let mut known = tables::names(tree, section);
    if section == "node" {
        for link in tables::names(tree, "link") {
            let ends = ["from", "to"].iter().filter_map(|end| tree.at(&["link", &link, end])?.text());
            known.extend(ends.map(|text| Reference::parse(text).name.to_owned()));
        }
    }
    known
}

/// The values of `tcp` that differ from its profile's; a value that depends on the window law is compared with the
/// profile's for the same law.
fn departures(name: &str, tcp: &tables::Tcp) -> Vec<Departure> {
    let Some(profile) = ecnlab_tcp::profile(&tcp.profile) else { return Vec::new() };
    let own_law = Config { congestion: tcp.config.congestion.clone(), ..profile.config.clone() }.settled(&tcp.profile);
    let (own, mut theirs) = (object(json!(*tcp.config)), object(json!(own_law)));
    theirs.insert("congestion".to_owned(), json!(profile.config.congestion));
    let source = |key: &str| profile.settings.iter().find(|s| s.key == key).map(|s| s.source.clone());
    let departed = own.into_iter().filter(|(key, value)| theirs.get(key) != Some(value));
    let departure = |(key, value): (String, Json)| Departure {
        profile: tcp.profile.clone(),
        profile_value: theirs.get(&key).cloned().unwrap_or_default(),
        value,
        source: source(&key).unwrap_or_default(),
        key: format!("tcp.{name}.{key}"),
    };
    departed.map(departure).collect()
}

fn object(value: Json) -> Map<String, Json> {
    match value {
        Json::Object(map) => map,
        _ => Map::new(),
    }
}

/// SHA-256 of `bytes`, in hexadecimal.
pub fn hex_sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
