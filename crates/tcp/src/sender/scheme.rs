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

/// The scheme in use, from the rows of the registry.
macro_rules! in_use {
    ($($scheme:ident, $module:ident $(/ $part:ident)?, $name:literal, $facts:ident;)+) => {
        /// The scheme in use, with what it keeps for itself.
        #[derive(Clone, Debug)]
        pub(crate) enum InUse { $($scheme(recovery::$module$(::$part)?::$scheme)),+ }

        impl InUse {
            /// The scheme of that name, at the beginning.
            pub fn new(kind: RecoveryKind) -> InUse {
                match kind { $(RecoveryKind::$scheme => InUse::$scheme(Default::default())),+ }
            }
        }
    };
}
recovery_schemes! { in_use! {} }

/// Evaluates `$what` with `$S` standing for the scheme that `$value`, of the enum `$of`, names.
macro_rules! with_scheme {
    ($of:ident, $value:expr, $S:ident => $what:expr) => {
        recovery_schemes! { arms! { $of, $value, $S => $what; } }
    };
}
macro_rules! arms {
    ($of:ident, $value:expr, $S:ident => $what:expr;
     $($scheme:ident, $module:ident $(/ $part:ident)?, $name:literal, $facts:ident;)+) => {
        match $value { $($of::$scheme { .. } => { type $S = recovery::$module$(::$part)?::$scheme; $what })+ }
    };
}

impl RecoveryKind {
    /// Whether it lives on the receiver's SACKs.
    pub const fn needs_sack(self) -> bool {
        with_scheme!(RecoveryKind, self, S => S::WITHOUT_SACK.is_some())
    }

    /// [`Scheme::LEAVES_WINDOW`].
    pub(crate) const fn leaves_window(self) -> bool {
        with_scheme!(RecoveryKind, self, S => S::LEAVES_WINDOW)
    }

    /// The scheme itself, or [`Scheme::WITHOUT_SACK`] if SACK is not `permitted`.
    pub(crate) fn with_sack(self, permitted: bool) -> RecoveryKind {
        let stand_in = with_scheme!(RecoveryKind, self, S => S::WITHOUT_SACK);
        stand_in.filter(|_| !permitted).unwrap_or(self)
    }

    /// Refuses a configuration that the scheme cannot work with.
    pub(crate) fn check(self, config: &Config) -> Result<(), Invalid> {
        with_scheme!(RecoveryKind, self, S => S::check(config))
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
    /// [`Scheme::COUNTS_SACKS`].
    pub fn counts_sacks(&self) -> bool {
        with_scheme!(InUse, self, S => S::COUNTS_SACKS)
    }

    /// [`acks::on_ack`] with the scheme in use.
    #[inline]
    pub fn on_ack(&mut self, tx: &mut Flight, seen: &AckSeen, cx: &mut Cx) {
        of_scheme!(self, scheme => acks::on_ack(scheme, tx, seen, cx))
    }

    /// [`Flight::tell_sent`], with what the scheme in use knows.
    #[cold]
    #[inline(never)]
    pub fn tell_sent(&self, tx: &mut Flight, offsets: Range<u64>, bytes: u32, cx: &Cx) {
        let (lost, in_flight) = of_scheme!(self, scheme => (scheme.lost(tx), scheme.in_flight(tx)));
        tx.tell_sent(offsets, bytes, (lost, in_flight), cx);
    }
}

recovery_hooks! { dispatch! { { impl InUse } pub of_scheme } }
