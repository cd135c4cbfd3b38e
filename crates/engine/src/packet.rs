//! Packets carried by links and queues.

use std::sync::Arc;

use ecnlab_aqm::Item;
use ecnlab_wire::{Datagram, Dscp, Ecn, IpVersion, Quench, Segment};

/// The part of a packet in flight that queues and routers use. Small and `Copy`: it moves between rings by value, two
/// per cache line with their times. The part that only the endpoints use is in the `Hold`.
///
/// Packed in words, since separate fields would be copied one by one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// Bytes on the wire, 16 bits as in IP; the low bits of the sending node; index of the destination node.
    way: u64,
    /// Index of the cargo in the `Hold`; index of the flow.
    whose: u64,
    /// [`Packet::class`]; codepoint; payload flag; DSCP; IPv6 flag; the low bits of the connection.
    kind: u64,
}

/// Fields of a [`Packet`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Label {
    /// Bytes on the wire.
    pub wire_len: u32,
    /// Index of the sending node, of which the lower 16 bits are kept.
    pub from: u32,
    /// Index of the destination node.
    pub to: u32,
    /// Index of the cargo in the `Hold`.
    pub cargo: u32,
    /// Index of the flow.
    pub flow: u32,
    /// Index of the flow's group.
    pub group: u32,
    /// The codepoint in its IP header.
    pub ecn: Ecn,
    /// The packet has payload.
    pub has_data: bool,
    /// The DSCP in its IP header.
    pub dscp: Dscp,
    /// The version of its IP header.
    pub ip: IpVersion,
    /// Distinguishes the connections of the flow: its low bits stand for the pair of ports.
    pub connection: u32,
}

impl From<Label> for Packet {
    #[inline]
    fn from(label: Label) -> Packet {
        let word = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let class = (label.group * CLASSES) | u32::from(label.ecn.bits());
        let marks = u32::from(label.ecn.bits())
            | u32::from(label.has_data) << HAS_DATA
            | u32::from(label.dscp.bits()) << DSCP
            | u32::from(!label.ip.is_v4()) << IPV6
            | label.connection << CONNECTION;
        debug_assert!(label.wire_len <= u16::MAX.into(), "{} bytes in an IP packet", label.wire_len);
        let len_and_from = u32::from(label.wire_len as u16) | label.from << FROM;
        Packet { way: word(len_and_from, label.to), whose: word(label.cargo, label.flow), kind: word(class, marks) }
    }
}

/// Number of counting classes of a group: its codepoints.
const CLASSES: u32 = 4;

/// Returns the group and the codepoint of a counting class.
pub fn of_class(class: u32) -> (usize, Ecn) {
    ((class / CLASSES) as usize, Ecn::from_bits(class as u8))
}

/// Bit position of the sender in the lower half of `way`.
const FROM: u32 = 16;
/// Bit of the payload flag in the upper half of `kind`; the codepoint is in the two bits below.
const HAS_DATA: u32 = 2;
/// Bit position of the six-bit DSCP.
const DSCP: u32 = 3;
/// Bit of the IPv6 flag.
const IPV6: u32 = 9;
/// Bit position of the connection, truncated to the remaining bits.
const CONNECTION: u32 = 10;

impl Packet {
    /// See [`Label::to`].
    #[inline]
    pub fn to(&self) -> u32 {
        (self.way >> 32) as u32
    }
    /// See [`Label::cargo`].
    #[inline]
    pub fn cargo(&self) -> u32 {
        self.whose as u32
    }
    /// See [`Label::flow`].
    pub fn flow(&self) -> u32 {
        (self.whose >> 32) as u32
    }
    /// See [`Label::has_data`].
    pub fn has_data(&self) -> bool {
        self.kind >> (32 + HAS_DATA) & 1 == 1
    }
    /// See [`Label::ip`].
    pub fn ip(&self) -> IpVersion {
        if self.kind >> (32 + IPV6) & 1 == 1 { IpVersion::V6 } else { IpVersion::V4 }
    }
    /// Sets the bytes on the wire.
    pub fn set_wire_len(&mut self, wire_len: u32) {
        debug_assert!(wire_len <= u16::MAX.into(), "{wire_len} bytes in an IP packet");
        self.way = self.way & !u64::from(u16::MAX) | u64::from(wire_len as u16);
    }
    /// Sets the codepoint.
    pub fn set_ecn(&mut self, ecn: Ecn) {
        let kept = self.kind & !(u64::from(Ecn::Ce.bits()) << 32 | u64::from(CLASSES - 1));
        self.kind = kept | u64::from(ecn.bits()) << 32 | u64::from(ecn.bits());
    }
    /// Counting class of the packet: the lower two bits are the codepoint, the higher bits are the group.
    #[inline]
    pub fn class(&self) -> u32 {
        self.kind as u32
    }
}

impl Item for Packet {
    #[inline]
    fn wire_len(&self) -> u32 {
        u32::from(self.way as u16)
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        Ecn::from_bits((self.kind >> 32) as u8)
    }
    fn mark(&mut self) {
        self.kind |= u64::from(Ecn::Ce.bits()) << 32 | u64::from(Ecn::Ce.bits());
    }
    #[inline]
    fn group(&self) -> usize {
        (self.class() / CLASSES) as usize
    }
    fn dscp(&self) -> Dscp {
        Dscp::from_bits((self.kind >> (32 + DSCP)) as u8)
    }
    #[inline]
    fn flow_key(&self) -> u64 {
        self.kind >> (32 + CONNECTION) << 32 | self.whose >> 32
    }
    fn hosts(&self) -> (u32, u32) {
        (self.way as u32 >> FROM, self.to())
    }
}

/// The part of a packet that only its endpoints use.
#[derive(Clone, Copy, Debug)]
pub struct Cargo {
    /// The protocol unit under the IP header. Its codepoint is the one it was sent with, or that of the inner header in
    /// a tunnel.
    pub body: Body,
    /// Index of the destination endpoint; for a datagram only its side of the flow matters.
    pub endpoint: u32,
    /// The connection's serial number, which selects its pair of ports: an endpoint's slot may be reused, and a packet
    /// of an earlier connection must not reach a later one.
    pub connection: u32,
    /// Index of the sending node.
    pub from: u32,
}

/// The protocols that links carry.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// TCP.
    Tcp(Segment),
    /// UDP.
    Datagram(Datagram),
    /// UDP with a payload, which the hold has beside it.
    Quic(Datagram),
    /// ICMP source quench about a TCP segment or a datagram, with the connection of that packet.
    Quench(Quench, Returned),
}

/// Fields that a source quench returns of the original packet, in addition to those in [`Quench`].
#[derive(Clone, Copy, Debug)]
pub struct Returned {
    /// Index of the original packet's destination node.
    pub to: u32,
    /// Total length in its IP header.
    pub len: u32,
    /// Codepoint with which it arrived.
    pub ecn: Ecn,
    /// It was a UDP datagram.
    pub udp: bool,
}

impl Body {
    /// Bytes on the wire, and the codepoint with which it was sent.
    #[inline]
    fn header(&self) -> (u32, Ecn) {
        match self {
            Body::Tcp(segment) => (segment.wire_len, segment.ecn),
            Body::Datagram(datagram) | Body::Quic(datagram) => (datagram.wire_len, datagram.ecn),
            Body::Quench(quench, _) => (quench.wire_len, quench.ecn),
        }
    }

    /// Payload bytes.
    #[inline]
    pub fn payload(&self) -> u32 {
        match self {
            Body::Tcp(segment) => segment.len,
            Body::Datagram(datagram) | Body::Quic(datagram) => datagram.len,
            Body::Quench(..) => 0,
        }
    }
}

/// Addressing shared by the packets of one endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// First link of the path to the peer.
    pub first_link: u32,
    /// See [`Cargo::from`].
    from: u32,
    /// See [`Cargo::connection`].
    pub connection: u32,
    /// A packet without its individual fields.
    blank: Packet,
}

impl Way {
    /// Creates the way of packets with this label, whose individual fields are blank.
    pub fn new(first_link: u32, from: u32, connection: u32, blank: Label) -> Way {
        Way { first_link, from, connection, blank: Label { from, connection, ..blank }.into() }
    }

    /// Returns the same way from another node.
    pub fn from(self, node: u32) -> Way {
        let blank = Packet {
            way: self.blank.way & !(u64::from(u16::MAX) << FROM) | u64::from(node as u16) << FROM,
            ..self.blank
        };
        Way { from: node, blank, ..self }
    }

    #[inline]
    fn packet(&self, cargo: u32, wire_len: u32, ecn: Ecn, has_data: bool) -> Packet {
        let own = Packet::from(Label { wire_len, cargo, ecn, has_data, ..Label::default() });
        let Packet { way, whose, kind } = self.blank;
        Packet { way: way | own.way, whose: whose | own.whose, kind: kind | own.kind }
    }
}

/// The bytes of a datagram; shared with captures.
pub type Payload = Arc<[u8]>;

/// The cargoes of all packets in flight. The slot freed last is reused first, while it is still in the processor's
/// cache.
#[derive(Debug, Default)]
pub struct Hold {
    places: Vec<Cargo>,
    free: Vec<u32>,
    /// Payloads of QUIC, by slot; one of a packet that has left its slot stays until the next.
    payloads: Vec<Option<Payload>>,
}

impl Hold {
    /// Stores `body` for the endpoint `endpoint` on its `way`; returns the packet.
    #[inline]
    pub fn load(&mut self, body: Body, endpoint: u32, way: &Way) -> Packet {
        let ((wire_len, ecn), has_data) = (body.header(), body.payload() > 0);
        let (cargo, place) = self.place(endpoint, way);
        place.body = body;
        way.packet(cargo, wire_len, ecn, has_data)
    }

    /// [`Hold::load`] of a segment, which is copied once, directly into its slot.
    #[inline]
    pub fn load_segment(&mut self, segment: &Segment, endpoint: u32, way: &Way) -> Packet {
        let (cargo, place) = self.place(endpoint, way);
        place.body = Body::Tcp(*segment);
        way.packet(cargo, segment.wire_len, segment.ecn, segment.len > 0)
    }

    /// [`Hold::load`] of a datagram of QUIC with its payload.
    pub fn load_quic(&mut self, datagram: Datagram, payload: Payload, endpoint: u32, way: &Way) -> Packet {
        let packet = self.load(Body::Quic(datagram), endpoint, way);
        let place = packet.cargo() as usize;
        if self.payloads.len() <= place {
            self.payloads.resize(place + 1, None);
        }
        self.payloads[place] = Some(payload);
        packet
    }

    /// The payload of the datagram of QUIC in slot `place`, which remains after [`Hold::unload`] as its cargo does.
    pub fn payload(&self, place: u32) -> Option<&Payload> {
        self.payloads.get(place as usize)?.as_ref()
    }

    /// Allocates a slot and fills in the addressee; returns its index and the slot.
    #[inline]
    fn place(&mut self, endpoint: u32, way: &Way) -> (u32, &mut Cargo) {
        let place = match self.free.pop() {
            Some(place) => place,
            None => self.grow(),
        };
        let cargo = &mut self.places[place as usize];
        (cargo.endpoint, cargo.connection, cargo.from) = (endpoint, way.connection, way.from);
        (place, cargo)
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        self.places.push(Cargo { body: Body::Datagram(Datagram::default()), endpoint: 0, connection: 0, from: 0 });
        self.places.len() as u32 - 1
    }

    /// Frees the slot of a packet that has arrived or was lost. Its cargo remains readable until the next one is
    /// loaded.
    #[inline]
    pub fn unload(&mut self, place: u32) -> &mut Cargo {
        self.free.push(place);
        &mut self.places[place as usize]
    }

    /// Stores the codepoint of the inner IP header.
    pub fn set_inner(&mut self, place: u32, ecn: Ecn) {
        match &mut self.places[place as usize].body {
            Body::Tcp(segment) => segment.ecn = ecn,
            Body::Datagram(datagram) | Body::Quic(datagram) => datagram.ecn = ecn,
            Body::Quench(quench, _) => quench.ecn = ecn,
        }
    }

    /// Returns the codepoint stored by [`Hold::set_inner`].
    pub fn inner(&self, place: u32) -> Ecn {
        self.places[place as usize].body.header().1
    }

    /// The TCP segment in slot `place`, for modification.
    pub fn segment_mut(&mut self, place: u32) -> Option<&mut Segment> {
        match &mut self.places[place as usize].body {
            Body::Tcp(segment) => Some(segment),
            Body::Datagram(_) | Body::Quic(_) | Body::Quench(..) => None,
        }
    }

    /// The cargo in slot `place`.
    #[inline]
    pub fn cargo(&self, place: u32) -> &Cargo {
        &self.places[place as usize]
    }

    /// Number of packets in flight.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_wire::{QuenchCause, Seq};

    #[test]
    fn a_packet_and_its_time_take_half_a_cache_line() {
        assert!(size_of::<(ecnlab_base::Time, Packet)>() <= 32);
        assert_eq!(size_of::<Body>(), size_of::<Segment>(), "the tag takes room of its own");
    }

    #[test]
    fn a_label_comes_out_as_it_went_in() {
        for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
            for has_data in [false, true] {
                let dscp = Dscp::from_bits(if has_data { 63 } else { 45 });
                let (wire_len, from, to) = (65_535, 70_000, 2);
                let ip = if has_data { IpVersion::V6 } else { IpVersion::V4 };
                let (cargo, flow, group, connection) = (3, 4, 5, 6);
                let label = Label { wire_len, from, to, cargo, flow, group, ecn, has_data, dscp, ip, connection };
                let mut packet = Packet::from(label);
                assert_eq!((packet.wire_len(), packet.to(), packet.cargo(), packet.flow()), (65_535, 2, 3, 4));
                // 70,000 is 4464 past 2^16.
                assert_eq!(packet.hosts(), (4_464, 2));
                assert_eq!((packet.group(), packet.ecn(), packet.has_data()), (5, ecn, has_data));
                assert_eq!(packet.class(), 5 << 2 | u32::from(ecn.bits()));
                packet.mark();
                assert_eq!((packet.group(), packet.ecn(), packet.has_data()), (5, Ecn::Ce, has_data));
                packet.set_ecn(ecn);
                packet.set_wire_len(1499);
                assert_eq!((packet.wire_len(), packet.hosts(), packet.ecn()), (1499, (4_464, 2), ecn));
                assert_eq!((packet.group(), packet.ecn(), packet.has_data()), (5, ecn, has_data));
                assert_eq!((packet.class(), packet.flow()), (5 << 2 | u32::from(ecn.bits()), 4));
                assert_eq!((packet.flow_key(), packet.dscp(), packet.ip()), (6 << 32 | 4, dscp, ip));
            }
        }
    }

    #[test]
    fn each_protocol_has_its_length_and_its_codepoint() {
        let way = Way::new(0, 8, 7, Label { to: 1, group: 3, ..Label::default() });
        let hosts = |way: &Way| Hold::default().load(Body::Datagram(Datagram::default()), 0, way).hosts();
        assert_eq!((hosts(&way), hosts(&way.from(6))), ((8, 1), (6, 1)));
        let segment = Segment { len: 1460, wire_len: 1500, ecn: Ecn::Ect0, ..Segment::default() };
        let ack = Segment { wire_len: 40, ..Segment::default() };
        let datagram = Datagram::filling(IpVersion::V4, 1000, 7, Ecn::Ect0);
        let quench = Quench::new(QuenchCause::Marked, Seq(0), 40);
        let bodies = [
            (Body::Tcp(segment), 1500, Ecn::Ect0, true),
            (Body::Tcp(ack), 40, Ecn::NotEct, false),
            (Body::Datagram(datagram), 1000, Ecn::Ect0, true),
            (Body::Quench(quench, Returned { to: 2, len: 1500, ecn: Ecn::Ect0, udp: false }), 40, Ecn::NotEct, false),
        ];
        let mut hold = Hold::default();
        for (body, wire_len, ecn, has_data) in bodies {
            let packet = hold.load(body, 1, &way);
            assert_eq!((packet.wire_len(), packet.ecn(), packet.has_data()), (wire_len, ecn, has_data));
        }
        assert_eq!(hold.len(), 4);
        hold.unload(1);
        assert_eq!((hold.len(), hold.load(bodies[0].0, 1, &way).cargo()), (3, 1));
    }
}
