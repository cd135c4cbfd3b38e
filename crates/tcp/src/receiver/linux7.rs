//! The receiver with `delayed_ack = "linux-7"`: the differences that Linux's delayed ACKs ([`super::quickack`]) and
//! SACK compression ([`super::compression`]) make to a receiver with a fixed delay.

use ecnlab_base::Time;
use ecnlab_wire::Segment;

use super::Receiver;
use super::growth::Echo;
use super::quickack::Brought;
use crate::config::{Config, DelayedAck};
use crate::rto::Rto;

impl DelayedAck {
    fn is_linux7(self) -> bool {
        self == DelayedAck::Linux7
    }

    /// Whether the receiver processes the header of each data segment before the data ([`Receiver::note_header`],
    /// [`Receiver::note_read`]).
    pub fn reads_headers(self) -> bool {
        self.is_linux7()
    }

    /// Whether CWR clears marks whose ACK is delayed (tcp_ecn_accept_cwr).
    pub fn cwr_clears_delayed_marks(self) -> bool {
        self.is_linux7()
    }
}

impl Receiver {
    /// Called before an acceptable segment is processed. `echo` is the timestamp that it echoes, `cwr` whether its
    /// sender has reduced the window.
    pub fn note_header(&mut self, segment: &Segment, echo: Option<Echo>, cwr: bool) {
        if segment.len > 0 {
            self.quick_ack.on_header(segment, echo, cwr);
        }
    }

    /// Called after a segment is processed, when the application has read all data in order.
    #[cold]
    pub fn note_read(&mut self, now: Time) {
        self.quick_ack.on_read(self.next, now);
    }

    /// Processes a segment for which RFC 5681 §4.2 requires an immediate ACK. Returns whether SACK compression delays
    /// the ACK.
    pub(super) fn compresses_linux7(
        &mut self,
        segment: &Segment,
        brought: Brought,
        config: &Config,
        rto: &Rto,
        now: Time,
    ) -> bool {
        if !config.delayed_ack.is_linux7() || segment.len == 0 {
            return false;
        }
        let delayed = !self.quick_ack.on_data(segment, brought, config, rto, now).is_zero();
        if !delayed || brought != Brought::Early {
            return false;
        }
        let Some(delay) = self.compression.on_early(self.next, rto.smoothed(config).0) else { return false };
        self.deadline = self.deadline.min(now + delay);
        true
    }

    /// Processes a segment without new data.
    pub(super) fn duplicate_linux7(&mut self, segment: &Segment, config: &Config) {
        if config.delayed_ack.is_linux7() && segment.len > 0 {
            self.quick_ack.on_duplicate(config);
        }
    }

    /// Called when the delay of an ACK has expired.
    pub fn delay_is_over(&mut self, config: &Config, rto: &Rto) {
        if config.delayed_ack.is_linux7() && !self.compression.waits() {
            self.quick_ack.inflate(config, rto);
        }
    }

    /// Called when this endpoint sends data.
    pub(super) fn data_sent_linux7(&mut self, config: &Config, now: Time) {
        if config.delayed_ack.is_linux7() {
            self.quick_ack.on_data_sent(now);
        }
    }
}
