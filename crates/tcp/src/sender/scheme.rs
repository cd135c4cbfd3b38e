//! The recovery scheme in use.

use std::ops::Range;

use ecnlab_base::{Dur, Time};

use super::acks;
use crate::config::Config;
use crate::flight::{AckSeen, Chunk, Cx, Flight};
use crate::hooks::dispatch;
use crate::invalid::Invalid;
use crate::recovery::{self, Scheme, recovery_hooks};
use crate::registry::{RecoveryKind, recovery_schemes};

/// Generates [`InUse`] from the rows of the registry.
macro_rules! in_use {
    ($($scheme:ident, $module:ident $(/ $part:ident)?, $name:literal, $facts:ident;)+) => {
        /// The recovery scheme in use, with its state.
        #[derive(Clone, Debug)]
        #[repr(u8)]
        pub(crate) enum InUse { $($scheme(recovery::$module$(::$part)?::$scheme)),+ }

        impl InUse {
            /// The scheme of this kind in its initial state.
            pub fn new(kind: RecoveryKind) -> InUse {
                match kind { $(RecoveryKind::$scheme => InUse::$scheme(Default::default())),+ }
            }
        }
    };
}
recovery_schemes! { in_use! {} }

impl RecoveryKind {
    /// Whether the scheme requires SACK.
    pub const fn needs_sack(self) -> bool {
        self.facts().without_sack.is_some()
    }

    /// [`Facts::leaves_window`](crate::Facts::leaves_window).
    pub(crate) const fn leaves_window(self) -> bool {
        self.facts().leaves_window
    }

    /// This scheme, or [`Facts::without_sack`](crate::Facts::without_sack) if SACK is not `permitted`.
    pub(crate) fn with_sack(self, permitted: bool) -> RecoveryKind {
        let Some(other) = self.facts().without_sack.filter(|_| !permitted) else { return self };
        RecoveryKind::ALL
            .iter()
            .copied()
            .find(|kind| kind.name() == other)
            .expect("the registry has a row of that name")
    }

    /// The problems of a configuration that cannot be combined with the scheme.
    pub(crate) fn check(self, config: &Config) -> Vec<Invalid> {
        InUse::new(self).check(config)
    }
}

/// Calls a method of the scheme in use.
macro_rules! of_scheme {
    ($value:expr, $scheme:ident => $what:expr) => {
        recovery_schemes! { methods! { $value, $scheme => $what; } }
    };
}
macro_rules! methods {
    ($value:expr, $bound:ident => $what:expr;
     $($scheme:ident, $module:ident $(/ $part:ident)?, $name:literal, $facts:ident;)+) => {
        match $value { $(InUse::$scheme($bound) => $what,)+ }
    };
}

impl InUse {
    /// [`Scheme::check`].
    fn check(&self, config: &Config) -> Vec<Invalid> {
        of_scheme!(self, scheme => scheme.check(config))
    }

    /// [`acks::on_ack`] with the scheme in use.
    #[inline]
    pub fn on_ack(&mut self, tx: &mut Flight, seen: &AckSeen, cx: &mut Cx) {
        of_scheme!(self, scheme => acks::on_ack(scheme, tx, seen, cx))
    }

    /// [`Flight::notify_sent`] with the loss and flight totals of the scheme in use.
    #[inline(never)]
    pub fn notify_sent(&self, tx: &mut Flight, offsets: Range<u64>, bytes: u32, cx: &Cx) {
        let (lost, in_flight) = of_scheme!(self, scheme => (scheme.lost(tx), scheme.in_flight(tx)));
        tx.notify_sent(offsets, bytes, (lost, in_flight), cx);
    }
}

recovery_hooks! { dispatch! { { impl InUse } pub of_scheme } }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scheme_that_requires_sack_names_one_that_does_not() {
        let with_sack: Vec<_> = RecoveryKind::ALL.iter().filter(|kind| kind.needs_sack()).collect();
        assert_eq!(with_sack, [&RecoveryKind::Sack, &RecoveryKind::Rack, &RecoveryKind::Fack]);
        assert_eq!(RecoveryKind::Rack.with_sack(true), RecoveryKind::Rack);
        for kind in with_sack {
            assert!(!kind.with_sack(false).needs_sack());
        }
    }
}
