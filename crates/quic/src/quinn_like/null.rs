//! The stack's TLS without protection of packets: the handshake is the same, byte for byte, and the keys leave packets as they
//! are. So all sizes and times are those of TLS.

use std::any::Any;
use std::sync::Arc;

use super::stack::proto::crypto::{
    ClientConfig, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, ServerConfig, Session,
    UnsupportedVersion,
};
use super::stack::proto::transport_parameters::TransportParameters;
use super::stack::proto::{ConnectError, Side, TransportError};
use super::stack::{Held, Id};

/// The bytes of each tag.
const TAG: u8 = 0;

/// A configuration of TLS, or a session.
pub struct Null<T: ?Sized>(pub T);

/// A key of TLS, of which only sizes and limits are used.
pub struct NullKey<T: ?Sized>(pub Box<T>);

/// Writes the tag at the end of `packet`.
pub fn seal(packet: &mut [u8], tag: usize) {
    let end = packet.len() - tag;
    packet[end..].fill(TAG);
}

/// Size of `payload` without its tag.
///
/// # Errors
/// The tag is another, as that of a stateless reset (RFC 9000 §10.3).
pub fn open(payload: &[u8], tag: usize) -> Result<usize, CryptoError> {
    let size = payload.len().checked_sub(tag).ok_or(CryptoError)?;
    payload[size..].iter().all(|&byte| byte == TAG).then_some(size).ok_or(CryptoError)
}

impl HeaderKey for NullKey<dyn HeaderKey> {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        self.0.sample_size()
    }
}

fn packet_keys(keys: KeyPair<Box<dyn PacketKey>>) -> KeyPair<Box<dyn PacketKey>> {
    KeyPair { local: Box::new(NullKey(keys.local)), remote: Box::new(NullKey(keys.remote)) }
}

fn keys(keys: Keys) -> Keys {
    let header: KeyPair<Box<dyn HeaderKey>> =
        KeyPair { local: Box::new(NullKey(keys.header.local)), remote: Box::new(NullKey(keys.header.remote)) };
    Keys { header, packet: packet_keys(keys.packet) }
}

impl ClientConfig for Null<Arc<dyn ClientConfig>> {
    fn start_session(
        self: Held<'_, Self>,
        version: u32,
        server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        let session = self.0.clone().start_session(version, server_name, params)?;
        Ok(Box::new(Null(session)))
    }
}

impl ServerConfig for Null<Arc<dyn ServerConfig>> {
    fn initial_keys(&self, version: u32, dst_cid: Id<'_>) -> Result<Keys, UnsupportedVersion> {
        self.0.initial_keys(version, dst_cid).map(keys)
    }

    fn retry_tag(&self, version: u32, orig_dst_cid: Id<'_>, packet: &[u8]) -> [u8; 16] {
        self.0.retry_tag(version, orig_dst_cid, packet)
    }

    fn start_session(self: Held<'_, Self>, version: u32, params: &TransportParameters) -> Box<dyn Session> {
        Box::new(Null(self.0.clone().start_session(version, params)))
    }
}

impl Session for Null<Box<dyn Session>> {
    fn initial_keys(&self, dst_cid: Id<'_>, side: Side) -> Keys {
        keys(self.0.initial_keys(dst_cid, side))
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.0.handshake_data()
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.0.peer_identity()
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.0.early_data_accepted()
    }

    fn is_handshaking(&self) -> bool {
        self.0.is_handshaking()
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.0.read_handshake(buf)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.0.transport_parameters()
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        self.0.write_handshake(buf).map(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        self.0.next_1rtt_keys().map(packet_keys)
    }

    fn is_valid_retry(&self, orig_dst_cid: Id<'_>, header: &[u8], payload: &[u8]) -> bool {
        self.0.is_valid_retry(orig_dst_cid, header, payload)
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.0.export_keying_material(output, label, context)
    }
}
