//! s2n-quic-transport: each end is one of its endpoints with at most one connection.

mod application;
mod clock;
mod config;
mod driver;
mod host;
mod io;
mod record;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ecnlab_base::{Rng, Time};
use ecnlab_wire::Ecn;
use s2n_quic_core::recovery::{bbr, congestion_controller, cubic};

use self::driver::Driver;
use crate::panics::message;
use crate::{Closing, Congestion, Endpoint, Error, Event, Settings, Stats, random};

/// Creates both ends at `now`, the client first.
pub fn connection(settings: [&Settings; 2], seed: u64, now: Time) -> Result<[Box<dyn Endpoint>; 2], Error> {
    settings.into_iter().try_for_each(config::check)?;
    let [client, server] = settings;
    catch_unwind(AssertUnwindSafe(|| {
        let [own, peer] = [Rng::named(seed, "quic.client"), Rng::named(seed, "quic.server")];
        [end::<false>(own, [client, server], now), end::<true>(peer, [server, client], now)]
    }))
    .map_err(|panic| Error::Rejected("s2n", message(panic.as_ref())))
}

/// One end with the first of `settings`, whose peer has the second.
fn end<const SERVER: bool>(random: Rng, settings: [&Settings; 2], now: Time) -> Box<dyn Endpoint> {
    match settings[0].congestion {
        Congestion::Bbr => Box::new(End::<bbr::Endpoint, SERVER>::new(random, settings, now)),
        _ => Box::new(End::<cubic::Endpoint, SERVER>::new(random, settings, now)),
    }
}

/// One end.
struct End<C: congestion_controller::Endpoint, const SERVER: bool> {
    driver: Driver<C, SERVER>,
    random: Rng,
    /// The stack has panicked and is not called again.
    panicked: bool,
    /// Read after each call.
    deadline: Time,
}

impl<C: congestion_controller::Endpoint + Default, const SERVER: bool> End<C, SERVER> {
    fn new(mut random: Rng, settings: [&Settings; 2], now: Time) -> Self {
        let driver = random::with(&mut random, || Driver::new(settings));
        let mut end = End { driver, random, panicked: false, deadline: Time::NEVER };
        end.call(now, (), |_| ());
        end
    }
}

impl<C: congestion_controller::Endpoint, const SERVER: bool> End<C, SERVER> {
    /// Runs a call into the stack at `now` with this end's random choices, then passes on all that follows from it. A panic
    /// of the stack closes this end.
    fn call<T>(&mut self, now: Time, otherwise: T, run: impl FnOnce(&mut Driver<C, SERVER>) -> T) -> T {
        if self.panicked {
            return otherwise;
        }
        let (driver, source) = (&mut self.driver, &mut self.random);
        let result = catch_unwind(AssertUnwindSafe(|| {
            random::with(source, || {
                driver.now = clock::timestamp(now);
                let value = run(driver);
                driver.settle();
                (value, driver.deadline())
            })
        }));
        match result {
            Ok((value, deadline)) => {
                self.deadline = deadline;
                value
            }
            Err(panic) => {
                self.panicked = true;
                self.deadline = Time::NEVER;
                self.driver.application.closed(Closing::Panicked(message(panic.as_ref())));
                otherwise
            }
        }
    }

    /// Time of the last call.
    fn now(&self) -> Time {
        clock::time(self.driver.now)
    }
}

impl<C: congestion_controller::Endpoint, const SERVER: bool> Endpoint for End<C, SERVER> {
    fn receive(&mut self, payload: &[u8], ecn: Ecn, now: Time) {
        self.call(now, (), |driver| driver.receive(payload, ecn));
    }

    fn deadline(&self) -> Time {
        self.deadline
    }

    /// The stack runs its timers as it transmits.
    fn on_deadline(&mut self, now: Time) {
        self.call(now, (), Driver::fill);
    }

    fn transmit(&mut self, now: Time, payload: &mut Vec<u8>) -> Option<Ecn> {
        self.call(now, None, |driver| driver.transmit(payload))
    }

    fn open(&mut self, bytes: u64) -> u64 {
        self.call(self.now(), 0, |driver| driver.change().open(bytes))
    }

    fn respond(&mut self, stream: u64, bytes: u64) {
        self.call(self.now(), (), |driver| driver.change().respond(stream, bytes));
    }

    fn cut(&mut self, stream: u64) -> u64 {
        self.call(self.now(), 0, |driver| driver.change().cut(stream))
    }

    fn close(&mut self, now: Time) {
        self.call(now, (), Driver::close);
    }

    fn poll(&mut self) -> Option<Event> {
        self.driver.application.events.pop_front()
    }

    fn stats(&self) -> Stats {
        Stats { received: self.driver.application.received, ..self.driver.record.stats() }
    }

    fn take_secrets(&mut self) -> Vec<String> {
        self.driver.secrets.take()
    }
}

impl<C: congestion_controller::Endpoint, const SERVER: bool> fmt::Debug for End<C, SERVER> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let End { panicked, deadline, .. } = self;
        f.debug_struct("End").field("panicked", panicked).field("deadline", deadline).finish_non_exhaustive()
    }
}
