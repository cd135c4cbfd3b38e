//! Captures as capture files.

use std::io::{self, Write};

use ecnlab_wire::pcap::{Direction, Format, Packet, Writer};

use super::{Capture, Fate, Seen, Sink, bytes};

/// Time zero of a run, in nanoseconds since 1970: 2000-01-01. At zero itself tools take a packet to have no time.
pub const EPOCH_NS: u64 = 946_684_800_000_000_000;

/// How a capture is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The format of the file.
    pub format: Format,
    /// Bytes that are kept of each packet.
    pub snap: u32,
}

/// A file for each capture.
#[derive(Debug)]
pub struct Files<W: Write> {
    files: Vec<(Settings, Writer<W>)>,
    bytes: Vec<u8>,
    failed: Option<io::Error>,
}

impl<W: Write> Files<W> {
    /// Begins the files of captures, each with what is to be written to.
    ///
    /// # Errors
    /// As the writers give them.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a Capture, Settings, W)>) -> io::Result<Files<W>> {
        let begin = |(capture, settings, out): (&Capture, Settings, W)| {
            let names: Vec<String> = capture.interfaces.iter().map(|i| i.name.clone()).collect();
            Ok((settings, Writer::new(out, settings.format, &names, settings.snap)?))
        };
        let files = files.into_iter().map(begin).collect::<io::Result<_>>()?;
        Ok(Files { files, bytes: Vec::new(), failed: None })
    }

    /// Hands everything on, and gives back what was written to.
    ///
    /// # Errors
    /// Of the first write that failed, also during the run.
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
        let original_len = bytes::emit(&seen.packet, &seen.cargo, settings.snap as usize, &mut self.bytes);
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
}
