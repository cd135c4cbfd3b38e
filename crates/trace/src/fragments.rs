//! Reassembly of fragmented TCP segments, limited to the first bytes and the total length.

use std::collections::VecDeque;
use std::net::IpAddr;

use ecnlab_wire::{Ecn, Fragment, IpPacket};

/// Maximum number of incomplete datagrams; the oldest is dropped for a new one.
const MAX_INCOMPLETE: usize = 256;
/// Bytes stored of the first fragment: the headers of tunnels, and a TCP header with all its options.
const HEAD: usize = 256;

/// Datagrams with missing fragments.
#[derive(Debug, Default)]
pub struct Fragments(VecDeque<Datagram>);

#[derive(Debug)]
struct Datagram {
    id: (IpAddr, IpAddr, u8, u32),
    head: Vec<u8>,
    total: Option<u32>,
    /// Received byte ranges, in any order.
    there: Vec<(u32, u32)>,
    ecn: Ecn,
}

/// A reassembled datagram.
pub struct Whole {
    /// Its first bytes.
    pub head: Vec<u8>,
    /// The length of its payload.
    pub len: u32,
    /// Its ECN codepoint.
    pub ecn: Ecn,
}

impl Fragments {
    /// Adds a fragment; returns the datagram when it is complete.
    pub fn add(&mut self, ip: &IpPacket<'_>, fragment: Fragment) -> Option<Whole> {
        if fragment.offset == 0 && !fragment.more {
            // RFC 6946: an atomic fragment is not combined with others of its identification.
            let head = ip.payload[..ip.payload.len().min(HEAD)].to_owned();
            return Some(Whole { head, len: ip.payload_len, ecn: ip.ecn });
        }
        let id = (ip.source, ip.destination, ip.protocol, fragment.id);
        let place = self.0.iter().position(|d| d.id == id).unwrap_or_else(|| {
            if self.0.len() == MAX_INCOMPLETE {
                self.0.pop_front();
            }
            self.0.push_back(Datagram { id, head: Vec::new(), total: None, there: Vec::new(), ecn: ip.ecn });
            self.0.len() - 1
        });
        let datagram = &mut self.0[place];
        datagram.add(ip, fragment);
        let len = datagram.total.filter(|&total| datagram.reaches() >= total)?;
        let Datagram { head, ecn, .. } = self.0.remove(place)?;
        Some(Whole { head, len, ecn })
    }
}

impl Datagram {
    fn add(&mut self, ip: &IpPacket<'_>, fragment: Fragment) {
        let end = fragment.offset.saturating_add(ip.payload_len);
        if fragment.offset == 0 {
            self.head = ip.payload[..ip.payload.len().min(HEAD)].to_owned();
        }
        if !fragment.more {
            self.total = Some(end);
        }
        // RFC 3168 §5.3: a datagram is CE if any of its fragments is.
        if ip.ecn == Ecn::Ce {
            self.ecn = Ecn::Ce;
        }
        // A datagram of 64 KB has at most 8192 fragments; duplicates are not stored.
        if !self.there.contains(&(fragment.offset, end)) && self.there.len() < 8192 {
            self.there.push((fragment.offset, end));
        }
    }

    /// Returns the end of the contiguous bytes from the start.
    fn reaches(&mut self) -> u32 {
        self.there.sort_unstable();
        self.there.iter().fold(0, |reached, &(start, end)| if start <= reached { reached.max(end) } else { reached })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv6 packet with the fragment header of datagram 7: `len` bytes at `offset`.
    fn fragment(offset: u16, more: bool, len: u8, traffic_class: u8) -> Vec<u8> {
        let mut bytes = vec![0x60, traffic_class << 4, 0, 0, 0, 8 + len, 44, 64];
        bytes.extend([0x20, 1, 0xd, 0xb8].iter().chain(&[0; 12]).chain(&[0x20, 1, 0xd, 0xb8]).chain(&[0; 12]));
        bytes.extend([6, 0]);
        bytes.extend((offset | u16::from(more)).to_be_bytes());
        bytes.extend([0, 0, 0, 7]);
        bytes.resize(bytes.len() + usize::from(len), 0);
        bytes
    }

    #[test]
    fn an_atomic_fragment_is_not_combined_with_others_of_its_number() {
        let mut fragments = Fragments::default();
        let mut add = |bytes: Vec<u8>| {
            let ip = IpPacket::parse_cut(&bytes, bytes.len()).unwrap();
            fragments.add(&ip, ip.fragment.unwrap()).map(|whole| (whole.len, whole.ecn))
        };
        assert_eq!(add(fragment(0, true, 64, 3)), None);
        assert_eq!(add(fragment(0, false, 24, 2)), Some((24, Ecn::Ect0)));
        assert_eq!(add(fragment(64, false, 16, 2)), Some((80, Ecn::Ce)));
    }
}
