//! Short connections without data, stored as raw packets: a scan or a flood can have millions of them.

use ecnlab_wire::{Ecn, Flags, Seq};

use crate::connection::Connection;
use crate::packet::{Key, Segment};
use crate::rules::Standard;

/// Maximum stored bytes, about seven packets with timestamps. Longer connections are analysed in full.
const MAX_STORED: usize = 320;
/// Bytes of a packet without its options.
const FIXED: usize = 30;

const FROM_LOW: u8 = 0x80;
const DROPPED: u8 = 0x40;

/// The stored packets of a connection without data, concatenated.
pub(crate) struct Brief {
    pub key: Key,
    packets: Vec<u8>,
}

impl Brief {
    /// Starts a connection with `segment`; `None` if the segment has data.
    pub fn new(segment: &Segment<'_>) -> Option<Brief> {
        let mut brief = Brief { key: segment.key, packets: Vec::new() };
        brief.add(segment).then_some(brief)
    }

    /// Stores another packet; returns false if it has data or does not fit.
    pub fn add(&mut self, segment: &Segment<'_>) -> bool {
        let size = FIXED + segment.options.len();
        let Ok(options) = u8::try_from(segment.options.len()) else { return false };
        if segment.len > 0 || self.packets.len() + size > MAX_STORED {
            return false;
        }
        self.packets.reserve_exact(size);
        let how = if segment.from_low { FROM_LOW } else { 0 } | if segment.dropped { DROPPED } else { 0 };
        self.packets.extend(segment.number.to_le_bytes());
        self.packets.extend(segment.time.to_le_bytes());
        self.packets.extend(segment.seq.0.to_le_bytes());
        self.packets.extend(segment.ack.0.to_le_bytes());
        self.packets.extend(segment.flags.bits().to_le_bytes());
        self.packets.extend(segment.window.to_le_bytes());
        self.packets.extend([how | segment.ecn.bits(), options]);
        self.packets.extend(segment.options);
        true
    }

    /// Bytes allocated on the heap.
    pub fn heap(&self) -> usize {
        self.packets.capacity()
    }

    /// Whether there is only one packet.
    pub fn is_single(&self) -> bool {
        self.segments().nth(1).is_none()
    }

    /// Analyses the stored packets.
    pub fn connection(&self, standard: Standard) -> Connection {
        let mut segments = self.segments().peekable();
        let mut connection = Connection::new(segments.peek().unwrap_or(&self.nothing()), standard);
        segments.for_each(|segment| {
            connection.take(&segment);
        });
        connection
    }

    fn segments(&self) -> impl Iterator<Item = Segment<'_>> {
        let mut rest = self.packets.as_slice();
        std::iter::from_fn(move || {
            let (segment, behind) = self.read(rest)?;
            rest = behind;
            Some(segment)
        })
    }

    fn read<'a>(&self, bytes: &'a [u8]) -> Option<(Segment<'a>, &'a [u8])> {
        let (number, bytes) = bytes.split_first_chunk()?;
        let (time, bytes) = bytes.split_first_chunk()?;
        let (seq, bytes) = bytes.split_first_chunk()?;
        let (ack, bytes) = bytes.split_first_chunk()?;
        let (flags, bytes) = bytes.split_first_chunk()?;
        let (window, bytes) = bytes.split_first_chunk()?;
        let ([how, options], bytes) = bytes.split_first_chunk()?;
        let (options, bytes) = bytes.split_at_checked(usize::from(*options))?;
        let segment = Segment {
            number: u64::from_le_bytes(*number),
            time: u64::from_le_bytes(*time),
            from_low: how & FROM_LOW != 0,
            ecn: Ecn::from_bits(*how),
            seq: Seq(u32::from_le_bytes(*seq)),
            ack: Seq(u32::from_le_bytes(*ack)),
            flags: Flags::from_bits_retain(u16::from_le_bytes(*flags)),
            window: u16::from_le_bytes(*window),
            options,
            dropped: how & DROPPED != 0,
            ..self.nothing()
        };
        Some((segment, bytes))
    }

    fn nothing(&self) -> Segment<'static> {
        Segment {
            number: 0,
            time: 0,
            timed: true,
            interface: 0,
            device: 0,
            key: self.key,
            from_low: false,
            ecn: Ecn::NotEct,
            id: 0,
            seq: Seq(0),
            ack: Seq(0),
            flags: Flags::empty(),
            window: 0,
            len: 0,
            options: &[],
            dropped: false,
        }
    }
}
