//! Packet formats: the IP codepoint, the TCP header and its options, the UDP datagram, the ICMP source quench, the
//! arithmetic of their lengths, and their encoding over IPv4 and IPv6.
//!
//! The simulator's [`Segment`]s and [`Datagram`]s count their payload instead of carrying it. The header types parse
//! and emit bytes: `parse` never panics on any input and reads back the output of `emit`.

mod acc_ecn;
mod checksum;
mod datagram;
mod dscp;
mod ecn;
mod error;
mod icmp;
mod ip;
mod kind;
mod options;
pub mod packets;
pub mod pcap;
mod quench;
mod segment;
mod seq;
mod tcp;
mod udp;

pub use acc_ecn::AccEcn;
pub use checksum::Checksum;
pub use datagram::{Datagram, UDP_HEADER};
pub use dscp::Dscp;
pub use ecn::Ecn;
pub use error::WireError;
pub use icmp::IcmpHeader;
pub use ip::{Extension, Fragment, IPV4_HEADER, IpPacket, IpVersion, Ipv4Header, Ipv6Header, protocol};
pub use options::TcpOptions;
pub use quench::{MESSAGE_LEN, Malformed, QUENCH_LEN, Quench, QuenchCause};
pub use segment::{Flags, MAX_SACK_BLOCKS, SackBlock, SackBlocks, Segment, TCP_HEADER, Timestamps};
pub use seq::Seq;
pub use tcp::{TcpHeader, TcpStart};
pub use udp::UdpHeader;
