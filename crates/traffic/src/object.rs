//! Objects of web traffic.

use ecnlab_base::Time;

/// One object that a client asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Object {
    /// Number of its session, from 0.
    pub session: u32,
    /// Number of its page in the session, from 0.
    pub page: u32,
    /// Number of it in the page, from 0.
    pub index: u32,
    /// Index of the server in the flow's `from` nodes and of the client in its `to` nodes.
    pub ends: [u32; 2],
    /// Its size.
    pub bytes: u64,
    /// When the client asked for it.
    pub asked: Time,
    /// When the server began to send it.
    pub answered: Option<Time>,
    /// When the server had the acknowledgement of its last byte.
    pub transferred: Option<Time>,
}
