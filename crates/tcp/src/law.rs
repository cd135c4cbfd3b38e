//! The window law in use.

use std::ops::{Deref, DerefMut};

use ecnlab_base::Time;
use ecnlab_base::facts::Column;

use crate::cc::{self, *};
use crate::config::{Config, PacedBy};
use crate::facts::{Marks, Paces};
use crate::hooks::dispatch;
use crate::registry::WindowLaw;
use crate::slow_start::{Exit, Opening, SlowStartExit};

/// The window law in use, with the rule that ends slow start.
#[derive(Debug)]
pub(crate) struct Law {
    in_use: InUse,
    slow_start: Exit,
    /// Stored because it is read for every segment.
    wants_samples: bool,
    /// Stored because it is read for every burst.
    paces: Paces,
    /// Whether a law without a rate of its own is paced too.
    paced: bool,
}

/// Generates [`InUse`] from the rows of the registry.
macro_rules! in_use {
    ($($law:ident($module:ident::$params:ident), $name:literal, $facts:ident;)+) => {
        /// The window law in use. Its discriminant has a byte of its own: one hidden in a law's fields takes three instructions
        /// more to read.
        #[derive(Debug)]
        #[repr(u8)]
        pub(crate) enum InUse { $($law(<cc::$module::$params as Params>::Law)),+ }

        impl InUse {
            fn new(config: &Config, mss: u32) -> InUse {
                match &config.congestion { $(WindowLaw::$law(params) => InUse::$law(params.law((config, mss).into()))),+ }
            }

            /// [`Facts::columns`](crate::Facts::columns).
            pub fn columns(&self) -> &'static [Column] {
                match self { $(InUse::$law(_) => cc::$module::$facts.columns),+ }
            }

            /// [`Facts::samples`](crate::Facts::samples).
            fn wants_samples(&self) -> bool {
                match self { $(InUse::$law(_) => cc::$module::$facts.samples),+ }
            }

            /// [`Facts::feedback`](crate::Facts::feedback).
            #[inline]
            pub fn wants_feedback(&self) -> bool {
                match self { $(InUse::$law(_) => cc::$module::$facts.feedback),+ }
            }

            /// [`Facts::rates`](crate::Facts::rates).
            pub fn wants_rates(&self) -> bool {
                match self { $(InUse::$law(_) => cc::$module::$facts.rates),+ }
            }

            /// [`Facts::paces`](crate::Facts::paces).
            fn paces(&self) -> Paces {
                match self { $(InUse::$law(_) => cc::$module::$facts.paces),+ }
            }

            /// [`Facts::credits_lateness`](crate::Facts::credits_lateness).
            pub fn credits_lateness(&self) -> bool {
                match self { $(InUse::$law(_) => cc::$module::$facts.credits_lateness),+ }
            }

            /// [`Facts::sndbuf_expand`](crate::Facts::sndbuf_expand).
            pub fn sndbuf_expand(&self) -> u64 {
                match self { $(InUse::$law(_) => cc::$module::$facts.sndbuf_expand),+ }
            }

            /// [`Facts::one_way`](crate::Facts::one_way).
            #[inline]
            pub fn wants_one_way(&self) -> bool {
                match self { $(InUse::$law(_) => cc::$module::$facts.one_way),+ }
            }

            /// [`Facts::owns_window`](crate::Facts::owns_window).
            #[inline]
            pub fn owns_window(&self) -> bool {
                match self { $(InUse::$law(_) => cc::$module::$facts.owns_window),+ }
            }

            /// [`Facts::waits_at_one_segment`](crate::Facts::waits_at_one_segment).
            pub fn waits_at_one_segment(&self) -> bool {
                match self { $(InUse::$law(_) => cc::$module::$facts.waits_at_one_segment),+ }
            }

            /// [`Facts::marks`](crate::Facts::marks).
            fn marks(&self) -> Marks {
                match self { $(InUse::$law(_) => cc::$module::$facts.marks),+ }
            }
        }
    };
}
window_laws! { in_use! {} }

impl Law {
    /// The window law of `config`, for segments of `mss` bytes of payload.
    pub fn new(config: &Config, mss: u32) -> Law {
        let (in_use, slow_start) = (InUse::new(config, mss), Exit::new(config.slow_start_rule()));
        let wants_samples = in_use.wants_samples() || !slow_start.is_standard();
        let paced = config.pacing == PacedBy::Linux;
        let paces = if paced { Paces::Always } else { in_use.paces() };
        Law { wants_samples, paces, paced, in_use, slow_start }
    }

    /// Whether [`CongestionControl::on_congestion`] for ECN-Echo has reduced the window: before it the window was `before`.
    pub fn reduced_by_mark(&self, before: CcState) -> bool {
        match self.marks() {
            Marks::Once | Marks::Share => self.answers_marks(),
            Marks::Ignored => false,
            // A window of two segments may be the least.
            Marks::Unstated => self.state() != before || before.cwnd <= 2 * u64::from(self.window().mss()),
        }
    }

    /// [`Facts::samples`](crate::Facts::samples); also true if the slow-start rule needs samples.
    #[inline]
    pub fn wants_samples(&self) -> bool {
        self.wants_samples
    }

    /// Whether bursts are paced, by the law ([`Facts::paces`](crate::Facts::paces)) or by the host.
    #[inline]
    pub fn paces(&self) -> Paces {
        self.paces
    }

    /// Passes an ACK to the slow-start rule, which may end slow start.
    #[cold]
    fn check_slow_start(&mut self, sample: &AckSample) {
        if self.slow_start.on_ack(sample, &self.opening()) {
            let cwnd = self.cwnd();
            self.set_ssthresh(cwnd);
        }
    }

    /// Growth of the window on an ACK of `acked` bytes, in 2^-16 bytes, if the slow-start rule sets it and not the law.
    #[cold]
    fn slow_start_growth(&self, acked: u64) -> Option<u64> {
        self.slow_start.growth(acked, &self.opening())
    }

    fn opening(&self) -> Opening {
        Opening { window: self.state(), mss: self.window().mss(), paced: self.paced || self.pacing().is_some() }
    }
}

/// The initial window, for segments with the given bytes of payload.
impl From<(&Config, u32)> for Window {
    fn from((config, mss): (&Config, u32)) -> Window {
        Window::new(config.initial_window, mss)
    }
}

/// The initial window with the host's rules.
impl From<(&Config, u32)> for Start {
    fn from((config, mss): (&Config, u32)) -> Start {
        Start {
            window: (config, mss).into(),
            rules: config.rules,
            ecn_keeps_ssthresh: config.ecn_response.keeps_ssthresh(),
            ecn_least: config.ecn_response.least_window(),
        }
    }
}

/// Evaluates an expression for the law in use.
macro_rules! of_law {
    ($value:expr, $law:ident => $what:expr) => {
        window_laws! { arms! { $value, $law => $what; } }
    };
}
macro_rules! arms {
    ($value:expr, $bound:ident => $what:expr;
     $($law:ident($module:ident::$params:ident), $name:literal, $facts:ident;)+) => {
        match $value { $(InUse::$law($bound) => $what),+ }
    };
}
window_hooks! { dispatch! { { impl CongestionControl for InUse } of_law } }

/// The hooks passed to the law unchanged.
impl Deref for Law {
    type Target = InUse;

    #[inline]
    fn deref(&self) -> &InUse {
        &self.in_use
    }
}

impl DerefMut for Law {
    #[inline]
    fn deref_mut(&mut self) -> &mut InUse {
        &mut self.in_use
    }
}

/// The hooks extended by the slow-start rule or the check for samples.
impl Law {
    /// [`CongestionControl::grow`], unless the slow-start rule sets the growth.
    #[inline]
    pub fn grow(&mut self, acked: u64) {
        if !self.slow_start.is_standard()
            && let Some(more) = self.slow_start_growth(acked)
        {
            return self.window_mut().widen(more);
        }
        self.in_use.grow(acked);
    }

    /// [`CongestionControl::on_congestion`]. A timeout restarts the slow-start rule.
    pub fn on_congestion(&mut self, event: &CongestionEvent) {
        if event.why == Congestion::Timeout {
            self.slow_start.on_timeout();
        }
        self.in_use.on_congestion(event);
    }

    /// [`CongestionControl::on_ack`], after the slow-start rule.
    pub fn on_ack(&mut self, sample: &AckSample) {
        if !self.slow_start.is_standard() {
            self.check_slow_start(sample);
        }
        self.in_use.on_ack(sample);
    }
}

/// Initial state of a law under a profile, for the laws' tests.
#[cfg(test)]
pub(crate) fn start(profile: &str, mss: u32) -> Start {
    (&crate::profile(profile).unwrap().config, mss).into()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use ecnlab_base::UserLaw;

    use super::*;
    use crate::cc::{Supply, event};

    type Called = Arc<Mutex<Vec<&'static str>>>;

    /// Records which of its methods are called.
    #[derive(Debug)]
    struct Recorder {
        window: Window,
        called: Called,
    }

    impl Recorder {
        fn called(&self, method: &'static str) {
            self.called.lock().unwrap().push(method);
        }
    }

    impl CongestionControl for Recorder {
        fn window(&self) -> &Window {
            &self.window
        }
        fn window_mut(&mut self) -> &mut Window {
            &mut self.window
        }
        fn grow(&mut self, acked: u64) {
            assert_eq!(acked, 7);
            self.called("grow");
        }
        fn on_congestion(&mut self, event: &CongestionEvent) {
            assert_eq!(event.why, Congestion::Timeout);
            self.called("on_congestion");
        }
        fn on_further_loss(&mut self) {
            self.called("on_further_loss");
        }
        fn on_loss_after_mark(&mut self) -> bool {
            self.called("on_loss_after_mark");
            true
        }
        fn on_established(&mut self, established: &Established) {
            assert_eq!(established.seed, 5);
            self.called("on_established");
        }
        fn on_feedback(&mut self, sample: &AckSample) {
            assert_eq!(sample.round, 3);
            self.called("on_feedback");
        }
        fn on_idle_ack(&mut self) {
            self.called("on_idle_ack");
        }
        fn on_ack(&mut self, sample: &AckSample) {
            assert_eq!(sample.round, 4);
            self.called("on_ack");
        }
        fn on_sent(&mut self, sent: &Sent) {
            assert_eq!(sent.bytes, 6);
            self.called("on_sent");
        }
        fn codepoint(&self) -> Codepoint {
            self.called("codepoint");
            Codepoint::Ect1
        }
        fn pacing(&self) -> Option<Pacing> {
            self.called("pacing");
            Some(Pacing { rate: 9, quantum: 1 })
        }
        fn limits_rate(&self) -> bool {
            self.called("limits_rate");
            true
        }
        fn on_undo(&mut self, before: CcState) {
            assert_eq!(before.cwnd, 50_000);
            self.called("on_undo");
        }
        fn on_idle_restart(&mut self, restart: u64) {
            assert_eq!(restart, 2_000);
            self.called("on_idle_restart");
        }
        fn values(&self) -> Vec<f64> {
            self.called("values");
            vec![8.0]
        }
    }

    impl Supply for Called {
        fn object(&self, window: Window) -> Box<dyn CongestionControl> {
            Box::new(Recorder { window, called: self.clone() })
        }
    }

    fn recorder(called: &Called) -> Law {
        let mut config = crate::profile("modern").unwrap().config.clone();
        config.congestion = WindowLaw::UserDefined(cc::user_defined::Params(UserLaw::named("x.py:Law")));
        let law = config.congestion.user_law_mut().unwrap();
        law.supply(Arc::new(called.clone()), "12".to_owned()).unwrap();
        Law::new(&config, 1_000)
    }

    #[test]
    fn every_hook_reaches_the_law_in_use_and_what_it_returns_comes_back() {
        let called = Called::default();
        let mut law = recorder(&called);
        law.grow(7);
        law.on_congestion(&event(Congestion::Timeout, 0));
        law.on_further_loss();
        assert!(law.on_loss_after_mark());
        law.on_established(&Established { now: Time::ZERO, rtt: None, seed: 5, counts_marks: false, sack: true });
        law.on_feedback(&AckSample { round: 3, ..AckSample::default() });
        law.on_idle_ack();
        law.on_ack(&AckSample { round: 4, ..AckSample::default() });
        law.on_sent(&Sent { bytes: 6, ..Sent::default() });
        assert_eq!(law.codepoint(), Codepoint::Ect1);
        assert_eq!(law.pacing(), Some(Pacing { rate: 9, quantum: 1 }));
        assert!(law.limits_rate());
        law.on_undo(CcState { cwnd: 50_000, ssthresh: 40_000 });
        law.on_idle_restart(2_000);
        assert_eq!(law.values(), [8.0]);
        let all = [
            "grow",
            "on_congestion",
            "on_further_loss",
            "on_loss_after_mark",
            "on_established",
            "on_feedback",
            "on_idle_ack",
            "on_ack",
            "on_sent",
            "codepoint",
            "pacing",
            "limits_rate",
            "on_undo",
            "on_idle_restart",
            "values",
        ];
        assert_eq!(called.lock().unwrap().as_slice(), all);
    }

    #[test]
    fn recovery_sets_the_window_of_the_law_in_use() {
        let mut law = recorder(&Called::default());
        assert_eq!(law.cwnd(), 10_000);
        law.set_cwnd(8_000);
        law.deflate(1_000);
        law.set_ssthresh(5_000);
        assert_eq!(law.state(), CcState { cwnd: 7_000, ssthresh: 5_000 });
    }
}
