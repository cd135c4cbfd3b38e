//! The parts of which the stack builds an endpoint.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

use s2n_codec::EncoderValue;
use s2n_quic_core::application::ServerName;
use s2n_quic_core::connection::id::{self, ConnectionInfo, LocalId};
use s2n_quic_core::connection::{self, InitialId, Limits};
use s2n_quic_core::crypto::tls;
use s2n_quic_core::endpoint::limits::{ConnectionAttempt, Outcome};
use s2n_quic_core::endpoint::{Limiter, Type};
use s2n_quic_core::path::{RemoteAddress, migration, mtu};
use s2n_quic_core::recovery::congestion_controller;
use s2n_quic_core::{datagram, dc, packet, random, stateless_reset, token};
use s2n_quic_rustls::{Client, Server};
use s2n_quic_transport::{endpoint, stream};

use super::record::Record;
use crate::random as source;
use crate::tls::{self as rustls, Secrets};

/// Bytes of a connection identifier, as in quinn-proto.
const ID: usize = 8;
/// The application protocol (ALPN), without which the stack rejects a handshake.
const PROTOCOL: &[u8] = b"ecnlab";

/// The configuration of an endpoint with the controller of `C`.
pub struct Host<C, const SERVER: bool> {
    controller: C,
    parts: Parts,
    tls: Tls,
    limits: Limits,
    mtu: mtu::Manager<mtu::Inherit>,
    record: Record,
    side: PhantomData<[(); 0]>,
}

/// Parts without settings.
#[derive(Default)]
struct Parts {
    identifiers: Identifiers,
    reset: NoReset,
    random: Source,
    token: NoToken,
    attempts: FirstAttempt,
    close: connection::close::Production,
    migration: migration::disabled::Validator,
    interceptor: packet::interceptor::Disabled,
    datagram: datagram::Disabled,
    dc: dc::Disabled,
}

impl<C: Default, const SERVER: bool> Host<C, SERVER> {
    /// An end with these limits, which writes to `record` and `secrets`.
    pub fn new(limits: Limits, record: Record, secrets: Arc<Secrets>) -> Self {
        let tls = if SERVER { Tls::server() } else { Tls::client(secrets) };
        let mtu = mtu::Manager::new(mtu::Inherit::default());
        Host { controller: C::default(), parts: Parts::default(), tls, limits, mtu, record, side: PhantomData }
    }
}

impl<C: congestion_controller::Endpoint, const SERVER: bool> endpoint::Config for Host<C, SERVER> {
    type TLSEndpoint = Tls;
    type CongestionControllerEndpoint = C;
    type Connection = s2n_quic_transport::connection::Implementation<Self>;
    type ConnectionLock = Mutex<Self::Connection>;
    type ConnectionIdFormat = Identifiers;
    type StatelessResetTokenGenerator = NoReset;
    type RandomGenerator = Source;
    type TokenFormat = NoToken;
    type EndpointLimits = FirstAttempt;
    type ConnectionLimits = Limits;
    type Mtu = mtu::Inherit;
    type StreamManager = stream::DefaultStreamManager;
    type ConnectionCloseFormatter = connection::close::Production;
    type EventSubscriber = Record;
    type PathHandle = RemoteAddress;
    type PathMigrationValidator = migration::disabled::Validator;
    type PacketInterceptor = packet::interceptor::Disabled;
    type DatagramEndpoint = datagram::Disabled;
    type DcEndpoint = dc::Disabled;

    const ENDPOINT_TYPE: Type = if SERVER { Type::Server } else { Type::Client };

    fn context(&mut self) -> endpoint::Context<'_, Self> {
        endpoint::Context {
            congestion_controller: &mut self.controller,
            connection_id_format: &mut self.parts.identifiers,
            stateless_reset_token_generator: &mut self.parts.reset,
            random_generator: &mut self.parts.random,
            tls: &mut self.tls,
            endpoint_limits: &mut self.parts.attempts,
            token: &mut self.parts.token,
            connection_limits: &mut self.limits,
            mtu: &mut self.mtu,
            connection_close_formatter: &mut self.parts.close,
            event_subscriber: &mut self.record,
            path_migration: &mut self.parts.migration,
            packet_interceptor: &mut self.parts.interceptor,
            datagram: &mut self.parts.datagram,
            dc: &mut self.parts.dc,
        }
    }
}

impl<C, const SERVER: bool> fmt::Debug for Host<C, SERVER> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("record", &self.record).finish_non_exhaustive()
    }
}

/// TLS of either side, by rustls.
pub enum Tls {
    Client(Client),
    Server(Server),
}

impl Tls {
    fn server() -> Tls {
        let mut config = rustls::server();
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Tls::Server(config.into())
    }

    fn client(secrets: Arc<Secrets>) -> Tls {
        let mut config = rustls::client(secrets);
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Tls::Client(config.into())
    }
}

impl tls::Endpoint for Tls {
    type Session = <Client as tls::Endpoint>::Session;

    fn new_server_session<P: EncoderValue>(&mut self, parameters: &P, info: tls::ConnectionInfo) -> Self::Session {
        match self {
            Tls::Client(client) => client.new_server_session(parameters, info),
            Tls::Server(server) => server.new_server_session(parameters, info),
        }
    }

    fn new_client_session<P: EncoderValue>(&mut self, parameters: &P, name: ServerName) -> Self::Session {
        match self {
            Tls::Client(client) => client.new_client_session(parameters, name),
            Tls::Server(server) => server.new_client_session(parameters, name),
        }
    }

    fn max_tag_length(&self) -> usize {
        match self {
            Tls::Client(client) => client.max_tag_length(),
            Tls::Server(server) => server.max_tag_length(),
        }
    }
}

/// Random choices from the seed.
#[derive(Default)]
pub struct Source;

impl random::Generator for Source {
    fn public_random_fill(&mut self, bytes: &mut [u8]) {
        source::fill(bytes);
    }

    fn private_random_fill(&mut self, bytes: &mut [u8]) {
        source::fill(bytes);
    }
}

/// Random connection identifiers.
#[derive(Default)]
pub struct Identifiers;

impl id::Generator for Identifiers {
    fn generate(&mut self, _: &ConnectionInfo) -> LocalId {
        LocalId::try_from_bytes(&source::bytes::<ID>()).expect("identifiers have 4 to 20 bytes")
    }
}

impl id::Validator for Identifiers {
    fn validate(&self, _: &ConnectionInfo, _: &[u8]) -> Option<usize> {
        Some(ID)
    }
}

/// Sends no stateless resets.
#[derive(Default)]
pub struct NoReset;

impl stateless_reset::token::Generator for NoReset {
    const ENABLED: bool = false;

    fn generate(&mut self, _: &[u8]) -> stateless_reset::Token {
        source::bytes::<{ stateless_reset::token::LEN }>().into()
    }
}

/// Has no tokens for address validation, as no server retries.
#[derive(Default)]
pub struct NoToken;

impl token::Format for NoToken {
    const TOKEN_LEN: usize = 0;

    fn generate_new_token(&mut self, _: &mut token::Context<'_>, _: &LocalId, _: &mut [u8]) -> Option<()> {
        None
    }

    fn generate_retry_token(&mut self, _: &mut token::Context<'_>, _: &InitialId, _: &mut [u8]) -> Option<()> {
        None
    }

    fn validate_token(&mut self, _: &mut token::Context<'_>, _: &[u8]) -> Option<InitialId> {
        None
    }
}

/// Accepts the first connection attempt and drops all others, which are late copies of it.
#[derive(Default)]
pub struct FirstAttempt {
    accepted: bool,
}

impl Limiter for FirstAttempt {
    fn on_connection_attempt(&mut self, _: &ConnectionAttempt) -> Outcome {
        if std::mem::replace(&mut self.accepted, true) { Outcome::drop() } else { Outcome::allow() }
    }
}
