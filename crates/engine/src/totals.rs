//! Sums over the connections of a flow.

use ecnlab_tcp::Counters;

/// Sums over a flow's connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// TCP counters of the `from` ends and of the `to` ends.
    pub tcp: [Counters; 2],
    /// Bytes that the application at `to` has read.
    pub delivered: u64,
    /// Exchanges completed.
    pub exchanges: u64,
    /// `from` sent the data of at least one connection as ECN-capable.
    pub ecn: bool,
    /// TCP connections opened.
    pub connections: u64,
    /// TCP connections whose handshake was completed at `from`.
    pub connections_established: u64,
    /// TCP connections on which `from` sent its data as ECN-capable.
    pub ecn_connections: u64,
    /// TCP connections that gave up ECN on a retransmitted SYN.
    pub ecn_fallbacks: u64,
}

impl Totals {
    /// Returns the counts since `earlier`, an earlier reading of the same flow.
    pub fn since(&self, earlier: &Totals) -> Totals {
        Totals {
            tcp: [0, 1].map(|side| self.tcp[side].since(&earlier.tcp[side])),
            delivered: self.delivered - earlier.delivered,
            exchanges: self.exchanges - earlier.exchanges,
            // Properties of a connection hold to its end: they do not restart with the window.
            ecn: self.ecn,
            connections: self.connections,
            connections_established: self.connections_established,
            ecn_connections: self.ecn_connections,
            ecn_fallbacks: self.ecn_fallbacks,
        }
    }
}
