//! What the router keeps of packets in flight: their bytes, and the connections that they are of.

use std::collections::HashMap;
use std::net::SocketAddr;

use ecnlab_aqm::{DropReason, Item, Owed, Watch};
use ecnlab_base::Time;
use ecnlab_engine::{Inside, Inspect, Packet, WatchWire};
use ecnlab_wire::{Flags, Seq};

use crate::capture::{Out, Taps};
use crate::packet;
use crate::tun::MTU;

/// The bytes of packets in flight.
#[derive(Debug, Default)]
pub(crate) struct Hold {
    places: Vec<Vec<u8>>,
    free: Vec<u32>,
}

impl Hold {
    pub fn load(&mut self, bytes: &[u8]) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(Vec::with_capacity(MTU));
            self.places.len() as u32 - 1
        });
        let buffer = &mut self.places[place as usize];
        buffer.clear();
        buffer.extend_from_slice(bytes);
        place
    }

    /// Frees a slot. Its bytes remain readable until the next packet is loaded.
    pub fn unload(&mut self, place: u32) {
        self.free.push(place);
    }

    pub fn bytes(&self, place: u32) -> &[u8] {
        &self.places[place as usize]
    }

    pub fn bytes_mut(&mut self, place: u32) -> &mut [u8] {
        &mut self.places[place as usize]
    }

    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }
}

/// The connections of flows, numbered in the order of their first SYNs.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    /// Number of connections, by flow.
    opened: HashMap<u32, u32>,
    /// Initial sequence number and number of a connection, by its ends, the opener first.
    numbers: HashMap<[SocketAddr; 2], (Seq, u32)>,
}

impl Connections {
    /// Processes the packet `bytes` from a host of `flow`: a SYN that is not a retransmission starts a connection.
    pub fn see(&mut self, flow: u32, bytes: &[u8]) {
        let Ok(arrived) = packet::parse(bytes) else { return };
        let (segment, ends) = (arrived.segment, [arrived.source, arrived.destination]);
        let opens = segment.flags & (Flags::SYN | Flags::ACK) == Flags::SYN;
        if !opens || self.numbers.get(&ends).is_some_and(|(first, _)| *first == segment.seq) {
            return;
        }
        let opened = self.opened.entry(flow).or_default();
        self.numbers.insert(ends, (segment.seq, *opened));
        *opened += 1;
    }

    /// Returns the number in its flow of the connection between these ends; 0 if its SYN was not seen.
    fn number(&self, [source, destination]: [SocketAddr; 2]) -> u32 {
        let found = self.numbers.get(&[source, destination]).or_else(|| self.numbers.get(&[destination, source]));
        found.map_or(0, |(_, number)| *number)
    }
}

/// Access of middleboxes to the packets in flight.
pub(crate) struct Contents<'a> {
    pub hold: &'a mut Hold,
    pub connections: Option<&'a Connections>,
}

impl Inspect for Contents<'_> {
    fn inside(&self, packet: &Packet) -> Inside {
        match packet::parse(self.hold.bytes(packet.cargo())) {
            Ok(arrived) => Inside::Tcp(arrived.segment.flags),
            Err(_) => Inside::Icmp,
        }
    }
    fn set_flags(&mut self, packet: &Packet, flags: Flags) {
        packet::set_flags(self.hold.bytes_mut(packet.cargo()), flags);
    }
    fn connection(&self, packet: &Packet) -> u32 {
        let ends = packet::parse(self.hold.bytes(packet.cargo())).map(|arrived| [arrived.source, arrived.destination]);
        self.connections.zip(ends.ok()).map_or(0, |(connections, ends)| connections.number(ends))
    }
}

/// Observer of a link: frees the slots of packets that end here, and notifies the captures.
pub(crate) struct Watcher<'a> {
    hold: &'a mut Hold,
    taps: Option<&'a mut Taps<Out>>,
    pub owed: Vec<Owed<Packet>>,
    link: u32,
    now: Time,
}

impl<'a> Watcher<'a> {
    pub fn new(hold: &'a mut Hold, taps: Option<&'a mut Taps<Out>>, link: u32) -> Watcher<'a> {
        Watcher { hold, taps, owed: Vec::new(), link, now: Time::ZERO }
    }
}

impl Watch<Packet> for Watcher<'_> {
    fn dropped(&mut self, packet: &Packet, why: DropReason) {
        if let Some(taps) = &mut self.taps {
            taps.drops(self.link, packet.cargo(), why);
        }
        self.hold.unload(packet.cargo());
    }
    fn dequeued(&mut self, packet: &Packet) {
        if let Some(taps) = &mut self.taps {
            let bytes = self.hold.bytes(packet.cargo());
            taps.leaves(self.link, packet.cargo(), bytes, packet.ecn(), self.now);
        }
    }
    fn quenched(&mut self, owed: &Owed<Packet>) {
        self.owed.push(*owed);
    }
}

impl WatchWire for Watcher<'_> {
    fn at(&mut self, now: Time) {
        self.now = now;
    }
    fn lost(&mut self, packet: &Packet) {
        self.hold.unload(packet.cargo());
    }
}
