//! Marks that are to be acknowledged at once (RFC 9768 §3.2.2.5.1, RFC 8257 §3.2), seen at the receiver.

use ecnlab_wire::Ecn;

use super::Scheme;
use crate::rules::{Rule, Violations};

/// A host in real time has this long; one in virtual time, which answers SYNs in no time, none. Delayed ACKs wait longer.
const AT_ONCE: u64 = 20_000_000;
/// §3.2.2.5.1: an ACK for no more than so many marks.
const MARKS: u32 = 7;

/// What waits for an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prompt {
    /// The last packet's codepoint, or that of the last data.
    last: Option<Ecn>,
    /// When a change came that has not been acknowledged.
    change: Option<u64>,
    /// Packets with CE since the receiver last sent one, and when there were as many as may be.
    marks: u32,
    many: Option<u64>,
}

impl Prompt {
    /// A packet with `len` bytes of payload that the receiver takes has come.
    pub fn arrive(&mut self, ecn: Ecn, len: u32, time: u64, scheme: Scheme) {
        if scheme == Scheme::Dctcp && len == 0 {
            return;
        }
        let (before, now) = (self.last.replace(ecn), ecn);
        let marked = |ecn: Ecn| ecn == Ecn::Ce;
        let changes = match scheme {
            Scheme::AccEcn => len > 0 && marked(now) && !before.is_some_and(marked),
            Scheme::Dctcp => marked(now) != before.is_some_and(marked),
        };
        if changes {
            self.change.get_or_insert(time);
        }
        if marked(now) {
            self.marks += 1;
            if self.marks == MARKS {
                self.many = Some(time);
            }
        }
    }

    /// The receiver sends; `virtual_time` says whether it needs no time for it.
    pub fn answer(&mut self, scheme: Scheme, virtual_time: bool, number: u64, time: u64, found: &mut Violations) {
        let limit = if virtual_time { 0 } else { AT_ONCE };
        let late = |since: Option<u64>| since.is_some_and(|since| time > since.saturating_add(limit));
        if late(self.change.take()) {
            found.add(if scheme == Scheme::AccEcn { Rule::AckOnCe } else { Rule::AckOnChange }, number, time);
        } else if scheme == Scheme::AccEcn && late(self.many) {
            found.add(Rule::AckOnMarks, number, time);
        }
        (self.marks, self.many) = (0, None);
    }
}
