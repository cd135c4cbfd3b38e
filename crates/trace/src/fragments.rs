//! Fragments of TCP segments, put together as far as is needed: the first bytes, and the length of the whole.

use std::collections::VecDeque;
use std::net::IpAddr;

use ecnlab_wire::{Ecn, Fragment, IpPacket};

/// Datagrams under way; the oldest is given up when there is one more.
const MOST: usize = 256;
/// Bytes kept of the first fragment: a TCP header with all its options.
const HEAD: usize = 60;

/// Datagrams of which not all fragments have come.
#[derive(Debug, Default)]
pub struct Fragments(VecDeque<Datagram>);

#[derive(Debug)]
struct Datagram {
    id: (IpAddr, IpAddr, u8, u32),
    head: Vec<u8>,
    total: Option<u32>,
    /// Stretches that have come, in any order.
    there: Vec<(u32, u32)>,
    ecn: Ecn,
}

/// A datagram put together.
pub struct Whole {
    /// Its first bytes.
    pub head: Vec<u8>,
    /// The length of its payload.
    pub len: u32,
    /// Its codepoint.
    pub ecn: Ecn,
}

impl Fragments {
    /// Takes in a fragment; the datagram, if it is now complete.
    pub fn add(&mut self, ip: &IpPacket<'_>, fragment: Fragment) -> Option<Whole> {
        let id = (ip.source, ip.destination, ip.protocol, fragment.id);
        let place = self.0.iter().position(|d| d.id == id).unwrap_or_else(|| {
            if self.0.len() == MOST {
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
        // RFC 3168 §5.3: one fragment with CE makes the datagram one with CE.
        if ip.ecn == Ecn::Ce {
            self.ecn = Ecn::Ce;
        }
        // A datagram of 64 KB has at most 8192 fragments; those that come twice need no second entry.
        if !self.there.contains(&(fragment.offset, end)) && self.there.len() < 8192 {
            self.there.push((fragment.offset, end));
        }
    }

    /// Up to where there is no gap.
    fn reaches(&mut self) -> u32 {
        self.there.sort_unstable();
        self.there.iter().fold(0, |reached, &(start, end)| if start <= reached { reached.max(end) } else { reached })
    }
}
