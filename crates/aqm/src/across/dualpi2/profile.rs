//! Conversion of probabilities to signals, as in RFC 9332's pseudo-code and as in Linux.

use ecnlab_base::{Dur, Rng, coverage_mark};

use super::pi::{Fixed, Real};
use super::{L, Params};
use crate::{AcrossView, Decision, MarkReason, PacketView};

/// RFC 9332, appendix A.2: signals at even distances.
#[derive(Clone, Debug)]
pub struct Rfc9332 {
    pub pi: Real,
    k: f64,
    min_th: Dur,
    range: Dur,
    th_len: u64,
    nqb: bool,
    /// Sum of the probabilities since the last signal, for L and for C.
    counts: [f64; 2],
}

impl Rfc9332 {
    pub fn new(params: &Params) -> Rfc9332 {
        Rfc9332 {
            pi: Real::new(params.target, params.gains()),
            k: params.coupling_factor.into(),
            min_th: params.min_th(),
            range: params.range(),
            th_len: params.th_len(),
            nqb: !params.nqb.is_empty(),
            counts: [0.0; 2],
        }
    }

    /// `dualpi2_dequeue`. From k·p' = 1 on the queue is overloaded: p_CL is at p_Lmax, and p_C at p_Cmax = 1/k².
    pub fn on_dequeue(&mut self, packet: &PacketView, view: &AcrossView<'_>) -> Decision {
        let p = self.pi.p();
        let (p_c, p_cl) = (p * p, libm::fmin(self.k * p, 1.0));
        let overloaded = self.k * p >= 1.0;
        if view.of != L {
            return match self.recur(view.of, p_c) {
                false => Decision::Pass,
                true if overloaded => {
                    coverage_mark!("dualpi2.rfc9332_classic_drop");
                    Decision::SignalByDrop
                }
                true => {
                    coverage_mark!("dualpi2.rfc9332_classic_signal");
                    Decision::Signal(MarkReason::Law)
                }
            };
        }
        if overloaded && self.recur(L, p_c) {
            coverage_mark!("dualpi2.rfc9332_l4s_drop");
            return Decision::SignalByDrop;
        }
        if self.nqb && !packet.ecn.is_capable() {
            coverage_mark!("dualpi2.rfc9332_nqb_passes");
            return Decision::Pass;
        }
        let native = if view.own().packets <= self.th_len { 0.0 } else { self.ramp(packet.sojourn) };
        let why = if native > p_cl { MarkReason::Law } else { MarkReason::Coupled };
        if self.recur(L, libm::fmax(native, p_cl)) {
            coverage_mark!("dualpi2.rfc9332_l4s_signal");
            Decision::Signal(why)
        } else {
            Decision::Pass
        }
    }

    /// `laqm`: the probability of L's own law after `sojourn`.
    fn ramp(&self, sojourn: Dur) -> f64 {
        let past = sojourn.saturating_sub(self.min_th);
        if sojourn >= self.min_th && past >= self.range {
            return 1.0;
        }
        if past.is_zero() { 0.0 } else { past.ps() as f64 / self.range.ps() as f64 }
    }

    /// `recur`: whether a signal is due.
    fn recur(&mut self, of: usize, likelihood: f64) -> bool {
        self.counts[of] += likelihood;
        let due = self.counts[of] > 1.0;
        if due {
            self.counts[of] -= 1.0;
        }
        due
    }
}

/// `sch_dualpi2` of Linux: signals at random.
#[derive(Clone, Debug)]
pub struct Linux {
    pub pi: Fixed,
    k: u32,
    step_thresh: Dur,
    drop_enqueue: bool,
    mtu: u64,
    nqb: bool,
}

impl Linux {
    pub fn new(params: &Params) -> Linux {
        let k = u32::from(params.coupling_factor);
        // Without drops p' stops at 1/k, so that k·p' is never above 1.
        let parts = if params.drop_on_overload() { 1 } else { k };
        Linux {
            pi: Fixed::new(params.target, params.gains(), parts),
            k,
            step_thresh: params.step_thresh(),
            drop_enqueue: params.drop_enqueue(),
            mtu: params.mtu().into(),
            nqb: !params.nqb.is_empty(),
        }
    }

    /// Whether arriving packets get the coupled law, and not departing ones.
    pub fn drop_enqueue(&self) -> bool {
        self.drop_enqueue
    }

    pub fn on_enqueue(&self, packet: &PacketView, view: &AcrossView<'_>, rng: &mut Rng) -> Decision {
        if self.drop_enqueue { self.coupled(packet, view, rng) } else { Decision::Pass }
    }

    /// `dualpi2_qdisc_dequeue`: the coupled law, then in L the step.
    pub fn on_dequeue(&self, packet: &PacketView, view: &AcrossView<'_>, rng: &mut Rng) -> Decision {
        let coupled = if self.drop_enqueue { Decision::Pass } else { self.coupled(packet, view, rng) };
        let dropped = match coupled {
            Decision::Pass => false,
            Decision::Signal(_) => !packet.can_mark,
            Decision::SignalByDrop => true,
        };
        if view.of == L && !dropped && packet.sojourn > self.step_thresh && !self.spares(packet) {
            coverage_mark!("dualpi2.linux_step");
            return Decision::Signal(MarkReason::Threshold);
        }
        coupled
    }

    /// Whether `packet` of L is signalled only in overload.
    fn spares(&self, packet: &PacketView) -> bool {
        self.nqb && !packet.ecn.is_capable()
    }

    /// `must_drop`.
    fn coupled(&self, packet: &PacketView, view: &AcrossView<'_>, rng: &mut Rng) -> Decision {
        if view.bytes() < 2 * self.mtu {
            coverage_mark!("dualpi2.linux_short_queue_passes");
            return Decision::Pass;
        }
        let prob = self.pi.prob();
        let local = u64::from(prob) * u64::from(self.k);
        let overloaded = local > u64::from(u32::MAX);
        if view.of != L {
            return match squared(prob, rng) {
                false => Decision::Pass,
                true if overloaded => {
                    coverage_mark!("dualpi2.linux_classic_drop");
                    Decision::SignalByDrop
                }
                true => {
                    coverage_mark!("dualpi2.linux_classic_signal");
                    Decision::Signal(MarkReason::Law)
                }
            };
        }
        if overloaded && squared(prob, rng) {
            coverage_mark!("dualpi2.linux_l4s_drop");
            return Decision::SignalByDrop;
        }
        let signalled = !self.spares(packet) && (overloaded || roll(local as u32, rng));
        if signalled {
            coverage_mark!("dualpi2.linux_l4s_signal");
            Decision::Signal(MarkReason::Coupled)
        } else {
            Decision::Pass
        }
    }
}

/// Returns true with the squared probability `prob`².
fn squared(prob: u32, rng: &mut Rng) -> bool {
    roll(prob, rng) && roll(prob, rng)
}

/// `dualpi2_roll`: whether a random number is at most `prob`.
pub(crate) fn roll(prob: u32, rng: &mut Rng) -> bool {
    (rng.u64() >> 32) as u32 <= prob
}
