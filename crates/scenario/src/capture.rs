//! `[capture.NAME]`: which interfaces a capture listens at, and how it is written.

use ecnlab_engine::capture::{Capture as Tap, Interface, Settings};
use ecnlab_wire::pcap::Format;

use crate::Scenario;
use crate::diagnostic::suggest;
use crate::file::{Capture, CaptureFormat, End, QueueSide};
use crate::findings::Findings;
use crate::layout::{Instance, Layout, Reference, Way};
use crate::path::Path;
use crate::tables::Tables;

/// A capture of a scenario: where it listens, and how it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct CapturePlan {
    /// For the engine.
    pub tap: Tap,
    /// For the file.
    pub settings: Settings,
    /// The file's name in the run folder.
    pub file: String,
}

impl Scenario {
    /// The captures that the scenario asks for, by name.
    pub fn captures(&self) -> Vec<CapturePlan> {
        let (tables, layout) = (self.tables(), self.layout());
        let ways = layout.ways(tables);
        let plan = |(name, capture): (&String, &Capture)| {
            let (format, suffix) = match capture.format {
                CaptureFormat::Pcapng => (Format::Pcapng, "pcapng"),
                CaptureFormat::Pcap => (Format::Pcap, "pcap"),
            };
            CapturePlan {
                tap: Tap {
                    name: name.clone(),
                    interfaces: interfaces(capture, layout, &ways),
                    before_queue: capture.queue == QueueSide::Before,
                },
                // Checked to be no more than a packet can have.
                settings: Settings { format, snap: capture.snap.0 as u32 },
                file: format!("{name}.{suffix}"),
            }
        };
        tables.captures.iter().map(plan).collect()
    }
}

/// A node's end of a link: the ways that leave and reach the node there.
struct LinkEnd<'a> {
    link: &'a Instance,
    end: End,
    node: &'a str,
    out: Option<usize>,
    into: Option<usize>,
}

/// Both ends of every link, in the order of the links.
fn ends<'a>(layout: &'a Layout, ways: &[Way<'a>]) -> Vec<LinkEnd<'a>> {
    let of = |link: &'a Instance| {
        let way = |reverse| ways.iter().position(|way| way.link.name == link.name && way.reverse == reverse);
        let (forward, reverse) = (way(false), way(true));
        [
            LinkEnd { link, end: End::From, node: &layout.nodes[link.from], out: forward, into: reverse },
            LinkEnd { link, end: End::To, node: &layout.nodes[link.to], out: reverse, into: forward },
        ]
    };
    layout.links.iter().flat_map(of).collect()
}

/// The interfaces of a link's end or of a node.
fn interfaces(capture: &Capture, layout: &Layout, ways: &[Way<'_>]) -> Vec<Interface> {
    let is_here = |at: &LinkEnd<'_>| match (&capture.link, &capture.node) {
        (Some(link), _) => names(link, &at.link.table, &at.link.name) && at.end == capture.end.unwrap_or(End::From),
        (None, Some(node)) => is_node(node, at.node),
        (None, None) => false,
    };
    let interface =
        |at: LinkEnd<'_>| Interface { name: format!("{}:{}", at.node, at.link.name), out: at.out, into: at.into };
    ends(layout, ways).into_iter().filter(is_here).map(interface).collect()
}

/// Whether `text` names the table `table` as a whole or its instance `name`.
fn names(text: &str, table: &str, name: &str) -> bool {
    text == table || text == name
}

fn is_node(text: &str, node: &str) -> bool {
    names(text, Reference::parse(node).name, node)
}

/// The greatest packet there is.
const MOST_SNAP: u64 = 65_535;

/// Whether what the captures name is there.
pub(crate) fn check(tables: &Tables, layout: &Layout, found: &mut Findings<'_>) {
    for (name, capture) in &tables.captures {
        let path = Path::of(&["capture", name]);
        check_place(capture, &path, layout, found);
        let snap = path.key("snap");
        if !(1..=MOST_SNAP).contains(&capture.snap.0) {
            let message = format!("`{snap}` is {}", capture.snap);
            found.value(&snap, message, format!("write 1 B to {MOST_SNAP} B; all headers fit in \"128 B\""));
        }
    }
}

fn check_place(capture: &Capture, path: &Path, layout: &Layout, found: &mut Findings<'_>) {
    match (&capture.link, &capture.node) {
        (Some(link), None) => {
            if !layout.links.iter().any(|l| names(link, &l.table, &l.name)) {
                let known: Vec<&String> = layout.links.iter().map(|l| &l.table).collect();
                let at = path.key("link");
                found.value(&at, format!("`{at}`: there is no link `{link}`"), suggest(link, &known, "links"));
            }
        }
        (None, Some(node)) => {
            if !layout.nodes.iter().any(|n| is_node(node, n)) {
                let known: Vec<&str> = layout.nodes.iter().map(|n| Reference::parse(n).name).collect();
                let at = path.key("node");
                found.value(&at, format!("`{at}`: there is no node `{node}`"), suggest(node, &known, "nodes"));
            }
            if capture.end.is_some() {
                let at = path.key("end");
                found.key(&at, format!("`{at}` is for a link"), "a node has all its interfaces captured");
            }
        }
        _ => found.key(path, format!("`{path}` needs a place"), "give it either `link` or `node`"),
    }
}
