//! Reading a capture from the first packet to the last.

use ecnlab_wire::{IpPacket, protocol};

use crate::container::{Interface, Reader};
use crate::error::TraceError;
use crate::fragments::{Fragments, Whole};
use crate::input::Input;
use crate::link::{Frame, ip_of};
use crate::packet::{Segment, segment};
use crate::tracker::Tracker;

/// Totals of a capture, including packets that belong to no connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets of any kind.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// TCP packets; a segment reassembled from fragments counts once.
    pub tcp: u64,
    /// UDP packets.
    pub udp: u64,
    /// ICMP and ICMPv6 packets.
    pub icmp: u64,
    /// IP packets of other protocols.
    pub other_ip: u64,
    /// Frames without IP.
    pub other: u64,
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
}

/// Reads the TCP segments of a capture one after the other.
pub struct Capture {
    reader: Reader,
    fragments: Fragments,
    whole: Vec<u8>,
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
            whole: Vec::new(),
            totals: Totals::default(),
        })
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
        let Some(record) = self.reader.read()? else { return Ok(false) };
        let totals = &mut self.totals;
        totals.packets += 1;
        totals.bytes += u64::from(record.original_len);
        totals.times = match totals.times {
            Some((first, last)) => {
                totals.back_in_time += u64::from(record.time_ns < last);
                Some((first.min(record.time_ns), last.max(record.time_ns)))
            }
            None => Some((record.time_ns, record.time_ns)),
        };
        let bytes = match ip_of(record.link_type, record.bytes) {
            Frame::Ip(bytes) => bytes,
            Frame::Other => {
                totals.other += 1;
                return Ok(true);
            }
            Frame::Cut => {
                totals.cut += 1;
                return Ok(true);
            }
            Frame::Unknown => {
                totals.unknown_link += 1;
                return Ok(true);
            }
        };
        let parsed = IpPacket::parse_cut(bytes, bytes.len() + record.uncaptured());
        let Ok(ip) = &parsed else {
            *totals.broken(record.bytes.len() < record.original_len as usize) += 1;
            return Ok(true);
        };
        let found = match ip.fragment {
            None => segment(ip, &record),
            Some(fragment) => {
                totals.fragments += 1;
                let Some(Whole { head, len, ecn }) = self.fragments.add(ip, fragment) else { return Ok(true) };
                self.whole = head;
                let whole = IpPacket { fragment: None, payload_len: len, payload: &self.whole, ecn, ..*ip };
                segment(&whole, &record)
            }
        };
        match ip.protocol {
            protocol::TCP => match &found {
                Some(found) => {
                    totals.tcp += 1;
                    take(found);
                }
                None => *totals.broken(record.bytes.len() < record.original_len as usize) += 1,
            },
            protocol::UDP => totals.udp += 1,
            protocol::ICMP | protocol::ICMPV6 => totals.icmp += 1,
            _ => totals.other_ip += 1,
        }
        Ok(true)
    }
}

impl Totals {
    /// Counts a packet that cannot be analysed.
    #[cold]
    fn broken(&mut self, snapped: bool) -> &mut u64 {
        if snapped { &mut self.cut } else { &mut self.malformed }
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
}
