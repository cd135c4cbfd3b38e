//! Pseudo-random data, and the digest of received data.

use std::io::{self, Read, Write};

use ecnlab_base::Rng;
use sha2::{Digest as _, Sha256};

/// So many bytes of a random stream, summed as they are read.
pub struct Stretch {
    rng: Rng,
    left: u64,
}

impl Stretch {
    /// The first `len` bytes of the stream `name`.
    pub fn new(name: &str, len: u64) -> Stretch {
        Stretch { rng: Rng::named(1, name), left: len }
    }
    /// The digest of all of it.
    pub fn digest(mut self) -> io::Result<Digest> {
        let mut digest = Digest::default();
        io::copy(&mut self, &mut digest)?;
        Ok(digest)
    }
}

impl Read for Stretch {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let len = into.len().min(self.left as usize) / 8 * 8;
        let len = if len == 0 { into.len().min(self.left as usize) } else { len };
        for word in into[..len].chunks_mut(8) {
            word.copy_from_slice(&self.rng.u64().to_le_bytes()[..word.len()]);
        }
        self.left -= len as u64;
        Ok(len)
    }
}

/// How many bytes, and their SHA-256.
#[derive(Default)]
pub struct Digest {
    /// Bytes.
    pub len: u64,
    sum: Sha256,
}

impl Digest {
    /// In hexadecimal.
    pub fn hex(&self) -> String {
        self.sum.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Write for Digest {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.sum.update(data);
        self.len += data.len() as u64;
        Ok(data.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
