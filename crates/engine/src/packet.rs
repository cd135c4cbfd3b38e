//! What links and queues carry.

use ecnlab_aqm::Item;
use ecnlab_wire::{Datagram, Ecn, Quench, Segment};

/// A packet under way. `Copy`: it goes from ring to ring by value.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// What is under the IP header, and the header's codepoint and length with it.
    pub body: Body,
    /// Index of the node it is for.
    pub to: u32,
    /// Index of the endpoint it is for; of a datagram only which side of its flow counts.
    pub endpoint: u32,
    /// The connection's serial number, which stands for its pair of ports: an endpoint's place may
    /// be used again, and a packet of an earlier connection must not reach the later one.
    pub connection: u32,
    /// Index of the flow.
    pub flow: u32,
    /// Index of the flow's group.
    pub group: u32,
}

/// The protocols that links carry. A segment keeps its spare bit patterns for the tag, so that to
/// carry other protocols costs no byte.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// TCP.
    Tcp(Segment),
    /// UDP.
    Datagram(Datagram),
    /// ICMP source quench about a TCP segment; its connection is the segment's.
    Quench(Quench),
}

impl Packet {
    /// The codepoint in the IP header, to be changed.
    #[inline(always)]
    pub fn ecn_mut(&mut self) -> &mut Ecn {
        match &mut self.body {
            Body::Tcp(segment) => &mut segment.ecn,
            Body::Datagram(datagram) => &mut datagram.ecn,
            Body::Quench(quench) => &mut quench.ecn,
        }
    }

    /// Payload bytes.
    pub fn payload(&self) -> u32 {
        match &self.body {
            Body::Tcp(segment) => segment.len,
            Body::Datagram(datagram) => datagram.len,
            Body::Quench(_) => 0,
        }
    }
}

impl Item for Packet {
    #[inline(always)]
    fn wire_len(&self) -> u32 {
        match &self.body {
            Body::Tcp(segment) => segment.wire_len,
            Body::Datagram(datagram) => datagram.wire_len,
            Body::Quench(quench) => quench.wire_len,
        }
    }
    #[inline(always)]
    fn ecn(&self) -> Ecn {
        match &self.body {
            Body::Tcp(segment) => segment.ecn,
            Body::Datagram(datagram) => datagram.ecn,
            Body::Quench(quench) => quench.ecn,
        }
    }
    #[inline(always)]
    fn mark(&mut self) {
        *self.ecn_mut() = Ecn::Ce;
    }
    #[inline(always)]
    fn group(&self) -> usize {
        self.group as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_wire::{QuenchCause, Seq};

    #[test]
    fn a_packet_stays_small() {
        assert_eq!(size_of::<Body>(), size_of::<Segment>(), "the tag takes room of its own");
        assert!(size_of::<Packet>() <= 88, "{}", size_of::<Packet>());
    }

    #[test]
    fn lengths_and_codepoints_stand_at_one_place_whatever_the_protocol() {
        let places = |body: Body| {
            let packet = Packet { body, to: 0, endpoint: 0, connection: 0, flow: 0, group: 0 };
            let (len, ecn) = match &packet.body {
                Body::Tcp(segment) => (&raw const segment.wire_len, &raw const segment.ecn),
                Body::Datagram(datagram) => (&raw const datagram.wire_len, &raw const datagram.ecn),
                Body::Quench(quench) => (&raw const quench.wire_len, &raw const quench.ecn),
            };
            [len.addr(), ecn.addr()].map(|place| place - (&raw const packet).addr())
        };
        let tcp = places(Body::Tcp(Segment::default()));
        assert_eq!(places(Body::Datagram(Datagram::default())), tcp);
        assert_eq!(places(Body::Quench(Quench::new(QuenchCause::Marked, Seq(0), 40))), tcp);
    }

    #[test]
    fn each_protocol_has_its_length_and_its_codepoint() {
        let segment = Segment { len: 1460, wire_len: 1500, ecn: Ecn::Ect0, ..Segment::default() };
        let datagram = Datagram::filling(1000, 7, Ecn::Ect0);
        for (body, wire_len, payload) in [(Body::Tcp(segment), 1500, 1460), (Body::Datagram(datagram), 1000, 972)] {
            let mut packet = Packet { body, to: 1, endpoint: 1, connection: 0, flow: 0, group: 3 };
            assert_eq!((packet.wire_len(), packet.payload(), packet.group()), (wire_len, payload, 3));
            packet.mark();
            assert_eq!(packet.ecn(), Ecn::Ce);
        }
    }
}
