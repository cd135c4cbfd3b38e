//! Capture files from the packet log of a virtual-time kernel's guest.

use std::io::{self, BufReader, Read, Write};

use ecnlab_wire::pcap::{Direction, Packet, Writer};

use super::{Capture, EPOCH_NS, Interface, Settings};

/// Bytes before each packet: time, link, length, stored length, capture point (`python/ecnlab/linux/guest/taps.c`).
const HEAD: usize = 24;

/// Maximum packet length in bytes.
const LONGEST: u32 = 1 << 16;

/// Writes the packets in the guest's `log` to the files of `captures`.
///
/// Before a queue the kernel records packets on arrival: the file does not contain the queue's decision.
///
/// # Errors
/// Errors of `log` and the files; `InvalidData` if `log` is not in the guest's format.
pub fn write_captures<W: Write>(log: impl Read, captures: Vec<(Capture, Settings, W)>) -> io::Result<()> {
    let mut files = captures.into_iter().map(OfCapture::new).collect::<io::Result<Vec<_>>>()?;
    let mut log = BufReader::new(log);
    let (mut zero, mut bytes) = ([0; 8], Vec::new());
    log.read_exact(&mut zero)?;
    let zero = u64::from_le_bytes(zero);
    while let Some(record) = Record::read(&mut log, &mut bytes)? {
        for file in &mut files {
            file.write(&record, zero, &bytes)?;
        }
    }
    files.into_iter().try_for_each(|file| file.out.finish().map(drop))
}

/// A packet recorded at a device.
struct Record {
    time_ns: u64,
    link: usize,
    length: u32,
    place: Place,
}

/// Capture point of a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    End,
    BeforeQueue,
    AfterQueue,
}

impl Record {
    /// Reads the next record of `log`, if any; the stored part of its packet is then in `bytes`.
    fn read(log: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<Option<Record>> {
        let mut head = [0; HEAD];
        let mut have = 0;
        while have < HEAD {
            match log.read(&mut head[have..])? {
                0 if have == 0 => return Ok(None),
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => have += n,
            }
        }
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let kept = number(16);
        if kept > LONGEST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a packet of {kept} bytes")));
        }
        bytes.resize(kept as usize, 0);
        log.read_exact(bytes)?;
        let time_ns = u64::from(number(0)) | u64::from(number(4)) << 32;
        let place = match number(20) {
            0 => Place::End,
            1 => Place::BeforeQueue,
            2 => Place::AfterQueue,
            other => return Err(io::Error::new(io::ErrorKind::InvalidData, format!("no place {other}"))),
        };
        Ok(Some(Record { time_ns, link: number(8) as usize, length: number(12), place }))
    }
}

/// A capture's file, and the links whose ends it captures.
struct OfCapture<W: Write> {
    tap: Capture,
    settings: Settings,
    out: Writer<W>,
}

impl<W: Write> OfCapture<W> {
    fn new((tap, settings, out): (Capture, Settings, W)) -> io::Result<OfCapture<W>> {
        let names: Vec<String> = tap.interfaces.iter().map(|interface| interface.name.clone()).collect();
        let out = Writer::new(out, settings.format, &names, settings.snap)?;
        Ok(OfCapture { tap, settings, out })
    }

    fn write(&mut self, record: &Record, zero: u64, bytes: &[u8]) -> io::Result<()> {
        let inbound = record.place == Place::End;
        if !inbound && (record.place == Place::BeforeQueue) != self.tap.before_queue {
            return Ok(());
        }
        let sees = |i: &Interface| if inbound { i.into } else { i.out } == Some(record.link);
        let Some(interface) = self.tap.interfaces.iter().position(sees) else { return Ok(()) };
        self.out.packet(&Packet {
            interface: interface as u32,
            time_ns: EPOCH_NS + record.time_ns.saturating_sub(zero),
            bytes: &bytes[..bytes.len().min(self.settings.snap as usize)],
            original_len: record.length,
            direction: if inbound { Direction::Inbound } else { Direction::Outbound },
            comment: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use ecnlab_wire::pcap::Format;

    use super::*;

    /// The run started one millisecond after the clock's zero.
    const ZERO: [u8; 8] = 1_000_000_u64.to_le_bytes();

    /// A record as the guest writes it, of a packet of 1500 bytes that begins with `bytes`.
    fn record(time_ns: u64, link: u32, place: u32, bytes: &[u8]) -> Vec<u8> {
        let words = [link, 1500, bytes.len() as u32, place];
        let words = words.iter().flat_map(|word| word.to_le_bytes());
        time_ns.to_le_bytes().into_iter().chain(words).chain(bytes.iter().copied()).collect()
    }

    fn capture(name: &str, out: usize, into: usize) -> Capture {
        let interfaces = vec![Interface { name: name.into(), out: Some(out), into: Some(into) }];
        Capture { name: name.into(), interfaces, before_queue: true }
    }

    /// (milliseconds, first byte, bytes kept) of the packets in each of two captures: of links 0 and 1, and of 1 and 0.
    fn written(log: &[u8]) -> io::Result<[Vec<(u64, u8, usize)>; 2]> {
        let mut files = [Vec::new(), Vec::new()];
        let settings = Settings { format: Format::Pcapng, snap: 4 };
        let [one, two] = &mut files;
        write_captures(log, vec![(capture("a", 0, 1), settings, one), (capture("b", 1, 0), settings, two)])?;
        Ok(files.map(|file| {
            let input = ecnlab_trace::Input::new(Box::new(io::Cursor::new(file))).unwrap();
            let (mut reader, mut found) = (ecnlab_trace::Reader::new(input).unwrap(), Vec::new());
            while let Some(record) = reader.read().unwrap() {
                found.push(((record.time_ns - EPOCH_NS) / 1_000_000, record.bytes[0], record.bytes.len()));
            }
            found
        }))
    }

    #[test]
    fn each_packet_goes_to_the_captures_of_its_links_end() {
        let log = [
            ZERO.to_vec(),
            record(1_000_000, 0, 1, &[1; 8]),
            record(2_000_000, 0, 0, &[2; 3]),
            record(3_000_000, 0, 2, &[3; 3]),
        ]
        .concat();
        assert_eq!(written(&log).unwrap(), [vec![(0, 1, 4)], vec![(1, 2, 3)]]);
    }

    #[test]
    fn a_log_that_breaks_off_or_is_none_is_an_error() {
        let log = [ZERO.to_vec(), record(1_000_000, 0, 1, &[1; 8])].concat();
        for short in [1, 9, 31, 32, 39] {
            assert_eq!(written(&log[..short]).unwrap_err().kind(), io::ErrorKind::UnexpectedEof, "{short}");
        }
        assert_eq!(written(&[0xff; 32]).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
