//! QUIC stacks as endpoints: what any stack without I/O and clock must offer, and a driver for each stack that is built in.
//!
//! ecnlab has no QUIC of its own. A stack is a feature of this crate; without one, this crate is only the trait.

mod controller;
mod endpoint;
#[cfg(feature = "noq")]
mod noq;
#[cfg(feature = "_tls")]
mod panics;
#[cfg(feature = "qlog")]
mod qlog;
#[cfg(feature = "quinn")]
mod quinn;
#[cfg(feature = "_tls")]
mod random;
#[cfg(feature = "s2n")]
mod s2n;
mod settings;
#[cfg(feature = "_tls")]
mod tls;

use ecnlab_base::Time;

pub use controller::Controller;
pub use endpoint::{Closing, ENDLESS, Endpoint, Error, Event, Stats};
#[cfg(feature = "noq")]
pub use noq_proto;
#[cfg(feature = "qlog")]
pub use qlog::{Qlog, Writer};
#[cfg(feature = "quinn")]
pub use quinn_proto;
pub use settings::{AckFrequency, Congestion, Crypto, Impossible, Settings, Stack};

/// Creates both ends of a connection at `now`, the client first. `seed` fixes all random choices of both.
///
/// # Errors
/// [`Error::Absent`] if the stack is not built in, [`Error::Rejected`] with its message.
pub fn connection(settings: [&Settings; 2], seed: u64, now: Time) -> Result<[Box<dyn Endpoint>; 2], Error> {
    let [stack, other] = settings.map(|end| end.stack);
    if stack != other {
        let problem = format!("the peer has the stack {}; set the same for both ends", other.name());
        return Err(Error::Rejected(stack.name(), problem));
    }
    #[cfg(feature = "qlog")]
    check_logs(settings)?;
    match stack {
        #[cfg(feature = "quinn")]
        Stack::Quinn => quinn::connection(settings, seed, now),
        #[cfg(feature = "noq")]
        Stack::Noq => noq::connection(settings, seed, now),
        #[cfg(feature = "s2n")]
        Stack::S2n => s2n::connection(settings, seed, now),
        #[cfg(not(all(feature = "quinn", feature = "noq", feature = "s2n")))]
        absent => {
            let _ = (seed, now);
            Err(Error::Absent(absent.name()))
        }
    }
}

/// Tests whether the stack accepts the settings of both ends: creates a connection, without a log.
///
/// # Errors
/// Those of [`connection`].
pub fn check(settings: [&Settings; 2]) -> Result<(), Error> {
    #[cfg(feature = "qlog")]
    check_logs(settings)?;
    #[cfg(feature = "qlog")]
    let [from, to] = settings.map(|end| Settings { qlog: None, ..end.clone() });
    #[cfg(feature = "qlog")]
    let settings = [&from, &to];
    connection(settings, 0, Time::ZERO).map(drop)
}

/// Rejects a log of a stack that has none here.
#[cfg(feature = "qlog")]
fn check_logs(settings: [&Settings; 2]) -> Result<(), Error> {
    match settings.into_iter().find(|end| end.qlog.is_some() && end.stack != Stack::Quinn) {
        Some(end) => Err(Error::Rejected(end.stack.name(), "qlog: only quinn has one; leave it out".to_owned())),
        None => Ok(()),
    }
}
