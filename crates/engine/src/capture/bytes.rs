//! Conversion of a simulated packet to its bytes on the wire; the only place with this mapping.
//!
//! The mapping is fixed (`docs/captures.md`): node `i` has the addresses 10.0.0.1 + `i` and 2001:db8::1 + `i`; connection `n` of a run has a
//! port from 49152 up at the flow's `to` end, and 5001 or higher at its `from` end. No two connections share both
//! ports. The datagrams of a flow form their own connection. A source quench has its router's address.

use std::net::{Ipv4Addr, Ipv6Addr};

use ecnlab_aqm::Item;
use ecnlab_traffic::Side;
use ecnlab_wire::{
    Datagram, Dscp, Ecn, IPV4_HEADER, IpVersion, MESSAGE_LEN, QUENCH_LEN, Quench, Segment, TcpStart, UDP_HEADER,
    UdpHeader,
    packets::{self, Between},
    protocol,
};

use super::Seen;
use crate::hosts::side_of;
use crate::packet::{Body, Cargo, Packet, Returned};

/// The addresses of node 0.
const FIRST_ADDRESS: u32 = u32::from_be_bytes([10, 0, 0, 1]);
const FIRST_ADDRESS_V6: u128 = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).to_bits();
/// The first port at `from`: iperf's, which no dissector claims.
const FIRST_SERVICE: u16 = 5001;
/// The first port at `to` and the number of ports: dynamic ports (RFC 6335 §6) below those that dissectors claim.
const FIRST_DYNAMIC: u16 = 49152;
const DYNAMIC: u32 = 7000;

/// The IPv4 address of a node.
pub fn address(node: u32) -> Ipv4Addr {
    // A scenario has at most 100,000 nodes, the network 16 million addresses.
    Ipv4Addr::from(FIRST_ADDRESS + node)
}

/// The IPv6 address of a node, in the prefix for documentation (RFC 3849).
pub fn address_v6(node: u32) -> Ipv6Addr {
    Ipv6Addr::from_bits(FIRST_ADDRESS_V6 + u128::from(node))
}

/// The addresses of a packet from one node to another.
fn between(ip: IpVersion, source: u32, destination: u32) -> Between {
    match ip {
        IpVersion::V4 => Between::V4(address(source), address(destination)),
        IpVersion::V6 => Between::V6(address_v6(source), address_v6(destination)),
    }
}

/// The ports at `from` and at `to` of the run's connection `serial`.
pub fn ports(serial: u32) -> [u16; 2] {
    let service = FIRST_SERVICE.wrapping_add((serial / DYNAMIC) as u16);
    [service, FIRST_DYNAMIC + (serial % DYNAMIC) as u16]
}

/// Appends at most `snap` bytes of the captured packet to `out`; returns the length of the whole packet. The payload is
/// zero except for that of QUIC and the number at the start of other datagrams.
pub fn emit(seen: &Seen, snap: usize, out: &mut Vec<u8>) -> u32 {
    let Seen { packet, cargo, payload, .. } = seen;
    let start = out.len();
    let ends = Ends::of(packet, cargo);
    let total = match &cargo.body {
        Body::Tcp(segment) => ends.tcp(segment, packet.ecn(), out),
        Body::Datagram(datagram) => ends.udp(datagram.len, &number(datagram), packet.ecn(), out),
        Body::Quic(datagram) => ends.udp(datagram.len, payload.as_deref().unwrap_or_default(), packet.ecn(), out),
        Body::Quench(quench, returned) => ends.quench([cargo.from, packet.to()], quench, returned, out),
    };
    out.resize(start + snap.min(total as usize), 0);
    total
}

/// The bytes at the start of a datagram without payload of its own.
fn number(datagram: &Datagram) -> [u8; 4] {
    datagram.seq.to_be_bytes()
}

/// Source and destination of a packet.
struct Ends {
    addresses: Between,
    /// Ports of the source and the destination; for a source quench those of the segment it reports, whose destination
    /// may differ.
    ports: [u16; 2],
    dscp: Dscp,
}

impl Ends {
    fn of(packet: &Packet, cargo: &Cargo) -> Ends {
        let [from, to] = ports(cargo.connection);
        // Packets for the `to` end were sent by the `from` end, or on its behalf.
        let ports = if side_of(cargo.endpoint) == Side::To { [from, to] } else { [to, from] };
        Ends { addresses: between(packet.ip(), cargo.from, packet.to()), ports, dscp: packet.dscp() }
    }

    fn tcp(&self, segment: &Segment, ecn: Ecn, out: &mut Vec<u8>) -> u32 {
        packets::emit_segment(self.addresses, self.ports, self.dscp, &Segment { ecn, ..*segment }, &[], out)
    }

    /// Writes a datagram with `len` bytes of payload, which starts with `first`.
    fn udp(&self, len: u32, first: &[u8], ecn: Ecn, out: &mut Vec<u8>) -> u32 {
        let total = self.addresses.emit(protocol::UDP, self.dscp, ecn, UDP_HEADER + len, out);
        self.behind_ip(len, first, out);
        total
    }

    /// Writes the UDP header and the first bytes of a datagram with `payload` bytes.
    fn behind_ip(&self, payload: u32, first: &[u8], out: &mut Vec<u8>) {
        let len = UDP_HEADER + payload;
        let first = &first[..first.len().min(payload as usize)];
        let [source, destination] = self.ports;
        // As for the IPv4 length: above 65535 bytes the field is zero.
        let udp = UdpHeader { source, destination, len: u16::try_from(len).unwrap_or(0), checksum: 0 };
        udp.emit(self.addresses.pseudo(protocol::UDP, len).bytes(first), out);
        out.extend(first);
    }

    /// The message between these nodes has its real length, which may differ from the length charged in the simulator.
    fn quench(&self, [router, sender]: [u32; 2], quench: &Quench, returned: &Returned, out: &mut Vec<u8>) -> u32 {
        let mut datagram = Vec::with_capacity(MESSAGE_LEN);
        // The returned header has the message's destination as its source.
        let [destination, source] = self.ports;
        let about = Ends {
            addresses: between(IpVersion::V4, sender, returned.to),
            ports: [source, destination],
            dscp: self.dscp,
        };
        let over = if returned.udp { protocol::UDP } else { protocol::TCP };
        about.addresses.emit(over, self.dscp, returned.ecn, returned.len.saturating_sub(IPV4_HEADER), &mut datagram);
        if returned.udp {
            let first = quench.seq.0.to_be_bytes();
            about.behind_ip(returned.len.saturating_sub(IPV4_HEADER + UDP_HEADER), &first, &mut datagram);
        } else {
            TcpStart { source, destination, seq: quench.seq }.emit(&mut datagram);
        }
        packets::emit_quench(address(router), quench.cause, &datagram, out);
        QUENCH_LEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_have_ports_of_their_own() {
        assert_eq!((ports(0), ports(6999), ports(7000)), ([5001, 49152], [5001, 56151], [5002, 49152]));
        assert_eq!((address(0), address(255)), (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 1, 0)));
        assert_eq!([0, 255].map(|node| address_v6(node).to_string()), ["2001:db8::1", "2001:db8::100"]);
    }
}
