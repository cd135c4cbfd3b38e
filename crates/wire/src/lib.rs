//! What travels: the IP codepoint, the TCP header and its options, the UDP datagram, the ICMP source quench, and the
//! arithmetic of their lengths.
//!
//! Payloads are counted, not carried: the simulator's segments say how many bytes they hold.

mod datagram;
mod ecn;
mod quench;
mod segment;
mod seq;

pub use datagram::{Datagram, UDP_HEADER};
pub use ecn::Ecn;
pub use quench::{MESSAGE_LEN, Malformed, QUENCH_LEN, Quench, QuenchCause};
pub use segment::{Flags, IPV4_HEADER, MAX_SACK_BLOCKS, SackBlock, SackBlocks, Segment, TCP_HEADER, Timestamps};
pub use seq::Seq;
