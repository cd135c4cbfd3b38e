//! The parts of noq-proto's interface in which it differs from quinn-proto.

use std::any::Any;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig};
use noq_proto::crypto::{CryptoError, HandshakeTokenKey, PacketKey};
use noq_proto::{
    Connection, ConnectionId, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, FourTuple, PathId, PathStats,
    RttEstimator, SendStream, ServerConfig, WriteError,
};

use super::ends::config::Identifiers;
use super::ends::null::{self, NullKey};
use super::ends::{PEER, Recorder};
use crate::{Congestion, Stack};

pub use noq_proto as proto;

/// The stack.
pub const STACK: Stack = Stack::Noq;
/// Datagrams of a call of `poll_transmit`.
pub const ONE: NonZeroUsize = NonZeroUsize::MIN;
/// What makes controllers.
pub type Factory = Arc<dyn ControllerFactory + Send + Sync>;
/// A connection identifier in the interface of crypto.
pub type Id<'a> = ConnectionId;
/// A configuration of crypto when it starts a session.
pub type Held<'a, T> = &'a T;

/// An endpoint that discovers the MTU.
pub fn endpoint(config: EndpointConfig, server: Option<ServerConfig>) -> Endpoint {
    Endpoint::new(Arc::new(config), server.map(Arc::new), true)
}

/// Sets the generator of connection identifiers.
pub fn set_identifiers(config: &mut EndpointConfig) {
    config.cid_generator(Arc::new(|| Box::new(Identifiers)));
}

/// The key of address validation tokens.
pub fn token_key() -> Arc<dyn HandshakeTokenKey> {
    Arc::new(NoTokens)
}

/// The server sends no tokens, and accepts none.
struct NoTokens;

impl HandshakeTokenKey for NoTokens {
    fn seal(&self, _: u128, _: &mut Vec<u8>) -> Result<(), CryptoError> {
        Err(CryptoError)
    }

    fn open<'a>(&self, _: u128, _: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        Err(CryptoError)
    }
}

/// The stack's controller, or why it cannot be used and what to set.
pub fn controller(congestion: Congestion) -> Result<Factory, &'static str> {
    match congestion {
        Congestion::Cubic => Ok(Arc::new(CubicConfig::default())),
        Congestion::NewReno => Ok(Arc::new(NewRenoConfig::default())),
        Congestion::Bbr => Err("the system seeds the probe intervals of noq's BBRv3, so results would differ between \
                                runs; set \"cubic\" or \"newreno\""),
    }
}

/// The transport: `connection` has rejected a log.
#[cfg(feature = "qlog")]
pub fn logged(transport: proto::TransportConfig, _: &crate::Settings, _: &str) -> proto::TransportConfig {
    transport
}

impl crate::Controller {
    /// A controller for the stack "noq".
    pub fn noq(factory: impl ControllerFactory + Send + Sync + 'static) -> Self {
        let factory: Factory = Arc::new(factory);
        Self::holding(factory)
    }
}

/// Takes in a datagram.
pub fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    ecn: Option<EcnCodepoint>,
    payload: &[u8],
    response: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, FourTuple::from_remote(PEER), ecn, BytesMut::from(payload), response)
}

/// Writes to a stream; returns the number of bytes taken.
pub fn write(stream: &mut SendStream<'_>, data: Bytes) -> Result<usize, WriteError> {
    stream.write_chunks(&mut &mut [data][..])
}

/// Readings of the path and its controller.
pub fn path(connection: &mut Connection) -> Option<(PathStats, ControllerMetrics)> {
    Some((connection.path_stats(PathId::ZERO)?, connection.congestion_state(PathId::ZERO)?.metrics()))
}

impl Controller for Recorder {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest_pn: u64) {
        self.inner.on_sent(now, bytes, largest_pn);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.inner.on_packet_sent(now, bytes, pn);
    }

    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, pn: u64, app_limited: bool, rtt: &RttEstimator) {
        self.record.acknowledged(now, sent);
        self.inner.on_ack(now, sent, bytes, pn, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.record.set_in_flight(in_flight);
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        ecn: bool,
        lost_bytes: u64,
        largest_lost: u64,
    ) {
        self.congestion(ecn, |inner| {
            inner.on_congestion_event(now, sent, persistent, ecn, lost_bytes, largest_lost);
        });
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.inner.on_packet_lost(lost_bytes, pn, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn on_ack_frequency_update(&mut self, threshold: u64, max_ack_delay: Duration) {
        self.inner.on_ack_frequency_update(threshold, max_ack_delay);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Recorder { inner: self.inner.clone_box(), record: self.record.clone() })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl PacketKey for NullKey<dyn PacketKey> {
    fn encrypt(&self, _: PathId, _: u64, packet: &mut [u8], _: usize) {
        null::seal(packet, self.tag_len());
    }

    fn decrypt(&self, _: PathId, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        payload.truncate(null::open(payload, self.tag_len())?);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        self.0.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.0.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.0.integrity_limit()
    }
}
