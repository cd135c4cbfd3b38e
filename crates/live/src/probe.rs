//! The prober of `ecnlab-probe` on real packets, over a TUN device, so that the kernel's own TCP does not respond.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use ecnlab_base::{Dur, Rng, Time};
use ecnlab_probe::{Answers, Outgoing, Session};
use ecnlab_wire::Seq;
use nix::poll::{PollFd, PollFlags, ppoll};

use crate::clock::{Clock, timeout};
use crate::packet;
use crate::tun::{MTU, Tun};

/// The server to probe and the request.
#[derive(Clone, Debug)]
pub struct Target {
    /// The server.
    pub server: SocketAddr,
    /// Address of the prober, behind the device; of the server's IP version.
    pub own: IpAddr,
    /// First port of the prober; each connection uses the next port.
    pub first_port: u16,
    /// The request: sent in five parts, none of them empty.
    pub request: Vec<u8>,
    /// Seed of the sequence numbers.
    pub seed: u64,
}

/// Maximum sleep before the stop flag is checked.
const LOOK: Dur = Dur::from_ms(50);

/// Runs all tests; `None` if `stop` became true before the end.
///
/// # Errors
/// Errors of the device; `InvalidInput` if the request is shorter than its parts.
pub fn probe(tun: &Tun, target: &Target, stop: &AtomicBool) -> io::Result<Option<Answers>> {
    let request = u32::try_from(target.request.len()).unwrap_or(0);
    if !(5..=1000).contains(&request) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a request has 5 to 1000 bytes"));
    }
    let (clock, mut outgoing) = (Clock::start(), Vec::new());
    let iss = Seq(Rng::named(target.seed, "probe").u64() as u32);
    let mut session = Session::start(request, iss, clock.now(), &mut outgoing);
    while !stop.load(Ordering::Relaxed) {
        outgoing.drain(..).try_for_each(|outgoing| send(tun, target, &outgoing))?;
        if let Some(answers) = session.answers() {
            return Ok(Some(answers));
        }
        if !receive(tun, target, &mut session, clock, &mut outgoing)? {
            session.on_deadline(clock.now(), &mut outgoing);
            if outgoing.is_empty() {
                wait(tun, clock, session.deadline())?;
            }
        }
    }
    Ok(None)
}

fn send(tun: &Tun, target: &Target, outgoing: &Outgoing) -> io::Result<()> {
    let Outgoing { connection, segment, offset } = outgoing;
    let start = *offset as usize;
    let data = target.request.get(start..start + segment.len as usize).unwrap_or_default();
    let mut bytes = Vec::with_capacity(MTU);
    let own = SocketAddr::new(target.own, target.first_port + *connection as u16);
    packet::emit(own, target.server, segment, data, &mut bytes);
    tun.send(&bytes)
}

/// Receives a packet, if there is one.
fn receive(
    tun: &Tun,
    target: &Target,
    session: &mut Session,
    clock: Clock,
    outgoing: &mut Vec<Outgoing>,
) -> io::Result<bool> {
    let mut buffer = [0; MTU];
    let Some(bytes) = tun.receive(&mut buffer)? else { return Ok(false) };
    if let Ok(arrived) = packet::parse(bytes)
        && arrived.source == target.server
        && arrived.destination.ip() == target.own
        && let Some(connection) = arrived.destination.port().checked_sub(target.first_port)
    {
        session.on_segment(connection.into(), &arrived.segment, clock.now(), outgoing);
    }
    Ok(true)
}

fn wait(tun: &Tun, clock: Clock, deadline: Time) -> io::Result<()> {
    let now = clock.now();
    let mut fds = [PollFd::new(tun.as_fd(), PollFlags::POLLIN)];
    match ppoll(&mut fds, Some(timeout(now, deadline.min(now + LOOK))), None) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}
