//! A packet of the simulator as the bytes it would have on a wire: the one place where either becomes the other.
//!
//! The mapping is fixed (`docs/captures.md`): node `i` has the address 10.0.0.1 + `i`; connection `n` of a run has a port
//! from 49152 up at the flow's `to` end, 5001 or the next at its `from` end. No two connections share both.

use std::net::Ipv4Addr;

use ecnlab_wire::{Checksum, Ipv4Header, TcpHeader, TcpOptions, protocol};

use crate::packet::Packet;
use crate::plan::Plan;

/// The address of node 0.
const FIRST_ADDRESS: u32 = u32::from_be_bytes([10, 0, 0, 1]);
/// The first port at `from`: iperf's, which no dissector claims.
const FIRST_SERVICE: u16 = 5001;
/// The first port at `to`, and how many there are: dynamic ports (RFC 6335 §6) below those that dissectors claim.
const FIRST_DYNAMIC: u16 = 49152;
const DYNAMIC: u32 = 7000;
/// Hosts start at 64 (RFC 1122 §3.2.1.7 leaves the value to them); the simulator's routers do not count down.
const TTL: u8 = 64;

/// The nodes and addresses of a run.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// By flow, the nodes at `from` and at `to`.
    ends: Vec<[Ipv4Addr; 2]>,
}

/// The address of a node.
pub fn address(node: usize) -> Ipv4Addr {
    // A scenario has at most 100,000 nodes, the network 16 million addresses.
    Ipv4Addr::from(FIRST_ADDRESS + node as u32)
}

/// The ports at `from` and at `to` of the run's connection `serial`.
pub fn ports(serial: u32) -> [u16; 2] {
    let service = FIRST_SERVICE.wrapping_add((serial / DYNAMIC) as u16);
    [service, FIRST_DYNAMIC + (serial % DYNAMIC) as u16]
}

impl Addresses {
    /// Those of `plan`.
    pub fn new(plan: &Plan) -> Addresses {
        Addresses { ends: plan.flows.iter().map(|flow| [address(flow.from), address(flow.to)]).collect() }
    }

    /// Appends at most `snap` bytes of `packet` to `out`; returns the length of the whole packet. Its payload is zeros.
    pub fn emit(&self, packet: &Packet, snap: usize, out: &mut Vec<u8>) -> u32 {
        let start = out.len();
        let segment = &packet.segment;
        // Packets for the `to` end were sent by the `from` end.
        let (from, to) = if packet.endpoint.is_multiple_of(2) { (1, 0) } else { (0, 1) };
        let ends = self.ends[packet.flow as usize];
        let ports = ports(packet.connection);
        let mut options = Vec::with_capacity(40);
        TcpOptions::from(segment).emit(&mut options);
        let total = segment.ipv4_len();
        let ip = Ipv4Header {
            dscp: 0,
            ecn: segment.ecn,
            // A packet of more than 65535 bytes has no length (Linux writes zero): no profile makes one.
            total_len: u16::try_from(total).unwrap_or(0),
            // RFC 6864 §4.1: a datagram that is never fragmented needs no identification.
            id: 0,
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: 0,
            ttl: TTL,
            protocol: protocol::TCP,
            checksum: 0,
            source: ends[from],
            destination: ends[to],
            options: &[],
        };
        ip.emit(out);
        let tcp = TcpHeader {
            source: ports[from],
            destination: ports[to],
            seq: segment.seq,
            ack: segment.ack,
            flags: segment.flags,
            window: segment.window,
            checksum: 0,
            urgent: 0,
            options: &options,
        };
        // Zeros add nothing to a checksum, however many.
        let len = total - ip.len() as u32;
        tcp.emit(Checksum::pseudo_ipv4(ends[from], ends[to], protocol::TCP, len), out);
        out.resize(start + snap.min(total as usize), 0);
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_have_ports_of_their_own() {
        assert_eq!((ports(0), ports(6999), ports(7000)), ([5001, 49152], [5001, 56151], [5002, 49152]));
        assert_eq!((address(0), address(255)), (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 1, 0)));
    }
}
