//! The network layer: IPv4, IPv6, and their common interface for the transport layer.

mod packet;
mod v4;
mod v6;
mod version;

pub use packet::{Fragment, IpPacket};
pub use v4::Ipv4Header;
pub use v6::{Extension, Ipv6Header};
pub use version::{IPV4_HEADER, IpVersion};

/// Numbers of protocols and extension headers (IANA).
pub mod protocol {
    /// ICMP (RFC 792).
    pub const ICMP: u8 = 1;
    /// TCP (RFC 9293).
    pub const TCP: u8 = 6;
    /// UDP (RFC 768).
    pub const UDP: u8 = 17;
    /// ICMPv6 (RFC 4443).
    pub const ICMPV6: u8 = 58;
    pub(crate) const HOP_BY_HOP: u8 = 0;
    pub(crate) const ROUTING: u8 = 43;
    pub(crate) const FRAGMENT: u8 = 44;
    pub(crate) const AUTHENTICATION: u8 = 51;
    pub(crate) const DESTINATION: u8 = 60;
    pub(crate) const MOBILITY: u8 = 135;
}
