//! Random choices of the stack and of TLS, from the seed of the end that is being called.
//!
//! rustls has only static generators, so the generator of an end lies in a thread-local while the end runs.

use std::cell::Cell;

use ecnlab_base::Rng;
use rustls::crypto::{ActiveKeyExchange, GetRandomFailed, SecureRandom, SharedSecret, SupportedKxGroup};
use rustls::{Error, NamedGroup, PeerMisbehaved};
use x25519_dalek::{X25519_BASEPOINT_BYTES, x25519};

thread_local! {
    static SOURCE: Cell<Option<Rng>> = const { Cell::new(None) };
}

/// Runs `run`, whose random choices come from `source`.
pub fn with<T>(source: &mut Rng, run: impl FnOnce() -> T) -> T {
    SOURCE.set(Some(source.clone()));
    let value = run();
    *source = SOURCE.take().expect("`fill` puts the generator back");
    value
}

/// `N` random bytes.
///
/// # Panics
/// Outside of [`with`].
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    fill(&mut bytes);
    bytes
}

/// Fills `bytes` with random ones.
///
/// # Panics
/// Outside of [`with`].
pub fn fill(bytes: &mut [u8]) {
    let mut source = SOURCE.take().expect("random bytes are drawn inside `with`");
    for part in bytes.chunks_mut(8) {
        part.copy_from_slice(&source.u64().to_le_bytes()[..part.len()]);
    }
    SOURCE.set(Some(source));
}

/// The generator of rustls.
#[derive(Debug)]
pub struct Source;

impl SecureRandom for Source {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        fill(bytes);
        Ok(())
    }
}

/// X25519 (RFC 7748) whose ephemeral keys come from the seed: ring's come from the system.
#[derive(Debug)]
pub struct X25519;

struct Exchange {
    secret: [u8; 32],
    public: [u8; 32],
}

impl SupportedKxGroup for X25519 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let secret = bytes();
        Ok(Box::new(Exchange { secret, public: x25519(secret, X25519_BASEPOINT_BYTES) }))
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

impl ActiveKeyExchange for Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let peer = peer.try_into().map_err(|_| PeerMisbehaved::InvalidKeyShare)?;
        Ok(SharedSecret::from(&x25519(self.secret, peer)[..]))
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}
