//! Objects of web traffic.

use ecnlab_base::Time;

/// An object requested by a client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Object {
    /// Number of its session, from 0.
    pub session: u32,
    /// Number of its page within the session, from 0.
    pub page: u32,
    /// Number of the object within the page, from 0.
    pub index: u32,
    /// Index of the server in the flow's `from` nodes and of the client in its `to` nodes.
    pub ends: [u32; 2],
    /// Size in bytes.
    pub bytes: u64,
    /// Time of the client's request.
    pub requested: Time,
    /// Time at which the server began to send it.
    pub answered: Option<Time>,
    /// Time at which the server received the acknowledgement of its last byte.
    pub transferred: Option<Time>,
}
