//! A packet of the simulator as the bytes it would have on a wire: the one place where either becomes the other.
//!
//! The mapping is fixed (`docs/captures.md`): node `i` has the address 10.0.0.1 + `i`; connection `n` of a run has a port
//! from 49152 up at the flow's `to` end, 5001 or the next at its `from` end. No two connections share both. The datagrams
//! of a flow are a connection of their own. A source quench has its router's address.

use std::net::Ipv4Addr;

use ecnlab_aqm::Item;
use ecnlab_traffic::Side;
use ecnlab_wire::{
    Checksum, Datagram, Ecn, IPV4_HEADER, Ipv4Header, MESSAGE_LEN, QUENCH_LEN, Quench, Segment, TcpHeader, TcpOptions,
    TcpStart, UDP_HEADER, UdpHeader, protocol,
};

use crate::hosts::side_of;
use crate::packet::{Body, Cargo, Packet, Returned};

/// The address of node 0.
const FIRST_ADDRESS: u32 = u32::from_be_bytes([10, 0, 0, 1]);
/// The first port at `from`: iperf's, which no dissector claims.
const FIRST_SERVICE: u16 = 5001;
/// The first port at `to`, and how many there are: dynamic ports (RFC 6335 §6) below those that dissectors claim.
const FIRST_DYNAMIC: u16 = 49152;
const DYNAMIC: u32 = 7000;
/// Hosts start at 64 (RFC 1122 §3.2.1.7 leaves the value to them); the simulator's routers do not count down.
const TTL: u8 = 64;

/// The address of a node.
pub fn address(node: u32) -> Ipv4Addr {
    // A scenario has at most 100,000 nodes, the network 16 million addresses.
    Ipv4Addr::from(FIRST_ADDRESS + node)
}

/// The ports at `from` and at `to` of the run's connection `serial`.
pub fn ports(serial: u32) -> [u16; 2] {
    let service = FIRST_SERVICE.wrapping_add((serial / DYNAMIC) as u16);
    [service, FIRST_DYNAMIC + (serial % DYNAMIC) as u16]
}

/// Appends at most `snap` bytes of `packet`, which carries `cargo`, to `out`; returns the length of the whole packet.
/// Its payload is zeros, but for the number that a datagram begins with.
pub fn emit(packet: &Packet, cargo: &Cargo, snap: usize, out: &mut Vec<u8>) -> u32 {
    let start = out.len();
    let ends = Ends::of(packet, cargo);
    let total = match &cargo.body {
        Body::Tcp(segment) => ends.tcp(segment, packet.ecn(), out),
        Body::Datagram(datagram) => ends.udp(datagram, packet.ecn(), out),
        Body::Quench(quench, returned) => ends.quench(quench, returned, packet.ecn(), out),
    };
    out.resize(start + snap.min(total as usize), 0);
    total
}

/// Where a packet comes from and where it goes.
struct Ends {
    source: Ipv4Addr,
    destination: Ipv4Addr,
    /// At the source and at the destination; of a source quench those of the segment it is about, whose destination may
    /// be another.
    ports: [u16; 2],
}

impl Ends {
    fn of(packet: &Packet, cargo: &Cargo) -> Ends {
        let [from, to] = ports(cargo.connection);
        // Packets for the `to` end were sent by the `from` end, or on its behalf.
        let ports = if side_of(cargo.endpoint) == Side::To { [from, to] } else { [to, from] };
        Ends { source: address(cargo.from), destination: address(packet.to()), ports }
    }

    fn pseudo_header(&self, protocol: u8, len: u32) -> Checksum {
        Checksum::pseudo_ipv4(self.source, self.destination, protocol, len)
    }

    fn tcp(&self, segment: &Segment, ecn: Ecn, out: &mut Vec<u8>) -> u32 {
        let mut options = Vec::with_capacity(40);
        TcpOptions::from(segment).emit(&mut options);
        let total = segment.ipv4_len();
        ip(self.source, self.destination, protocol::TCP, ecn, total).emit(out);
        let tcp = TcpHeader {
            source: self.ports[0],
            destination: self.ports[1],
            seq: segment.seq,
            ack: segment.ack,
            flags: segment.flags,
            window: segment.window,
            checksum: 0,
            urgent: 0,
            options: &options,
        };
        // Zeros add nothing to a checksum, however many.
        tcp.emit(self.pseudo_header(protocol::TCP, total - IPV4_HEADER), out);
        total
    }

    fn udp(&self, datagram: &Datagram, ecn: Ecn, out: &mut Vec<u8>) -> u32 {
        let len = UDP_HEADER + datagram.len;
        let total = IPV4_HEADER + len;
        ip(self.source, self.destination, protocol::UDP, ecn, total).emit(out);
        let number = datagram.seq.to_be_bytes();
        let number = &number[..number.len().min(datagram.len as usize)];
        let [source, destination] = self.ports;
        let udp = UdpHeader { source, destination, len: in_16_bits(len), checksum: 0 };
        udp.emit(self.pseudo_header(protocol::UDP, len).bytes(number), out);
        out.extend(number);
        total
    }

    /// The message has its real length, which need not be the one that the simulator was told to charge for it.
    fn quench(&self, quench: &Quench, returned: &Returned, ecn: Ecn, out: &mut Vec<u8>) -> u32 {
        let mut datagram = Vec::with_capacity(MESSAGE_LEN);
        // The segment came from where the message goes.
        ip(self.destination, address(returned.to), protocol::TCP, returned.ecn, returned.len).emit(&mut datagram);
        let [destination, source] = self.ports;
        TcpStart { source, destination, seq: quench.seq }.emit(&mut datagram);
        ip(self.source, self.destination, protocol::ICMP, ecn, QUENCH_LEN).emit(out);
        out.extend(Quench::emit(quench.cause, &datagram).into_iter().flatten());
        QUENCH_LEN
    }
}

fn ip(source: Ipv4Addr, destination: Ipv4Addr, protocol: u8, ecn: Ecn, total: u32) -> Ipv4Header<'static> {
    Ipv4Header {
        dscp: 0,
        ecn,
        total_len: in_16_bits(total),
        // RFC 6864 §4.1: a datagram that is never fragmented needs no identification.
        id: 0,
        dont_fragment: true,
        more_fragments: false,
        fragment_offset: 0,
        ttl: TTL,
        protocol,
        checksum: 0,
        source,
        destination,
        options: &[],
    }
}

/// A packet of more than 65535 bytes has no length (Linux writes zero): no profile makes one.
fn in_16_bits(len: u32) -> u16 {
    u16::try_from(len).unwrap_or(0)
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
