//! A law that stands in a file of the user's own. Whoever runs the scenario supplies its object, which has the methods; the
//! window is kept here.

use ecnlab_base::Outside;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AckSample, CcState, Codepoint, CongestionControl, CongestionEvent, Established, Pacing, Sent, Window};
use crate::facts::Facts;
use crate::invalid::{Invalid, ensure};
use crate::outside::{Object, Supply};

/// What there is to know of it.
pub const FACTS: Facts = Facts {
    name: "external",
    label: "a law in Python",
    summary: "A class in a file of Python, which has the methods of a window law.",
    named_by: Some("python"),
    samples: true,
    rates: true,
    ..Facts::PLAIN
};

/// Where the law stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Params(pub Outside<dyn Supply>);

impl super::Params for Params {
    type Law = External;
    type Start = Window;

    fn check(&self) -> Result<(), Invalid> {
        let checked = self.0.check();
        ensure(checked.is_ok(), "congestion.python", || checked.err().unwrap_or_default())
    }

    fn outside(&self) -> Option<&Outside<dyn Supply>> {
        Some(&self.0)
    }

    fn outside_mut(&mut self) -> Option<&mut Outside<dyn Supply>> {
        Some(&mut self.0)
    }

    fn law(&self, window: Window) -> External {
        External { object: self.0.law().map(|law| law.object(&window)), window }
    }
}

/// The window, and the object that moves it. Without one it stays, but for what recovery does: who runs a scenario refuses
/// a law that nobody has supplied.
#[derive(Debug)]
pub struct External {
    window: Window,
    object: Option<Box<dyn Object>>,
}

impl CongestionControl for External {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn grow(&mut self, acked: u64) {
        if let Some(object) = &mut self.object {
            object.grow(&mut self.window, acked);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        if let Some(object) = &mut self.object {
            object.on_congestion(&mut self.window, event);
        }
    }

    fn on_further_loss(&mut self) {
        if let Some(object) = &mut self.object {
            object.on_further_loss(&mut self.window);
        }
    }

    fn on_established(&mut self, begin: &Established) {
        if let Some(object) = &mut self.object {
            object.on_established(&mut self.window, begin);
        }
    }

    fn on_feedback(&mut self, sample: &AckSample) {
        if let Some(object) = &mut self.object {
            object.on_feedback(&mut self.window, sample);
        }
    }

    fn on_ack(&mut self, sample: &AckSample) {
        if let Some(object) = &mut self.object {
            object.on_ack(&mut self.window, sample);
        }
    }

    fn on_sent(&mut self, sent: &Sent) {
        if let Some(object) = &mut self.object {
            object.on_sent(&mut self.window, sent);
        }
    }

    fn codepoint(&self) -> Codepoint {
        self.object.as_ref().map_or_else(Codepoint::default, |object| object.codepoint())
    }

    fn pacing(&self) -> Option<Pacing> {
        self.object.as_ref().and_then(|object| object.pacing(&self.window))
    }

    fn limits_rate(&self) -> bool {
        self.object.as_ref().is_some_and(|object| object.limits_rate())
    }

    fn on_undo(&mut self, before: CcState) {
        let now = self.state();
        if !self.object.as_mut().is_some_and(|object| object.on_undo(&mut self.window, before)) {
            self.set_cwnd(now.cwnd.max(before.cwnd));
            self.set_ssthresh(now.ssthresh.max(before.ssthresh));
        }
    }

    fn on_idle_restart(&mut self, restart: u64) {
        let done = self.object.as_mut().is_some_and(|object| object.on_idle_restart(&mut self.window, restart));
        if !done && self.cwnd() > restart {
            self.set_cwnd(restart);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use ecnlab_base::{Dur, Time};

    use super::*;
    use crate::cc::{Congestion, Params as _, event};

    type Told = Arc<Mutex<Vec<&'static str>>>;

    /// Writes down what it is told, and each time sets the window to a thousand bytes more. What it has of the methods that
    /// TCP can do without is `own`.
    #[derive(Debug)]
    struct Law {
        told: Told,
        own: bool,
    }

    impl Law {
        fn told(&mut self, window: &mut Window, what: &'static str) {
            self.told.lock().unwrap().push(what);
            window.set_cwnd(window.cwnd() + 1_000);
        }
    }

    impl Object for Law {
        fn grow(&mut self, window: &mut Window, acked: u64) {
            assert_eq!(acked, 7);
            self.told(window, "grow");
        }
        fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
            assert_eq!(event.why, Congestion::Ecn);
            self.told(window, "on_congestion");
        }
        fn on_further_loss(&mut self, window: &mut Window) {
            self.told(window, "on_further_loss");
        }
        fn on_established(&mut self, window: &mut Window, begin: &Established) {
            assert_eq!(begin.seed, 5);
            self.told(window, "on_established");
        }
        fn on_feedback(&mut self, window: &mut Window, _: &AckSample) {
            self.told(window, "on_feedback");
        }
        fn on_ack(&mut self, window: &mut Window, _: &AckSample) {
            self.told(window, "on_ack");
        }
        fn on_sent(&mut self, window: &mut Window, _: &Sent) {
            self.told(window, "on_sent");
        }
        fn on_undo(&mut self, window: &mut Window, before: CcState) -> bool {
            if self.own {
                assert_eq!(before.cwnd, 50_000);
                self.told(window, "on_undo");
            }
            self.own
        }
        fn on_idle_restart(&mut self, window: &mut Window, restart: u64) -> bool {
            if self.own {
                assert_eq!(restart, 2_000);
                self.told(window, "on_idle_restart");
            }
            self.own
        }
        fn pacing(&self, window: &Window) -> Option<Pacing> {
            Some(Pacing { rate: window.cwnd(), quantum: 1 })
        }
        fn codepoint(&self) -> Codepoint {
            Codepoint::Ect1
        }
        fn limits_rate(&self) -> bool {
            true
        }
    }

    struct Maker(Told, bool);

    impl Supply for Maker {
        fn object(&self, window: &Window) -> Box<dyn Object> {
            assert_eq!(window.cwnd(), 10_000);
            Box::new(Law { told: self.0.clone(), own: self.1 })
        }
    }

    fn law(told: &Told, own: bool) -> External {
        let mut params = Params(Outside::named("x.py:Law"));
        params.outside_mut().unwrap().supply(Arc::new(Maker(told.clone(), own)), "12".to_owned()).unwrap();
        params.law(Window::new(10, 1_000))
    }

    const BEFORE: CcState = CcState { cwnd: 50_000, ssthresh: 40_000 };

    #[test]
    fn the_object_is_told_all_and_moves_the_window() {
        let told = Told::default();
        let mut law = law(&told, true);
        law.grow(7);
        law.on_congestion(&event(Congestion::Ecn, 0));
        law.on_further_loss();
        law.on_established(&Established { now: Time::ZERO, rtt: None::<Dur>, seed: 5, counts_marks: false });
        law.on_feedback(&AckSample::default());
        law.on_ack(&AckSample::default());
        law.on_sent(&Sent::default());
        law.on_undo(BEFORE);
        law.on_idle_restart(2_000);
        let all = [
            "grow",
            "on_congestion",
            "on_further_loss",
            "on_established",
            "on_feedback",
            "on_ack",
            "on_sent",
            "on_undo",
            "on_idle_restart",
        ];
        assert_eq!((told.lock().unwrap().as_slice(), law.cwnd()), (&all[..], 19_000));
        assert_eq!(law.pacing(), Some(Pacing { rate: 19_000, quantum: 1 }));
        assert_eq!((law.codepoint(), law.limits_rate()), (Codepoint::Ect1, true));
    }

    #[test]
    fn what_the_object_leaves_to_tcp_is_done_as_for_every_law() {
        let mut law = law(&Told::default(), false);
        law.set_ssthresh(5_000);
        law.on_undo(BEFORE);
        assert_eq!(law.state(), BEFORE);
        law.on_undo(CcState { cwnd: 1_000, ssthresh: 1_000 });
        assert_eq!(law.state(), BEFORE);
        law.on_idle_restart(50_000);
        assert_eq!(law.cwnd(), 50_000);
        law.on_idle_restart(2_000);
        assert_eq!(law.cwnd(), 2_000);
    }

    #[test]
    fn without_an_object_the_window_stays() {
        let mut law = Params(Outside::named("x.py:Law")).law(Window::new(10, 1_000));
        law.grow(7);
        law.on_congestion(&event(Congestion::Loss, 10_000));
        assert_eq!((law.cwnd(), law.pacing(), law.codepoint()), (10_000, None, Codepoint::Ect0));
        assert!(!law.limits_rate());
        law.on_undo(BEFORE);
        assert_eq!(law.state(), CcState { cwnd: 50_000, ssthresh: u64::MAX });
    }

    #[test]
    fn what_names_no_class_is_refused() {
        let key = |name| Params(Outside::named(name)).check().err().map(|e| e.key);
        assert_eq!((key("x.py"), key("x.py:Law")), (Some("congestion.python"), None));
    }
}
