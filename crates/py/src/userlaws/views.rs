//! The objects passed to a user-defined law. Times are in seconds, lengths in bytes.

use ecnlab_aqm::{LinkContext, PacketView, View};
use ecnlab_base::{Dur, Length, Rng};
use ecnlab_tcp::cc;
use ecnlab_wire::Ecn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// 2^16 fractions of a byte.
const FRACTIONS: f64 = 65_536.0;
/// 2^40 bytes, the maximum window.
const MAX_WINDOW: f64 = 1_099_511_627_776.0;

/// Congestion window and slow-start threshold of a connection.
#[pyclass(module = "ecnlab._core")]
#[derive(Debug)]
pub struct Window(pub cc::Window);

#[pymethods]
impl Window {
    /// Congestion window in bytes, with a fraction of 2^-16.
    #[getter]
    fn cwnd(&self) -> f64 {
        self.0.cwnd_with_fraction() as f64 / FRACTIONS
    }

    #[setter]
    fn set_cwnd(&mut self, cwnd: f64) -> PyResult<()> {
        if !(cwnd > 0.0 && cwnd.is_finite()) {
            return Err(PyValueError::new_err(format!("cwnd must be bytes, above 0 and finite, not {cwnd}")));
        }
        let fractions = (cwnd.min(MAX_WINDOW) * FRACTIONS) as u64;
        self.0.set_cwnd_with_fraction(fractions.max(1));
        Ok(())
    }

    /// Slow-start threshold in bytes; 2**64 - 1 means none.
    #[getter]
    fn ssthresh(&self) -> u64 {
        self.0.ssthresh()
    }

    #[setter]
    fn set_ssthresh(&mut self, ssthresh: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = match ssthresh.extract::<u64>() {
            Ok(bytes) => Some(bytes),
            // A float is rounded down.
            Err(_) => ssthresh.extract::<f64>().ok().filter(|bytes| *bytes >= 0.0).map(|bytes| bytes as u64),
        };
        let wrong = || PyValueError::new_err(format!("ssthresh must be bytes, 0 or more, not {ssthresh}"));
        self.0.set_ssthresh(bytes.ok_or_else(wrong)?);
        Ok(())
    }

    /// Payload bytes of a full segment.
    #[getter]
    fn mss(&self) -> u32 {
        self.0.mss()
    }
}

/// A congestion signal, at most once per window of data.
#[pyclass(frozen, module = "ecnlab._core")]
pub struct CongestionEvent(pub cc::CongestionEvent);

#[pymethods]
impl CongestionEvent {
    /// "loss", "ecn" or "timeout".
    #[getter]
    fn why(&self) -> &'static str {
        match self.0.why {
            cc::Congestion::Loss => "loss",
            cc::Congestion::Ecn => "ecn",
            cc::Congestion::Timeout => "timeout",
        }
    }

    /// Seconds since the start of the run.
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_secs()
    }

    /// Bytes from which the profile reduces the window (`reduce_from`).
    #[getter]
    fn in_flight(&self) -> u64 {
        self.0.in_flight
    }
}

/// State at the start of a connection.
#[pyclass(frozen, module = "ecnlab._core")]
pub struct Established(pub cc::Established);

#[pymethods]
impl Established {
    /// Seconds since the start of the run.
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_secs()
    }

    /// RTT of the handshake in seconds, if measured.
    #[getter]
    fn rtt(&self) -> Option<f64> {
        self.0.rtt.map(Dur::as_secs)
    }

    /// Seed for the law's random numbers, if it uses any.
    #[getter]
    fn seed(&self) -> u32 {
        self.0.seed
    }

    /// Both ends have agreed on feedback that counts marks.
    #[getter]
    fn counts_marks(&self) -> bool {
        self.0.counts_marks
    }
}

/// A delivery rate sample.
#[pyclass(frozen, module = "ecnlab._core")]
pub struct RateSample(cc::RateSample);

#[pymethods]
impl RateSample {
    /// Bytes delivered in `interval`.
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered
    }

    /// Seconds: the longer of the send and delivery intervals.
    #[getter]
    fn interval(&self) -> f64 {
        self.0.interval.as_secs()
    }

    /// Bytes delivered on the connection when the segment was sent.
    #[getter]
    fn prior_delivered(&self) -> u64 {
        self.0.prior_delivered
    }

    /// Bytes marked lost since the segment was sent.
    #[getter]
    fn lost(&self) -> u64 {
        self.0.lost
    }

    /// Bytes in flight when the segment was sent.
    #[getter]
    fn tx_in_flight(&self) -> u64 {
        self.0.tx_in_flight
    }

    /// The application had no data to send while the window had room.
    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited
    }
}

/// An ACK.
#[pyclass(frozen, module = "ecnlab._core")]
pub struct AckSample(pub cc::AckSample);

/// Returns a time; None if it is still zero.
fn known(time: Dur) -> Option<f64> {
    (!time.is_zero()).then(|| time.as_secs())
}

#[pymethods]
impl AckSample {
    /// Seconds since the start of the run.
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_secs()
    }

    /// Bytes newly acknowledged by the ACK's number.
    #[getter]
    fn acked(&self) -> u64 {
        self.0.acked
    }

    /// Bytes newly delivered: acknowledged or reported by SACK.
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered.bytes
    }

    /// Bytes of `delivered` that arrived marked.
    #[getter]
    fn marked(&self) -> u64 {
        self.0.marked.bytes
    }

    /// Bytes newly marked lost, as far as the recovery reports them.
    #[getter]
    fn lost(&self) -> u64 {
        self.0.lost.bytes
    }

    /// Bytes delivered on the connection.
    #[getter]
    fn delivered_total(&self) -> u64 {
        self.0.delivered_total
    }

    /// Bytes marked lost on the connection.
    #[getter]
    fn lost_total(&self) -> u64 {
        self.0.lost_total
    }

    /// Bytes in flight.
    #[getter]
    fn in_flight(&self) -> u64 {
        self.0.in_flight
    }

    /// Bytes in flight before the ACK.
    #[getter]
    fn prior_in_flight(&self) -> u64 {
        self.0.prior_in_flight
    }

    /// Seconds: the RTT sample of the ACK, if it has one.
    #[getter]
    fn rtt(&self) -> Option<f64> {
        self.0.rtt.map(Dur::as_secs)
    }

    /// Seconds: the RTT of the most recently sent segment that it delivers.
    #[getter]
    fn last_rtt(&self) -> Option<f64> {
        self.0.last_rtt.map(Dur::as_secs)
    }

    /// Seconds: minimum RTT of the connection, once measured.
    #[getter]
    fn min_rtt(&self) -> Option<f64> {
        known(self.0.min_rtt)
    }

    /// Seconds: smoothed RTT, once measured.
    #[getter]
    fn srtt(&self) -> Option<f64> {
        known(self.0.srtt)
    }

    /// The last burst left less than a segment of the window unused.
    #[getter]
    fn cwnd_limited(&self) -> bool {
        self.0.cwnd_limited
    }

    /// Number of round trips so far.
    #[getter]
    fn round(&self) -> u64 {
        self.0.round
    }

    /// A recovery is in progress.
    #[getter]
    fn in_recovery(&self) -> bool {
        self.0.in_recovery
    }

    /// Seconds: time at which the pacer releases the next segment.
    #[getter]
    fn departure(&self) -> f64 {
        self.0.departure.as_secs()
    }

    /// The delivery rate, if the ACK gives a sample; in `on_ack` only.
    #[getter]
    fn rate(&self) -> Option<RateSample> {
        self.0.rate.map(RateSample)
    }
}

/// A segment being sent.
#[pyclass(frozen, module = "ecnlab._core")]
pub struct Sent(pub cc::Sent);

#[pymethods]
impl Sent {
    /// Seconds since the start of the run.
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_secs()
    }

    /// Bytes of payload.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Bytes sent before it and not yet acknowledged.
    #[getter]
    fn outstanding(&self) -> u64 {
        self.0.outstanding
    }

    /// Bytes in flight without this segment.
    #[getter]
    fn in_flight(&self) -> u64 {
        self.0.in_flight
    }

    /// It is a retransmission.
    #[getter]
    fn again(&self) -> bool {
        self.0.again
    }

    /// The application has run out of data.
    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited
    }
}

/// The link behind a queue, and the queue's limit.
#[pyclass(frozen, module = "ecnlab._core")]
pub struct Link {
    /// Rate and delay.
    pub context: LinkContext,
    /// Limit of the queue.
    pub limit: Length,
}

#[pymethods]
impl Link {
    /// Drain rate of the queue in bits per second.
    #[getter]
    fn rate(&self) -> f64 {
        self.context.rate.bps() as f64
    }

    /// Propagation delay in seconds.
    #[getter]
    fn delay(&self) -> f64 {
        self.context.delay.as_secs()
    }

    /// Limit of the queue in packets, if it is in packets.
    #[getter]
    fn limit_packets(&self) -> Option<f64> {
        if let Length::Packets(packets) = self.limit { Some(packets) } else { None }
    }

    /// Limit of the queue in bytes, if it is in bytes.
    #[getter]
    fn limit_bytes(&self) -> Option<f64> {
        if let Length::Bytes(bytes) = self.limit { Some(bytes) } else { None }
    }
}

/// A packet passed to a law.
#[pyclass(frozen, module = "ecnlab._core")]
pub struct Packet(pub PacketView);

#[pymethods]
impl Packet {
    /// Bytes on the wire.
    #[getter]
    fn size(&self) -> u32 {
        self.0.size
    }

    /// "not-ect", "ect0", "ect1" or "ce".
    #[getter]
    fn ecn(&self) -> &'static str {
        match self.0.ecn {
            Ecn::NotEct => "not-ect",
            Ecn::Ect0 => "ect0",
            Ecn::Ect1 => "ect1",
            Ecn::Ce => "ce",
        }
    }

    /// Identifies its five-tuple.
    #[getter]
    fn flow(&self) -> u64 {
        self.0.flow
    }

    /// A signal to it would be CE.
    #[getter]
    fn can_mark(&self) -> bool {
        self.0.can_mark
    }

    /// Seconds in the queue; 0 on arrival.
    #[getter]
    fn sojourn(&self) -> f64 {
        self.0.sojourn.as_secs()
    }
}

/// State of a law's queue.
#[pyclass(frozen, module = "ecnlab._core")]
pub struct Queue(pub View);

#[pymethods]
impl Queue {
    /// Packets in the queue, excluding the one that arrives or leaves and the one in transmission.
    #[getter]
    fn packets(&self) -> u64 {
        self.0.packets
    }

    /// Bytes in the queue, with the same exclusions.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Bytes in the queues of all flows, if this is one of several.
    #[getter]
    fn in_all(&self) -> u64 {
        self.0.in_all
    }

    /// Seconds for which the link has been idle; None while it is busy.
    #[getter]
    fn idle(&self) -> Option<f64> {
        self.0.idle.map(Dur::as_secs)
    }

    /// The link has found all its queues empty since the last packet left.
    #[getter]
    fn asked(&self) -> bool {
        self.0.polled
    }
}

/// The random stream of a queue.
#[pyclass(module = "ecnlab._core")]
#[derive(Debug)]
pub struct Random(pub Rng);

#[pymethods]
impl Random {
    /// Uniform on [0, 1), 53 bits.
    fn random(&mut self) -> f64 {
        self.0.unit()
    }

    /// Uniform on 0 to `n` - 1. Raises ValueError for 0.
    fn below(&mut self, n: u64) -> PyResult<u64> {
        if n == 0 {
            return Err(PyValueError::new_err("below(0): there is no number below 0"));
        }
        Ok(self.0.below(n))
    }
}
