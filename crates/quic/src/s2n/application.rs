//! The application of one end: bidirectional streams as amounts of bytes. Zeros are written, and data received are counted and
//! discarded.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use s2n_quic_core::connection::Error;
use s2n_quic_core::endpoint::Location;
use s2n_quic_core::stream::StreamType;
use s2n_quic_core::transport;
use s2n_quic_transport::connection::Connection;
use s2n_quic_transport::endpoint::connect::Attempt;
use s2n_quic_transport::endpoint::handle::Acceptor;
use s2n_quic_transport::stream::Stream;

use crate::{Closing, Event};

static ZEROS: [u8; 1 << 14] = [0; 1 << 14];

/// Where the connection comes from.
pub enum Handle {
    /// The attempt of a client.
    Client(Attempt),
    /// The connections of a server.
    Server(Acceptor),
}

/// What the application has of the connection.
pub struct Application {
    /// Until there is a connection, or the handshake has failed.
    handle: Option<Handle>,
    connection: Option<Connection>,
    /// Events that are not taken yet.
    pub events: VecDeque<Event>,
    closed: bool,
    /// Identifier of the next stream of this end.
    next: u64,
    /// Bytes of the streams of this end that are not open yet, the first with the lowest identifier.
    waiting: VecDeque<u64>,
    streams: BTreeMap<u64, Open>,
    /// Bytes read.
    pub received: u64,
}

/// A stream.
struct Open {
    stream: Stream,
    sending: Option<Sending>,
    acknowledged: bool,
    arrived: bool,
}

struct Sending {
    /// Bytes to write; [`crate::ENDLESS`] until it is cut.
    total: u64,
    /// Bytes that the stack has taken.
    written: u64,
}

impl Application {
    /// An application without streams.
    pub fn new(handle: Handle, server: bool) -> Application {
        Application {
            handle: Some(handle),
            connection: None,
            events: VecDeque::new(),
            closed: false,
            next: u64::from(server),
            waiting: VecDeque::new(),
            streams: BTreeMap::new(),
            received: 0,
        }
    }

    /// Adds a stream of this end with `bytes`, which [`Application::poll`] opens.
    pub fn open(&mut self, bytes: u64) -> u64 {
        self.waiting.push_back(bytes);
        self.next += 4;
        self.next - 4
    }

    /// Writes `bytes`, then the end, to the peer's `stream`.
    pub fn respond(&mut self, stream: u64, bytes: u64) {
        if let Some(open) = self.streams.get_mut(&stream) {
            open.sending = Some(Sending { total: bytes, written: 0 });
        }
    }

    /// Ends `stream` after the bytes that the stack has taken; returns their number. A stream that is not open yet ends with
    /// 0 bytes.
    pub fn cut(&mut self, stream: u64) -> u64 {
        if let Some(sending) = self.streams.get_mut(&stream).and_then(|open| open.sending.as_mut()) {
            sending.total = sending.written;
            return sending.written;
        }
        let behind = self.next.saturating_sub(stream) / 4;
        let place = self.waiting.len().checked_sub(behind as usize);
        if let Some(bytes) = place.and_then(|place| self.waiting.get_mut(place)) {
            *bytes = 0;
        }
        0
    }

    /// Closes the connection, if there is one.
    fn close(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.close(0u8.into());
            self.streams.clear();
        }
    }

    /// Ends the connection for the application: no event follows.
    pub fn closed(&mut self, closing: Closing) {
        self.push(Event::Closed(closing));
        self.closed = true;
    }

    fn push(&mut self, event: Event) {
        if !self.closed {
            self.events.push_back(event);
        }
    }

    /// Takes what the stack has for the application, and writes what the stack accepts.
    pub fn poll(&mut self, context: &mut Context<'_>) {
        self.connect(context);
        if self.closed {
            return self.close();
        }
        if self.accept(context).is_err() {
            return;
        }
        let mut ended = Vec::new();
        for (&id, open) in &mut self.streams {
            if open.write(context) {
                ended.push(Event::Acknowledged(id));
            }
            let (bytes, arrived) = open.read(context);
            self.received += bytes;
            if arrived {
                ended.push(Event::Arrived(id));
            }
        }
        self.streams.retain(|_, open| !(open.acknowledged && open.arrived));
        ended.into_iter().for_each(|event| self.push(event));
    }

    /// Takes the connection when the handshake is complete.
    fn connect(&mut self, context: &mut Context<'_>) {
        let connection = match &mut self.handle {
            Some(Handle::Client(attempt)) => Pin::new(attempt).poll(context),
            Some(Handle::Server(acceptor)) => match acceptor.poll_accept(context) {
                Poll::Ready(Some(connection)) => Poll::Ready(Ok(connection)),
                _ => Poll::Pending,
            },
            None => return,
        };
        let Poll::Ready(connection) = connection else { return };
        self.handle = None;
        if let Ok(connection) = connection {
            self.connection = Some(connection);
            self.push(Event::Established);
        }
    }

    /// Takes the peer's streams, and opens the streams of this end that the peer's limit admits.
    fn accept(&mut self, context: &mut Context<'_>) -> Result<(), Error> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        while let Poll::Ready(stream) = connection.poll_accept(Some(StreamType::Bidirectional), context) {
            let Some(stream) = stream? else { break };
            self.streams.insert(stream.id().into(), Open::new(stream, None));
        }
        while let Some(&total) = self.waiting.front() {
            let Poll::Ready(stream) = connection.poll_open_stream(StreamType::Bidirectional, context) else { break };
            let stream = stream?;
            self.waiting.pop_front();
            self.streams.insert(stream.id().into(), Open::new(stream, Some(Sending { total, written: 0 })));
        }
        Ok(())
    }
}

impl Open {
    fn new(stream: Stream, sending: Option<Sending>) -> Open {
        Open { stream, sending, acknowledged: false, arrived: false }
    }

    /// Writes as much as the stack takes; after the last byte, the end. Returns true once, when all is acknowledged.
    fn write(&mut self, context: &mut Context<'_>) -> bool {
        let Some(sending) = self.sending.as_mut().filter(|_| !self.acknowledged) else { return false };
        while sending.written < sending.total {
            let length = (sending.total - sending.written).min(ZEROS.len() as u64) as usize;
            let mut chunk = Bytes::from_static(&ZEROS[..length]);
            let state = self.stream.poll_send(&mut chunk, context);
            let taken = length - chunk.len();
            sending.written += taken as u64;
            if taken == 0 || matches!(state, Poll::Ready(Err(_))) {
                return false;
            }
        }
        self.acknowledged = matches!(self.stream.poll_close(context), Poll::Ready(Ok(())));
        self.acknowledged
    }

    /// Reads all that has arrived in order; returns its number of bytes, and true once at the end.
    fn read(&mut self, context: &mut Context<'_>) -> (u64, bool) {
        let mut bytes = 0;
        while !self.arrived {
            match self.stream.poll_receive(context) {
                Poll::Ready(Ok(Some(chunk))) => bytes += chunk.len() as u64,
                Poll::Ready(Ok(None)) => {
                    self.arrived = true;
                    return (bytes, true);
                }
                Poll::Ready(Err(_)) | Poll::Pending => break,
            }
        }
        (bytes, false)
    }
}

/// The end of a connection by `error`.
pub fn closing(error: Error) -> Closing {
    match error {
        Error::Closed { initiator: Location::Local, .. } | Error::Application { initiator: Location::Local, .. } => {
            Closing::Local
        }
        Error::Closed { .. } | Error::Application { .. } => Closing::Peer,
        // Before the handshake is complete, the code of the application is not sent (RFC 9000 §10.2.3).
        Error::Transport { code, initiator: Location::Remote, .. }
            if code == transport::Error::APPLICATION_ERROR.code =>
        {
            Closing::Peer
        }
        Error::IdleTimerExpired { .. } => Closing::Idle,
        other => Closing::Failed(other.to_string()),
    }
}
