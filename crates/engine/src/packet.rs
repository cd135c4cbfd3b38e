//! What links and queues carry.

use ecnlab_aqm::Item;
use ecnlab_wire::{Ecn, Segment};

/// What queues and routers see of a packet under way. Small and `Copy`: it goes from ring to ring by
/// value, two to a cache line with their times. What only the ends look at stays in the [`Hold`].
///
/// Packed in words, since fields would be copied one by one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// Bytes on the wire; index of the node it is for.
    way: u64,
    /// The place of the rest in the [`Hold`]; index of the flow.
    whose: u64,
    /// Index of the flow's group; codepoint; whether it has payload.
    kind: u64,
}

/// What a [`Packet`] is made of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Label {
    /// Bytes on the wire.
    pub wire_len: u32,
    /// Index of the node it is for.
    pub to: u32,
    /// The place of the rest in the [`Hold`].
    pub cargo: u32,
    /// Index of the flow.
    pub flow: u32,
    /// Index of the flow's group.
    pub group: u32,
    /// The codepoint in its IP header.
    pub ecn: Ecn,
    /// Whether it has payload.
    pub has_data: bool,
}

impl From<Label> for Packet {
    #[inline]
    fn from(label: Label) -> Packet {
        let word = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let marks = u32::from(label.ecn.bits()) | u32::from(label.has_data) << HAS_DATA;
        Packet {
            way: word(label.wire_len, label.to),
            whose: word(label.cargo, label.flow),
            kind: word(label.group, marks),
        }
    }
}

/// The bit of the upper half of `kind` that says payload; below it are the two of the codepoint.
const HAS_DATA: u32 = 2;

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
    /// What tells packets apart that are counted apart: group, and whether ECN-capable.
    #[inline]
    pub fn class(&self) -> (u32, bool) {
        (self.kind as u32, self.ecn().is_capable())
    }
}

impl Item for Packet {
    #[inline]
    fn wire_len(&self) -> u32 {
        self.way as u32
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        Ecn::from_bits((self.kind >> 32) as u8)
    }
    fn mark(&mut self) {
        self.kind |= u64::from(Ecn::Ce.bits()) << 32;
    }
    #[inline]
    fn group(&self) -> usize {
        self.kind as u32 as usize
    }
}

/// What only the ends of a packet's way look at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cargo {
    /// The segment; its codepoint is the one it was sent with.
    pub segment: Segment,
    /// Index of the endpoint it is for.
    pub endpoint: u32,
    /// The connection's serial number, which stands for its pair of ports: an endpoint's place may
    /// be used again, and a packet of an earlier connection must not reach the later one.
    pub connection: u32,
}

/// The cargoes of all packets under way. A place given free is the next one used, while it is still
/// in the processor's cache.
#[derive(Debug, Default)]
pub struct Hold {
    places: Vec<Cargo>,
    free: Vec<u32>,
}

impl Hold {
    /// Takes a cargo in; returns its place.
    #[inline]
    pub fn load(&mut self, cargo: Cargo) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = cargo;
                place
            }
            None => self.grow(cargo),
        }
    }

    #[cold]
    fn grow(&mut self, cargo: Cargo) -> u32 {
        self.places.push(cargo);
        self.places.len() as u32 - 1
    }

    /// Gives the place of a packet free that has arrived or was lost. Its cargo can be read until the
    /// next one is loaded.
    #[inline]
    pub fn unload(&mut self, place: u32) -> &mut Cargo {
        self.free.push(place);
        &mut self.places[place as usize]
    }

    /// What is at `place`.
    #[inline]
    pub fn cargo(&self, place: u32) -> &Cargo {
        &self.places[place as usize]
    }

    /// Packets under way.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }
}
