//! UDP flows: packets, ECN codepoints, and the loss and jitter of those whose datagrams are numbered.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ecnlab_wire::{IpPacket, UdpHeader};

/// Maximum number of flows; datagrams of others are only counted in [`crate::Totals::udp`].
const MAX_FLOWS: usize = 65_536;
/// Largest step of sequence numbers that is taken for loss (MAX_DROPOUT of RFC 3550 A.1).
const MAX_DROPOUT: u64 = 3000;
/// Bytes of an RTP header without contributing sources.
const RTP_HEADER: usize = 12;
/// Addresses and ports of a direction: source, destination.
type Ends = [(IpAddr, u16); 2];

/// The UDP flows of a capture, one for each direction, in order of their first packets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Datagrams {
    flows: Vec<Flow>,
    places: BTreeMap<Ends, usize>,
}

/// A UDP flow in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Source and destination.
    pub ends: Ends,
    /// Packets.
    pub packets: u64,
    /// Payload bytes.
    pub bytes: u64,
    /// Times of the first and the last packet in nanoseconds since 1970.
    pub times: (u64, u64),
    /// Packets by ECN codepoint: Not-ECT, ECT(1), ECT(0), CE.
    pub codepoints: [u64; 4],
    rtp: Option<Rtp>,
    /// It has packets of several RTP streams, or with numbers too far apart.
    mixed: bool,
    /// The numbers with which datagrams of the simulator begin; the rest of their payload is zero.
    own: Option<Numbers>,
}

/// Sequence numbers received, extended by their wraps (RFC 3550 A.1).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Numbers {
    first: u64,
    highest: u64,
    received: u64,
}

impl Numbers {
    /// Starts with a number; `period` is added so that an earlier number stays above zero.
    fn new(number: u64, period: u64) -> Numbers {
        Numbers { first: number + period, highest: number + period, received: 1 }
    }
    /// Takes the next number modulo `period`; returns false if it is too far from the highest one.
    fn take(&mut self, number: u64, period: u64) -> bool {
        let ahead = number.wrapping_sub(self.highest) & (period - 1);
        let behind = period - ahead;
        self.received += 1;
        if ahead <= MAX_DROPOUT {
            self.highest += ahead;
        } else if behind <= MAX_DROPOUT {
            self.first = self.first.min(self.highest - behind);
        }
        ahead.min(behind) <= MAX_DROPOUT
    }
    /// Numbers that did not arrive (RFC 3550 A.3), at least 0.
    fn lost(&self) -> u64 {
        self.expected().saturating_sub(self.received)
    }
    /// Numbers from the lowest to the highest one.
    fn expected(&self) -> u64 {
        self.highest - self.first + 1
    }
}

/// An RTP stream.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rtp {
    ssrc: u32,
    payload_type: u8,
    numbers: Numbers,
    /// Arrival time in nanoseconds and RTP timestamp of the last packet.
    last: (u64, u32),
    /// Interarrival jitter in seconds (RFC 3550 A.8).
    jitter: f64,
}

/// The fields of an RTP header (RFC 3550, 5.1).
struct Header {
    payload_type: u8,
    sequence: u16,
    timestamp: u32,
    ssrc: u32,
}

impl Header {
    /// Parses a header; `None` for another protocol, and for RTCP (RFC 5761, 4).
    fn parse(payload: &[u8]) -> Option<Header> {
        let head: &[u8; RTP_HEADER] = payload.first_chunk()?;
        if head[0] >> 6 != 2 || (192..=223).contains(&head[1]) {
            return None;
        }
        let word = |i: usize| u32::from_be_bytes([head[i], head[i + 1], head[i + 2], head[i + 3]]);
        Some(Header { payload_type: head[1] & 0x7f, sequence: word(0) as u16, timestamp: word(4), ssrc: word(8) })
    }
}

/// Returns the clock rate in Hz of a static payload type (RFC 3551, 6); `None` for others, whose rate is not in the packets.
fn clock(payload_type: u8) -> Option<f64> {
    match payload_type {
        0 | 3..=5 | 7..=9 | 12 | 13 | 15 | 18 => Some(8_000.0),
        6 => Some(16_000.0),
        10 | 11 => Some(44_100.0),
        16 => Some(11_025.0),
        17 => Some(22_050.0),
        14 | 25 | 26 | 28 | 31..=34 => Some(90_000.0),
        _ => None,
    }
}

impl Rtp {
    fn new(header: &Header, time: u64) -> Rtp {
        let numbers = Numbers::new(header.sequence.into(), 1 << 16);
        let last = (time, header.timestamp);
        Rtp { ssrc: header.ssrc, payload_type: header.payload_type, numbers, last, jitter: 0.0 }
    }
    /// Takes a packet; returns false if it does not continue this stream.
    fn take(&mut self, header: &Header, time: u64) -> bool {
        if header.ssrc != self.ssrc || header.payload_type != self.payload_type {
            return false;
        }
        if self.numbers.received == 1 && u64::from(header.sequence) != (self.numbers.highest + 1) & 0xffff {
            *self = Rtp::new(header, time); // MIN_SEQUENTIAL of RFC 3550 A.1
            return true;
        }
        if let Some(rate) = clock(self.payload_type) {
            let arrived = (i128::from(time) - i128::from(self.last.0)) as f64 / 1e9;
            let stamped = f64::from(header.timestamp.wrapping_sub(self.last.1).cast_signed()) / rate;
            self.jitter += ((arrived - stamped).abs() - self.jitter) / 16.0;
        }
        self.last = (time, header.timestamp);
        self.numbers.take(header.sequence.into(), 1 << 16)
    }
}

impl Flow {
    /// How the datagrams are numbered: "RTP", "ecnlab", or "none".
    pub fn numbering(&self) -> &'static str {
        match (self.rtp(), self.own()) {
            (Some(_), _) => "RTP",
            (None, Some(_)) => "ecnlab",
            (None, None) => "none",
        }
    }
    /// Datagrams that did not arrive here, and those expected (RFC 3550 A.3); `None` if they are not numbered.
    pub fn lost(&self) -> Option<(u64, u64)> {
        let numbers = self.rtp().map(|rtp| rtp.numbers).or_else(|| self.own())?;
        Some((numbers.lost(), numbers.expected()))
    }
    /// Interarrival jitter in seconds (RFC 3550 A.8); `None` without RTP, or if the clock rate is not known.
    pub fn jitter(&self) -> Option<f64> {
        self.rtp().filter(|rtp| clock(rtp.payload_type).is_some()).map(|rtp| rtp.jitter)
    }
    fn rtp(&self) -> Option<Rtp> {
        self.rtp.filter(|rtp| rtp.numbers.received > 1)
    }
    fn own(&self) -> Option<Numbers> {
        self.own.filter(|numbers| numbers.highest > numbers.first)
    }

    fn take(&mut self, ip: &IpPacket<'_>, payload: &[u8], time: u64) {
        let len = ip.payload_len.saturating_sub(UdpHeader::LEN as u32);
        let first = self.packets == 0;
        self.packets += 1;
        self.bytes += u64::from(len);
        self.times.1 = self.times.1.max(time);
        self.codepoints[usize::from(ip.ecn.bits())] += 1;
        if let Some(header) = Header::parse(payload).filter(|_| !self.mixed) {
            self.rtp = match self.rtp.take() {
                Some(mut rtp) => rtp.take(&header, time).then_some(rtp),
                None => Some(Rtp::new(&header, time)),
            };
            self.mixed = self.rtp.is_none();
        }
        let number =
            payload.split_first_chunk().filter(|(_, rest)| !rest.is_empty() && rest.iter().all(|&byte| byte == 0));
        let number = number.map(|(number, _)| u32::from_be_bytes(*number));
        self.own = match (number, self.own.take()) {
            (Some(number), Some(mut numbers)) => numbers.take(number.into(), 1 << 32).then_some(numbers),
            (Some(number), None) if first => Some(Numbers::new(number.into(), 1 << 32)),
            _ => None,
        };
    }
}

impl Datagrams {
    /// The flows, in order of their first packets.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// Takes a UDP packet captured at `time`, in nanoseconds since 1970.
    pub(crate) fn take(&mut self, ip: &IpPacket<'_>, time: u64) {
        let Ok((udp, payload)) = UdpHeader::parse(ip.payload) else { return };
        let ends = [(ip.source, udp.source), (ip.destination, udp.destination)];
        let place = match self.places.get(&ends) {
            Some(&place) => place,
            None if self.flows.len() == MAX_FLOWS => return,
            None => {
                let times = (time, time);
                self.flows.push(Flow {
                    ends,
                    packets: 0,
                    bytes: 0,
                    times,
                    codepoints: [0; 4],
                    rtp: None,
                    mixed: false,
                    own: None,
                });
                self.places.insert(ends, self.flows.len() - 1);
                self.flows.len() - 1
            }
        };
        self.flows[place].take(ip, payload, time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_wrap_or_come_late_are_not_lost() {
        let mut numbers = Numbers::new(65_534, 1 << 16);
        for number in [65_535, 1, 0, 4] {
            assert!(numbers.take(number, 1 << 16));
        }
        assert_eq!(numbers.lost(), 2); // 2 and 3
        assert!(!numbers.take(30_000, 1 << 16));
    }

    #[test]
    fn a_number_before_the_first_one_counts() {
        let mut numbers = Numbers::new(1, 1 << 16);
        assert!(numbers.take(0, 1 << 16) && numbers.take(2, 1 << 16));
        assert_eq!((numbers.lost(), numbers.first), (0, 1 << 16));
    }
}
