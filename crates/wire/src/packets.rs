//! IP packets as sent by ecnlab's hosts and routers, in the simulator's captures and on real devices.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::{
    Checksum, Dscp, Ecn, IPV4_HEADER, Ipv4Header, Ipv6Header, QUENCH_LEN, Quench, QuenchCause, Segment, TcpHeader,
    TcpOptions, protocol,
};

/// Initial TTL and hop limit: Linux's default (RFC 1122 §3.2.1.7 leaves the value to the host).
const TTL: u8 = 64;

/// Returns the header of a datagram of `total` bytes that is never fragmented.
pub fn ipv4(source: Ipv4Addr, destination: Ipv4Addr, protocol: u8, ecn: Ecn, total: u32) -> Ipv4Header<'static> {
    Ipv4Header {
        dscp: 0,
        ecn,
        // A packet of more than 65535 bytes has length zero, as in Linux; no profile sends one.
        total_len: u16::try_from(total).unwrap_or(0),
        // RFC 6864 §4.1: without fragmentation no identification is needed.
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

/// Source and destination address of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// Of an IPv4 packet.
    V4(Ipv4Addr, Ipv4Addr),
    /// Of an IPv6 packet.
    V6(Ipv6Addr, Ipv6Addr),
}

impl Between {
    /// Appends the header of a packet with `len` bytes behind it. Returns the length of the whole packet.
    pub fn emit(self, protocol: u8, dscp: Dscp, ecn: Ecn, len: u32, out: &mut Vec<u8>) -> u32 {
        match self {
            Between::V4(source, destination) => {
                let total = IPV4_HEADER + len;
                Ipv4Header { dscp: dscp.bits(), ..ipv4(source, destination, protocol, ecn, total) }.emit(out);
                total
            }
            Between::V6(source, destination) => {
                let header = Ipv6Header {
                    dscp: dscp.bits(),
                    ecn,
                    flow_label: 0,
                    payload_len: u16::try_from(len).unwrap_or(0),
                    next_header: protocol,
                    hop_limit: TTL,
                    source,
                    destination,
                };
                header.emit(out);
                Ipv6Header::LEN as u32 + len
            }
        }
    }

    /// Sum of the pseudo-header.
    pub fn pseudo(self, protocol: u8, len: u32) -> Checksum {
        match self {
            Between::V4(source, destination) => Checksum::pseudo_ipv4(source, destination, protocol, len),
            Between::V6(source, destination) => Checksum::pseudo_ipv6(source, destination, protocol, len),
        }
    }
}

/// Appends `segment` with its `data` and a DSCP; the checksum assumes zeros for data that is not given. `ports` are those
/// of source and destination. Returns the length of the whole packet.
pub fn emit_segment(
    between: Between,
    ports: [u16; 2],
    dscp: Dscp,
    segment: &Segment,
    data: &[u8],
    out: &mut Vec<u8>,
) -> u32 {
    let mut options = Vec::with_capacity(40);
    TcpOptions::from(segment).emit(&mut options);
    let len = segment.tcp_len();
    let total = between.emit(protocol::TCP, dscp, segment.ecn, len, out);
    let [source, destination] = ports;
    let tcp = TcpHeader {
        source,
        destination,
        seq: segment.seq,
        ack: segment.ack,
        flags: segment.flags,
        window: segment.window,
        checksum: 0,
        urgent: 0,
        options: &options,
    };
    // Zeros do not change a checksum.
    tcp.emit(between.pseudo(protocol::TCP, len).bytes(data), out);
    out.extend(data);
    total
}

/// Appends the source quench of `router` about the packet that starts with `datagram`, addressed to its sender; returns
/// false and appends nothing unless that is an IPv4 datagram of TCP or UDP without IP options. The message has the DSCP
/// of the original packet (RFC 1812 §4.3.2.5 requires this of the type of service).
pub fn emit_quench(router: Ipv4Addr, cause: QuenchCause, datagram: &[u8], out: &mut Vec<u8>) -> bool {
    let (Some(message), Ok((about, _))) = (Quench::emit(cause, datagram), Ipv4Header::parse(datagram)) else {
        return false;
    };
    let ip = ipv4(router, about.source, protocol::ICMP, Ecn::NotEct, QUENCH_LEN);
    Ipv4Header { dscp: about.dscp, ..ip }.emit(out);
    out.extend(message);
    true
}
