//! Writing captures to files.

use std::io::{self, Write};

use ecnlab_wire::pcap::{Direction, Format, Packet, Writer};

use super::{Capture, Fate, Seen, Sink, bytes};

/// Time zero of a run in nanoseconds since 1970: 2000-01-01. Tools interpret a zero timestamp as a missing time.
pub const EPOCH_NS: u64 = 946_684_800_000_000_000;

/// Output settings of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// File format.
    pub format: Format,
    /// Maximum bytes stored per packet.
    pub snap: u32,
}

/// One file per capture.
#[derive(Debug)]
pub struct Files<W: Write> {
    files: Vec<(Settings, Writer<W>)>,
    bytes: Vec<u8>,
    failed: Option<io::Error>,
}

impl<W: Write> Files<W> {
    /// Starts one file per capture on the given writer.
    ///
    /// # Errors
    /// Errors of the writers.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a Capture, Settings, W)>) -> io::Result<Files<W>> {
        let begin = |(capture, settings, out): (&Capture, Settings, W)| {
            let names: Vec<String> = capture.interfaces.iter().map(|i| i.name.clone()).collect();
            Ok((settings, Writer::new(out, settings.format, &names, settings.snap)?))
        };
        let files = files.into_iter().map(begin).collect::<io::Result<_>>()?;
        Ok(Files { files, bytes: Vec::new(), failed: None })
    }

    /// Flushes the files and returns the writers.
    ///
    /// # Errors
    /// The first failed write, including those during the run.
    pub fn finish(self) -> io::Result<Vec<W>> {
        match self.failed {
            Some(error) => Err(error),
            None => self.files.into_iter().map(|(_, file)| file.finish()).collect(),
        }
    }

    fn write(&mut self, seen: &Seen) -> io::Result<()> {
        let (settings, file) = &mut self.files[seen.capture as usize];
        if settings.format == Format::Pcap && matches!(seen.fate, Fate::Dropped(_)) {
            return Ok(()); // without a comment it would pass for a packet that went out
        }
        self.bytes.clear();
        let original_len = bytes::emit(seen, settings.snap as usize, &mut self.bytes);
        file.packet(&Packet {
            interface: seen.interface,
            time_ns: EPOCH_NS + seen.time.ns(),
            bytes: &self.bytes,
            original_len,
            direction: if seen.outbound { Direction::Outbound } else { Direction::Inbound },
            comment: seen.fate.comment(),
        })
    }
}

impl<W: Write> Sink for Files<W> {
    fn take(&mut self, seen: &Seen) -> bool {
        if let Err(error) = self.write(seen) {
            self.failed.get_or_insert(error);
        }
        self.failed.is_none()
    }

    fn secret(&mut self, line: &str) {
        for (_, file) in &mut self.files {
            if let Err(error) = file.secret(line) {
                self.failed.get_or_insert(error);
            }
        }
    }
}
