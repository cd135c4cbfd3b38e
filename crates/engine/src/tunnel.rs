//! Tunnels: the ECN field of the outer IP header, written by the ingress and combined with the inner one by the egress.

use ecnlab_aqm::Item;
use ecnlab_wire::Ecn;

use crate::packet::Packet;
use crate::plan::{Egress, Ingress, TunnelPlan};

/// Counters of the tunnel endpoints at one link; they never decrease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TunnelCounters {
    /// Packets encapsulated before they entered the link.
    pub encapsulated: u64,
    /// Packets decapsulated after the link, including those dropped there.
    pub decapsulated: u64,
    /// Decapsulated packets that arrived without CE in the inner header and left with CE.
    pub ce_propagated: u64,
    /// Decapsulated packets that arrived with ECT(0) in the inner header and left with ECT(1).
    pub ect1_propagated: u64,
    /// Decapsulated packets with CE in the outer header that left without CE.
    pub ce_discarded: u64,
    /// Decapsulated packets dropped because of CE in the outer header.
    pub dropped: u64,
    /// Decapsulated packets with codepoints that RFC 6040 calls always potentially dangerous.
    pub dangerous: u64,
    /// Decapsulated packets with codepoints that RFC 6040 calls possibly dangerous.
    pub possibly_dangerous: u64,
}

impl TunnelCounters {
    /// Returns the counts since `earlier`, an earlier reading of the same link.
    pub fn since(&self, earlier: &TunnelCounters) -> TunnelCounters {
        TunnelCounters {
            encapsulated: self.encapsulated - earlier.encapsulated,
            decapsulated: self.decapsulated - earlier.decapsulated,
            ce_propagated: self.ce_propagated - earlier.ce_propagated,
            ect1_propagated: self.ect1_propagated - earlier.ect1_propagated,
            ce_discarded: self.ce_discarded - earlier.ce_discarded,
            dropped: self.dropped - earlier.dropped,
            dangerous: self.dangerous - earlier.dangerous,
            possibly_dangerous: self.possibly_dangerous - earlier.possibly_dangerous,
        }
    }
}

/// Tunnel endpoints at one link.
#[derive(Debug)]
pub struct Tunnel {
    plan: TunnelPlan,
    counters: TunnelCounters,
}

impl Tunnel {
    /// Creates the endpoints with all counters at zero.
    pub fn new(plan: &TunnelPlan) -> Tunnel {
        Tunnel { plan: plan.clone(), counters: TunnelCounters::default() }
    }

    /// Number of the tunnel, unique in the run.
    pub fn number(&self) -> u32 {
        self.plan.number
    }

    /// Counters of the endpoints at this link.
    pub fn counters(&self) -> TunnelCounters {
        self.counters
    }

    /// Adds an outer header to `packet`. Returns the codepoint of the inner header, which the egress needs.
    pub fn encapsulate(&mut self, packet: &mut Packet) -> Ecn {
        self.counters.encapsulated += 1;
        let inner = packet.ecn();
        packet.set_ecn(self.plan.ingress.outer(inner));
        packet.set_wire_len(packet.wire_len() + self.plan.overhead);
        inner
    }

    /// Removes the outer header from `packet`, whose inner header has the codepoint `inner`. Returns whether the packet
    /// is forwarded.
    pub fn decapsulate(&mut self, packet: &mut Packet, inner: Ecn) -> bool {
        let outer = packet.ecn();
        let left = self.plan.egress.combined(inner, outer);
        let counters = &mut self.counters;
        counters.decapsulated += 1;
        match unused(inner, outer) {
            Unused::No => {}
            Unused::Possibly => counters.possibly_dangerous += 1,
            Unused::Always => counters.dangerous += 1,
        }
        packet.set_wire_len(packet.wire_len() - self.plan.overhead);
        let Some(ecn) = left else {
            counters.dropped += 1;
            return false;
        };
        packet.set_ecn(ecn);
        counters.ce_propagated += u64::from(inner != Ecn::Ce && ecn == Ecn::Ce);
        counters.ect1_propagated += u64::from(inner == Ecn::Ect0 && ecn == Ecn::Ect1);
        counters.ce_discarded += u64::from(outer == Ecn::Ce && ecn != Ecn::Ce);
        true
    }
}

impl Ingress {
    /// Returns the outer codepoint for an inner one.
    fn outer(self, inner: Ecn) -> Ecn {
        match (self, inner) {
            (Ingress::Normal, copied) => copied,
            (Ingress::Compatibility, _) => Ecn::NotEct,
            (Ingress::Rfc3168Full, Ecn::Ce) => Ecn::Ect0,
            (Ingress::Rfc3168Full, copied) => copied,
        }
    }
}

impl Egress {
    /// Returns the codepoint of the decapsulated packet; `None` if it is dropped.
    fn combined(self, inner: Ecn, outer: Ecn) -> Option<Ecn> {
        match (self, inner, outer) {
            (Egress::Rfc2003, inner, _) => Some(inner),
            // RFC 3168 §9.1.1 and §9.1.2: with CE in both headers it is forwarded.
            (Egress::Rfc3168Limited, inner, Ecn::Ce) if inner != Ecn::Ce => None,
            (Egress::Rfc3168Limited, inner, _) => Some(inner),
            (_, Ecn::NotEct, Ecn::Ce) => None,
            (_, Ecn::NotEct, _) => Some(Ecn::NotEct),
            (_, _, Ecn::Ce) => Some(Ecn::Ce),
            (Egress::Rfc6040, Ecn::Ect0, Ecn::Ect1) => Some(Ecn::Ect1),
            (_, inner, _) => Some(inner),
        }
    }
}

/// Codepoint pairs that no encapsulation, current or former, produces (RFC 6040, figure 4).
enum Unused {
    No,
    /// "(!)": possibly dangerous.
    Possibly,
    /// "(!!!)": always potentially dangerous.
    Always,
}

fn unused(inner: Ecn, outer: Ecn) -> Unused {
    match (inner, outer) {
        (Ecn::NotEct, Ecn::Ect0 | Ecn::Ect1 | Ecn::Ce) | (Ecn::Ce, Ecn::Ect1) => Unused::Always,
        (Ecn::Ect1, Ecn::Ect0) => Unused::Possibly,
        _ => Unused::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Label;

    const NOT: Ecn = Ecn::NotEct;
    const E0: Ecn = Ecn::Ect0;
    const E1: Ecn = Ecn::Ect1;
    const CE: Ecn = Ecn::Ce;
    /// The codepoints in the order of RFC 6040's tables.
    const ALL: [Ecn; 4] = [NOT, E0, E1, CE];

    fn tunnel(ingress: Ingress, egress: Egress, overhead: u32) -> Tunnel {
        Tunnel::new(&TunnelPlan { name: "t".to_owned(), number: 0, ingress, egress, overhead })
    }

    fn packet(ecn: Ecn) -> Packet {
        Packet::from(Label { wire_len: 1500, ecn, ..Label::default() })
    }

    /// Returns the resulting codepoint of an inner and outer one, and the counters.
    fn leaves(egress: Egress, inner: Ecn, outer: Ecn) -> (Option<Ecn>, TunnelCounters) {
        let mut tunnel = tunnel(Ingress::Normal, egress, 0);
        let mut packet = packet(outer);
        let through = tunnel.decapsulate(&mut packet, inner);
        (through.then(|| packet.ecn()), tunnel.counters())
    }

    #[test]
    fn the_outer_field_is_that_of_figure_3_of_rfc_6040_and_of_rfc_3168() {
        // Columns: inner Not-ECT, ECT(0), ECT(1), CE.
        let figure_3 = [
            (Ingress::Compatibility, [NOT, NOT, NOT, NOT]),
            (Ingress::Normal, [NOT, E0, E1, CE]),
            // RFC 3168 §9.1.1, full functionality.
            (Ingress::Rfc3168Full, [NOT, E0, E1, E0]),
        ];
        for (ingress, outers) in figure_3 {
            for (inner, outer) in ALL.into_iter().zip(outers) {
                let (mut tunnel, mut packet) = (tunnel(ingress, Egress::Rfc6040, 0), packet(inner));
                assert_eq!(tunnel.encapsulate(&mut packet), inner, "{ingress:?}");
                assert_eq!(packet.ecn(), outer, "{ingress:?} {inner:?}");
                assert_eq!(tunnel.counters(), TunnelCounters { encapsulated: 1, ..TunnelCounters::default() });
            }
        }
    }

    #[test]
    fn the_egress_is_figure_4_of_rfc_6040() {
        const DROP: Option<Ecn> = None;
        // Rows: inner; columns: outer Not-ECT, ECT(0), ECT(1), CE. The second value is the number of "!" marks.
        let figure_4 = [
            (NOT, [(Some(NOT), 0), (Some(NOT), 3), (Some(NOT), 3), (DROP, 3)]),
            (E0, [(Some(E0), 0), (Some(E0), 0), (Some(E1), 0), (Some(CE), 0)]),
            (E1, [(Some(E1), 0), (Some(E1), 1), (Some(E1), 0), (Some(CE), 0)]),
            (CE, [(Some(CE), 0), (Some(CE), 0), (Some(CE), 3), (Some(CE), 0)]),
        ];
        for (inner, row) in figure_4 {
            for (outer, (expected, alarm)) in ALL.into_iter().zip(row) {
                let (left, counters) = leaves(Egress::Rfc6040, inner, outer);
                assert_eq!(left, expected, "{inner:?} in {outer:?}");
                let counted = TunnelCounters {
                    decapsulated: 1,
                    dropped: u64::from(expected.is_none()),
                    dangerous: u64::from(alarm == 3),
                    possibly_dangerous: u64::from(alarm == 1),
                    ce_propagated: u64::from(expected == Some(CE) && inner != CE),
                    ect1_propagated: u64::from(expected == Some(E1) && inner != E1),
                    ..TunnelCounters::default()
                };
                assert_eq!(counters, counted, "{inner:?} in {outer:?}");
            }
        }
    }

    #[test]
    fn older_egresses_are_those_of_their_rfcs() {
        for inner in ALL {
            for outer in ALL {
                let left = |egress| leaves(egress, inner, outer).0;
                // RFC 3168 §9.1.1: CE is copied, else nothing changes; CE on Not-ECT is dropped.
                let full = if outer == CE { (inner != NOT).then_some(CE) } else { Some(inner) };
                assert_eq!(left(Egress::Rfc3168Full), full, "{inner:?} in {outer:?}");
                // §9.1.2: dropped if CE is in the outer header and not in the inner one; else nothing changes.
                let limited = if outer == CE && inner != CE { None } else { Some(inner) };
                assert_eq!(left(Egress::Rfc3168Limited), limited, "{inner:?} in {outer:?}");
                let (left, counters) = leaves(Egress::Rfc2003, inner, outer);
                assert_eq!(left, Some(inner));
                assert_eq!(counters.ce_discarded, u64::from(outer == CE && inner != CE), "{inner:?} in {outer:?}");
                assert_eq!((counters.ce_propagated, counters.dropped), (0, 0));
            }
        }
    }

    #[test]
    fn the_outer_header_has_its_bytes() {
        let (mut tunnel, mut packet) = (tunnel(Ingress::Normal, Egress::Rfc6040, 20), packet(E0));
        let inner = tunnel.encapsulate(&mut packet);
        assert_eq!(packet.wire_len(), 1520);
        assert!(tunnel.decapsulate(&mut packet, inner));
        assert_eq!((packet.wire_len(), packet.ecn()), (1500, E0));
    }

    #[test]
    fn counters_of_a_window_are_differences() {
        let late = TunnelCounters {
            encapsulated: 10,
            decapsulated: 20,
            ce_propagated: 30,
            ect1_propagated: 40,
            ce_discarded: 50,
            dropped: 60,
            dangerous: 70,
            possibly_dangerous: 80,
        };
        let early = TunnelCounters {
            encapsulated: 1,
            decapsulated: 2,
            ce_propagated: 3,
            ect1_propagated: 4,
            ce_discarded: 5,
            dropped: 6,
            dangerous: 7,
            possibly_dangerous: 8,
        };
        let between = TunnelCounters {
            encapsulated: 9,
            decapsulated: 18,
            ce_propagated: 27,
            ect1_propagated: 36,
            ce_discarded: 45,
            dropped: 54,
            dangerous: 63,
            possibly_dangerous: 72,
        };
        assert_eq!(late.since(&early), between);
    }
}
