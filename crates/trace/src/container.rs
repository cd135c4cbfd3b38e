//! Capture file reader: classic pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng), in either byte
//! order.

use crate::TraceError;
use crate::input::{Input, MAX_RECORD};

/// A packet of a capture file.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Packet number in the file, starting at 1 as in Wireshark.
    pub number: u64,
    /// Timestamp in nanoseconds since 1970; without meaning if not `timed`.
    pub time_ns: u64,
    /// It has a timestamp: Simple Packet Blocks have none.
    pub timed: bool,
    /// Number of its interface in the file.
    pub interface: u32,
    /// Interface index in its cooked header; otherwise `interface`.
    pub device: u32,
    /// The link type of that interface.
    pub link_type: u16,
    /// The captured bytes.
    pub bytes: &'a [u8],
    /// The original length in bytes.
    pub original_len: u32,
    /// A packet comment marks it as dropped at this point.
    pub dropped: bool,
}

impl Record<'_> {
    /// Bytes of the packet that are not captured.
    #[inline]
    pub fn uncaptured(&self) -> usize {
        (self.original_len as usize).saturating_sub(self.bytes.len())
    }
}

/// An interface of a capture file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name, if the file has one.
    pub name: Option<String>,
    /// Its link type.
    pub link_type: u16,
    /// Maximum captured bytes of a packet.
    snap_len: u32,
    scale: Scale,
}

impl Default for Interface {
    fn default() -> Interface {
        Interface { name: None, link_type: 0, snap_len: u32::MAX, scale: Scale::default() }
    }
}

/// Conversion of the file's time units to nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scale {
    multiply: u64,
    divide: u64,
    offset_s: i64,
}

impl Default for Scale {
    fn default() -> Scale {
        Scale { multiply: 1_000, divide: 1, offset_s: 0 } // pcapng §4.2: microseconds by default
    }
}

impl Scale {
    /// if_tsresol (pcapng §4.2): a power of ten, or of two with the high bit set.
    fn of_resolution(value: u8) -> Option<Scale> {
        let power = u32::from(value & 0x7f);
        let (multiply, divide) = match value & 0x80 {
            0 if power <= 9 => (10_u64.pow(9 - power), 1),
            0 => (1, 10_u64.checked_pow(power - 9)?),
            _ => (1_000_000_000, 1_u64.checked_shl(power)?),
        };
        Some(Scale { multiply, divide, offset_s: 0 })
    }

    #[inline]
    fn ns(self, ticks: u64) -> u64 {
        let ns = if self.divide == 1 {
            ticks.saturating_mul(self.multiply)
        } else {
            u64::try_from(u128::from(ticks) * u128::from(self.multiply) / u128::from(self.divide)).unwrap_or(u64::MAX)
        };
        ns.saturating_add_signed(self.offset_s.saturating_mul(1_000_000_000))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// Nanoseconds of a unit of time, and bytes of the header of each packet.
    Pcap {
        scale: u32,
        head: usize,
    },
    Pcapng,
}

/// The fields of a pcapng block with a packet.
struct Packet {
    /// Length of the block.
    len: usize,
    /// Offset of the packet's bytes in the block, and their number.
    start: usize,
    kept: usize,
    /// Number of its interface in the section.
    interface: u32,
    /// Time in units of the interface, if the block has a time.
    ticks: u64,
    timed: bool,
    original_len: u32,
    /// Its options may be comments.
    has_comments: bool,
}

/// Reads the packets of a capture in order.
pub struct Reader {
    input: Input,
    format: Format,
    big: bool,
    interfaces: Vec<Interface>,
    /// Index of the first interface of the current section.
    first: usize,
    number: u64,
    taken: usize,
}

impl Reader {
    /// Opens a capture by reading its header.
    ///
    /// # Errors
    /// If the stream is empty or in another format.
    pub fn new(mut input: Input) -> Result<Reader, TraceError> {
        let head = match input.peek(24) {
            Err(error) if error.raw_os_error().is_none() => {
                return Err(TraceError::Format { offset: 0, what: format!("cannot be read: {error}") });
            }
            head => head.map_err(TraceError::Io)?,
        };
        let wrong = |what: String| Err(TraceError::Format { offset: 0, what });
        let Some(magic) = head.first_chunk::<4>() else {
            let what = if head.is_empty() { "is empty".into() } else { format!("ends after {} bytes", head.len()) };
            return wrong(what);
        };
        // The magic number gives byte order and time resolution of a pcap file.
        let (big, format) = match *magic {
            [0xd4, 0xc3, 0xb2, 0xa1] => (false, Format::Pcap { scale: 1_000, head: 16 }),
            [0xa1, 0xb2, 0xc3, 0xd4] => (true, Format::Pcap { scale: 1_000, head: 16 }),
            [0x4d, 0x3c, 0xb2, 0xa1] => (false, Format::Pcap { scale: 1, head: 16 }),
            [0xa1, 0xb2, 0x3c, 0x4d] => (true, Format::Pcap { scale: 1, head: 16 }),
            // "Modified" pcap of old Linux tools: interface, protocol and packet type follow the lengths.
            [0x34, 0xcd, 0xb2, 0xa1] => (false, Format::Pcap { scale: 1_000, head: 24 }),
            [0xa1, 0xb2, 0xcd, 0x34] => (true, Format::Pcap { scale: 1_000, head: 24 }),
            [0x0a, 0x0d, 0x0d, 0x0a] => (false, Format::Pcapng),
            [a, b, c, d] => {
                let seen = format!("begins with bytes {a:02x} {b:02x} {c:02x} {d:02x}");
                return wrong(format!("is not a capture: it {seen}, which matches neither pcap nor pcapng"));
            }
        };
        let mut reader = Reader { input, format, big, interfaces: Vec::new(), first: 0, number: 0, taken: 0 };
        if let Format::Pcap { .. } = format {
            reader.pcap_head()?;
        }
        Ok(reader)
    }

    /// The interfaces found so far.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }
    /// Packets read so far.
    pub fn packets(&self) -> u64 {
        self.number
    }

    /// Reads the next packet; `None` at the end of the file.
    ///
    /// # Errors
    /// If the file ends inside a record or a record is invalid.
    #[inline]
    pub fn read(&mut self) -> Result<Option<Record<'_>>, TraceError> {
        self.input.take(std::mem::take(&mut self.taken));
        match self.format {
            Format::Pcap { scale, head } => self.pcap_record(scale, head),
            Format::Pcapng => self.pcapng_record(),
        }
    }

    fn pcap_head(&mut self) -> Result<(), TraceError> {
        let big = self.big;
        let head = self.whole(24, "the file header")?;
        let link_type = u32_at(head, 20, big) as u16;
        self.interfaces.push(Interface { link_type, ..Interface::default() });
        self.input.take(24);
        Ok(())
    }

    #[inline]
    fn pcap_record(&mut self, scale: u32, head: usize) -> Result<Option<Record<'_>>, TraceError> {
        let kept = match self.buffered_record(head) {
            Some(kept) => kept,
            None => match self.whole_record(head)? {
                Some(kept) => kept,
                None => return Ok(None),
            },
        };
        let (big, len) = (self.big, head + kept);
        let record = &self.input.buffered()[..len];
        let (seconds, part, original_len) = (u32_at(record, 0, big), u32_at(record, 4, big), u32_at(record, 12, big));
        self.number += 1;
        self.taken = len;
        Ok(Some(Record {
            number: self.number,
            time_ns: u64::from(seconds) * 1_000_000_000 + u64::from(part) * u64::from(scale),
            timed: true,
            interface: 0,
            device: 0,
            link_type: self.interfaces[0].link_type,
            bytes: &record[head..],
            original_len,
            dropped: false,
        }))
    }

    /// Captured length of the next packet if it is completely buffered, as almost all are.
    #[inline]
    fn buffered_record(&self, head: usize) -> Option<usize> {
        let bytes = self.input.buffered();
        let kept = u32_at(bytes.first_chunk::<16>()?, 8, self.big) as usize;
        (kept <= MAX_RECORD && head + kept <= bytes.len()).then_some(kept)
    }

    /// Buffers the next packet; returns its captured length, `None` at the end of the file.
    #[inline(never)]
    fn whole_record(&mut self, head: usize) -> Result<Option<usize>, TraceError> {
        let big = self.big;
        if self.at_end()? {
            return Ok(None);
        }
        let kept = u32_at(self.whole(head, "a packet header")?, 8, big);
        self.check_len(kept, "a packet of")?;
        self.whole(head + kept as usize, "a packet")?;
        Ok(Some(kept as usize))
    }

    #[inline]
    fn pcapng_record(&mut self) -> Result<Option<Record<'_>>, TraceError> {
        let packet = match self.buffered_packet() {
            Some(packet) => packet,
            None => match self.find_packet()? {
                Some((kind, len)) => self.packet(kind, len)?,
                None => return Ok(None),
            },
        };
        let interface = self.first + packet.interface as usize;
        let Some(known) = self.interfaces.get(interface) else {
            let what = format!("a packet of interface {}, which the file does not describe", packet.interface);
            return Err(self.wrong(what));
        };
        self.number += 1;
        self.taken = packet.len;
        let block = &self.input.buffered()[..packet.len - 4];
        let (bytes, options) = block[packet.start..].split_at(packet.kept);
        let options = options.get(packet.kept.wrapping_neg() % 4..).filter(|_| packet.has_comments);
        Ok(Some(Record {
            number: self.number,
            time_ns: known.scale.ns(packet.ticks),
            timed: packet.timed,
            interface: interface as u32,
            device: interface as u32,
            link_type: known.link_type,
            bytes,
            original_len: packet.original_len,
            dropped: options.is_some_and(|options| is_dropped(options, self.big)),
        }))
    }

    /// The packet in the next block if that is a valid Enhanced Packet Block that is completely buffered, as almost all
    /// are.
    #[inline]
    fn buffered_packet(&self) -> Option<Packet> {
        let bytes = self.input.buffered();
        let [kind, len, interface, high, low, kept, original_len] = words(bytes.first_chunk()?, self.big);
        let (len, kept) = (len as usize, kept as usize);
        let valid = kind == kind::ENHANCED && len.is_multiple_of(4) && len <= MAX_RECORD.min(bytes.len());
        let ticks = (u64::from(high) << 32) | u64::from(low);
        (valid && kept + 32 <= len).then_some(Packet {
            len,
            start: 28,
            kept,
            interface,
            ticks,
            timed: true,
            original_len,
            has_comments: true,
        })
    }

    /// Reads up to the next packet block; returns its type and length, `None` at the end of the file.
    #[inline(never)]
    fn find_packet(&mut self) -> Result<Option<(u32, usize)>, TraceError> {
        loop {
            if self.at_end()? {
                return Ok(None);
            }
            let (kind, len) = self.block_head()?;
            self.whole(len, "a block")?;
            match kind {
                kind::SECTION => self.first = self.interfaces.len(),
                kind::INTERFACE => self.interface(len)?,
                kind::ENHANCED | kind::SIMPLE | kind::OBSOLETE => return Ok(Some((kind, len))),
                _ => {}
            }
            self.input.take(len);
        }
    }

    /// Reads type and length of the next block; a section header sets the byte order.
    fn block_head(&mut self) -> Result<(u32, usize), TraceError> {
        let big = self.big;
        let head = self.whole(12, "a block header")?;
        let big = match head[..4] == [0x0a, 0x0d, 0x0d, 0x0a] {
            // pcapng §4.1: the byte-order magic.
            true => match head[8..12] {
                [0x1a, 0x2b, 0x3c, 0x4d] => true,
                [0x4d, 0x3c, 0x2b, 0x1a] => false,
                _ => return Err(self.wrong("a section without a byte-order magic")),
            },
            false => big,
        };
        let (kind, len) = (u32_at(head, 0, big), u32_at(head, 4, big));
        self.big = big;
        if len < 12 || !len.is_multiple_of(4) {
            return Err(self.wrong(format!("a block with the length field {len}")));
        }
        self.check_len(len, "a block of")?;
        Ok((kind, len as usize))
    }

    fn interface(&mut self, len: usize) -> Result<(), TraceError> {
        let big = self.big;
        if len < 20 {
            return Err(self.wrong("an interface block without room for its fields"));
        }
        let block = self.input.peek(len).map_err(TraceError::Io)?;
        // pcapng §4.2: a limit of zero means none.
        let snap_len = Some(u32_at(block, 12, big)).filter(|&len| len > 0).unwrap_or(u32::MAX);
        let mut interface = Interface { link_type: u16_at(block, 8, big), snap_len, ..Interface::default() };
        for (code, value) in options(&block[16..len - 4], big) {
            match (code, value) {
                (2, name) => interface.name = Some(String::from_utf8_lossy(name).into_owned()),
                (9, [resolution, ..]) => {
                    let offset_s = interface.scale.offset_s;
                    let scale = Scale::of_resolution(*resolution);
                    interface.scale = Scale { offset_s, ..scale.unwrap_or_default() };
                }
                (14, value) => {
                    if let Some(bytes) = value.first_chunk::<8>() {
                        let offset = if big { i64::from_be_bytes(*bytes) } else { i64::from_le_bytes(*bytes) };
                        interface.scale.offset_s = offset;
                    }
                }
                _ => {}
            }
        }
        self.interfaces.push(interface);
        Ok(())
    }

    /// Returns the packet in the next block, of `len` bytes, which is buffered.
    #[cold]
    fn packet(&self, kind: u32, len: usize) -> Result<Packet, TraceError> {
        let start = if kind == kind::SIMPLE { 12 } else { 28 };
        let Some(room) = len.checked_sub(start + 4) else {
            return Err(self.wrong("a packet block without room for its fields"));
        };
        let block = &self.input.buffered()[..len];
        let long = |i| u32_at(block, i, self.big);
        let (interface, ticks, kept, original_len) = match kind {
            kind::SIMPLE => {
                // pcapng §4.4: a packet of the first interface of the section, cut to its limit.
                let limit = self.interfaces.get(self.first).map_or(u32::MAX, |first| first.snap_len);
                (0, 0, (long(8).min(limit) as usize).min(room), long(8))
            }
            kind::OBSOLETE => {
                let interface = u32::from(u16_at(block, 8, self.big));
                (interface, (u64::from(long(12)) << 32) | u64::from(long(16)), long(20) as usize, long(24))
            }
            _ => (long(8), (u64::from(long(12)) << 32) | u64::from(long(16)), long(20) as usize, long(24)),
        };
        if kept > room {
            return Err(self.wrong(format!("a packet of {kept} bytes in a block of {len}")));
        }
        let (has_comments, timed) = (kind == kind::ENHANCED, kind != kind::SIMPLE);
        Ok(Packet { len, start, kept, interface, ticks, timed, original_len, has_comments })
    }

    fn at_end(&mut self) -> Result<bool, TraceError> {
        let failure = match self.input.peek(1) {
            Ok([]) => self.input.failure(),
            Ok(_) => return Ok(false),
            Err(error) if error.raw_os_error().is_none() => Some(error),
            Err(error) => return Err(TraceError::Io(error)),
        };
        failure.map_or(Ok(true), |error| Err(self.wrong(format!("no more: {error}"))))
    }

    /// Reads exactly `n` bytes.
    #[inline]
    fn whole(&mut self, n: usize, what: &str) -> Result<&[u8], TraceError> {
        let there = self.input.peek(n).map_err(TraceError::Io)?.len();
        if there < n {
            return Err(self.cut(n, there, what));
        }
        self.input.peek(n).map_err(TraceError::Io)
    }

    #[cold]
    fn cut(&mut self, n: usize, there: usize, what: &str) -> TraceError {
        let why = self.input.failure().map_or(String::new(), |error| format!(" ({error})"));
        let (offset, packets) = (self.input.offset(), self.number);
        TraceError::Cut { offset, packets, what: format!("{what} of {n} bytes, of which {there} are there{why}") }
    }

    #[inline]
    fn check_len(&self, len: u32, what: &str) -> Result<(), TraceError> {
        if len as usize <= MAX_RECORD { Ok(()) } else { Err(self.wrong(format!("{what} {len} bytes"))) }
    }

    #[cold]
    fn wrong(&self, what: impl Into<String>) -> TraceError {
        TraceError::Corrupt { offset: self.input.offset(), packets: self.number, what: what.into() }
    }
}

/// pcapng block types.
mod kind {
    pub const SECTION: u32 = 0x0a0d_0d0a;
    pub const INTERFACE: u32 = 1;
    pub const OBSOLETE: u32 = 2;
    pub const SIMPLE: u32 = 3;
    pub const ENHANCED: u32 = 6;
}

/// The options of a block: code and value.
#[inline]
fn options(mut bytes: &[u8], big: bool) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        if bytes.len() < 4 {
            return None;
        }
        let (code, len) = (u16_at(bytes, 0, big), usize::from(u16_at(bytes, 2, big)));
        let value = bytes.get(4..4 + len)?;
        bytes = bytes.get(4 + len.next_multiple_of(4)..).unwrap_or_default();
        (code != 0).then_some((code, value))
    })
}

/// Returns whether a comment marks a packet as dropped, in ecnlab's format.
#[inline]
fn is_dropped(bytes: &[u8], big: bool) -> bool {
    options(bytes, big).any(|(code, value)| code == 1 && value.starts_with(b"dropped: "))
}

/// Reads the seven numbers of a block's head.
#[inline]
fn words(head: &[u8; 28], big: bool) -> [u32; 7] {
    let (words, _) = head.as_chunks::<4>();
    let words = std::array::from_fn(|i| u32::from_le_bytes(words[i]));
    if big { words.map(u32::swap_bytes) } else { words }
}

/// Reads the number at `i`; zero if the bytes are missing.
#[inline]
fn u32_at(bytes: &[u8], i: usize, big: bool) -> u32 {
    let word = bytes.get(i..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u32::from_le_bytes(*word));
    if big { word.swap_bytes() } else { word }
}

#[inline]
fn u16_at(bytes: &[u8], i: usize, big: bool) -> u16 {
    let word = [bytes[i], bytes[i + 1]];
    if big { u16::from_be_bytes(word) } else { u16::from_le_bytes(word) }
}
