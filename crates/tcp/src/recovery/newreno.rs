//! NewReno (RFC 6582): an ACK that acknowledges only part of the window outstanding at the loss indicates the next
//! loss, which is retransmitted at once. Recovery lasts until that whole window is acknowledged.

use super::{Progress, Scheme, reno::Reno};
use crate::cc::CongestionControl;
use crate::config::{Config, ExitWindow};
use crate::facts::Facts;
use crate::flight::{Cx, Flight};

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "newreno",
    label: "NewReno",
    summary: "Fast recovery that lasts until everything outstanding at its start is acknowledged.",
    reference: "RFC 6582",
    ..Facts::PLAIN
};

#[derive(Clone, Debug, Default)]
pub(crate) struct NewReno;

impl Scheme for NewReno {
    fn on_dupack(&mut self, tx: &mut Flight, cx: &mut Cx) {
        Reno.on_dupack(tx, cx);
    }

    fn on_new_ack(&mut self, tx: &mut Flight, acked: u64, cx: &mut Cx) -> Progress {
        if tx.una >= tx.recovery.recover {
            return full_ack(tx, cx.config);
        }
        // §3.2 step 3, partial acknowledgments: the first unacknowledged segment is lost too.
        tx.recovery.head_due = true;
        if cx.config.partial_deflation {
            deflate(tx, acked);
        } else {
            tx.recovery.inflation = 0;
        }
        // §3.2 step 3 restarts the timer on the first partial ACK; RFC 3782 §4 discusses both options.
        let first = !std::mem::replace(&mut tx.recovery.partial_seen, true);
        Progress { grow: false, rearm: first || !cx.config.impatient }
    }

    fn begin_burst(&mut self, tx: &mut Flight, config: &Config) {
        tx.recovery.burst_left = if config.recovery_burst == 0 { u32::MAX } else { config.recovery_burst };
    }
}

fn full_ack(tx: &mut Flight, config: &Config) -> Progress {
    tx.leave_recovery();
    let mss = u64::from(tx.mss);
    let ssthresh = tx.law.state().ssthresh;
    // §3.2 step 3, full acknowledgments: (1) and (2).
    match config.exit_window {
        ExitWindow::Flight => {
            let in_flight = tx.in_flight().max(mss);
            tx.law.set_cwnd(ssthresh.min(in_flight + mss));
        }
        ExitWindow::Ssthresh => tx.law.set_cwnd(ssthresh),
        ExitWindow::Keep => {}
    }
    Progress { grow: config.exit_growth, rearm: true }
}

/// §3.2 step 3: deflates by the acknowledged bytes, then adds back one segment, the one now retransmitted. Bytes beyond
/// the inflation reduce the window itself.
fn deflate(tx: &mut Flight, acked: u64) {
    let mss = u64::from(tx.mss);
    let r = &mut tx.recovery;
    if r.inflation > acked {
        r.inflation = r.inflation + mss - acked;
    } else {
        let excess = acked - r.inflation;
        r.inflation = mss;
        if excess > 0 {
            tx.law.deflate(excess);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;
    use ecnlab_base::Bytes;
    use ecnlab_wire::Seq;

    #[test]
    fn a_partial_ack_takes_the_inflation_first_and_then_the_window() {
        let config = &profile("modern").expect("a profile of ours").config;
        let config = Config { mss: Bytes(1_000), ..config.clone() };
        // A window of 5000 bytes. One segment of inflation stays for what is sent again.
        let after = |inflation, acked| {
            let mut tx = Flight::new(&config, Seq(0));
            tx.law.set_cwnd(5_000);
            tx.recovery.inflation = inflation;
            deflate(&mut tx, acked);
            (tx.recovery.inflation, tx.law.cwnd())
        };
        assert_eq!(after(8_000, 3_000), (6_000, 5_000));
        assert_eq!(after(3_000, 3_000), (1_000, 5_000));
        assert_eq!(after(3_000, 5_000), (1_000, 3_000));
    }
}
