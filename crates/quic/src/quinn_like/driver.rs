//! The stack of one end: datagrams, timers and events between its endpoint, its connection and the streams.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use bytes::Bytes;
use ecnlab_base::{Dur, Time};
use ecnlab_wire::Ecn;

use super::clock;
use super::recorder::Record;
use super::stack::proto::{
    Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, Incoming, Side,
    StreamEvent, StreamId, Transmit, TransportErrorCode, VarInt,
};
use super::stack::{self, ONE, proto};
use super::streams::Streams;
use crate::{Closing, Event, Stats};

/// The stack and the state that its calls change.
pub struct Driver {
    stack: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Datagrams of the endpoint itself, outside of the connection.
    responses: VecDeque<Vec<u8>>,
    /// The application's side.
    pub application: Application,
    /// The host sets and reads the codepoint.
    ecn: bool,
}

/// What the application has of the connection.
pub struct Application {
    streams: Streams,
    /// Events that are not taken yet.
    pub events: VecDeque<Event>,
    closed: bool,
}

impl Driver {
    /// A stack at rest; the client's has its connection.
    pub fn new(stack: Endpoint, connection: Option<(ConnectionHandle, Connection)>, side: Side, ecn: bool) -> Driver {
        let application = Application { streams: Streams::new(side), events: VecDeque::new(), closed: false };
        Driver { stack, connection, responses: VecDeque::new(), application, ecn }
    }

    /// Passes a datagram to the endpoint, and from there to the connection.
    pub fn receive(&mut self, payload: &[u8], ecn: Ecn, now: Instant) {
        let codepoint = if self.ecn { EcnCodepoint::from_bits(ecn.bits()) } else { None };
        let mut response = Vec::new();
        match stack::handle(&mut self.stack, now, codepoint, payload, &mut response) {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => match &mut self.connection {
                Some((own, connection)) if *own == handle => connection.handle_event(event),
                _ => {}
            },
            Some(DatagramEvent::NewConnection(incoming)) => self.accept(incoming, now),
            Some(DatagramEvent::Response(transmit)) => self.respond(response, &transmit),
            None => {}
        }
    }

    /// Accepts the first connection attempt and ignores all others, which are late copies of it.
    fn accept(&mut self, incoming: Incoming, now: Instant) {
        if self.connection.is_some() || self.application.closed {
            return self.stack.ignore(incoming);
        }
        let mut response = Vec::new();
        match self.stack.accept(incoming, now, &mut response, None) {
            Ok(connection) => self.connection = Some(connection),
            Err(error) => {
                if let Some(transmit) = error.response {
                    self.respond(response, &transmit);
                }
            }
        }
    }

    fn respond(&mut self, mut response: Vec<u8>, transmit: &Transmit) {
        response.truncate(transmit.size);
        self.responses.push_back(response);
    }

    /// Runs the timers of the connection.
    pub fn on_timeout(&mut self, now: Instant) {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
    }

    /// Opens a stream with `bytes`, now or when the peer admits it.
    pub fn open(&mut self, bytes: u64) -> u64 {
        let stream = self.application.streams.open(bytes);
        if let Some((_, connection)) = &mut self.connection {
            self.application.streams.feed(connection);
        }
        stream
    }

    /// Writes `bytes`, then the end, to the peer's `stream`.
    pub fn answer(&mut self, stream: u64, bytes: u64) {
        if let Some((_, connection)) = &mut self.connection {
            self.application.streams.respond(connection, stream, bytes);
        }
    }

    /// Ends `stream` after the bytes that the stack has taken.
    pub fn cut(&mut self, stream: u64) -> u64 {
        self.application.streams.cut(self.connection.as_mut().map(|(_, connection)| connection), stream)
    }

    /// Closes the connection, if it is open.
    pub fn close(&mut self, now: Instant) {
        if let Some((_, connection)) = &mut self.connection {
            connection.close(now, VarInt::from_u32(0), Bytes::new());
        }
        self.application.closed(Closing::Local);
    }

    /// Passes events between the connection, its endpoint and the application until none remain.
    pub fn settle(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        loop {
            if let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = self.stack.handle_event(*handle, event) {
                    connection.handle_event(event);
                }
            } else if let Some(event) = connection.poll() {
                self.application.on_event(connection, event);
            } else {
                return;
            }
        }
    }

    /// The next datagram of the endpoint or the connection.
    pub fn transmit(&mut self, now: Instant, payload: &mut Vec<u8>) -> Option<Ecn> {
        if let Some(response) = self.responses.pop_front() {
            *payload = response;
            return Some(Ecn::NotEct);
        }
        let (_, connection) = self.connection.as_mut()?;
        let transmit = connection.poll_transmit(now, ONE, payload)?;
        let codepoint = transmit.ecn.filter(|_| self.ecn);
        Some(codepoint.map_or(Ecn::NotEct, |codepoint| Ecn::from_bits(codepoint as u8)))
    }

    /// Time of the next timer.
    pub fn deadline(&mut self) -> Time {
        let timer = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        timer.map_or(Time::NEVER, clock::time)
    }

    /// Statistics of the connection; zeros before there is one.
    pub fn stats(&mut self, record: &Record) -> Stats {
        let connection = self.connection.as_mut().and_then(|(_, connection)| stack::path(connection));
        let Some((path, metrics)) = connection else { return Stats::default() };
        // The stack's estimate before the first sample is its initial RTT.
        let acked = record.acked();
        Stats {
            cwnd: path.cwnd,
            ssthresh: metrics.ssthresh.filter(|&bytes| bytes != u64::MAX),
            in_flight: acked.map(|(_, bytes)| bytes),
            srtt: acked.map_or(Dur::ZERO, |_| clock::dur(path.rtt)),
            rtt_min: acked.map_or(Dur::ZERO, |(rtt, _)| clock::dur(rtt)),
            mtu: path.current_mtu,
            packets_sent: path.sent_packets,
            packets_lost: path.lost_packets,
            bytes_lost: path.lost_bytes,
            congestion_events: record.reductions.load(Relaxed),
            ecn_events: Some(record.by_marks.load(Relaxed)),
            timeouts: None,
            black_holes: path.black_holes_detected,
            received: self.application.streams.received,
        }
    }
}

impl Application {
    fn on_event(&mut self, connection: &mut Connection, event: proto::Event) {
        use proto::Event::{Connected, ConnectionLost, Stream};
        match event {
            Connected => {
                self.push(Event::Established);
                self.streams.feed(connection);
            }
            ConnectionLost { reason } => self.closed(closing(reason)),
            Stream(StreamEvent::Available { dir: Dir::Bi }) => self.streams.feed(connection),
            Stream(StreamEvent::Writable { id }) => self.streams.write(connection, id),
            Stream(StreamEvent::Readable { id }) => self.read(connection, id),
            Stream(StreamEvent::Opened { dir: Dir::Bi }) => {
                while let Some(id) = connection.streams().accept(Dir::Bi) {
                    self.read(connection, id);
                }
            }
            Stream(StreamEvent::Finished { id }) => {
                let event = self.streams.acknowledged(id);
                self.push(event);
            }
            _ => {}
        }
    }

    fn read(&mut self, connection: &mut Connection, id: StreamId) {
        if let Some(event) = self.streams.read(connection, id) {
            self.push(event);
        }
    }

    fn push(&mut self, event: Event) {
        if !self.closed {
            self.events.push_back(event);
        }
    }

    /// Ends the connection for the application: no event follows.
    pub fn closed(&mut self, closing: Closing) {
        self.push(Event::Closed(closing));
        self.closed = true;
    }
}

fn closing(reason: ConnectionError) -> Closing {
    match reason {
        ConnectionError::ApplicationClosed(_) => Closing::Peer,
        // Before the handshake is complete, the code of the application is not sent (RFC 9000 §10.2.3).
        ConnectionError::ConnectionClosed(frame) if frame.error_code == TransportErrorCode::APPLICATION_ERROR => {
            Closing::Peer
        }
        ConnectionError::TimedOut => Closing::Idle,
        ConnectionError::LocallyClosed => Closing::Local,
        other => Closing::Failed(other.to_string()),
    }
}
