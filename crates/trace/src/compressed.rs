//! Decompression of gzip streams of any number of members (RFC 1952) and zstd streams of any number of frames
//! (RFC 8878): parallel compressors and appended files have several.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Magic number of a frame with data.
const FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Returns whether a zstd stream begins with these bytes: a frame with data, or a skippable frame.
pub(crate) fn is_zstd(magic: &[u8]) -> bool {
    magic == FRAME || matches!(magic, [0x50..=0x5f, 0x2a, 0x4d, 0x18])
}

/// The data of all members of a gzip stream. Zeros behind a member are padding, as for gunzip.
pub(crate) struct Members<R> {
    member: Option<GzDecoder<BufReader<R>>>,
}

impl<R: Read> Members<R> {
    /// Reads from `source`, at the beginning of a member.
    pub fn new(source: R) -> Members<R> {
        Members { member: Some(GzDecoder::new(BufReader::new(source))) }
    }

    /// Begins the next member; returns false at the end of the stream.
    fn next_member(&mut self) -> io::Result<bool> {
        let Some(member) = self.member.take() else { return Ok(false) };
        let mut source = member.into_inner();
        loop {
            let bytes = source.fill_buf()?;
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            match (bytes, zeros) {
                ([], _) => return Ok(false),
                (_, 0) => break,
                _ => source.consume(zeros),
            }
        }
        self.member = Some(GzDecoder::new(source));
        Ok(true)
    }
}

impl<R: Read> Read for Members<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(out)?;
            if read > 0 || !self.next_member()? {
                return Ok(read);
            }
        }
        Ok(0)
    }
}

/// The data of all frames of a stream.
pub(crate) struct Frames<R> {
    source: BufReader<R>,
    decoder: FrameDecoder,
}

impl<R: Read> Frames<R> {
    /// Reads from `source`, at the beginning of a frame.
    pub fn new(source: R) -> Frames<R> {
        Frames { source: BufReader::new(source), decoder: FrameDecoder::new() }
    }

    /// Begins the next frame with data; returns false at the end of the stream.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let length = u64::from(length);
                    if io::copy(&mut (&mut self.source).take(length), &mut io::sink())? < length {
                        return Err(io::Error::other("a skippable zstd frame is cut off"));
                    }
                }
                Err(error) => return Err(io::Error::other(format!("invalid zstd frame: {error}"))),
            }
        }
        Ok(false)
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        // Before the first frame, the decoder is finished.
        while self.decoder.can_collect() == 0 {
            if self.decoder.is_finished() && !self.next_frame()? {
                return Ok(0);
            }
            let enough = BlockDecodingStrategy::UptoBytes(out.len());
            self.decoder.decode_blocks(&mut self.source, enough).map_err(io::Error::other)?;
        }
        self.decoder.read(out)
    }
}
