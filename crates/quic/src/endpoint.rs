//! What any stack without I/O and clock must offer: the trait, its events, errors and readings.

use std::fmt::Debug;

use ecnlab_base::{Dur, Time};
use ecnlab_wire::Ecn;

/// Bytes of a stream that never ends.
pub const ENDLESS: u64 = u64::MAX;

/// Reason for which no connection can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The stack is not part of this build.
    #[error("this build has no QUIC stack `{0}`")]
    Absent(&'static str),
    /// The stack has rejected its settings.
    #[error("{0}: {1}")]
    Rejected(&'static str, String),
}

/// An event for the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete at this end.
    Established,
    /// All data of the peer on this stream have arrived, and its end.
    Arrived(u64),
    /// All data written to this stream are acknowledged, and its end.
    Acknowledged(u64),
    /// The connection has ended. Nothing follows.
    Closed(Closing),
}

/// The end of a connection at one of its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closing {
    /// This end has closed it.
    Local,
    /// The application of the peer has closed it.
    Peer,
    /// The idle timeout has passed.
    Idle,
    /// An error of the connection, in the stack's words.
    Failed(String),
    /// The stack has panicked: its message.
    Panicked(String),
}

/// A reading of a connection's end. Counts are since its creation. `None`: the stack does not report it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow start threshold in bytes; `None` also while it is not set.
    pub ssthresh: Option<u64>,
    /// Bytes in flight.
    pub in_flight: Option<u64>,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Dur,
    /// Least RTT; zero before the first sample.
    pub rtt_min: Dur,
    /// Current size of UDP payloads in bytes.
    pub mtu: u16,
    /// QUIC packets sent.
    pub packets_sent: u64,
    /// QUIC packets declared lost.
    pub packets_lost: u64,
    /// Their bytes.
    pub bytes_lost: u64,
    /// Congestion events: responses of the controller, to losses and marks.
    pub congestion_events: u64,
    /// Those of them that marks caused.
    pub ecn_events: Option<u64>,
    /// Probe timeouts.
    pub timeouts: Option<u64>,
    /// MTU black holes detected.
    pub black_holes: u64,
    /// Bytes of streams that the application has read.
    pub received: u64,
}

/// One end of a QUIC connection without I/O, clock or threads: datagrams and time in, datagrams and a deadline out.
///
/// Times of its calls never decrease. After each call the caller takes the events, then sends what [`Endpoint::transmit`]
/// returns until it returns `None`, then reads the deadline.
pub trait Endpoint: Debug + Send {
    /// Takes in a UDP payload that has arrived with the codepoint `ecn`.
    fn receive(&mut self, payload: &[u8], ecn: Ecn, now: Time);
    /// Time of its next timer; [`Time::NEVER`] if there is none.
    fn deadline(&self) -> Time;
    /// Runs the timers due at `now`.
    fn on_deadline(&mut self, now: Time);
    /// Writes the next datagram to the empty `payload` and returns its codepoint; `None` if there is none to send at `now`.
    fn transmit(&mut self, now: Time, payload: &mut Vec<u8>) -> Option<Ecn>;
    /// Opens a bidirectional stream and writes `bytes` to it, then its end; [`ENDLESS`] never ends. Returns the stream's
    /// identifier in QUIC. A stream that the peer's limit does not admit yet is opened when it does: at the client the n-th
    /// has the identifier 4n, counted from 0, at the server 4n + 1.
    fn open(&mut self, bytes: u64) -> u64;
    /// Writes `bytes`, then the end, to a stream that the peer has opened.
    fn respond(&mut self, stream: u64, bytes: u64);
    /// Ends a stream of this end after the bytes that the stack has already taken; returns their number.
    fn cut(&mut self, stream: u64) -> u64;
    /// Closes the connection.
    fn close(&mut self, now: Time);
    /// Returns and removes the oldest event.
    fn poll(&mut self) -> Option<Event>;
    /// A reading of its state and counts.
    fn stats(&self) -> Stats;
    /// Returns and removes the lines of the key log (NSS format) since the last call.
    fn take_secrets(&mut self) -> Vec<String> {
        Vec::new()
    }
}
