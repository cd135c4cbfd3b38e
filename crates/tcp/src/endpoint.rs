//! One end of a connection: the calls a driver makes, and what becomes of a deadline.

use std::sync::Arc;

use ecnlab_base::{Dur, Time};
use ecnlab_wire::{Quench, Segment, Seq};

use crate::cc::CongestionControl;
use crate::config::Config;
use crate::counters::Counters;
use crate::ecn::{self, Feedback};
use crate::flight::Cx;
use crate::receiver::Receiver;
use crate::registry::EcnKind;
use crate::sender::Sender;

/// Segments to send now, in order. The driver drains it.
pub type Out = Vec<Segment>;

/// The states of RFC 9293 §3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connection: before, after, or given up.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// SYN sent.
    SynSent,
    /// SYN received and answered.
    SynReceived,
    /// Open both ways.
    Established,
    /// Closed here; the FIN is not yet acknowledged.
    FinWait1,
    /// Closed here, and the peer knows.
    FinWait2,
    /// Closed by the peer only.
    CloseWait,
    /// Both have closed at once.
    Closing,
    /// Closed by the peer, then here.
    LastAck,
    /// All done; a FIN sent again by the peer is still acknowledged. It does not time out: the driver ends it.
    TimeWait,
}

/// What a time series shows of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Congestion window in bytes, with recovery's inflation.
    pub cwnd: u64,
    /// Slow-start threshold in bytes; `u64::MAX` is none.
    pub ssthresh: u64,
    /// Bytes sent and not acknowledged; after a timeout, those sent since.
    pub flight: u64,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Dur,
    /// Its variation, as the estimator keeps it.
    pub rttvar: Dur,
    /// Retransmission timeout in force.
    pub rto: Dur,
    /// Whether a recovery is in progress.
    pub in_recovery: bool,
}

/// One end of a TCP connection, without I/O, clock or threads: segments and time in, segments and a deadline out.
#[derive(Debug)]
pub struct Endpoint {
    pub(crate) tx: Sender,
    pub(crate) rx: Receiver,
    pub(crate) state: State,
    pub(crate) ecn: ecn::Scheme,
    /// Timestamps, SACK and the peer's window shift, as agreed in the handshake.
    pub(crate) timestamps: bool,
    pub(crate) sack: bool,
    pub(crate) peer_shift: u8,
    /// The feedback that the peer's SYN asked for ([`Feedback::asks`]).
    pub(crate) asked: Option<EcnKind>,
    /// The peer's options, kept between SYN and establishment.
    pub(crate) peer_mss: u32,
    pub(crate) config: Arc<Config>,
    pub(crate) counters: Counters,
}

impl Endpoint {
    /// Opens actively: emits the SYN. The connection starts at sequence number `iss`.
    pub fn connect(config: &Arc<Config>, iss: Seq, now: Time, out: &mut Out) -> Endpoint {
        let mut end = Endpoint::new(config, iss, State::SynSent);
        end.send_syn(now, out);
        end
    }

    /// Opens passively: waits for a SYN.
    pub fn listen(config: &Arc<Config>, iss: Seq) -> Endpoint {
        Endpoint::new(config, iss, State::Listen)
    }

    fn new(config: &Arc<Config>, iss: Seq, state: State) -> Endpoint {
        Endpoint {
            tx: Sender::new(config, iss),
            rx: Receiver::new(config),
            state,
            ecn: ecn::Scheme::new(config.ecn),
            timestamps: config.timestamps,
            sack: config.sack,
            peer_shift: 0,
            asked: None,
            peer_mss: 0,
            config: Arc::clone(config),
            counters: Counters::default(),
        }
    }

    /// The application has `bytes` more to send; `u64::MAX` is an endless supply. Allowed before the
    /// connection is established; ignored after [`Endpoint::close`].
    pub fn write(&mut self, bytes: u64, now: Time, out: &mut Out) {
        if !self.tx.flight.closing && self.state != State::Closed {
            self.tx.flight.write(bytes);
            self.output(now, out);
        }
    }

    /// Closes: a FIN follows all data written.
    pub fn close(&mut self, now: Time, out: &mut Out) {
        if self.tx.flight.closing {
            return;
        }
        self.tx.flight.closing = true;
        match self.state {
            State::Established => self.state = State::FinWait1,
            State::CloseWait => self.state = State::LastAck,
            // Before establishment the wish is kept, as written data is.
            _ => {}
        }
        self.output(now, out);
    }

    /// The application writes no more, and takes back what has not yet been sent: a FIN follows what has. Returns all the
    /// bytes that it has written then.
    pub fn withdraw(&mut self, now: Time, out: &mut Out) -> u64 {
        self.tx.flight.withdraw();
        if self.tx.flight.closing {
            self.output(now, out);
        }
        self.close(now, out);
        self.tx.flight.end - 1
    }

    /// Gives the connection up with an RST.
    pub fn abort(&mut self, out: &mut Out) {
        if !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::TimeWait) {
            // RFC 9293 §3.10.5: SEQ = SND.NXT and no ACK.
            let seq = self.tx.flight.seq(self.tx.flight.nxt);
            self.send_reset(Segment { seq, ..Segment::default() }, out);
        }
        self.die();
    }

    /// A segment has arrived; its codepoint is the one it arrived with.
    pub fn on_segment(&mut self, segment: &Segment, now: Time, out: &mut Out) {
        self.counters.segments_received += 1;
        match self.state {
            State::Closed => self.on_closed(segment, out),
            State::Listen => self.on_listen(segment, now, out),
            State::SynSent => self.on_syn_sent(segment, now, out),
            _ => self.on_synchronised(segment, now, out),
        }
    }

    /// A source quench has arrived whose addresses and ports are this connection's. It may move the deadline; it
    /// sends nothing.
    pub fn on_quench(&mut self, quench: &Quench, now: Time) {
        self.counters.quenches_received += 1;
        if !self.is_established() {
            return;
        }
        let Some(offset) = self.tx.flight.offset(quench.seq) else { return };
        let mut cx = Cx { config: &self.config, now, counters: &mut self.counters, ecn: &mut self.ecn };
        self.tx.on_quench(offset, quench.cause, &mut cx);
    }

    /// The deadline may have come; harmless if it has not.
    pub fn on_deadline(&mut self, now: Time, out: &mut Out) {
        if now >= self.rx.deadline {
            self.rx.delay_is_over(&self.config, &self.tx.flight.timer.rto);
            self.send_ack(now, out);
        }
        if now >= self.tx.flight.pacer.deadline {
            self.tx.flight.pacer.deadline = Time::NEVER;
            self.output(now, out);
        }
        if now < self.tx.flight.timer.deadline {
            return;
        }
        match self.state {
            State::Closed | State::Listen => self.tx.flight.timer.deadline = Time::NEVER,
            State::SynSent | State::SynReceived => self.on_syn_timeout(now, out),
            _ => self.on_retransmission_timer(now, out),
        }
    }

    fn on_retransmission_timer(&mut self, now: Time, out: &mut Out) {
        let mut cx = Cx { config: &self.config, now, counters: &mut self.counters, ecn: &mut self.ecn };
        if self.tx.on_timer(&mut cx) {
            // The scheme's own timers say what to send by themselves.
        } else if self.tx.flight.max == self.tx.flight.una || self.tx.flight.only_probing() {
            if let Some(probe) = self.tx.flight.on_idle_timer(&mut cx) {
                self.emit(probe, now, out);
                return;
            }
        } else if self.tx.flight.timer.timeouts >= self.config.max_timeouts {
            // RFC 9293 §3.8.3, R2.
            return self.abort(out);
        } else {
            self.tx.on_timeout(&mut cx);
        }
        self.output(now, out);
    }

    /// When [`Endpoint::on_deadline`] is next due; [`Time::NEVER`] if nothing is pending.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.tx.flight.timer.deadline.min(self.rx.deadline).min(self.tx.flight.pacer.deadline)
    }

    /// Bytes delivered in order to the application, in total. It reads at once.
    pub fn received(&self) -> u64 {
        self.rx.delivered()
    }

    /// Own bytes acknowledged, in total.
    pub fn acked(&self) -> u64 {
        self.tx.flight.data_acked()
    }

    /// The state of RFC 9293.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether the handshake is over and the connection not closed or reset.
    pub fn is_established(&self) -> bool {
        !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::SynReceived)
    }

    /// Whether all the peer had to say has been delivered, its FIN included.
    pub fn peer_closed(&self) -> bool {
        self.rx.has_fin()
    }

    /// Whether nothing is left to do: both directions closed and acknowledged, or the connection reset or given up.
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed | State::TimeWait)
    }

    /// Whether this end sends its data as ECN-capable, or did until the connection was closed. The two ends can differ
    /// where a SYN sent again without ECN crossed the answer to the first.
    pub fn ecn_negotiated(&self) -> bool {
        self.tx.flight.una > 0 && self.ecn.is_capable()
    }

    /// The counters.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// One row of a time series.
    pub fn sample(&self) -> Sample {
        let cc = self.tx.flight.law.state();
        let (srtt, rttvar) = self.tx.flight.timer.rto.smoothed(&self.config);
        Sample {
            cwnd: cc.cwnd + self.tx.flight.recovery.inflation,
            ssthresh: cc.ssthresh,
            flight: self.tx.flight.in_flight(),
            srtt,
            rttvar,
            rto: self.tx.flight.timer.rto.current(),
            in_recovery: self.tx.in_recovery(),
        }
    }

    /// What the window law has under the `name` of a column; `None` if it has no such column.
    pub fn law_value(&self, name: &str) -> Option<f64> {
        let law = &self.tx.flight.law;
        let place = law.columns().iter().position(|column| column.name == name)?;
        law.values().get(place).copied()
    }

    /// The connection is over, whatever the reason.
    pub(crate) fn die(&mut self) {
        self.state = State::Closed;
        self.tx.flight.timer.deadline = Time::NEVER;
        self.tx.flight.pacer.deadline = Time::NEVER;
        self.rx.deadline = Time::NEVER;
    }
}
