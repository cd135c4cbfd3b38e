//! What a window law from outside is: an object of whoever runs the scenario, which is called as a law of this crate is.

use std::fmt;

use crate::cc::{AckSample, CcState, Codepoint, CongestionEvent, Established, Pacing, Sent, Window};

/// Makes the objects of a law, one for each endpoint.
pub trait Supply: Send + Sync {
    /// The law, at the beginning of a connection. `window` is what it begins with.
    fn object(&self, window: &Window) -> Box<dyn Object>;
}

/// A law, as [`CongestionControl`](crate::cc::CongestionControl) has its methods. The window is kept for it, and handed to
/// every method that may set it.
pub trait Object: fmt::Debug + Send {
    /// [`CongestionControl::grow`](crate::cc::CongestionControl::grow).
    fn grow(&mut self, window: &mut Window, acked: u64);
    /// [`CongestionControl::on_congestion`](crate::cc::CongestionControl::on_congestion).
    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent);
    /// [`CongestionControl::on_further_loss`](crate::cc::CongestionControl::on_further_loss).
    fn on_further_loss(&mut self, window: &mut Window);
    /// [`CongestionControl::on_established`](crate::cc::CongestionControl::on_established).
    fn on_established(&mut self, window: &mut Window, begin: &Established);
    /// [`CongestionControl::on_feedback`](crate::cc::CongestionControl::on_feedback).
    fn on_feedback(&mut self, window: &mut Window, sample: &AckSample);
    /// [`CongestionControl::on_ack`](crate::cc::CongestionControl::on_ack).
    fn on_ack(&mut self, window: &mut Window, sample: &AckSample);
    /// [`CongestionControl::on_sent`](crate::cc::CongestionControl::on_sent).
    fn on_sent(&mut self, window: &mut Window, sent: &Sent);
    /// [`CongestionControl::on_undo`](crate::cc::CongestionControl::on_undo); false if the law leaves it to TCP.
    fn on_undo(&mut self, window: &mut Window, before: CcState) -> bool;
    /// [`CongestionControl::on_idle_restart`](crate::cc::CongestionControl::on_idle_restart); false if the law leaves it to
    /// TCP.
    fn on_idle_restart(&mut self, window: &mut Window, restart: u64) -> bool;
    /// [`CongestionControl::pacing`](crate::cc::CongestionControl::pacing).
    fn pacing(&self, window: &Window) -> Option<Pacing>;
    /// [`CongestionControl::codepoint`](crate::cc::CongestionControl::codepoint).
    fn codepoint(&self) -> Codepoint;
    /// [`CongestionControl::limits_rate`](crate::cc::CongestionControl::limits_rate).
    fn limits_rate(&self) -> bool;
}
