//! Captures made by hand: two hosts, each packet one line.

#![allow(dead_code, reason = "not every test file needs every helper")]

use std::io::Cursor;
use std::net::Ipv4Addr;

use ecnlab_trace::{Analysis, Input, Rule, Standard, TraceError, Tracker, analyse};
use ecnlab_wire::pcap::{Direction, Format, Packet, Writer};
use ecnlab_wire::{Checksum, Ecn, Flags, Ipv4Header, Seq, TcpHeader, TcpOptions, protocol};

pub const CLIENT: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
pub const SERVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
pub const A: Flags = Flags::ACK;
pub const ECE: Flags = Flags::ACK.union(Flags::ECE);
pub const CWR: Flags = Flags::ACK.union(Flags::CWR);
/// Payload of a full segment.
pub const MSS: u32 = 1000;

/// One packet.
#[derive(Clone)]
pub struct P {
    /// Milliseconds.
    pub at: u64,
    pub from_client: bool,
    pub flags: Flags,
    pub seq: u32,
    pub ack: u32,
    pub len: u32,
    pub ecn: Ecn,
    pub window: u16,
    pub id: u16,
    pub options: TcpOptions,
}

/// From the client, with no data.
pub fn c(at: u64, flags: Flags, seq: u32, ack: u32) -> P {
    let options = TcpOptions::default();
    P { at, from_client: true, flags, seq, ack, len: 0, ecn: Ecn::NotEct, window: 60_000, id: 0, options }
}

/// From the server, with no data.
pub fn s(at: u64, flags: Flags, seq: u32, ack: u32) -> P {
    P { from_client: false, ..c(at, flags, seq, ack) }
}

/// A full ECT segment of the client, the n-th from 0.
pub fn d(at: u64, n: u32) -> P {
    P { len: MSS, ecn: Ecn::Ect0, ..c(at, A, 1 + n * MSS, 1) }
}

/// The server's ACK of the client's first `n` segments.
pub fn a(at: u64, n: u32) -> P {
    s(at, A, 1, 1 + n * MSS)
}

impl P {
    pub fn ecn(self, ecn: Ecn) -> P {
        P { ecn, ..self }
    }
    pub fn flags(self, flags: Flags) -> P {
        P { flags, ..self }
    }
    pub fn len(self, len: u32) -> P {
        P { len, ..self }
    }
    pub fn window(self, window: u16) -> P {
        P { window, ..self }
    }
    pub fn id(self, id: u16) -> P {
        P { id, ..self }
    }
    pub fn options(self, options: TcpOptions) -> P {
        P { options, ..self }
    }

    /// The IP packet, payload zero.
    pub fn bytes(&self) -> Vec<u8> {
        let mut options = Vec::new();
        self.options.emit(&mut options);
        let (source, destination) = if self.from_client { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
        let ports = if self.from_client { (40_000, 80) } else { (80, 40_000) };
        let len = 20 + options.len() as u32 + self.len;
        let ip = Ipv4Header {
            dscp: 0,
            ecn: self.ecn,
            total_len: 20 + len as u16,
            id: self.id,
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: 0,
            ttl: 64,
            protocol: protocol::TCP,
            checksum: 0,
            source,
            destination,
            options: &[],
        };
        let tcp = TcpHeader {
            source: ports.0,
            destination: ports.1,
            seq: Seq(self.seq),
            ack: Seq(self.ack),
            flags: self.flags,
            window: self.window,
            checksum: 0,
            urgent: 0,
            options: &options,
        };
        let mut bytes = Vec::new();
        ip.emit(&mut bytes);
        tcp.emit(Checksum::pseudo_ipv4(source, destination, protocol::TCP, len), &mut bytes);
        bytes.resize(bytes.len() + self.len as usize, 0);
        bytes
    }
}

/// A handshake that agrees on ECN, in the first 10 ms.
pub fn ecn_handshake() -> Vec<P> {
    let (ask, agree) = (Flags::SYN | Flags::ECE | Flags::CWR, Flags::SYN | Flags::ACK | Flags::ECE);
    vec![c(0, ask, 0, 0), s(10, agree, 0, 1), c(10, A, 1, 1)]
}

/// One that does not.
pub fn plain_handshake() -> Vec<P> {
    vec![c(0, Flags::SYN, 0, 0), s(10, Flags::SYN | A, 0, 1), c(10, A, 1, 1)]
}

/// A pcapng of the packets.
pub fn capture(packets: &[P]) -> Vec<u8> {
    let mut file = Writer::new(Vec::new(), Format::Pcapng, &["test".to_owned()], 65_535).unwrap();
    for packet in packets {
        let bytes = packet.bytes();
        let original_len = bytes.len() as u32;
        let direction = if packet.from_client { Direction::Outbound } else { Direction::Inbound };
        let time_ns = packet.at * 1_000_000;
        let packet = Packet { interface: 0, time_ns, bytes: &bytes, original_len, direction, comment: None };
        file.packet(&packet).unwrap();
    }
    file.finish().unwrap()
}

pub fn read(bytes: Vec<u8>) -> Result<Analysis, TraceError> {
    read_as(bytes, Standard::Rfc3168)
}

pub fn read_as(bytes: Vec<u8>, standard: Standard) -> Result<Analysis, TraceError> {
    analyse(Input::new(Box::new(Cursor::new(bytes)))?, Tracker::new(standard), |_| true)
}

/// What the packets are found to be.
pub fn found(packets: &[P]) -> Analysis {
    let analysis = read(capture(packets)).unwrap();
    assert!(analysis.damage.is_none());
    analysis
}

/// Rules broken, each with the number of the packet, from 1.
pub fn broken(packets: &[P], standard: Standard) -> Vec<(Rule, u64)> {
    let analysis = read_as(capture(packets), standard).unwrap();
    let ends = analysis.tracker.connections().flat_map(|c| c.into_owned().ends);
    let mut all: Vec<_> =
        ends.flat_map(|end| end.violations.list().iter().map(|v| (v.rule, v.packet)).collect::<Vec<_>>()).collect();
    all.sort_by_key(|v| v.1);
    all
}
