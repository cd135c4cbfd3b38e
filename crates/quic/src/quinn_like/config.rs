//! The stack's configuration from the settings of an end.

use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use ecnlab_base::Dur;
use ring::hmac;

use super::clock;
use super::null::Null;
use super::recorder::{Factory, Record};
use super::stack::proto::crypto;
use super::stack::proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use super::stack::proto::{
    AckFrequencyConfig, ClientConfig, ConnectionId, ConnectionIdGenerator, EndpointConfig, IdleTimeout,
    MtuDiscoveryConfig, NoneTokenLog, NoneTokenStore, ServerConfig, TimeSource, TransportConfig, ValidationTokenConfig,
    VarInt,
};
use super::stack::{self, STACK};
use crate::tls::{self, Secrets};
use crate::{Crypto, Error, Settings, random};

/// Least size that every path carries (RFC 9000 §14), and the largest of UDP over IPv6.
const UDP_PAYLOAD: std::ops::RangeInclusive<u64> = 1200..=65_527;
/// Largest UDP payload that a stack accepts unless configured: that of an Ethernet frame over IPv4.
const ACCEPTED: u64 = 1472;
/// Ratio of the bytes that a stack buffers for retransmission to the receive window of a stream, in its defaults.
const SEND_WINDOWS: u64 = 8;

fn rejected<T>(key: &str, remedy: impl std::fmt::Display) -> Result<T, Error> {
    Err(Error::Rejected(STACK.name(), format!("{key}: {remedy}")))
}

/// Rejects settings that the stack rejects, changes silently or does not have.
pub fn check(settings: &Settings) -> Result<(), Error> {
    let Settings { initial_mtu, max_mtu, .. } = settings;
    if let Err((key, remedy)) = controller(settings) {
        return rejected(key, remedy);
    }
    for (key, size) in [("initial_mtu", initial_mtu), ("max_mtu", max_mtu)] {
        if !UDP_PAYLOAD.contains(&size.0) {
            return rejected(key, format!("{} B is outside 1200 to 65527 B; set a size inside", size.0));
        }
    }
    if settings.mtu_discovery && max_mtu < initial_mtu {
        return rejected("max_mtu", format!("{} B is below `initial_mtu`; set {} B or more", max_mtu.0, initial_mtu.0));
    }
    if settings.idle_timeout < Dur::from_ms(1) {
        return rejected("idle_timeout", "QUIC counts whole milliseconds and 0 is none; set 1 ms or more");
    }
    let window = settings.receive_window.map_or(1, |window| window.0);
    if window == 0 || VarInt::from_u64(window).is_err() {
        return rejected("receive_window", "set 1 B to 2^62 - 1 B");
    }
    match &settings.ack_frequency {
        Some(wish) if VarInt::from_u64(wish.threshold).is_err() => {
            rejected("ack_frequency.threshold", "set at most 2^62 - 1")
        }
        Some(wish) if wish.max_delay < Dur::from_ms(1) => {
            rejected("ack_frequency.max_delay", "the least delay of an ACK is 1 ms; set 1 ms or more")
        }
        _ => Ok(()),
    }
}

/// Rejects settings of two ends that do not fit.
pub fn check_both(settings: [&Settings; 2]) -> Result<(), Error> {
    if settings[0].crypto == settings[1].crypto {
        return Ok(());
    }
    rejected("crypto", "the ends have different values; set the same for both")
}

/// The controller of an end, or the key that it cannot have and the remedy.
fn controller(settings: &Settings) -> Result<stack::Factory, (&'static str, &'static str)> {
    match &settings.controller {
        Some(own) => own.get().cloned().ok_or(("controller", "it is for another stack; make it for this one")),
        None => stack::controller(settings.congestion).map_err(|remedy| ("congestion", remedy)),
    }
}

fn var(value: u64) -> VarInt {
    VarInt::from_u64(value).expect("`check` has rejected larger values")
}

/// The transport of an end with `own` settings whose peer has those of `peer`.
pub fn transport(own: &Settings, peer: &Settings, record: Arc<Record>) -> TransportConfig {
    let mut config = TransportConfig::default();
    let controller = controller(own).expect("`check` has rejected others");
    let idle = IdleTimeout::try_from(clock::duration(own.idle_timeout)).expect("213 days are few milliseconds");
    config
        .congestion_controller_factory(Arc::new(Factory { inner: controller, record }))
        .max_idle_timeout(Some(idle))
        .initial_mtu(own.initial_mtu.0 as u16)
        .enable_segmentation_offload(false)
        .mtu_discovery_config(own.mtu_discovery.then(|| {
            let mut search = MtuDiscoveryConfig::default();
            search.upper_bound(own.max_mtu.0 as u16);
            search
        }));
    if let Some(window) = own.receive_window {
        config.receive_window(var(window.0)).stream_receive_window(var(window.0));
    }
    if let Some(window) = peer.receive_window {
        config.send_window(window.0.saturating_mul(SEND_WINDOWS));
    }
    if let Some(wish) = &own.ack_frequency {
        let mut request = AckFrequencyConfig::default();
        request.ack_eliciting_threshold(var(wish.threshold)).max_ack_delay(Some(clock::duration(wish.max_delay)));
        config.ack_frequency_config(Some(request));
    }
    config
}

/// The endpoint of either side. It draws its keys and its seed.
pub fn endpoint(settings: [&Settings; 2]) -> EndpointConfig {
    let mut config = EndpointConfig::new(Arc::new(hmac::Key::new(hmac::HMAC_SHA256, &random::bytes::<64>())));
    let accepted = settings.iter().flat_map(|end| [end.initial_mtu.0, end.max_mtu.0]).fold(ACCEPTED, u64::max);
    config.max_udp_payload_size(accepted as u16).expect("`check` has rejected larger sizes");
    stack::set_identifiers(&mut config);
    config.rng_seed(Some(random::bytes()));
    config
}

/// The TLS of all servers, as it holds nothing of a connection.
static TLS_SERVER: LazyLock<Arc<QuicServerConfig>> = LazyLock::new(|| {
    Arc::new(QuicServerConfig::try_from(tls::server()).expect("ring has the suite of Initial packets"))
});

fn tls_client(secrets: Arc<Secrets>) -> QuicClientConfig {
    QuicClientConfig::try_from(tls::client(secrets)).expect("ring has the suite of Initial packets")
}

/// The client's connection.
pub fn client(transport: TransportConfig, crypto: Crypto, secrets: Arc<Secrets>) -> ClientConfig {
    let mut config = ClientConfig::new(match crypto {
        Crypto::Tls => Arc::new(tls_client(secrets)),
        Crypto::Null => Arc::new(Null(Arc::new(tls_client(Arc::default())) as Arc<dyn crypto::ClientConfig>)),
    });
    config
        .transport_config(Arc::new(transport))
        .token_store(Arc::new(NoneTokenStore))
        .initial_dst_cid_provider(Arc::new(|| ConnectionId::new(&random::bytes::<20>())));
    config
}

/// The server: no tokens, so no wall time.
pub fn server(transport: TransportConfig, crypto: Crypto) -> ServerConfig {
    let mut tokens = ValidationTokenConfig::default();
    tokens.sent(0).log(Arc::new(NoneTokenLog));
    let tls = TLS_SERVER.clone();
    let crypto: Arc<dyn crypto::ServerConfig> = match crypto {
        Crypto::Tls => tls,
        Crypto::Null => Arc::new(Null(tls as Arc<dyn crypto::ServerConfig>)),
    };
    let mut config = ServerConfig::new(crypto, stack::token_key());
    config.transport_config(Arc::new(transport)).validation_token_config(tokens).time_source(Arc::new(Epoch));
    config
}

/// Connection identifiers of 8 random bytes, the length of the stacks' own.
#[derive(Debug)]
pub struct Identifiers;

impl Identifiers {
    const LENGTH: usize = 8;
}

impl ConnectionIdGenerator for Identifiers {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&random::bytes::<{ Identifiers::LENGTH }>())
    }

    fn cid_len(&self) -> usize {
        Identifiers::LENGTH
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

struct Epoch;

impl TimeSource for Epoch {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}
