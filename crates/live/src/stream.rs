//! The payload bytes of a connection, which the endpoint only counts. Offsets count data from 0, excluding the SYN.

use std::collections::BTreeMap;

/// Data written and not yet discarded after its acknowledgement.
#[derive(Debug, Default)]
pub struct SendBuffer {
    bytes: Vec<u8>,
    /// Offset of `bytes[0]`.
    base: u64,
    /// Number of acknowledged bytes at the front.
    acked: usize,
}

/// Number of acknowledged bytes at which they are discarded.
const SLACK: usize = 1 << 18;

impl SendBuffer {
    /// Appends data.
    pub fn push(&mut self, data: &[u8]) {
        self.bytes.extend_from_slice(data);
    }
    /// Returns `len` bytes from `offset`; `None` if they were not written, or were acknowledged and discarded.
    pub fn get(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset.checked_sub(self.base)?).ok()?;
        self.bytes.get(start..start.checked_add(len)?)
    }
    /// Records that everything before `offset` has been acknowledged.
    pub fn acknowledged(&mut self, offset: u64) {
        self.acked = (offset.saturating_sub(self.base) as usize).min(self.bytes.len());
        if self.acked >= SLACK {
            self.bytes.drain(..self.acked);
            self.base += self.acked as u64;
            self.acked = 0;
        }
    }
    /// Number of unacknowledged bytes.
    pub fn unacknowledged(&self) -> usize {
        self.bytes.len() - self.acked
    }
}

/// Data that has arrived and was not yet passed to the application.
#[derive(Debug, Default)]
pub struct Reassembly {
    /// Offset of the next byte for the application.
    next: u64,
    pieces: BTreeMap<u64, Vec<u8>>,
}

impl Reassembly {
    /// Offset of the next byte for the application.
    pub fn next(&self) -> u64 {
        self.next
    }
    /// Stores `data` that has arrived at `offset`.
    pub fn put(&mut self, offset: u64, data: &[u8]) {
        let known = self.pieces.get(&offset).map_or(0, Vec::len);
        if data.len() > known && offset + data.len() as u64 > self.next {
            self.pieces.insert(offset, data.to_vec());
        }
    }
    /// Passes everything before `end` to `sink`, in order. Returns the number of missing bytes: zero, unless the
    /// caller's claim that everything before `end` has arrived is wrong.
    pub fn take(&mut self, end: u64, mut sink: impl FnMut(&[u8])) -> u64 {
        while self.next < end {
            let Some((&start, piece)) = self.pieces.range(..=self.next).next_back() else { break };
            let from = (self.next - start) as usize;
            let Some(data) = piece.get(from..).filter(|data| !data.is_empty()) else {
                // A shorter piece that overlaps another one.
                self.pieces.remove(&start);
                continue;
            };
            let data = &data[..data.len().min((end - self.next) as usize)];
            sink(data);
            self.next += data.len() as u64;
        }
        while self.pieces.first_key_value().is_some_and(|(start, piece)| start + piece.len() as u64 <= self.next) {
            self.pieces.pop_first();
        }
        end.saturating_sub(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledged_bytes_go_and_the_others_stay() {
        let mut buffer = SendBuffer::default();
        let data: Vec<u8> = (0..=255).cycle().take(SLACK + 100).collect();
        buffer.push(&data);
        buffer.acknowledged(50);
        assert_eq!((buffer.unacknowledged(), buffer.get(60, 2)), (SLACK + 50, Some(&[60, 61][..])));
        buffer.acknowledged(SLACK as u64 + 10);
        assert_eq!((buffer.unacknowledged(), buffer.get(60, 2)), (90, None));
        assert_eq!(buffer.get(SLACK as u64 + 10, 90), Some(&data[SLACK + 10..]));
        assert_eq!(buffer.get(SLACK as u64 + 10, 91), None);
    }

    #[test]
    fn pieces_in_any_order_make_the_stream() {
        let data: Vec<u8> = (0..100).collect();
        let mut parts = Reassembly::default();
        for (start, end) in [(90, 100), (20, 40), (20, 30), (35, 60), (0, 10), (5, 25), (58, 95)] {
            parts.put(start, &data[start as usize..end]);
        }
        let mut got = Vec::new();
        assert_eq!(parts.take(50, |bytes| got.extend_from_slice(bytes)), 0);
        assert_eq!(got, data[..50]);
        assert_eq!(parts.take(100, |bytes| got.extend_from_slice(bytes)), 0);
        assert_eq!((got, parts.pieces.len()), (data, 0));
    }

    #[test]
    fn a_hole_is_reported() {
        let mut parts = Reassembly::default();
        parts.put(0, &[1, 2]);
        parts.put(3, &[4]);
        let mut got = 0;
        assert_eq!((parts.take(4, |bytes| got += bytes.len()), got), (2, 2));
    }
}
