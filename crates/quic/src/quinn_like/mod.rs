//! quinn-proto or its fork noq-proto: each end is one of its endpoints with at most one connection. [`stack`] has all in which
//! their interfaces differ.

pub mod clock;
pub mod config;
mod driver;
pub mod null;
mod recorder;
mod streams;

use std::cell::RefCell;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ecnlab_base::{Rng, Time};
use ecnlab_wire::Ecn;

use self::driver::Driver;
use self::recorder::Record;
use super::stack::proto::{self, Connection, ConnectionHandle, Side};
use super::stack::{self, STACK};
use crate::panics::message;
use crate::tls::{self, Secrets};
use crate::{Closing, Endpoint, Error, Event, Settings, Stats, random};

pub use self::recorder::Recorder;

/// The peer's address, the same at both ends: a stack needs one and puts none into packets.
pub const PEER: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 443));

/// Creates both ends at `now`, the client first.
pub fn connection(settings: [&Settings; 2], seed: u64, now: Time) -> Result<[Box<dyn Endpoint>; 2], Error> {
    settings.into_iter().try_for_each(config::check)?;
    config::check_both(settings)?;
    catch_unwind(AssertUnwindSafe(|| ends(settings, seed, now)))
        .map_err(|panic| Error::Rejected(STACK.name(), message(panic.as_ref())))
}

fn ends(settings: [&Settings; 2], seed: u64, now: Time) -> [Box<dyn Endpoint>; 2] {
    let [client, server] = settings;
    let mut ends = [
        End::new(Rng::named(seed, "quic.client"), client, Side::Client, |record, secrets| {
            let transport = config::transport(client, server, record);
            #[cfg(feature = "qlog")]
            let transport = stack::logged(transport, client, "client");
            let mut stack = stack::endpoint(config::endpoint(settings), None);
            let config = config::client(transport, client.crypto, secrets);
            let connection =
                stack.connect(clock::instant(now), config, PEER, tls::SERVER_NAME).expect("name and address are valid");
            (stack, Some(connection))
        }),
        End::new(Rng::named(seed, "quic.server"), server, Side::Server, |record, _| {
            let transport = config::transport(server, client, record);
            #[cfg(feature = "qlog")]
            let transport = stack::logged(transport, server, "server");
            let config = config::server(transport, server.crypto);
            (stack::endpoint(config::endpoint(settings), Some(config)), None)
        }),
    ];
    ends.iter_mut().for_each(|end| end.call((), |_| ()));
    ends.map(|end| Box::new(end) as Box<dyn Endpoint>)
}

/// One end.
struct End {
    /// In a cell since noq-proto reads statistics from `&mut`.
    driver: RefCell<Driver>,
    random: Rng,
    /// The stack has panicked and is not called again.
    panicked: bool,
    /// Read after each call, since the stack reads it from `&mut`.
    deadline: Time,
    record: Arc<Record>,
    secrets: Arc<Secrets>,
}

type Made = (proto::Endpoint, Option<(ConnectionHandle, Connection)>);

impl End {
    fn new(
        mut random: Rng,
        settings: &Settings,
        side: Side,
        make: impl FnOnce(Arc<Record>, Arc<Secrets>) -> Made,
    ) -> End {
        let (record, secrets) = (Arc::<Record>::default(), Arc::<Secrets>::default());
        let (stack, connection) = random::with(&mut random, || make(record.clone(), secrets.clone()));
        let driver = RefCell::new(Driver::new(stack, connection, side, settings.ecn));
        End { driver, random, panicked: false, deadline: Time::NEVER, record, secrets }
    }

    /// Runs a call into the stack with this end's random choices, then passes on all that follows from it. A panic of the
    /// stack closes this end.
    fn call<T>(&mut self, otherwise: T, run: impl FnOnce(&mut Driver) -> T) -> T {
        if self.panicked {
            return otherwise;
        }
        let (driver, source) = (self.driver.get_mut(), &mut self.random);
        let result = catch_unwind(AssertUnwindSafe(|| {
            random::with(source, || {
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
                self.driver.get_mut().application.closed(Closing::Panicked(message(panic.as_ref())));
                otherwise
            }
        }
    }
}

impl Endpoint for End {
    fn receive(&mut self, payload: &[u8], ecn: Ecn, now: Time) {
        self.call((), |driver| driver.receive(payload, ecn, clock::instant(now)));
    }

    fn deadline(&self) -> Time {
        self.deadline
    }

    fn on_deadline(&mut self, now: Time) {
        self.call((), |driver| driver.on_timeout(clock::instant(now)));
    }

    fn transmit(&mut self, now: Time, payload: &mut Vec<u8>) -> Option<Ecn> {
        self.call(None, |driver| driver.transmit(clock::instant(now), payload))
    }

    fn open(&mut self, bytes: u64) -> u64 {
        self.call(0, |driver| driver.open(bytes))
    }

    fn respond(&mut self, stream: u64, bytes: u64) {
        self.call((), |driver| driver.answer(stream, bytes));
    }

    fn cut(&mut self, stream: u64) -> u64 {
        self.call(0, |driver| driver.cut(stream))
    }

    fn close(&mut self, now: Time) {
        self.call((), |driver| driver.close(clock::instant(now)));
    }

    fn poll(&mut self) -> Option<Event> {
        self.driver.get_mut().application.events.pop_front()
    }

    fn stats(&self) -> Stats {
        catch_unwind(AssertUnwindSafe(|| self.driver.borrow_mut().stats(&self.record))).unwrap_or_default()
    }

    fn take_secrets(&mut self) -> Vec<String> {
        self.secrets.take()
    }
}

impl fmt::Debug for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let End { panicked, deadline, record, .. } = self;
        f.debug_struct("End")
            .field("panicked", panicked)
            .field("deadline", deadline)
            .field("record", record)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_stack_closes_its_end() {
        let mut end = End::new(Rng::named(1, "end"), &Settings::of(STACK), Side::Server, |_, _| {
            let settings = Settings::of(STACK);
            (stack::endpoint(config::endpoint([&settings, &settings]), None), None)
        });
        assert_eq!(end.call(1, |_| panic!("{} is wrong", "this")), 1);
        assert_eq!(end.poll(), Some(Event::Closed(Closing::Panicked("this is wrong".into()))));
        end.close(Time::ZERO);
        assert_eq!((end.poll(), end.transmit(Time::ZERO, &mut Vec::new()), end.deadline()), (None, None, Time::NEVER));
    }
}
