//! An endpoint of `tcp` in wall-clock time: packets over a TUN device, with the payload bytes that the endpoint only
//! counts.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::AsFd;
use std::sync::Arc;

use ecnlab_base::{Dur, Rng, Time};
use ecnlab_engine::capture::EPOCH_NS;
use ecnlab_tcp::{Config, Counters, Endpoint, Out, State};
use ecnlab_wire::pcap::{self, Direction};
use ecnlab_wire::{Flags, IpVersion, Segment, Seq};
use nix::poll::{PollFd, PollFlags, ppoll};

use crate::clock::{Clock, timeout};
use crate::impair::{Impaired, Impairments};
use crate::packet;
use crate::stream::{Reassembly, SendBuffer};
use crate::tun::{MTU, Tun};

pub use crate::impair::Tally;

/// The side that opens the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The ecnlab endpoint opens it.
    Client,
    /// The kernel opens it.
    Server,
}

/// Parameters of a connection with the kernel's TCP.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// The role of the ecnlab endpoint.
    pub role: Role,
    /// Address of the ecnlab endpoint.
    pub own: SocketAddrV4,
    /// Address of the kernel's end; its port is only needed by a client.
    pub peer: SocketAddrV4,
    /// Configuration of the ecnlab endpoint.
    pub config: Arc<Config>,
    /// Link impairments of sent packets and of received packets.
    pub impairments: [Impairments; 2],
    /// Seed of all random streams.
    pub seed: u64,
    /// Time limit.
    pub limit: Dur,
}

/// Result of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Counters of the ecnlab endpoint.
    pub counters: Counters,
    /// The endpoint sent its data as ECN-capable.
    pub ecn: bool,
    /// Impairment counts of sent packets and of received packets.
    pub wire: [Tally; 2],
    /// Duration from the start to the end of both directions.
    pub took: Dur,
}

/// Reason why a conversation failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An I/O error of the device or one of the streams.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The endpoint sent data that was never written, or was already discarded: a defect of ecnlab.
    #[error("the endpoint sends {len} bytes from offset {offset} that were never written (a defect of ecnlab)")]
    NotWritten {
        /// Offset of the first byte.
        offset: i64,
        /// Number of bytes.
        len: u32,
    },
    /// The endpoint counts data as delivered that never arrived: a defect of ecnlab.
    #[error("the endpoint has {received} bytes delivered, of which {missing} never arrived (a defect of ecnlab)")]
    NotArrived {
        /// Bytes counted as delivered.
        received: u64,
        /// Bytes among them that are missing.
        missing: u64,
    },
    /// The connection was reset or given up.
    #[error("the connection ended early, after {sent} bytes sent and acknowledged and {received} bytes received")]
    Broken {
        /// Bytes acknowledged.
        sent: u64,
        /// Bytes received.
        received: u64,
    },
    /// The time limit was exceeded.
    #[error("not done after {0}: {1} bytes sent and acknowledged, {2} bytes received")]
    TooLong(Dur, u64, u64),
}

/// Data is read this many bytes ahead of the acknowledged data: more than the largest window of any profile.
const AHEAD: usize = 1 << 23;
/// Bytes per read.
const CHUNK: usize = 1 << 16;
/// Time for which the kernel is notified of the end of the connection: longer than its replies take.
const PARTING: Dur = Dur::from_ms(200);
/// Maximum number of packets taken from the device at once.
const BURST: usize = 64;

/// Runs the conversation `talk`: sends the data from `source` up to its end, passes received data to `sink`, and closes
/// when both are done. Then it waits until `peer_done` reports that the kernel's side has seen the end as well. Each
/// packet at the endpoint's side of the link is written to `capture`: sent packets before impairment, received ones
/// after.
///
/// # Errors
/// [`Failure`], after an RST to the kernel. Checking the contents of the data is up to the caller.
pub fn converse<W: Write>(
    tun: &Tun,
    talk: &Conversation,
    source: impl Read,
    sink: impl Write,
    capture: Option<&mut pcap::Writer<W>>,
    peer_done: impl Fn() -> bool,
) -> Result<Outcome, Failure> {
    let mut speaker = Speaker::new(tun, talk, source, sink, capture);
    let done = speaker.talk(peer_done);
    if done.is_err() {
        speaker.give_up();
    }
    done.map(|()| speaker.outcome())
}

struct Speaker<'a, R, H, W: Write> {
    tun: &'a Tun,
    talk: &'a Conversation,
    source: R,
    sink: H,
    capture: Option<&'a mut pcap::Writer<W>>,
    clock: Clock,
    now: Time,
    endpoint: Option<Endpoint>,
    peer: SocketAddr,
    iss: Seq,
    /// The kernel's initial sequence number, once its SYN has arrived.
    irs: Option<Seq>,
    wires: [Impaired; 2],
    unsent: SendBuffer,
    source_ended: bool,
    arrived: Reassembly,
    out: Out,
    packet: Vec<u8>,
    finished: Option<Time>,
}

impl<'a, R: Read, H: Write, W: Write> Speaker<'a, R, H, W> {
    fn new(
        tun: &'a Tun,
        talk: &'a Conversation,
        source: R,
        sink: H,
        capture: Option<&'a mut pcap::Writer<W>>,
    ) -> Speaker<'a, R, H, W> {
        let stream = |what: &str| Rng::named(talk.seed, &format!("live.{what}"));
        Speaker {
            tun,
            talk,
            source,
            sink,
            capture,
            clock: Clock::start(),
            now: Time::ZERO,
            endpoint: None,
            peer: talk.peer.into(),
            iss: Seq(stream("iss").u64() as u32),
            irs: None,
            wires: [
                Impaired::new(talk.impairments[0], stream("out")),
                Impaired::new(talk.impairments[1], stream("in")),
            ],
            unsent: SendBuffer::default(),
            source_ended: false,
            arrived: Reassembly::default(),
            out: Out::new(),
            packet: Vec::with_capacity(MTU),
            finished: None,
        }
    }

    fn talk(&mut self, peer_done: impl Fn() -> bool) -> Result<(), Failure> {
        self.begin()?;
        while !(self.is_done()? && peer_done()) {
            self.turn()?;
        }
        Ok(())
    }

    /// Sends the kernel an RST, bypassing the impaired link. Further errors are ignored.
    fn give_up(&mut self) {
        let Some(mut endpoint) = self.endpoint.take() else { return };
        self.out.clear();
        endpoint.abort(&mut self.out);
        let (mut buffer, end) = ([0; MTU], self.clock.now() + PARTING);
        while self.clock.now() < end {
            for segment in self.out.drain(..) {
                packet::emit(self.talk.own.into(), self.peer, &segment, &[], &mut self.packet);
                let _ = self.tun.send(&self.packet);
            }
            // RFC 5961 §3.2: an RST with another sequence number is answered by an ACK, which gives the expected one.
            match self.tun.receive(&mut buffer).map(|bytes| bytes.map(packet::parse)) {
                Ok(Some(Ok(arrived))) if arrived.destination == self.talk.own.into() => {
                    endpoint.on_segment(&arrived.segment, self.now, &mut self.out);
                }
                Ok(Some(_)) => {}
                Ok(None) => std::thread::sleep(std::time::Duration::from_millis(1)),
                Err(_) => return,
            }
        }
    }

    fn begin(&mut self) -> Result<(), Failure> {
        let config = &self.talk.config;
        self.endpoint = Some(match self.talk.role {
            Role::Client => Endpoint::connect(config, IpVersion::V4, self.iss, self.now, &mut self.out),
            Role::Server => Endpoint::listen(config, IpVersion::V4, self.iss),
        });
        self.flush()
    }

    /// Returns whether both directions are closed and acknowledged.
    fn is_done(&mut self) -> Result<bool, Failure> {
        let Some(endpoint) = &self.endpoint else { return Ok(false) };
        let (acked, received) = (endpoint.acked(), endpoint.received());
        self.unsent.acknowledged(acked);
        let complete = self.source_ended && self.unsent.unacknowledged() == 0 && endpoint.peer_closed();
        if endpoint.is_closed() && complete {
            self.finished.get_or_insert(self.now);
            return Ok(true);
        }
        if endpoint.state() == State::Closed {
            return Err(Failure::Broken { sent: acked, received });
        }
        if self.now > Time::ZERO + self.talk.limit {
            return Err(Failure::TooLong(self.talk.limit, acked, received));
        }
        Ok(false)
    }

    /// Does all pending work; then waits for the device, a deadline, or 10 ms, after which the caller checks its own
    /// conditions.
    fn turn(&mut self) -> Result<(), Failure> {
        self.now = self.clock.now();
        self.read_ahead()?;
        let took = self.receive_burst()?;
        for direction in 0..2 {
            while let Some(bytes) = self.wires[direction].due(self.now) {
                self.pass(direction, &bytes)?;
            }
        }
        if let Some(endpoint) = self.endpoint.as_mut().filter(|e| e.deadline() <= self.now) {
            endpoint.on_deadline(self.now, &mut self.out);
            self.flush()?;
        }
        if took == 0 { self.wait() } else { Ok(()) }
    }

    fn wait(&self) -> Result<(), Failure> {
        let deadline = self.endpoint.as_ref().map_or(Time::NEVER, Endpoint::deadline);
        let next = self.wires.iter().map(Impaired::next).min().unwrap_or(Time::NEVER);
        let look = self.now.saturating_add(Dur::from_ms(10));
        let mut fds = [PollFd::new(self.tun.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut fds, Some(timeout(self.clock.now(), deadline.min(next).min(look))), None) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(errno) => Err(io::Error::from(errno).into()),
        }
    }

    /// Keeps data ready for the endpoint; closes after the last byte.
    fn read_ahead(&mut self) -> Result<(), Failure> {
        let Some(endpoint) = &mut self.endpoint else { return Ok(()) };
        self.unsent.acknowledged(endpoint.acked());
        let mut chunk = [0; CHUNK];
        while !self.source_ended && self.unsent.unacknowledged() < AHEAD {
            let len = self.source.read(&mut chunk)?;
            if len == 0 {
                self.source_ended = true;
                endpoint.close(self.now, &mut self.out);
            } else {
                self.unsent.push(&chunk[..len]);
                endpoint.write(len as u64, self.now, &mut self.out);
            }
        }
        self.flush()
    }

    fn receive_burst(&mut self) -> Result<usize, Failure> {
        let mut buffer = [0; MTU];
        for n in 0..BURST {
            let tun = self.tun;
            let Some(bytes) = tun.receive(&mut buffer)? else { return Ok(n) };
            let len = bytes.len();
            self.now = self.clock.now();
            let mut through = Vec::new();
            self.wires[1].take(&mut buffer[..len], self.now, |bytes| through.push(bytes.to_vec()));
            through.iter().try_for_each(|bytes| self.pass(1, bytes))?;
        }
        Ok(BURST)
    }

    /// Handles a packet that has passed the link, in direction 0 to the kernel, in direction 1 to the endpoint.
    fn pass(&mut self, direction: usize, bytes: &[u8]) -> Result<(), Failure> {
        if direction == 0 { Ok(self.tun.send(bytes)?) } else { self.take(bytes) }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let Ok(arrived) = packet::parse(bytes) else { return self.take_quench(bytes) };
        if arrived.destination != self.talk.own.into() || !self.is_from_peer(&arrived) {
            return Ok(());
        }
        self.note(bytes, Direction::Inbound)?;
        let Some(endpoint) = &mut self.endpoint else { return Ok(()) };
        let segment = arrived.segment;
        if segment.flags.contains(Flags::SYN) {
            self.irs.get_or_insert(segment.seq);
        }
        let before = endpoint.received();
        if let Some(irs) = self.irs.filter(|_| segment.len > 0) {
            let first = offset(segment.seq, irs, before) + i64::from(segment.flags.contains(Flags::SYN));
            keep(&mut self.arrived, first, arrived.data, self.talk.config.receive_buffer.0);
        }
        endpoint.on_segment(&segment, self.now, &mut self.out);
        let received = endpoint.received();
        let mut failed = Ok(());
        let missing = self.arrived.take(received, |data| {
            if failed.is_ok() {
                failed = self.sink.write_all(data);
            }
        });
        failed?;
        if missing > 0 {
            return Err(Failure::NotArrived { received, missing });
        }
        self.flush()
    }

    /// Handles a source quench; other packets not for our TCP belong to the kernel, such as neighbour discovery of
    /// IPv6.
    fn take_quench(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let Some(message) = packet::parse_quench(bytes) else { return Ok(()) };
        if (message.source, message.destination.into()) != (self.talk.own, self.peer) {
            return Ok(());
        }
        self.note(bytes, Direction::Inbound)?;
        if let Some(endpoint) = &mut self.endpoint {
            endpoint.on_quench(&message.quench, self.now);
        }
        Ok(())
    }

    /// Returns whether the segment is from the peer; a server adopts the first client as its peer.
    fn is_from_peer(&mut self, arrived: &packet::Arrived<'_>) -> bool {
        if self.talk.role == Role::Server && self.irs.is_none() && arrived.segment.flags.contains(Flags::SYN) {
            self.peer = arrived.source;
        }
        arrived.source == self.peer
    }

    /// Sends the remaining segments of the endpoint.
    fn flush(&mut self) -> Result<(), Failure> {
        let mut out = std::mem::take(&mut self.out);
        for segment in out.drain(..) {
            self.send(&segment)?;
        }
        self.out = out;
        Ok(())
    }

    fn send(&mut self, segment: &Segment) -> Result<(), Failure> {
        let acked = self.endpoint.as_ref().map_or(0, Endpoint::acked);
        let data = if segment.len == 0 {
            &[]
        } else {
            let first = offset(segment.seq, self.iss, acked);
            let written = u64::try_from(first).ok().and_then(|first| self.unsent.get(first, segment.len as usize));
            written.ok_or(Failure::NotWritten { offset: first, len: segment.len })?
        };
        let mut bytes = std::mem::take(&mut self.packet);
        packet::emit(self.talk.own.into(), self.peer, segment, data, &mut bytes);
        self.note(&bytes, Direction::Outbound)?;
        let (tun, mut failed) = (self.tun, Ok(()));
        self.wires[0].take(&mut bytes, self.now, |bytes| {
            if failed.is_ok() {
                failed = tun.send(bytes);
            }
        });
        self.packet = bytes;
        Ok(failed?)
    }

    fn note(&mut self, bytes: &[u8], direction: Direction) -> io::Result<()> {
        let Some(capture) = &mut self.capture else { return Ok(()) };
        let kept = &bytes[..bytes.len().min(SNAP)];
        capture.packet(&pcap::Packet {
            interface: 0,
            time_ns: EPOCH_NS + self.now.ns(),
            bytes: kept,
            original_len: bytes.len() as u32,
            direction,
            comment: None,
        })
    }

    fn outcome(&self) -> Outcome {
        let endpoint = self.endpoint.as_ref();
        Outcome {
            counters: endpoint.map(|e| e.counters().clone()).unwrap_or_default(),
            ecn: endpoint.is_some_and(Endpoint::ecn_negotiated),
            wire: [self.wires[0].tally(), self.wires[1].tally()],
            took: self.finished.unwrap_or(self.now).since(Time::ZERO),
        }
    }
}

/// Bytes stored per packet: all headers with the maximum length of options.
const SNAP: usize = 128;

/// Returns the offset of `seq` in a stream whose SYN is `first` and of which `near` bytes are known to have passed.
fn offset(seq: Seq, first: Seq, near: u64) -> i64 {
    let here = first + 1 + near as u32;
    near as i64 + i64::from((seq - here) as i32)
}

/// Stores the new part of `data` at offset `first`, up to the limit of the window.
fn keep(arrived: &mut Reassembly, first: i64, data: &[u8], window: u64) {
    let next = arrived.next() as i64;
    let old = usize::try_from(next - first).unwrap_or(0);
    if let Some(new) = data.get(old..)
        && first < next + window as i64
    {
        arrived.put((first + old as i64) as u64, new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_pass_the_wrap() {
        // The SYN has the last sequence number: data starts at offset 0.
        assert_eq!(offset(Seq(0), Seq(u32::MAX), 0), 0);
        assert_eq!(offset(Seq(5), Seq(u32::MAX), 1 << 32), (1 << 32) + 5);
        assert_eq!(offset(Seq(u32::MAX), Seq(u32::MAX), 1 << 32), (1 << 32) - 1);
    }
}
