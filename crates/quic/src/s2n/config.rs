//! The stack's configuration from the settings of an end.

use ecnlab_base::{Bytes, Dur};
use s2n_quic_core::connection::Limits;
use s2n_quic_core::path::mtu;

use super::clock;
use crate::{Congestion, Crypto, Error, Settings};

/// Bytes of the headers of IPv4 and UDP, which the stack's MTU includes.
const HEADERS: u64 = 28;
/// UDP payloads that fit in the stack's MTU of 16 bits, from the least that every path carries (RFC 9000 §14).
const UDP_PAYLOAD: std::ops::RangeInclusive<u64> = 1200..=65_507;
/// The stack's largest window.
const MOST_WINDOW: u64 = u32::MAX as u64;

fn rejected<T>(key: &str, remedy: impl std::fmt::Display) -> Result<T, Error> {
    Err(Error::Rejected("s2n", format!("{key}: {remedy}")))
}

/// Rejects settings that the stack rejects, changes silently or does not have.
pub fn check(settings: &Settings) -> Result<(), Error> {
    let Settings { initial_mtu, max_mtu, .. } = settings;
    if settings.crypto == Crypto::Null {
        return rejected("crypto", "s2n is built with TLS only; set \"tls\"");
    }
    if settings.controller.is_some() {
        return rejected("controller", "s2n takes none of a program; set \"quinn\" or \"noq\"");
    }
    if settings.congestion == Congestion::NewReno {
        return rejected("congestion", "s2n has no \"newreno\"; set \"cubic\" or \"bbr\"");
    }
    if settings.ack_frequency.is_some() {
        return rejected("ack_frequency", "s2n requests no frequency of ACKs; remove the key");
    }
    for (key, size) in [("initial_mtu", initial_mtu), ("max_mtu", max_mtu)] {
        if !UDP_PAYLOAD.contains(&size.0) {
            return rejected(key, format!("{} B is outside 1200 to 65507 B; set a size inside", size.0));
        }
    }
    if settings.mtu_discovery && max_mtu < initial_mtu {
        return rejected("max_mtu", format!("{} B is below `initial_mtu`; set {} B or more", max_mtu.0, initial_mtu.0));
    }
    if settings.idle_timeout < Dur::from_ms(1) {
        return rejected("idle_timeout", "QUIC counts whole milliseconds and 0 is none; set 1 ms or more");
    }
    match settings.receive_window {
        Some(Bytes(window)) if !(1..=MOST_WINDOW).contains(&window) => {
            rejected("receive_window", "set 1 B to 2^32 - 1 B")
        }
        _ => Ok(()),
    }
}

/// The sizes of packets.
pub fn mtu(settings: &Settings) -> mtu::Config {
    let most = if settings.mtu_discovery { settings.max_mtu } else { settings.initial_mtu };
    mtu::Config::builder()
        .with_max_mtu((most.0 + HEADERS) as u16)
        .and_then(|sizes| sizes.with_initial_mtu((settings.initial_mtu.0 + HEADERS) as u16))
        .and_then(mtu::Builder::build)
        .expect("`check` has rejected other sizes")
}

/// The limits of an end with `own` settings whose peer has those of `peer`. The send buffer of a stream is not less than the
/// peer's window.
pub fn limits([own, peer]: [&Settings; 2]) -> Limits {
    let mut limits = Limits::new().with_max_idle_timeout(clock::duration(own.idle_timeout));
    if let Some(Bytes(window)) = own.receive_window {
        limits = limits
            .and_then(|limits| limits.with_data_window(window))
            .and_then(|limits| limits.with_bidirectional_local_data_window(window))
            .and_then(|limits| limits.with_bidirectional_remote_data_window(window));
    }
    if let Some(Bytes(window)) = peer.receive_window {
        limits = limits.and_then(|limits| limits.with_max_send_buffer_size(window as u32));
    }
    limits.expect("`check` has rejected other values")
}
