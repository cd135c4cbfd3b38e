//! Backward ECN: the average from which the router notifies senders by ICMP source quench (Akujobi et al. 2003 §IV-A).
//! Historic: a router must not send it (RFC 6633).

use ecnlab_base::{Bytes, Dur, Length};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Params, Threshold};
use crate::Impossible;

/// `[queue.NAME.becn]`: a source quench for each ECN-capable packet marked or dropped while the average is high.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Becn {
    /// The average from which the router sends source quenches: from `min_th` to `max_th`, in their unit (the paper's
    /// becnthresh).
    pub thresh: Length,
    /// Bytes of a source quench on the wire, 28 B to 1500 B. Default 40 B (the paper's equation 1; by RFC 792 it has
    /// 56).
    #[serde(default = "default_quench_size")]
    pub quench_size: Bytes,
    /// The time from a mark or drop until the router sends its source quench. Default 0 s (at once).
    #[serde(default, skip_serializing_if = "is_at_once")]
    pub delay: Dur,
}

fn is_at_once(delay: &Dur) -> bool {
    delay.is_zero()
}

fn default_quench_size() -> Bytes {
    Bytes(40)
}

impl Becn {
    /// Rejects a threshold outside those of `params`, and invalid message sizes.
    pub(super) fn check(&self, params: &Params) -> Result<(), Impossible> {
        let size = self.quench_size;
        Impossible::unless((28..=1500).contains(&size.0), "becn.quench_size", || {
            format!(
                "{size} is not a valid length of an ICMP message with its IP header: it must be from 28 B to 1500 B"
            )
        })?;
        let (Threshold::At(min), Threshold::At(max)) = (params.min_th, params.max_th) else {
            return Err(Impossible {
                key: "becn.thresh".to_owned(),
                message: "it lies between min_th and max_th: write them as lengths, not automatic".to_owned(),
            });
        };
        let inside = match (min, self.thresh, max) {
            (Length::Packets(min), Length::Packets(at), Length::Packets(max))
            | (Length::Bytes(min), Length::Bytes(at), Length::Bytes(max)) => min <= at && at <= max,
            _ => false,
        };
        Impossible::unless(inside, "becn.thresh", || {
            format!("{} must lie from min_th, {min}, to max_th, {max}, in their unit", self.thresh)
        })
    }

    /// The average of [`Becn::thresh`], in the thresholds' unit.
    pub(super) fn from(&self) -> f64 {
        match self.thresh {
            Length::Packets(at) | Length::Bytes(at) => at,
        }
    }
}
