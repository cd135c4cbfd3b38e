//! Capture file writer: pcapng (draft-ietf-opsawg-pcapng) and classic pcap (draft-ietf-opsawg-pcap), as a stream.
//!
//! Both in little-endian order with times in nanoseconds; the file header states order and resolution.

use std::io::{self, Write};

/// Raw IP, version 4 or 6 by the first nibble (LINKTYPE_RAW).
pub const LINKTYPE_RAW: u16 = 101;

/// The format of a capture file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// pcapng: interfaces with names, directions and comments.
    #[default]
    Pcapng,
    /// Classic pcap: one interface, packets and times; comments are omitted.
    Pcap,
}

/// Direction of a packet at its interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Received.
    Inbound,
    /// Sent.
    Outbound,
}

/// A packet to write.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Number of its interface, in the order of [`Writer::new`].
    pub interface: u32,
    /// Time in nanoseconds since 1970.
    pub time_ns: u64,
    /// The stored bytes.
    pub bytes: &'a [u8],
    /// The original length in bytes.
    pub original_len: u32,
    /// Which way it went.
    pub direction: Direction,
    /// Comment on the packet.
    pub comment: Option<&'a str>,
}

/// A capture file being written, one complete record at a time.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    format: Format,
    record: Vec<u8>,
}

/// pcapng block types.
mod block {
    pub const SECTION: u32 = 0x0a0d_0d0a;
    pub const INTERFACE: u32 = 1;
    pub const ENHANCED_PACKET: u32 = 6;
    pub const DECRYPTION_SECRETS: u32 = 10;
}

/// Type of secrets: a TLS key log.
const TLS_KEY_LOG: u32 = 0x544c_534b;

/// pcapng option codes.
mod option {
    pub const END: u16 = 0;
    pub const COMMENT: u16 = 1;
    pub const USER_APPLICATION: u16 = 4;
    pub const IF_NAME: u16 = 2;
    pub const IF_TSRESOL: u16 = 9;
    pub const EPB_FLAGS: u16 = 2;
}

impl<W: Write> Writer<W> {
    /// Starts a file of raw IP packets from the named `interfaces`, with at most `snap` bytes per packet.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn new(out: W, format: Format, interfaces: &[String], snap: u32) -> io::Result<Writer<W>> {
        let mut writer = Writer { out, format, record: Vec::with_capacity(256) };
        match format {
            Format::Pcap => writer.pcap_header(snap)?,
            Format::Pcapng => {
                writer.section()?;
                for name in interfaces {
                    writer.interface(name, snap)?;
                }
            }
        }
        Ok(writer)
    }

    /// Writes a packet.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn packet(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        match self.format {
            Format::Pcap => self.pcap_packet(packet),
            Format::Pcapng => self.enhanced_packet(packet),
        }
    }

    /// Writes a line of a TLS key log (NSS format), with which Wireshark decrypts the packets after it. Classic pcap has
    /// no place for it.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn secret(&mut self, line: &str) -> io::Result<()> {
        if self.format == Format::Pcap {
            return Ok(());
        }
        self.begin(block::DECRYPTION_SECRETS);
        self.record.extend(TLS_KEY_LOG.to_le_bytes());
        self.record.extend((line.len() as u32 + 1).to_le_bytes());
        self.record.extend(line.as_bytes());
        self.record.push(b'\n');
        self.pad();
        self.end()
    }

    /// Flushes the file and returns the writer.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    /// The file header of nanosecond pcap: magic number 0xa1b23c4d.
    fn pcap_header(&mut self, snap: u32) -> io::Result<()> {
        let words = [0xa1b2_3c4d, 2 | (4 << 16), 0, 0, snap, u32::from(LINKTYPE_RAW)];
        self.record.clear();
        words.iter().for_each(|word: &u32| self.record.extend(word.to_le_bytes()));
        self.out.write_all(&self.record)
    }

    fn pcap_packet(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        let (seconds, ns) = (packet.time_ns / 1_000_000_000, packet.time_ns % 1_000_000_000);
        self.record.clear();
        for word in [seconds as u32, ns as u32, packet.bytes.len() as u32, packet.original_len] {
            self.record.extend(word.to_le_bytes());
        }
        self.record.extend(packet.bytes);
        self.out.write_all(&self.record)
    }

    fn section(&mut self) -> io::Result<()> {
        self.begin(block::SECTION);
        // Byte-order magic, version 1.0, unknown section length.
        self.record.extend(0x1a2b_3c4d_u32.to_le_bytes());
        self.record.extend([1, 0, 0, 0]);
        self.record.extend(u64::MAX.to_le_bytes());
        self.option(option::USER_APPLICATION, b"ecnlab");
        self.option(option::END, b"");
        self.end()
    }

    fn interface(&mut self, name: &str, snap: u32) -> io::Result<()> {
        self.begin(block::INTERFACE);
        self.record.extend(LINKTYPE_RAW.to_le_bytes());
        self.record.extend([0, 0]);
        self.record.extend(snap.to_le_bytes());
        self.option(option::IF_NAME, name.as_bytes());
        self.option(option::IF_TSRESOL, &[9]);
        self.option(option::END, b"");
        self.end()
    }

    fn enhanced_packet(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        self.begin(block::ENHANCED_PACKET);
        let (high, low) = ((packet.time_ns >> 32) as u32, packet.time_ns as u32);
        for word in [packet.interface, high, low, packet.bytes.len() as u32, packet.original_len] {
            self.record.extend(word.to_le_bytes());
        }
        self.record.extend(packet.bytes);
        self.pad();
        let direction: u32 = if packet.direction == Direction::Inbound { 1 } else { 2 };
        self.option(option::EPB_FLAGS, &direction.to_le_bytes());
        if let Some(comment) = packet.comment {
            self.option(option::COMMENT, comment.as_bytes());
        }
        self.option(option::END, b"");
        self.end()
    }

    fn begin(&mut self, kind: u32) {
        self.record.clear();
        self.record.extend(kind.to_le_bytes());
        self.record.extend([0; 4]);
    }

    /// Writes an option; a value beyond the maximum length is truncated.
    fn option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.record.extend(code.to_le_bytes());
        self.record.extend((value.len() as u16).to_le_bytes());
        self.record.extend(value);
        self.pad();
    }

    fn pad(&mut self) {
        self.record.resize(self.record.len().next_multiple_of(4), 0);
    }

    /// Fills in both lengths of the block and writes it.
    fn end(&mut self) -> io::Result<()> {
        let len = (self.record.len() as u32 + 4).to_le_bytes();
        self.record[4..8].copy_from_slice(&len);
        self.record.extend(len);
        self.out.write_all(&self.record)
    }
}
