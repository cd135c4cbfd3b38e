//! The parts of quinn-proto's interface in which its fork differs.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use quinn_proto::congestion::{
    BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use quinn_proto::crypto::{CryptoError, HandshakeTokenKey, PacketKey};
use quinn_proto::{
    Connection, ConnectionId, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, PathStats, RttEstimator,
    SendStream, ServerConfig, WriteError,
};
use ring::hkdf;

use super::ends::config::Identifiers;
use super::ends::null::{self, NullKey};
use super::ends::{PEER, Recorder};
use crate::{Congestion, Stack, random};

pub use quinn_proto as proto;

/// The stack.
pub const STACK: Stack = Stack::Quinn;
/// Datagrams of a call of `poll_transmit`.
pub const ONE: usize = 1;
/// What makes controllers.
pub type Factory = Arc<dyn ControllerFactory + Send + Sync>;
/// A connection identifier in the interface of crypto.
pub type Id<'a> = &'a ConnectionId;
/// A configuration of crypto when it starts a session.
pub type Held<'a, T> = Arc<T>;

/// An endpoint that discovers the MTU.
pub fn endpoint(config: EndpointConfig, server: Option<ServerConfig>) -> Endpoint {
    Endpoint::new(Arc::new(config), server.map(Arc::new), true, None)
}

/// Sets the generator of connection identifiers.
pub fn set_identifiers(config: &mut EndpointConfig) {
    config.cid_generator(|| Box::new(Identifiers));
}

/// The key of address validation tokens.
pub fn token_key() -> Arc<dyn HandshakeTokenKey> {
    Arc::new(hkdf::Salt::new(hkdf::HKDF_SHA256, &[]).extract(&random::bytes::<64>()))
}

/// The stack's controller, or why it cannot be used and what to set. The system seeds the generator of BBR, which only shifts
/// the cycle of its pacing gains: quinn-proto 0.11.19 sends at a multiple of window / RTT with every controller, so no datagram
/// depends on it.
pub fn controller(congestion: Congestion) -> Result<Factory, &'static str> {
    Ok(match congestion {
        Congestion::Cubic => Arc::new(CubicConfig::default()),
        Congestion::NewReno => Arc::new(NewRenoConfig::default()),
        Congestion::Bbr => Arc::new(BbrConfig::default()),
    })
}

/// The transport with the log of a connection, if `settings` have one. Times of the log are since `Time::ZERO`.
#[cfg(feature = "qlog")]
pub fn logged(mut transport: proto::TransportConfig, settings: &crate::Settings, side: &str) -> proto::TransportConfig {
    if let Some(qlog) = &settings.qlog {
        let start = super::ends::clock::instant(ecnlab_base::Time::ZERO);
        let (name, writer) = qlog.next(side);
        let mut config = proto::QlogConfig::default();
        config.title(Some(name)).writer(writer).start_time(start);
        transport.qlog_stream(config.into_stream());
    }
    transport
}

impl crate::Controller {
    /// A controller for the stack "quinn".
    pub fn quinn(factory: impl ControllerFactory + Send + Sync + 'static) -> Self {
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
    endpoint.handle(now, PEER, None, ecn, BytesMut::from(payload), response)
}

/// Writes to a stream; returns the number of bytes taken.
pub fn write(stream: &mut SendStream<'_>, data: Bytes) -> Result<usize, WriteError> {
    stream.write_chunks(&mut [data]).map(|written| written.bytes)
}

/// Readings of the path and its controller.
pub fn path(connection: &mut Connection) -> Option<(PathStats, ControllerMetrics)> {
    Some((connection.stats().path, connection.congestion_state().metrics()))
}

impl Controller for Recorder {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.record.acknowledged(now, sent);
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.record.set_in_flight(in_flight);
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }

    /// `lost_bytes` is 0 for a mark.
    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        self.congestion(lost_bytes == 0, |inner| inner.on_congestion_event(now, sent, persistent, lost_bytes));
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
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
    fn encrypt(&self, _: u64, packet: &mut [u8], _: usize) {
        null::seal(packet, self.tag_len());
    }

    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
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
