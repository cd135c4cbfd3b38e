//! The stack of one end: datagrams, timers and wakeups between its endpoint and the application.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Wake, Waker};

use ecnlab_base::Time;
use ecnlab_wire::Ecn;
use s2n_quic_core::endpoint::Endpoint as _;
use s2n_quic_core::recovery::congestion_controller;
use s2n_quic_core::time::Timestamp;
use s2n_quic_transport::endpoint::{Endpoint, connect::Connect};

use super::application::{Application, Handle, closing};
use super::host::Host;
use super::io::{Incoming, Outgoing, peer};
use super::record::Record;
use super::{clock, config};
use crate::tls::{SERVER_NAME, Secrets};
use crate::{Closing, Settings};

/// The stack and the state that its calls change.
pub struct Driver<C: congestion_controller::Endpoint, const SERVER: bool> {
    stack: Endpoint<Host<C, SERVER>>,
    outgoing: Outgoing,
    /// The application's side.
    pub application: Application,
    /// Time of the call.
    pub now: Timestamp,
    /// Readings of the connection.
    pub record: Record,
    /// Key log of a client.
    pub secrets: Arc<Secrets>,
    woken: Arc<Woken>,
    waker: Waker,
    /// The host sets and reads the codepoint.
    ecn: bool,
    /// A server that is closed before its first datagram stays silent.
    silent: bool,
}

/// Set when the application has something to do.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Relaxed);
    }
}

impl<C: congestion_controller::Endpoint + Default, const SERVER: bool> Driver<C, SERVER> {
    /// An end with the first of `settings`, whose peer has the second; the client connects at its first call.
    pub fn new(settings: [&Settings; 2]) -> Self {
        let (record, secrets) = (Record::default(), Arc::<Secrets>::default());
        let host = Host::new(config::limits(settings), record.clone(), secrets.clone());
        let (mut stack, handle) = if SERVER {
            let (stack, acceptor) = Endpoint::new_server(host);
            (stack, Handle::Server(acceptor))
        } else {
            let (stack, connector) = Endpoint::new_client(host);
            (stack, Handle::Client(connector.connect(Connect::new(peer()).with_server_name(SERVER_NAME))))
        };
        stack.set_mtu_config(config::mtu(settings[0]));
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        Driver {
            stack,
            outgoing: Outgoing::new(),
            application: Application::new(handle, SERVER),
            now: clock::timestamp(Time::ZERO),
            record,
            secrets,
            waker: woken.clone().into(),
            woken,
            ecn: settings[0].ecn,
            silent: false,
        }
    }
}

impl<C: congestion_controller::Endpoint, const SERVER: bool> Driver<C, SERVER> {
    /// Passes a datagram to the endpoint.
    pub fn receive(&mut self, payload: &[u8], ecn: Ecn) {
        if !self.silent {
            let ecn = if self.ecn { ecn } else { Ecn::NotEct };
            self.stack.receive(&mut Incoming { datagram: Some((ecn, payload.to_vec())) }, &self.now);
        }
    }

    /// Runs timers, then takes all datagrams that the stack sends.
    pub fn fill(&mut self) {
        self.stack.transmit(&mut self.outgoing, &self.now);
    }

    /// The next datagram.
    pub fn transmit(&mut self, payload: &mut Vec<u8>) -> Option<Ecn> {
        if self.outgoing.datagrams.is_empty() {
            self.fill();
        }
        let (ecn, datagram) = self.outgoing.datagrams.pop_front()?;
        *payload = datagram;
        Some(if self.ecn { ecn } else { Ecn::NotEct })
    }

    /// The application's side, which is then polled.
    pub fn change(&mut self) -> &mut Application {
        self.woken.0.store(true, Relaxed);
        &mut self.application
    }

    /// Closes the connection; during the handshake, as soon as it is complete.
    pub fn close(&mut self) {
        self.silent = SERVER && self.record.stats().packets_sent == 0;
        self.change().closed(Closing::Local);
    }

    /// Passes wakeups between the stack and the application until none remain.
    pub fn settle(&mut self) {
        let mut context = Context::from_waker(&self.waker);
        let _ = self.stack.poll_wakeups(&mut context, &self.now);
        while self.woken.0.swap(false, Relaxed) {
            self.application.poll(&mut context);
            let _ = self.stack.poll_wakeups(&mut context, &self.now);
        }
        if let Some(error) = self.record.take_end() {
            self.application.closed(closing(error));
        }
    }

    /// Time of the next timer.
    pub fn deadline(&self) -> Time {
        self.stack.timeout().map_or(Time::NEVER, clock::time)
    }
}
