//! Roles in the negotiation: the feedback that a host offers as client, and the feedback that it accepts as server.

use ecnlab_wire::{Flags, Segment};

use crate::config::Config;
use crate::ecn::{Agreed, Feedback, Scheme};
use crate::ecn_echo::Echo;
use crate::registry::EcnKind;

impl Config {
    /// The feedback scheme with which this host answers a SYN: [`Config::ecn_accepts`] if it includes [`Config::ecn`],
    /// else `ecn`.
    pub fn accepted_ecn(&self) -> EcnKind {
        if self.ecn_accepts.includes(self.ecn) { self.ecn_accepts } else { self.ecn }
    }
}

impl EcnKind {
    /// Whether a server with this scheme agrees to `offered` with a client that offers no more.
    fn includes(self, offered: EcnKind) -> bool {
        let syn = Segment { flags: Flags::SYN | Echo::SYN.flags, ..Segment::default() };
        offered == EcnKind::Off || Scheme::new(self).answer(&syn) == Agreed::Another(offered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;

    #[test]
    fn a_server_accepts_the_more_accurate_of_both_schemes() {
        use EcnKind::*;
        let accepted =
            |ecn, ecn_accepts| Config { ecn, ecn_accepts, ..profile("modern").unwrap().config.clone() }.accepted_ecn();
        // The six values of Linux's tcp_ecn.
        let linux = [(Off, Off), (Rfc3168, Off), (Off, Rfc3168), (AccEcnLinux, Off), (Rfc3168, AccEcnLinux)];
        assert_eq!(linux.map(|(own, more)| accepted(own, more)), [Off, Rfc3168, Rfc3168, AccEcnLinux, AccEcnLinux]);
        assert_eq!(accepted(Off, AccEcnLinux), AccEcnLinux);
        // A SYN of DCTCP or of AccECN offers more than RFC 3168's server accepts.
        assert_eq!([Dctcp, AccEcn, Rfc3168].map(|own| accepted(own, Rfc3168)), [Dctcp, AccEcn, Rfc3168]);
        assert_eq!([Dctcp, AccEcn, Becn].map(|own| accepted(own, AccEcnLinux)), [Dctcp, AccEcn, Becn]);
    }
}
