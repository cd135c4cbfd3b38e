//! Memory of ECN fall-backs between connections (RFC 9768 §3.1.4.1): the peers to which a host offers no ECN for a time.

use std::collections::BTreeMap;

use ecnlab_base::{Dur, Time};
use ecnlab_tcp::Endpoint;

/// Successive failures after which the blockage counts as persistent. RFC 9768 states no number; this is
/// `ECN_MAX_SYN_LOSS` of Apple's bsd/netinet/tcp_cache.c.
const PERSISTENT: u32 = 2;

/// Failed offers of ECN, by the nodes of opener and peer.
#[derive(Default)]
pub struct Fallbacks(BTreeMap<[u32; 2], Failures>);

/// Successive connections that were established only by a SYN without the offer.
struct Failures {
    count: u32,
    last: Time,
}

impl Fallbacks {
    /// Whether a connection between `nodes`, opener first, that begins at `now` offers no ECN, with a TCP whose memory
    /// lasts for `memory`.
    pub fn suppress(&self, nodes: [u32; 2], memory: Dur, now: Time) -> bool {
        let failures = self.0.get(&nodes).filter(|failures| failures.count >= PERSISTENT);
        failures.is_some_and(|failures| now < failures.last.saturating_add(memory))
    }

    /// Records the outcome of the handshake between `nodes`, opener first, which `opener` completes at `now`. A
    /// connection with ECN clears the memory. One without it changes nothing unless it fell back: the peer may have no
    /// ECN, or there was no offer.
    pub fn record(&mut self, nodes: [u32; 2], opener: &Endpoint, now: Time) {
        if opener.ecn_negotiated() {
            self.0.remove(&nodes);
        } else if opener.counters().ecn_fallbacks > 0 {
            let failures = self.0.entry(nodes).or_insert(Failures { count: 0, last: now });
            *failures = Failures { count: failures.count + 1, last: now };
        }
    }
}
