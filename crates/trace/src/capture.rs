//! A capture from its first packet to its last.

use ecnlab_wire::{IpPacket, protocol};

use crate::container::{Interface, Reader};
use crate::error::TraceError;
use crate::fragments::{Fragments, Whole};
use crate::input::Input;
use crate::link::{Frame, ip_of};
use crate::packet::{Segment, segment};
use crate::tracker::Tracker;

/// What a capture holds besides connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets of any kind.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Packets of TCP, those put together from fragments counted once.
    pub tcp: u64,
    /// Packets of UDP.
    pub udp: u64,
    /// Packets of ICMP and ICMPv6.
    pub icmp: u64,
    /// IP packets of other protocols.
    pub other_ip: u64,
    /// Frames without IP.
    pub other: u64,
    /// Fragments.
    pub fragments: u64,
    /// Packets cut so short that their headers are not there.
    pub cut: u64,
    /// Packets whose headers cannot be.
    pub malformed: u64,
    /// Frames of a link type that is not known.
    pub unknown_link: u64,
    /// When the first and the last packet came, in nanoseconds since 1970.
    pub times: Option<(u64, u64)>,
    /// Packets earlier than one before them.
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
    /// Reads the head of a capture.
    ///
    /// # Errors
    /// If it is none.
    pub fn new(input: Input) -> Result<Capture, TraceError> {
        Ok(Capture {
            reader: Reader::new(input)?,
            fragments: Fragments::default(),
            whole: Vec::new(),
            totals: Totals::default(),
        })
    }

    /// What was read up to now.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }
    /// The interfaces met up to now.
    pub fn interfaces(&self) -> &[Interface] {
        self.reader.interfaces()
    }

    /// The next packet, handed to `take` if it is a TCP segment; whether there was one.
    ///
    /// # Errors
    /// If the file ends inside a packet, or cannot be what it says.
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
        let ip = match ip_of(record.link_type, record.bytes) {
            Frame::Ip(bytes) => match IpPacket::parse(bytes) {
                Ok(ip) => ip,
                Err(_) => {
                    *totals.broken(record.bytes.len() < record.original_len as usize) += 1;
                    return Ok(true);
                }
            },
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
        let whole = match ip.fragment {
            None => ip,
            Some(fragment) => {
                totals.fragments += 1;
                let Some(Whole { head, len, ecn }) = self.fragments.add(&ip, fragment) else { return Ok(true) };
                self.whole = head;
                IpPacket { fragment: None, payload_len: len, payload: &self.whole, ecn, ..ip }
            }
        };
        match whole.protocol {
            protocol::TCP => match segment(&whole) {
                Ok(found) => {
                    totals.tcp += 1;
                    let (number, time) = (record.number, record.time_ns);
                    take(&Segment { number, time, interface: record.interface, dropped: record.dropped, ..found });
                }
                Err(_) => *totals.broken(record.bytes.len() < record.original_len as usize) += 1,
            },
            protocol::UDP => totals.udp += 1,
            protocol::ICMP | protocol::ICMPV6 => totals.icmp += 1,
            _ => totals.other_ip += 1,
        }
        Ok(true)
    }
}

impl Totals {
    /// Where a packet that cannot be read counts.
    #[cold]
    fn broken(&mut self, snapped: bool) -> &mut u64 {
        if snapped { &mut self.cut } else { &mut self.malformed }
    }
}

/// All that is known of a capture.
pub struct Analysis {
    /// The connections.
    pub tracker: Tracker,
    /// Everything else.
    pub totals: Totals,
    /// The interfaces.
    pub interfaces: Vec<Interface>,
    /// Why the capture could not be read to its end.
    pub damage: Option<TraceError>,
}

/// Reads `input` to its end and has `tracker` analyse the segments that `wanted` lets through.
///
/// # Errors
/// If nothing could be read. What ends the reading later is [`Analysis::damage`].
pub fn analyse(
    input: Input,
    mut tracker: Tracker,
    wanted: impl Fn(&Segment<'_>) -> bool,
) -> Result<Analysis, TraceError> {
    let mut capture = Capture::new(input)?;
    let damage = loop {
        let taken = capture.step(|segment| {
            if wanted(segment) {
                tracker.take(segment);
            }
        });
        match taken {
            Ok(true) => {
                if let Some(bytes) = tracker.is_full() {
                    break Some(TraceError::Full {
                        packets: capture.totals.packets,
                        connections: tracker.len(),
                        megabytes: bytes / 1_000_000,
                    });
                }
            }
            Ok(false) => break None,
            Err(error) => break Some(error),
        }
    };
    tracker.finish();
    let interfaces = capture.interfaces().to_vec();
    Ok(Analysis { tracker, totals: capture.totals.clone(), interfaces, damage })
}
