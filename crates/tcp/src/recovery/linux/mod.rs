//! Loss recovery of Linux 7: its two schemes and their common parts. All counts are segments.

mod ca_state;
mod cwnd_validation;
mod delivery;
mod dsack;
mod fastretrans_alert;
#[cfg(test)]
mod host;
pub mod newreno;
mod prr;
pub mod rack;
mod reordering;
mod scheme;
mod tail_probe;
mod undo;

use ca_state::{CaState, CongestionState, Prefer};
use cwnd_validation::{Burst, CwndValidation};
use delivery::Delivery;
use dsack::{DuplicateCount, Duplicates, ReorderingSteps};
use fastretrans_alert::FastRetransAlert;
use prr::Prr;
use reordering::Reordering;
use scheme::{Linux, LossDetection};
use undo::{Undo, is_before};

use crate::config::EcnResponse;

impl EcnResponse {
    /// Whether a reduction for ECN-Echo sets ssthresh to the law's value, which is two segments or more, so that no
    /// rule for a window of one segment is needed (tcp_reno_ssthresh, tcp_enter_cwr).
    pub(crate) fn keeps_ssthresh(self) -> bool {
        self == EcnResponse::Linux
    }
}
