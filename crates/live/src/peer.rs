//! An endpoint of `tcp` in wall time: packets in and out over a TUN device, with the bytes that it only counts.

use std::io::{self, Read, Write};
use std::net::SocketAddrV4;
use std::os::fd::AsFd;
use std::sync::Arc;

use ecnlab_base::{Dur, Rng, Time};
use ecnlab_engine::capture::EPOCH_NS;
use ecnlab_tcp::{Config, Counters, Endpoint, Out, State};
use ecnlab_wire::pcap::{self, Direction};
use ecnlab_wire::{Flags, Segment, Seq};
use nix::poll::{PollFd, PollFlags, ppoll};

use crate::clock::{Clock, timeout};
use crate::impair::{Impaired, Impairments};
use crate::packet;
use crate::stream::{Reassembly, SendBuffer};
use crate::tun::{MTU, Tun};

pub use crate::impair::Tally;

/// Who opens the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// We do.
    Client,
    /// The kernel does.
    Server,
}

/// A connection with the kernel's TCP.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// Who opens it.
    pub role: Role,
    /// Our end.
    pub own: SocketAddrV4,
    /// The kernel's end; of its port only a client need know.
    pub peer: SocketAddrV4,
    /// Our TCP.
    pub config: Arc<Config>,
    /// What the wire does to the packets that we send, and to those that we are sent.
    pub impairments: [Impairments; 2],
    /// The seed of all chance.
    pub seed: u64,
    /// How long it may take.
    pub limit: Dur,
}

/// How a conversation went.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// What our endpoint counted.
    pub counters: Counters,
    /// Whether it sent its data as ECN-capable.
    pub ecn: bool,
    /// What the wire did to the packets that we sent, and to those that we were sent.
    pub wire: [Tally; 2],
    /// How long it took, from the start to the end of both directions.
    pub took: Dur,
}

/// Why a conversation came to no good end.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The device, or one of the streams.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The endpoint sent data that nobody wrote, or had thrown away: a defect of ecnlab.
    #[error("the endpoint sends {len} bytes from offset {offset}, which are not there (a defect of ecnlab)")]
    NotWritten {
        /// The first of them.
        offset: i64,
        /// How many.
        len: u32,
    },
    /// The endpoint counts data as delivered that never arrived: a defect of ecnlab.
    #[error("the endpoint has {received} bytes delivered, of which {missing} never arrived (a defect of ecnlab)")]
    NotArrived {
        /// Bytes it counts.
        received: u64,
        /// How many of them are not there.
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
    /// It took too long.
    #[error("not done after {0}: {1} bytes sent and acknowledged, {2} bytes received")]
    TooLong(Dur, u64, u64),
}

/// Data are read ahead of what is acknowledged by so much: more than the largest window a profile has.
const AHEAD: usize = 1 << 23;
/// How much is read at a time.
const CHUNK: usize = 1 << 16;
/// How long the kernel is told that the connection is over: more than its answers take.
const PARTING: Dur = Dur::from_ms(200);
/// Packets are taken from the device in bursts of at most so many.
const BURST: usize = 64;

/// Speaks as `talk` says: sends what `say` gives up to its end, hands what it hears to `hear`, and closes when both are
/// done. Then it waits until `peer_done` says that the kernel's side has heard the end, too. Each packet that passes our
/// end of the wire goes into `capture`: sent ones before the wire impairs them, received ones after.
///
/// # Errors
/// [`Failure`], after which the kernel has been sent an RST; data that are wrong are the caller's to notice.
pub fn converse<W: Write>(
    tun: &Tun,
    talk: &Conversation,
    say: impl Read,
    hear: impl Write,
    capture: Option<&mut pcap::Writer<W>>,
    peer_done: impl Fn() -> bool,
) -> Result<Heard, Failure> {
    let mut speaker = Speaker::new(tun, talk, say, hear, capture);
    let done = speaker.talk(peer_done);
    if done.is_err() {
        speaker.give_up();
    }
    done.map(|()| speaker.heard())
}

struct Speaker<'a, R, H, W: Write> {
    tun: &'a Tun,
    talk: &'a Conversation,
    say: R,
    hear: H,
    capture: Option<&'a mut pcap::Writer<W>>,
    clock: Clock,
    now: Time,
    endpoint: Option<Endpoint>,
    peer: SocketAddrV4,
    iss: Seq,
    /// The kernel's first sequence number, once its SYN has come.
    irs: Option<Seq>,
    wires: [Impaired; 2],
    unsent: SendBuffer,
    all_said: bool,
    arrived: Reassembly,
    out: Out,
    packet: Vec<u8>,
    finished: Option<Time>,
}

impl<'a, R: Read, H: Write, W: Write> Speaker<'a, R, H, W> {
    fn new(
        tun: &'a Tun,
        talk: &'a Conversation,
        say: R,
        hear: H,
        capture: Option<&'a mut pcap::Writer<W>>,
    ) -> Speaker<'a, R, H, W> {
        let stream = |what: &str| Rng::named(talk.seed, &format!("live.{what}"));
        Speaker {
            tun,
            talk,
            say,
            hear,
            capture,
            clock: Clock::start(),
            now: Time::ZERO,
            endpoint: None,
            peer: talk.peer,
            iss: Seq(stream("iss").u64() as u32),
            irs: None,
            wires: [
                Impaired::new(talk.impairments[0], stream("out")),
                Impaired::new(talk.impairments[1], stream("in")),
            ],
            unsent: SendBuffer::default(),
            all_said: false,
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

    /// Tells the kernel, past the bad wire, that nothing will come any more. What fails now no longer matters.
    fn give_up(&mut self) {
        let Some(mut endpoint) = self.endpoint.take() else { return };
        self.out.clear();
        endpoint.abort(&mut self.out);
        let (mut buffer, end) = ([0; MTU], self.clock.now() + PARTING);
        while self.clock.now() < end {
            for segment in self.out.drain(..) {
                packet::emit(self.talk.own, self.peer, &segment, &[], &mut self.packet);
                let _ = self.tun.send(&self.packet);
            }
            // RFC 5961 §3.2: an RST that is not at the exact number is answered by an ACK, which says what that is.
            match self.tun.receive(&mut buffer).map(|bytes| bytes.map(packet::parse)) {
                Ok(Some(Ok(arrived))) if arrived.destination == self.talk.own => {
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
            Role::Client => Endpoint::connect(config, self.iss, self.now, &mut self.out),
            Role::Server => Endpoint::listen(config, self.iss),
        });
        self.flush()
    }

    /// Whether both directions are closed and acknowledged.
    fn is_done(&mut self) -> Result<bool, Failure> {
        let Some(endpoint) = &self.endpoint else { return Ok(false) };
        let (acked, received) = (endpoint.acked(), endpoint.received());
        self.unsent.acknowledged(acked);
        let complete = self.all_said && self.unsent.unacknowledged() == 0 && endpoint.peer_closed();
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

    /// What there is to do now; then waits for the device, a deadline, or 10 ms, after which the caller wants to look.
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

    /// Keeps the endpoint in data; closes behind the last of it.
    fn read_ahead(&mut self) -> Result<(), Failure> {
        let Some(endpoint) = &mut self.endpoint else { return Ok(()) };
        self.unsent.acknowledged(endpoint.acked());
        let mut chunk = [0; CHUNK];
        while !self.all_said && self.unsent.unacknowledged() < AHEAD {
            let len = self.say.read(&mut chunk)?;
            if len == 0 {
                self.all_said = true;
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

    /// A packet has come through the wire, in direction 0 to the kernel, in direction 1 to us.
    fn pass(&mut self, direction: usize, bytes: &[u8]) -> Result<(), Failure> {
        if direction == 0 { Ok(self.tun.send(bytes)?) } else { self.take(bytes) }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let Ok(arrived) = packet::parse(bytes) else { return self.take_quench(bytes) };
        if arrived.destination != self.talk.own || !self.is_from_peer(&arrived) {
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
                failed = self.hear.write_all(data);
            }
        });
        failed?;
        if missing > 0 {
            return Err(Failure::NotArrived { received, missing });
        }
        self.flush()
    }

    /// What is not for our TCP is, if not a source quench, the kernel's own business, such as neighbour discovery of IPv6.
    fn take_quench(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let Some(told) = packet::parse_quench(bytes) else { return Ok(()) };
        if (told.source, told.destination) != (self.talk.own, self.peer) {
            return Ok(());
        }
        self.note(bytes, Direction::Inbound)?;
        if let Some(endpoint) = &mut self.endpoint {
            endpoint.on_quench(&told.quench, self.now);
        }
        Ok(())
    }

    /// A server takes the first who asks for its peer.
    fn is_from_peer(&mut self, arrived: &packet::Arrived<'_>) -> bool {
        if self.talk.role == Role::Server && self.irs.is_none() && arrived.segment.flags.contains(Flags::SYN) {
            self.peer = arrived.source;
        }
        arrived.source == self.peer
    }

    /// Sends what the endpoint has left to send.
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
        packet::emit(self.talk.own, self.peer, segment, data, &mut bytes);
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

    fn heard(&self) -> Heard {
        let endpoint = self.endpoint.as_ref();
        Heard {
            counters: endpoint.map(|e| e.counters().clone()).unwrap_or_default(),
            ecn: endpoint.is_some_and(Endpoint::ecn_negotiated),
            wire: [self.wires[0].tally(), self.wires[1].tally()],
            took: self.finished.unwrap_or(self.now).since(Time::ZERO),
        }
    }
}

/// Bytes kept of each packet: all headers, with as many options as there can be.
const SNAP: usize = 128;

/// The offset of `seq` in a stream whose SYN is `first` and of which `near` bytes are known to have passed.
fn offset(seq: Seq, first: Seq, near: u64) -> i64 {
    let here = first + 1 + near as u32;
    near as i64 + i64::from((seq - here) as i32)
}

/// Keeps of `data` at offset `first` what is new, and not so far ahead that no window admits it.
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
        // The SYN is the last number there is: data begin at 0.
        assert_eq!(offset(Seq(0), Seq(u32::MAX), 0), 0);
        assert_eq!(offset(Seq(5), Seq(u32::MAX), 1 << 32), (1 << 32) + 5);
        assert_eq!(offset(Seq(u32::MAX), Seq(u32::MAX), 1 << 32), (1 << 32) - 1);
    }
}
