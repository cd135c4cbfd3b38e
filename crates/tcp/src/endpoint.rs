//! One endpoint of a connection: the interface to the driver, and the timers.

use std::sync::Arc;

use ecnlab_base::{Dur, Time};
use ecnlab_wire::{IpVersion, Quench, Segment, Seq};

use crate::cc::CongestionControl;
use crate::config::Config;
use crate::counters::Counters;
use crate::ecn::{self, Feedback};
use crate::ecn_control::Control;
use crate::flight::{Cx, WindowProbe};
use crate::receiver::Receiver;
use crate::registry::EcnKind;
use crate::sender::Sender;

/// Segments to send now, in order. The driver removes them.
pub type Out = Vec<Segment>;

/// The states of RFC 9293 §3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connection: not yet opened, closed, reset or given up.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// SYN sent.
    SynSent,
    /// SYN received, SYN-ACK sent.
    SynReceived,
    /// Both directions are open.
    Established,
    /// Closed by this endpoint; its FIN is not yet acknowledged.
    FinWait1,
    /// Closed by this endpoint; its FIN is acknowledged.
    FinWait2,
    /// Closed by the peer only.
    CloseWait,
    /// Closed by both endpoints at the same time.
    Closing,
    /// Closed by the peer, then by this endpoint.
    LastAck,
    /// Closed by both endpoints; a retransmitted FIN of the peer is still acknowledged. There is no 2·MSL timeout: the
    /// driver ends this state.
    TimeWait,
}

/// State of an endpoint for a time series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Congestion window in bytes, including the inflation of recovery.
    pub cwnd: u64,
    /// Slow-start threshold in bytes; `u64::MAX` means none.
    pub ssthresh: u64,
    /// Bytes sent and not acknowledged; after a timeout, those sent since.
    pub flight: u64,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Dur,
    /// RTT variation of the estimator.
    pub rttvar: Dur,
    /// Current retransmission timeout, with backoff.
    pub rto: Dur,
    /// Whether a recovery is in progress.
    pub in_recovery: bool,
    /// Whether the agreed ECN feedback reports the number of marks, not only their presence.
    pub counts_marks: bool,
}

/// One endpoint of a TCP connection, without I/O, clock or threads. Input: segments and the time. Output: segments and
/// a deadline.
#[derive(Debug)]
pub struct Endpoint {
    pub(crate) tx: Sender,
    pub(crate) rx: Receiver,
    pub(crate) state: State,
    pub(crate) ecn: ecn::Scheme,
    pub(crate) control: Control,
    /// Use of timestamps and SACK, and the peer's window scale shift, as negotiated in the handshake.
    pub(crate) timestamps: bool,
    pub(crate) sack: bool,
    pub(crate) peer_shift: u8,
    /// Feedback scheme requested by the peer's SYN ([`Feedback::requested`]).
    pub(crate) requested: Option<EcnKind>,
    /// Options of the peer's SYN, stored until the connection is established.
    pub(crate) peer_mss: u32,
    /// Bytes of the IP header of its packets.
    pub(crate) ip_header: u32,
    pub(crate) config: Arc<Config>,
    pub(crate) counters: Counters,
}

impl Endpoint {
    /// Active open over a version of IP: sends the SYN. `iss` is the initial sequence number.
    pub fn connect(config: &Arc<Config>, ip: IpVersion, iss: Seq, now: Time, out: &mut Out) -> Endpoint {
        Endpoint::open(config, config.ecn, ip, iss, now, out)
    }

    /// Active open as by [`Endpoint::connect`], whose SYN does not offer the ECN feedback of `config`.
    pub fn connect_without_ecn(config: &Arc<Config>, ip: IpVersion, iss: Seq, now: Time, out: &mut Out) -> Endpoint {
        Endpoint::open(config, EcnKind::Off, ip, iss, now, out)
    }

    fn open(config: &Arc<Config>, ecn: EcnKind, ip: IpVersion, iss: Seq, now: Time, out: &mut Out) -> Endpoint {
        let mut end = Endpoint::new(config, ecn, ip, iss, State::SynSent);
        end.send_syn(now, out);
        end
    }

    /// Passive open over a version of IP: waits for a SYN.
    pub fn listen(config: &Arc<Config>, ip: IpVersion, iss: Seq) -> Endpoint {
        Endpoint::new(config, config.accepted_ecn(), ip, iss, State::Listen)
    }

    fn new(config: &Arc<Config>, ecn: EcnKind, ip: IpVersion, iss: Seq, state: State) -> Endpoint {
        let mut scheme = ecn::Scheme::new(ecn);
        scheme.configure(config);
        Endpoint {
            tx: Sender::new(config, iss),
            rx: Receiver::new(config),
            state,
            control: Control::new(config, &scheme),
            ecn: scheme,
            timestamps: config.timestamps,
            sack: config.sack,
            peer_shift: 0,
            requested: None,
            peer_mss: 0,
            ip_header: ip.header_len(),
            config: Arc::clone(config),
            counters: Counters::default(),
        }
    }

    /// Adds `bytes` of application data to send; `u64::MAX` is an endless source. Allowed before the connection is
    /// established; ignored after [`Endpoint::close`].
    pub fn write(&mut self, bytes: u64, now: Time, out: &mut Out) {
        if !self.tx.flight.closing && self.state != State::Closed {
            self.tx.flight.write(bytes);
            self.output(now, out);
        }
    }

    /// Discards the data not yet sent, and adds `bytes` as [`Endpoint::write`] does.
    pub fn replace_unsent(&mut self, bytes: u64, now: Time, out: &mut Out) {
        if !self.tx.flight.closing && self.state != State::Closed {
            self.tx.flight.replace_unsent(bytes);
            self.output(now, out);
        }
    }

    /// Makes the application read only when [`Endpoint::read`] is called; otherwise it reads at once. Called before any
    /// data has arrived.
    pub fn read_on_request(&mut self) {
        self.rx.read_on_request();
    }

    /// The application reads up to `bytes` bytes. Returns the number of bytes read, which opens the window; a window that
    /// opens by much is announced.
    pub fn read(&mut self, bytes: u64, now: Time, out: &mut Out) -> u64 {
        let (read, due) = self.rx.read(bytes, &self.config);
        if due && self.is_established() {
            self.rx.note_time(now);
            self.send_ack(now, out);
        }
        read
    }

    /// Bytes that the application has read, in total: all that arrived in order, if it reads at once.
    pub fn consumed(&self) -> u64 {
        self.rx.delivered() - self.rx.unread()
    }

    /// Closes: a FIN follows all data written.
    pub fn close(&mut self, now: Time, out: &mut Out) {
        if self.tx.flight.closing {
            return;
        }
        self.tx.flight.closing = true;
        self.rx.close();
        match self.state {
            State::Established => self.state = State::FinWait1,
            State::CloseWait => self.state = State::LastAck,
            // Before establishment the close is stored, as written data is.
            _ => {}
        }
        self.output(now, out);
    }

    /// Closes and discards the data not yet sent: a FIN follows the data sent. Returns the bytes written that were not
    /// discarded.
    pub fn withdraw(&mut self, now: Time, out: &mut Out) -> u64 {
        self.tx.flight.withdraw();
        if self.tx.flight.closing {
            self.output(now, out);
        }
        self.close(now, out);
        self.tx.flight.end - 1
    }

    /// Aborts the connection with an RST.
    pub fn abort(&mut self, out: &mut Out) {
        if !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::TimeWait) {
            // RFC 9293 §3.10.5: SEQ = SND.NXT and no ACK.
            let seq = self.tx.flight.seq(self.tx.flight.nxt);
            self.send_reset(Segment { seq, ..Segment::default() }, out);
        }
        self.die();
    }

    /// Processes a received segment. Its ECN codepoint is the one received.
    pub fn on_segment(&mut self, segment: &Segment, now: Time, out: &mut Out) {
        self.counters.segments_received += 1;
        match self.state {
            State::Closed => self.on_closed(segment, out),
            State::Listen => self.on_listen(segment, now, out),
            State::SynSent => self.on_syn_sent(segment, now, out),
            _ => self.on_synchronised(segment, now, out),
        }
    }

    /// Processes a source quench for the addresses and ports of this connection. It may change the deadline and sends
    /// no segment.
    pub fn on_quench(&mut self, quench: &Quench, now: Time) {
        self.counters.quenches_received += 1;
        if !self.is_established() {
            return;
        }
        let Some(offset) = self.tx.flight.offset(quench.seq) else { return };
        let mut cx = Cx { config: &self.config, now, counters: &mut self.counters, ecn: &mut self.ecn };
        self.tx.on_quench(offset, quench.cause, &mut cx);
    }

    /// Runs the timers that are due at `now`; has no effect before the deadline.
    pub fn on_deadline(&mut self, now: Time, out: &mut Out) {
        if now >= self.rx.deadline {
            self.rx.delay_is_over(&self.config, &self.tx.flight.timer.rto);
            self.rx.note_time(now);
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
            // A timer of the scheme has already selected the chunks to send.
        } else if self.tx.flight.max == self.tx.flight.una || self.tx.flight.only_probing() {
            match self.tx.on_idle_timer(&mut cx) {
                Some(WindowProbe::Data(chunk)) => return self.emit(chunk, now, out),
                Some(WindowProbe::Empty) => return self.send_empty_probe(now, out),
                None => {}
            }
        } else if self.tx.flight.timer.timeouts >= self.config.max_timeouts {
            // RFC 9293 §3.8.3, R2.
            return self.abort(out);
        } else {
            self.tx.on_timeout(&mut cx);
        }
        self.output(now, out);
    }

    /// Next time to call [`Endpoint::on_deadline`]; [`Time::NEVER`] if no timer is running.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.tx.flight.timer.deadline.min(self.rx.deadline).min(self.tx.flight.pacer.deadline)
    }

    /// Bytes of the peer's data received in order, in total.
    pub fn received(&self) -> u64 {
        self.rx.delivered()
    }

    /// Bytes of data sent and acknowledged, in total.
    pub fn acked(&self) -> u64 {
        self.tx.flight.data_acked()
    }

    /// The state of RFC 9293.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether the handshake is complete and the connection not closed or reset.
    pub fn is_established(&self) -> bool {
        !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::SynReceived)
    }

    /// Whether the application has read all data of the peer, which has closed.
    pub fn peer_closed(&self) -> bool {
        self.rx.has_fin() && self.rx.unread() == 0
    }

    /// Whether the connection is over: both directions closed and acknowledged, or the connection reset or given up.
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed | State::TimeWait)
    }

    /// Whether this endpoint sends ECN-capable data, or did until the connection was closed. The two endpoints can
    /// differ if a SYN retransmitted without ECN crossed the SYN-ACK to the first one.
    pub fn ecn_negotiated(&self) -> bool {
        self.was_established() && self.ecn.is_capable()
    }

    /// Whether this endpoint's handshake was completed, also after the end of the connection.
    pub fn was_established(&self) -> bool {
        self.tx.flight.una > 0
    }

    /// The counters of this endpoint.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// One row of a time series.
    pub fn sample(&self) -> Sample {
        let cc = self.tx.flight.law.state();
        let (srtt, rttvar) = self.tx.flight.timer.rto.estimates(&self.config);
        Sample {
            cwnd: cc.cwnd + self.tx.flight.recovery.inflation,
            ssthresh: cc.ssthresh,
            flight: self.tx.flight.in_flight(),
            srtt,
            rttvar,
            rto: self.tx.flight.timer.rto.current(),
            in_recovery: self.tx.in_recovery(),
            counts_marks: self.ecn.counts(),
        }
    }

    /// The window law's value for the column `name`; `None` if the law has no such column.
    pub fn law_value(&self, name: &str) -> Option<f64> {
        let law = &self.tx.flight.law;
        let place = law.columns().iter().position(|column| column.name == name)?;
        law.values().get(place).copied()
    }

    /// Ends the connection for any reason.
    pub(crate) fn die(&mut self) {
        self.state = State::Closed;
        self.tx.flight.timer.deadline = Time::NEVER;
        self.tx.flight.pacer.deadline = Time::NEVER;
        self.rx.deadline = Time::NEVER;
    }
}
