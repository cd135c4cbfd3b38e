//! A sender for the schemes' tests, with segments of 1000 bytes and a handshake from 0 to 100 ms.

use ecnlab_base::{Dur, Time};
use ecnlab_wire::Seq;

use crate::config::Config;
use crate::counters::Counters;
use crate::ecn;
use crate::flight::{AckSeen, Cx, Opened};
use crate::registry::EcnKind;
use crate::sender::Sender;

pub(super) struct Host {
    pub tx: Sender,
    config: Config,
    counters: Counters,
    ecn: ecn::Scheme,
}

pub(super) fn at(ms: u64) -> Time {
    Time::ZERO + Dur::from_ms(ms)
}

/// A bare ACK up to the offset `ack`, without SACK, marks or timestamps.
pub(super) fn bare_ack(ack: u64) -> AckSeen {
    AckSeen {
        ack,
        delivered: 0,
        echo: false,
        marks: ecn::Marks::None,
        no_growth: false,
        bare: true,
        new_sack: false,
        stamps: None,
    }
}

impl Host {
    /// A host that sends `segments` segments at 100 ms.
    pub fn sending(segments: u64, config: Config) -> Host {
        let mut tx = Sender::new(&config, Seq(0));
        tx.flight.set_peer_window(1 << 20, &config);
        tx.flight.syn_sent(&config, at(0));
        let ecn = ecn::Scheme::new(EcnKind::Off);
        let mut host = Host { tx, config, counters: Counters::default(), ecn };
        let recovery = host.config.recovery;
        let opened = Opened { mss: 1_000, sack: true, echoed: None, marked: false };
        host.with(100, |tx, cx| tx.establish(recovery, &opened, cx));
        host.tx.flight.write(segments * 1_000);
        host.burst(100);
        host
    }

    /// Calls `f` at `time` milliseconds.
    pub fn with<T>(&mut self, time: u64, f: impl FnOnce(&mut Sender, &mut Cx) -> T) -> T {
        let Host { tx, config, counters, ecn } = self;
        f(tx, &mut Cx { config, now: at(time), counters, ecn })
    }

    /// Sends as much as the window admits. Returns the first offsets of the segments.
    pub fn burst(&mut self, time: u64) -> Vec<u64> {
        self.with(time, |tx, cx| {
            let mut sent = Vec::new();
            if tx.begin_burst(cx.config, cx.now) {
                while let Some(chunk) = tx.next(cx.config) {
                    tx.sent(chunk, cx);
                    sent.push(chunk.start);
                }
            }
            tx.end_burst(cx.config, cx.now);
            sent
        })
    }

    /// Processes a bare ACK up to the offset `ack`, with or without new SACK information.
    pub fn ack(&mut self, time: u64, ack: u64, new_sack: bool) {
        let seen = AckSeen { new_sack, ..bare_ack(ack) };
        self.with(time, |tx, cx| tx.on_ack(&seen, cx));
    }
}
