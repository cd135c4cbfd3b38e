//! Check of the ACE field against the captured packets (RFC 9768 §3.2.2.2).

use ecnlab_wire::Ecn;

use super::expected::{Entry, Span};
use crate::ecn_seen::Place;
use crate::rules::Rule;

/// Initial value of the counter (§3.2.1).
const FIRST: u8 = 5;

/// State of the ACE counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ace {
    /// The latest value; `None` if the connection began before the capture.
    base: Option<u8>,
}

impl Default for Ace {
    fn default() -> Ace {
        Ace { base: Some(FIRST) }
    }
}

impl Ace {
    pub fn join(&mut self) {
        self.base = None;
    }

    /// Processes the field of a packet: returns its minimum increment and the rule broken if the counter should have
    /// moved by `span`.
    pub fn take(&mut self, ace: u8, span: Span) -> (u64, Option<Rule>) {
        let Some(base) = self.base.replace(ace) else { return (0, None) };
        let ahead = |from: u64| u64::from(ace.wrapping_sub(base)).wrapping_sub(from) % 8;
        let width = span.high - span.low;
        if width >= 7 || ahead(span.low) <= width {
            return (ahead(0), None);
        }
        let (short, over) = (8 - ahead(span.low), ahead(span.high));
        let missing = span.low > 0 && short <= over;
        (ahead(0), Some(if missing { Rule::AceMissing } else { Rule::AceWithoutCe }))
    }
}

/// Default MSS, that of Ethernet, if the receiver announces none.
const ETHERNET: u32 = 1460;

/// Returns the number of packets that `entry` may stand for, with segments of up to `segment` bytes: offloading hosts
/// pass several to a capture as one.
fn packets(entry: &Entry, segment: Option<u32>) -> Span {
    let most = segment.unwrap_or(ETHERNET).max(2);
    if entry.len <= most {
        return Span { low: 1, high: 1 };
    }
    let low = segment.map_or(1, |_| entry.len.div_ceil(most));
    Span { low: low.into(), high: u64::from(entry.len / (most / 2)) + 1 }
}

/// Returns by how much `entry` increments the counter, as seen at `place`.
pub(super) fn counts(entry: &Entry, place: Place, segment: Option<u32>) -> Span {
    let packets = packets(entry, segment);
    match (entry.ecn, place) {
        (Ecn::NotEct, _) | (Ecn::Ect0 | Ecn::Ect1, Place::Receiver) => Span::default(),
        (Ecn::Ect0 | Ecn::Ect1, _) => Span { low: 0, ..packets },
        (Ecn::Ce, _) if entry.sure => packets,
        (Ecn::Ce, _) => Span { low: 0, ..packets },
    }
}
