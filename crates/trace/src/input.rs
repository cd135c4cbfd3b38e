//! Byte input: a file or a stream, optionally compressed, that counts the offset of the data read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::TraceError;
use crate::compressed::{Frames, Members, is_zstd};

/// Bytes per read from the system.
const CHUNK: usize = 1 << 18;
/// Maximum length accepted for a record: far above any packet, low enough that a corrupt length causes no large
/// allocation.
pub const MAX_RECORD: usize = 1 << 24;

/// A stream of bytes with lookahead.
pub struct Input {
    reader: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset of `buffer[start]` in the decompressed file.
    offset: u64,
    failed: Option<io::Error>,
}

impl Input {
    /// Opens `path`; `-` is standard input.
    ///
    /// # Errors
    /// If it cannot be read, or is a folder or a device.
    pub fn open(path: &Path) -> Result<Input, TraceError> {
        if path == Path::new("-") {
            return Input::new(Box::new(io::stdin()));
        }
        let kind = std::fs::metadata(path).map_err(TraceError::Io)?.file_type();
        if kind.is_dir() {
            return Err(TraceError::Format { offset: 0, what: "is a folder, not a capture file".into() });
        }
        if !kind.is_file() && !is_pipe(kind) {
            let what = "is a device, not a capture file; to capture from it: tcpdump -w - | ecnlab trace -".into();
            return Err(TraceError::Format { offset: 0, what });
        }
        Input::new(Box::new(File::open(path).map_err(TraceError::Io)?))
    }

    /// Reads from `reader`; gzip (RFC 1952) or zstd (RFC 8878) data is detected and decompressed.
    ///
    /// # Errors
    /// If the first bytes cannot be read.
    pub fn new(reader: Box<dyn Read + Send>) -> Result<Input, TraceError> {
        let mut plain = Input::of(reader);
        let magic = plain.peek(4).map_err(TraceError::Io)?.to_owned();
        let rest = |plain: Input| io::Cursor::new(plain.buffer[plain.start..plain.end].to_owned()).chain(plain.reader);
        Ok(match magic.as_slice() {
            [0x1f, 0x8b, ..] => Input::of(Box::new(Members::new(rest(plain)))),
            magic if is_zstd(magic) => Input::of(Box::new(Frames::new(rest(plain)))),
            _ => plain,
        })
    }

    fn of(reader: Box<dyn Read + Send>) -> Input {
        Input { reader, buffer: vec![0; CHUNK], start: 0, end: 0, offset: 0, failed: None }
    }

    /// Offset of the next byte.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The bytes that have been read and not consumed.
    #[inline]
    pub fn buffered(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Returns the next `n` bytes without consuming them, fewer only at the end of the stream.
    #[inline]
    pub fn peek(&mut self, n: usize) -> io::Result<&[u8]> {
        if self.end - self.start < n {
            self.fill(n)?;
        }
        Ok(&self.buffer[self.start..self.end.min(self.start + n)])
    }

    /// Consumes `n` bytes that were returned by a lookahead.
    #[inline]
    pub fn take(&mut self, n: usize) {
        let n = n.min(self.end - self.start);
        self.start += n;
        self.offset += n as u64;
    }

    #[inline(never)]
    fn fill(&mut self, n: usize) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() < n {
            self.buffer.resize(n.min(MAX_RECORD).next_multiple_of(CHUNK), 0);
        }
        while self.end < n && self.failed.is_none() {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Data read before the failure is still valid.
                Err(error) => self.failed = Some(error),
            }
        }
        match self.failed.take() {
            Some(error) if self.end == 0 => Err(error),
            failed => {
                self.failed = failed;
                Ok(())
            }
        }
    }

    /// Returns the read or decompression error that ended the stream early.
    pub fn failure(&mut self) -> Option<io::Error> {
        self.failed.take()
    }
}

#[cfg(unix)]
fn is_pipe(kind: std::fs::FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_fifo() || kind.is_socket()
}

#[cfg(not(unix))]
fn is_pipe(_: std::fs::FileType) -> bool {
    false
}
