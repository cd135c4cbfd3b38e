//! Bidirectional streams as amounts of bytes: zeros are written, and data received are counted and discarded.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use super::stack;
use super::stack::proto::{Connection, Dir, Side, StreamId, VarInt, WriteError};
use crate::Event;

static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Streams of one end.
#[derive(Debug)]
pub struct Streams {
    side: Side,
    /// Streams of this end that the stack has opened.
    opened: u64,
    /// Bytes of the following streams of this end, which the peer's limit does not admit yet.
    waiting: VecDeque<u64>,
    sending: BTreeMap<StreamId, Sending>,
    /// Bytes read.
    pub received: u64,
}

#[derive(Debug)]
struct Sending {
    /// Bytes to write; [`crate::ENDLESS`] until it is cut.
    total: u64,
    /// Bytes that the stack has taken.
    written: u64,
    finished: bool,
}

impl Streams {
    /// No streams at an end of `side`.
    pub fn new(side: Side) -> Streams {
        Streams { side, opened: 0, waiting: VecDeque::new(), sending: BTreeMap::new(), received: 0 }
    }

    /// Adds a stream of this end with `bytes`. [`Streams::feed`] opens it.
    pub fn open(&mut self, bytes: u64) -> u64 {
        self.waiting.push_back(bytes);
        identifier(StreamId::new(self.side, Dir::Bi, self.opened + self.waiting.len() as u64 - 1))
    }

    /// Opens the streams that the peer's limit admits, and writes to them.
    pub fn feed(&mut self, connection: &mut Connection) {
        while !self.waiting.is_empty() {
            let Some(id) = connection.streams().open(Dir::Bi) else { return };
            self.opened += 1;
            let bytes = self.waiting.pop_front().expect("one is waiting");
            self.send(connection, id, bytes);
        }
    }

    /// Writes `bytes`, then the end, to the peer's stream `stream`.
    pub fn respond(&mut self, connection: &mut Connection, stream: u64, bytes: u64) {
        self.send(connection, stream_id(stream), bytes);
    }

    fn send(&mut self, connection: &mut Connection, id: StreamId, bytes: u64) {
        self.sending.insert(id, Sending { total: bytes, written: 0, finished: false });
        self.write(connection, id);
    }

    /// Writes as much to `id` as the stack takes; after its last byte, its end.
    pub fn write(&mut self, connection: &mut Connection, id: StreamId) {
        let Some(sending) = self.sending.get_mut(&id) else { return };
        let mut stream = connection.send_stream(id);
        while sending.written < sending.total {
            let length = (sending.total - sending.written).min(ZEROS.len() as u64) as usize;
            match stack::write(&mut stream, Bytes::from_static(&ZEROS[..length])) {
                Ok(written) => sending.written += written as u64,
                Err(WriteError::Blocked) => return,
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => {
                    self.sending.remove(&id);
                    return;
                }
            }
        }
        if !sending.finished {
            sending.finished = stream.finish().is_ok();
        }
    }

    /// Ends `stream` after the bytes taken by the stack; returns their number. A stream that is not open yet ends with 0 bytes.
    pub fn cut(&mut self, connection: Option<&mut Connection>, stream: u64) -> u64 {
        let id = stream_id(stream);
        if let Some(sending) = self.sending.get_mut(&id) {
            let written = sending.written;
            sending.total = written;
            if let Some(connection) = connection {
                self.write(connection, id);
            }
            return written;
        }
        let place = id.index().checked_sub(self.opened).and_then(|place| usize::try_from(place).ok());
        if let Some(bytes) = place.and_then(|place| self.waiting.get_mut(place)) {
            *bytes = 0;
        }
        0
    }

    /// Forgets a stream whose data and end are acknowledged.
    pub fn acknowledged(&mut self, id: StreamId) -> Event {
        self.sending.remove(&id);
        Event::Acknowledged(identifier(id))
    }

    /// Reads all that has arrived in order on `id`; returns the event at its end.
    pub fn read(&mut self, connection: &mut Connection, id: StreamId) -> Option<Event> {
        let mut stream = connection.recv_stream(id);
        let mut chunks = stream.read(true).ok()?;
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.received += chunk.bytes.len() as u64,
                Ok(None) => return Some(Event::Arrived(identifier(id))),
                Err(_) => return None,
            }
        }
    }
}

fn identifier(id: StreamId) -> u64 {
    VarInt::from(id).into_inner()
}

fn stream_id(identifier: u64) -> StreamId {
    let side = if identifier & 1 == 0 { Side::Client } else { Side::Server };
    StreamId::new(side, Dir::Bi, identifier >> 2)
}
