//! `[capture.NAME]`: the interfaces of a capture and its output file.

use ecnlab_engine::capture::{Capture as Tap, Interface, Settings};
use ecnlab_wire::pcap::Format;

use crate::Scenario;
use crate::file::{Capture, CaptureFormat, End, QueueSide};
use crate::layout::{Instance, Layout, Way};
use crate::names::is_called;

/// A capture of a scenario: its interfaces and its output.
#[derive(Clone, Debug, PartialEq)]
pub struct CapturePlan {
    /// The capture as the engine needs it.
    pub tap: Tap,
    /// Settings of the output file.
    pub settings: Settings,
    /// Name of the file in the run folder.
    pub file: String,
}

impl Scenario {
    /// Returns the captures of the scenario, in order of name.
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

/// A node's end of a link: the directions that leave and reach the node there.
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

/// Returns the interfaces of a link's end or of a node.
fn interfaces(capture: &Capture, layout: &Layout, ways: &[Way<'_>]) -> Vec<Interface> {
    let is_here = |at: &LinkEnd<'_>| match (&capture.link, &capture.node) {
        (Some(link), _) => is_called(&at.link.name, link) && at.end == capture.end.unwrap_or(End::From),
        (None, Some(node)) => is_called(at.node, node),
        (None, None) => false,
    };
    let interface =
        |at: LinkEnd<'_>| Interface { name: format!("{}:{}", at.node, at.link.name), out: at.out, into: at.into };
    ends(layout, ways).into_iter().filter(is_here).map(interface).collect()
}
