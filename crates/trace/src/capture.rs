//! Reading a capture from the first packet to the last.

use std::collections::HashSet;

use ecnlab_wire::{IpPacket, protocol};

use crate::container::{Interface, Reader, Record};
use crate::datagrams::Datagrams;
use crate::error::TraceError;
use crate::fragments::{Fragments, Whole};
use crate::input::Input;
use crate::link::{Frame, device_of, ip_of, link_type, u16_at};
use crate::packet::{Segment, segment};
use crate::tracker::Tracker;
use crate::tunnel::{UdpTunnels, behind_authentication, inside};
use crate::twice::Twice;

/// Totals of a capture, including packets that belong to no connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Packets of any kind.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// TCP packets; a segment reassembled from fragments counts once.
    pub tcp: u64,
    /// UDP packets.
    pub udp: u64,
    /// The flows of UDP.
    pub datagrams: Datagrams,
    /// ICMP and ICMPv6 packets.
    pub icmp: u64,
    /// IP packets of other protocols.
    pub other_ip: u64,
    /// Frames without IP.
    pub other: u64,
    /// Packets of tunnels, which count as the kind of packet inside.
    pub tunnelled: u64,
    /// Fragments.
    pub fragments: u64,
    /// Packets truncated before the end of their headers.
    pub cut: u64,
    /// Packets with invalid headers.
    pub malformed: u64,
    /// Frames of an unknown link type.
    pub unknown_link: u64,
    /// Times of the first and the last packet, in nanoseconds since 1970.
    pub times: Option<(u64, u64)>,
    /// Packets with a timestamp earlier than that of a preceding packet.
    pub back_in_time: u64,
    /// Longest time by which a timestamp is earlier than that of a preceding packet, in nanoseconds.
    pub step_back: u64,
    /// Packets without a timestamp (pcapng's Simple Packet Blocks).
    pub untimed: u64,
    /// Interface indices in cooked headers of version 2, in order of appearance.
    pub devices: Vec<u32>,
    /// Packets that are not analysed, by kind.
    pub unread: Vec<(Unread, u64)>,
}

impl Totals {
    /// The counts by name.
    pub fn counts(&self) -> [(&'static str, u64); 15] {
        [
            ("packets", self.packets),
            ("bytes", self.bytes),
            ("tcp", self.tcp),
            ("udp", self.udp),
            ("icmp", self.icmp),
            ("other_ip", self.other_ip),
            ("other", self.other),
            ("tunnelled", self.tunnelled),
            ("fragments", self.fragments),
            ("cut", self.cut),
            ("malformed", self.malformed),
            ("unknown_link", self.unknown_link),
            ("back_in_time", self.back_in_time),
            ("step_back_ns", self.step_back),
            ("untimed", self.untimed),
        ]
    }
}

/// Kind of a packet that is not analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// Of an unknown link type.
    LinkType(u16),
    /// Not IP: the EtherType, 0 if it has none.
    EtherType(u16),
    /// IP with another protocol than TCP, UDP and ICMP.
    Protocol(u8),
    /// UDP to a port of a tunnel that is not opened.
    UdpPort(u16),
}

/// Maximum number of kinds of packets, and of interfaces, that are counted separately.
const KINDS: usize = 64;
/// Maximum depth of tunnels in tunnels; a packet deeper inside is not analysed.
const DEPTH: u32 = 8;

/// Reads the TCP segments of a capture one after the other.
pub struct Capture {
    reader: Reader,
    fragments: Fragments,
    tunnels: UdpTunnels,
    totals: Totals,
}

impl Capture {
    /// Opens a capture by reading its header.
    ///
    /// # Errors
    /// If the input is not a capture.
    pub fn new(input: Input) -> Result<Capture, TraceError> {
        Ok(Capture {
            reader: Reader::new(input)?,
            fragments: Fragments::default(),
            tunnels: UdpTunnels::default(),
            totals: Totals::default(),
        })
    }

    /// Opens these tunnels over UDP.
    #[must_use]
    pub fn opening(self, tunnels: UdpTunnels) -> Capture {
        Capture { tunnels, ..self }
    }

    /// Totals of the packets read so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }
    /// Interfaces found so far.
    pub fn interfaces(&self) -> &[Interface] {
        self.reader.interfaces()
    }

    /// Reads the next packet and passes it to `take` if it is a TCP segment; returns false at the end of the capture.
    ///
    /// # Errors
    /// If the file ends inside a packet or a record is invalid.
    #[inline]
    pub fn step(&mut self, take: impl FnOnce(&Segment<'_>)) -> Result<bool, TraceError> {
        let Capture { reader, fragments, tunnels, totals } = self;
        let Some(mut record) = reader.read()? else { return Ok(false) };
        totals.packets += 1;
        totals.bytes += u64::from(record.original_len);
        if record.timed {
            totals.note_time(record.time_ns);
        } else {
            totals.untimed += 1;
            record.time_ns = totals.times.map_or(0, |times| times.1);
        }
        if record.link_type == link_type::LINUX_SLL2 {
            totals.note_device(&mut record);
        }
        let bytes = match ip_of(record.link_type, record.bytes) {
            Frame::Ip(bytes) => bytes,
            frame => {
                totals.without_ip(frame, &record);
                return Ok(true);
            }
        };
        let Ok(ip) = IpPacket::parse_cut(bytes, bytes.len() + record.uncaptured()) else {
            totals.broken(&record);
            return Ok(true);
        };
        let mut packet = Within { record: &record, totals, fragments, tunnels };
        if ip.protocol == protocol::TCP && ip.fragment.is_none() {
            packet.tcp(&ip, take);
        } else {
            packet.open(&ip, 0, take);
        }
        Ok(true)
    }
}

/// A packet whose contents are searched for a TCP segment.
struct Within<'a> {
    record: &'a Record<'a>,
    totals: &'a mut Totals,
    fragments: &'a mut Fragments,
    tunnels: &'a UdpTunnels,
}

impl Within<'_> {
    #[inline]
    fn tcp(&mut self, ip: &IpPacket<'_>, take: impl FnOnce(&Segment<'_>)) {
        match segment(ip, self.record) {
            Some(found) => {
                self.totals.tcp += 1;
                take(&found);
            }
            None => self.totals.broken(self.record),
        }
    }

    /// Handles a packet with another protocol than TCP, or a fragment: `depth` tunnels are around it.
    #[inline(never)]
    fn open(&mut self, ip: &IpPacket<'_>, depth: u32, take: impl FnOnce(&Segment<'_>)) {
        if let Some(fragment) = ip.fragment {
            self.totals.fragments += 1;
            let Some(Whole { head, len, ecn }) = self.fragments.add(ip, fragment) else { return };
            let whole = IpPacket { fragment: None, payload_len: len, payload: &head, ecn, ..*ip };
            return self.open(&whole, depth, take);
        }
        if ip.protocol == protocol::TCP {
            return self.tcp(ip, take);
        }
        if let Some(behind) = behind_authentication(ip).filter(|_| depth < DEPTH) {
            return self.open(&behind, depth + 1, take);
        }
        let (totals, record) = (&mut *self.totals, self.record);
        match inside(ip, self.tunnels) {
            Some(Frame::Ip(bytes)) if depth < DEPTH => {
                let headers = (ip.payload.len() - bytes.len()) as u32;
                let len = ip.payload_len.saturating_sub(headers) as usize;
                totals.tunnelled += u64::from(depth == 0);
                match IpPacket::parse_cut(bytes, len) {
                    Ok(inner) => self.open(&inner, depth + 1, take),
                    Err(_) => totals.broken(record),
                }
            }
            None | Some(Frame::Ip(_)) => totals.other_protocol(ip, record.time_ns),
            Some(frame) => {
                totals.tunnelled += u64::from(depth == 0);
                totals.without_ip(frame, record);
            }
        }
    }
}

impl Totals {
    /// Records the time of a packet in nanoseconds since 1970. A packet without a time gets that of the packets before it.
    #[inline]
    fn note_time(&mut self, time: u64) {
        self.times = match self.times {
            Some((first, last)) => {
                if time < last {
                    self.back_in_time += 1;
                    self.step_back = self.step_back.max(last - time);
                }
                Some((first.min(time), last.max(time)))
            }
            None => Some((time, time)),
        };
    }

    /// Takes the interface of a packet from its cooked header.
    #[inline(never)]
    fn note_device(&mut self, record: &mut Record<'_>) {
        let Some(device) = device_of(record.bytes) else { return };
        record.device = device;
        if !self.devices.contains(&device) && self.devices.len() < KINDS {
            self.devices.push(device);
        }
    }

    /// Counts a packet that cannot be analysed.
    #[cold]
    fn broken(&mut self, record: &Record<'_>) {
        *(if record.uncaptured() > 0 { &mut self.cut } else { &mut self.malformed }) += 1;
    }

    /// Counts a frame without an IP packet.
    #[inline(never)]
    fn without_ip(&mut self, frame: Frame<'_>, record: &Record<'_>) {
        match frame {
            Frame::Other(kind) => {
                self.other += 1;
                self.note(Unread::EtherType(kind));
            }
            Frame::Unknown => {
                self.unknown_link += 1;
                self.note(Unread::LinkType(record.link_type));
            }
            Frame::Cut | Frame::Ip(_) => self.broken(record),
        }
    }

    /// Counts an IP packet with another protocol than TCP.
    fn other_protocol(&mut self, ip: &IpPacket<'_>, time: u64) {
        match ip.protocol {
            protocol::UDP => {
                self.udp += 1;
                self.datagrams.take(ip, time);
                if let Some(port) = u16_at(ip.payload, 2).filter(|port| UdpTunnels::PORTS.contains(port)) {
                    self.note(Unread::UdpPort(port));
                }
            }
            protocol::ICMP | protocol::ICMPV6 => self.icmp += 1,
            other => {
                self.other_ip += 1;
                self.note(Unread::Protocol(other));
            }
        }
    }

    fn note(&mut self, kind: Unread) {
        if let Some((_, packets)) = self.unread.iter_mut().find(|(known, _)| *known == kind) {
            *packets += 1;
        } else if self.unread.len() < KINDS {
            self.unread.push((kind, 1));
        }
    }
}

/// The complete analysis of a capture.
pub struct Analysis {
    /// The connections.
    pub tracker: Tracker,
    /// Totals of all packets.
    pub totals: Totals,
    /// The interfaces.
    pub interfaces: Vec<Interface>,
    /// The error that stopped the reading before the end of the capture.
    pub damage: Option<TraceError>,
    /// Packets that the capture has more than once.
    pub twice: Twice,
    /// Numbers of the connections with packets without a timestamp.
    pub untimed: HashSet<usize>,
}
