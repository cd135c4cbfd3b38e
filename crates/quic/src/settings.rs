//! `[quic.NAME]`: a stack and its settings.

use ecnlab_base::{Bytes, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Controller;
#[cfg(feature = "qlog")]
use crate::Qlog;

/// An end of QUIC connections. Flows name it in `quic`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The stack: "quinn" is quinn-proto, "noq" is noq-proto, its fork with multipath, of which one path is used, "s2n" is
    /// s2n-quic-transport, which is not in the Python package. Both ends of a flow have the same.
    pub stack: Stack,
    /// The stack's congestion controller. Default `cubic`.
    #[serde(default)]
    pub congestion: Congestion,
    /// The program's own controller, in place of `congestion`. No scenario has one.
    #[serde(skip)]
    pub controller: Option<Controller>,
    /// Logs of the program's own. No scenario has them.
    #[cfg(feature = "qlog")]
    #[serde(skip)]
    pub qlog: Option<Qlog>,
    /// Packets are sent as ECT(0) while the stack's validation of ECN (RFC 9000 §13.4) permits. False: the host neither sets nor
    /// reads the codepoint. Default true.
    #[serde(default = "yes")]
    pub ecn: bool,
    /// Frequency of ACKs that this end requests of its peer (draft-ietf-quic-ack-frequency). Default: none requested, an ACK
    /// for every second ACK-eliciting packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_frequency: Option<AckFrequency>,
    /// UDP payload of the first packets, from 1200 B. Default 1200 B.
    #[serde(default = "least_mtu")]
    pub initial_mtu: Bytes,
    /// Probes for a larger MTU (RFC 8899), up to `max_mtu`. Default true.
    #[serde(default = "yes")]
    pub mtu_discovery: bool,
    /// Largest UDP payload that is probed. Default 1452 B, which fits an Ethernet frame over IPv6.
    #[serde(default = "ethernet_mtu")]
    pub max_mtu: Bytes,
    /// Time without packets after which a connection ends; the smaller of both ends counts. Default 30 s.
    #[serde(default = "idle")]
    pub idle_timeout: Dur,
    /// Bytes of a connection that the receiver buffers, and of each stream. Default: the stack's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_window: Option<Bytes>,
    /// All exchanges of a flow between two nodes are streams of one connection. False: each exchange has a connection of its
    /// own. Default false.
    #[serde(default)]
    pub one_connection: bool,
    /// "tls" is the stack's TLS 1.3, with a key log in captures; "null" leaves packets unencrypted after the same handshake, with
    /// tags of the same size. Times, sizes and codepoints of all datagrams are equal. Both ends of a flow have the same.
    /// Default `tls`.
    #[serde(default)]
    pub crypto: Crypto,
}

/// A QUIC stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stack {
    /// quinn-proto.
    Quinn,
    /// noq-proto.
    Noq,
    /// s2n-quic-transport. Its CUBIC has HyStart++, its BBR is version 2. With ECN it marks a packet as CE itself every 10 to 100
    /// round trips, to test whether the peer reports it (RFC 9000 §13.4.2).
    S2n,
}

impl Stack {
    /// Its name in a scenario.
    pub const fn name(self) -> &'static str {
        match self {
            Stack::Quinn => "quinn",
            Stack::Noq => "noq",
            Stack::S2n => "s2n",
        }
    }

    /// Bytes of the two ends of a connection, without data in flight. Measured with quinn and noq (`docs/reliability.md`);
    /// s2n has the value of noq.
    pub const fn memory(self) -> u64 {
        match self {
            Stack::Quinn => 75_000,
            Stack::Noq | Stack::S2n => 115_000,
        }
    }
}

/// A congestion controller of a stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Congestion {
    /// RFC 9438.
    #[default]
    Cubic,
    /// RFC 9002 §7.
    #[serde(rename = "newreno")]
    NewReno,
    /// BBR, of the version that the stack has. noq's is not available: the system seeds its generator.
    Bbr,
}

/// Request for ACKs (draft-ietf-quic-ack-frequency).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AckFrequency {
    /// Number of ACK-eliciting packets that the peer may receive without sending an ACK.
    pub threshold: u64,
    /// Longest delay of an ACK.
    pub max_delay: Dur,
}

/// A value that no stack accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impossible {
    /// Its key.
    pub key: &'static str,
    /// The problem.
    pub problem: String,
    /// What to write.
    pub remedy: &'static str,
}

/// Protection of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Crypto {
    /// The stack's TLS 1.3.
    #[default]
    Tls,
    /// None, with the sizes of TLS.
    Null,
}

fn yes() -> bool {
    true
}

const fn least_mtu() -> Bytes {
    Bytes(1200)
}

const fn ethernet_mtu() -> Bytes {
    Bytes(1452)
}

const fn idle() -> Dur {
    Dur::from_ms(30_000)
}

/// The longest idle timeout.
const LONGEST_IDLE: Dur = Dur::from_s(86_400);
/// Least UDP payload of a path (RFC 9000 §14).
const LEAST_MTU: u64 = 1200;
/// Largest UDP payload: 65,535 bytes without an IPv4 and a UDP header.
const MOST_MTU: u64 = 65_507;

impl Settings {
    /// Rejects impossible values.
    ///
    /// # Errors
    /// The first key with an impossible value.
    pub fn check(&self) -> Result<(), Impossible> {
        let impossible = |key, problem, remedy| Err(Impossible { key, problem, remedy });
        for (key, Bytes(mtu)) in [("initial_mtu", self.initial_mtu), ("max_mtu", self.max_mtu)] {
            if !(LEAST_MTU..=MOST_MTU).contains(&mtu) {
                return impossible(key, format!("is {mtu} B"), "write 1200 B to 65507 B");
            }
        }
        if self.mtu_discovery && self.max_mtu < self.initial_mtu {
            let problem = format!("is {}, less than `initial_mtu`, {}", self.max_mtu, self.initial_mtu);
            return impossible("max_mtu", problem, "write at least `initial_mtu`");
        }
        if self.idle_timeout.is_zero() || self.idle_timeout > LONGEST_IDLE {
            return impossible("idle_timeout", format!("is {}", self.idle_timeout), "write a time up to 24 h");
        }
        if self.receive_window == Some(Bytes(0)) {
            return impossible("receive_window", "is 0 B".to_owned(), "write at least a packet");
        }
        Ok(())
    }

    /// The stack `stack` with the defaults of all other keys.
    pub const fn of(stack: Stack) -> Settings {
        Settings {
            stack,
            congestion: Congestion::Cubic,
            controller: None,
            #[cfg(feature = "qlog")]
            qlog: None,
            ecn: true,
            ack_frequency: None,
            initial_mtu: least_mtu(),
            mtu_discovery: true,
            max_mtu: ethernet_mtu(),
            idle_timeout: idle(),
            receive_window: None,
            one_connection: false,
            crypto: Crypto::Tls,
        }
    }
}
