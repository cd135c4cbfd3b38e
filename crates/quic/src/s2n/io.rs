//! Datagrams between the driver and the stack.

use std::collections::VecDeque;
use std::time::Duration;

use ecnlab_wire::Ecn;
use s2n_quic_core::inet::{ExplicitCongestionNotification, SocketAddress, SocketAddressV4, datagram::Header};
use s2n_quic_core::io::{rx, tx};
use s2n_quic_core::path::RemoteAddress;

/// Largest UDP payload.
const MOST: usize = 65_535;

/// The peer's address, the same at both ends: the stack needs one and puts none into packets.
pub fn peer() -> SocketAddress {
    SocketAddressV4::new([192, 0, 2, 1], 4433).into()
}

/// A datagram that has arrived.
pub struct Incoming {
    /// Its codepoint, and its UDP payload until the stack has taken it.
    pub datagram: Option<(Ecn, Vec<u8>)>,
}

impl rx::Queue for Incoming {
    type Handle = RemoteAddress;

    fn for_each<F: FnMut(Header<RemoteAddress>, &mut [u8])>(&mut self, mut on_packet: F) {
        if let Some((ecn, mut payload)) = self.datagram.take() {
            let ecn = ExplicitCongestionNotification::new(ecn.bits());
            on_packet(Header { path: peer().into(), ecn }, &mut payload);
        }
    }

    fn is_empty(&self) -> bool {
        self.datagram.is_none()
    }
}

/// Datagrams that the stack has sent and the caller has not taken.
pub struct Outgoing {
    /// Codepoint and UDP payload, the oldest first.
    pub datagrams: VecDeque<(Ecn, Vec<u8>)>,
    /// Space for one datagram.
    buffer: Box<[u8]>,
}

impl Outgoing {
    /// No datagrams.
    pub fn new() -> Outgoing {
        Outgoing { datagrams: VecDeque::new(), buffer: vec![0; MOST].into() }
    }
}

impl tx::Queue for Outgoing {
    type Handle = RemoteAddress;

    const SUPPORTS_ECN: bool = true;

    fn push<M: tx::Message<Handle = RemoteAddress>>(&mut self, mut message: M) -> Result<tx::Outcome, tx::Error> {
        debug_assert!(message.delay() < Duration::from_millis(1), "the stack's timers have this granularity");
        let len = message.write_payload(tx::PayloadBuffer::new(&mut self.buffer), 0)?;
        self.datagrams.push_back((Ecn::from_bits(message.ecn() as u8), self.buffer[..len].to_vec()));
        Ok(tx::Outcome { len, index: self.datagrams.len() - 1 })
    }

    fn capacity(&self) -> usize {
        usize::MAX
    }
}
