//! The ACE field against the packets that came by (RFC 9768 §3.2.2.2).

use ecnlab_wire::Ecn;

use super::expected::{Entry, Span};
use crate::ecn_seen::Place;
use crate::rules::Rule;

/// The count at the start (§3.2.1).
const FIRST: u8 = 5;

/// What the field has told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ace {
    /// The latest value; none of a connection that began before the capture.
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

    /// The field of a packet: by how much it has moved at least, and what it breaks if the count moved by `span`.
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

/// What fits a packet of Ethernet, where nothing says what the receiver takes.
const ETHERNET: u32 = 1460;

/// How many packets `entry` may have been, of segments with up to `segment` bytes: hosts hand several to a capture as one.
fn packets(entry: &Entry, segment: Option<u32>) -> Span {
    let most = segment.unwrap_or(ETHERNET).max(2);
    if entry.len <= most {
        return Span { low: 1, high: 1 };
    }
    let low = segment.map_or(1, |_| entry.len.div_ceil(most));
    Span { low: low.into(), high: u64::from(entry.len / (most / 2)) + 1 }
}

/// By how much `entry` moves the count, seen at `place`.
pub(super) fn counts(entry: &Entry, place: Place, segment: Option<u32>) -> Span {
    let packets = packets(entry, segment);
    match (entry.ecn, place) {
        (Ecn::NotEct, _) | (Ecn::Ect0 | Ecn::Ect1, Place::Receiver) => Span::default(),
        (Ecn::Ect0 | Ecn::Ect1, _) => Span { low: 0, ..packets },
        (Ecn::Ce, _) if entry.sure => packets,
        (Ecn::Ce, _) => Span { low: 0, ..packets },
    }
}
