//! Marks that require an immediate ACK (RFC 9768 §3.2.2.5.1, RFC 8257 §3.2), checked at the receiver.

use ecnlab_wire::Ecn;

use super::Scheme;
use crate::rules::{Rule, Violations};

/// Time in nanoseconds in which a real host must respond; a host in virtual time, which replies to SYNs in zero time,
/// gets none. Delayed ACKs wait longer.
const AT_ONCE: u64 = 20_000_000;
/// §3.2.2.5.1: maximum number of marks per ACK.
const MARKS: u32 = 7;

/// State of pending ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prompt {
    /// Codepoint of the last packet, or of the last data packet.
    last: Option<Ecn>,
    /// Time of a CE state change that is not yet acknowledged.
    change: Option<u64>,
    /// Packets with CE since the receiver's last packet, and the time at which they reached the maximum.
    marks: u32,
    many: Option<u64>,
}

impl Prompt {
    /// Processes a packet with `len` payload bytes that the receiver accepts.
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

    /// Processes a packet sent by the receiver; `virtual_time` if its host responds in zero time.
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
