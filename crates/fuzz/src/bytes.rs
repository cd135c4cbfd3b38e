//! Numbers out of an input; zeros behind its end.

use ecnlab_base::Dur;

/// The end of the settings in an input, and the beginning of the bytes with the events.
const CUT: &str = "\n---\n";

/// An input that is read from its front.
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// Settings in TOML, and the bytes behind the line `---`. `None` if the former are no text.
    pub fn behind_settings(input: &'a [u8]) -> Option<(&'a str, Bytes<'a>)> {
        let cut = input.windows(CUT.len()).position(|window| window == CUT.as_bytes());
        let (settings, bytes) = match cut {
            Some(at) => (&input[..at], &input[at + CUT.len()..]),
            None => (input, &[][..]),
        };
        Some((std::str::from_utf8(settings).ok()?, Bytes(bytes)))
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub fn u8(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// The next two bytes.
    pub fn u16(&mut self) -> u16 {
        u16::from_be_bytes([self.u8(), self.u8()])
    }

    /// The next four bytes.
    pub fn u32(&mut self) -> u32 {
        u32::from(self.u16()) << 16 | u32::from(self.u16())
    }

    /// A time in two bytes: 0 to 4 ms in steps of 1 µs, then to 40 s in steps of 10 ms.
    pub fn pause(&mut self) -> Dur {
        let n = u64::from(self.u16());
        if n < 4_000 { Dur::from_us(n) } else { Dur::from_ms((n - 4_000) % 4_000 * 10) }
    }
}
