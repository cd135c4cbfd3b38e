//! A user-defined law, in a file of the user's own. Whoever runs the scenario supplies its object, which is the law.

use ecnlab_base::UserLaw;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CongestionControl, CongestionEvent, Supply, Window};
use crate::facts::{Facts, Marks, Paces};
use crate::invalid::{Invalid, ensure};

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "user-defined",
    label: "a user-defined law",
    summary: "A class in a file of Python, which has the methods of a window law.",
    named_by: Some("python"),
    samples: true,
    feedback: true,
    paces: Paces::Sometimes,
    rates: true,
    marks: Marks::Unstated,
    ..Facts::PLAIN
};

/// Where the law stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Params(pub UserLaw<dyn Supply>);

impl super::Params for Params {
    type Law = Box<dyn CongestionControl>;
    type Start = Window;

    fn check(&self) -> Result<(), Invalid> {
        let checked = self.0.check();
        ensure(checked.is_ok(), "congestion.python", || checked.err().unwrap_or_default())
    }

    fn user_law(&self) -> Option<&UserLaw<dyn Supply>> {
        Some(&self.0)
    }

    fn user_law_mut(&mut self) -> Option<&mut UserLaw<dyn Supply>> {
        Some(&mut self.0)
    }

    fn law(&self, window: Window) -> Box<dyn CongestionControl> {
        self.0.law().map_or_else(|| Box::new(Unsupplied(window)) as _, |law| law.object(window))
    }
}

/// Stands for a law that nobody has supplied: only recovery moves the window. A run with one is refused before it begins.
#[derive(Debug)]
struct Unsupplied(Window);

impl CongestionControl for Unsupplied {
    fn window(&self) -> &Window {
        &self.0
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.0
    }

    fn grow(&mut self, _: u64) {}

    fn on_congestion(&mut self, _: &CongestionEvent) {}
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cc::{CcState, Congestion, Params as _, event};

    /// Has the methods that every law must have, and no other.
    #[derive(Debug)]
    struct Least(Window);

    impl CongestionControl for Least {
        fn window(&self) -> &Window {
            &self.0
        }
        fn window_mut(&mut self) -> &mut Window {
            &mut self.0
        }
        fn grow(&mut self, acked: u64) {
            self.set_cwnd(self.cwnd() + acked);
        }
        fn on_congestion(&mut self, event: &CongestionEvent) {
            self.set_cwnd(event.in_flight / 2);
        }
    }

    struct Maker;

    impl Supply for Maker {
        fn object(&self, window: Window) -> Box<dyn CongestionControl> {
            Box::new(Least(window))
        }
    }

    const BEFORE: CcState = CcState { cwnd: 50_000, ssthresh: 40_000 };

    #[test]
    fn the_law_is_the_object_supplied_which_begins_with_the_initial_window() {
        let mut params = Params(UserLaw::named("x.py:Law"));
        params.user_law_mut().unwrap().supply(Arc::new(Maker), "12".to_owned()).unwrap();
        assert!(params.user_law().is_some_and(|law| law.law().is_some()));
        let mut law = params.law(Window::new(10, 1_000));
        assert_eq!(law.cwnd(), 10_000);
        law.grow(7);
        assert_eq!(law.cwnd(), 10_007);
        law.on_congestion(&event(Congestion::Loss, 8_000));
        assert_eq!(law.cwnd(), 4_000);
    }

    #[test]
    fn methods_that_a_law_leaves_out_do_as_tcp_does() {
        let mut law = Least(Window::new(10, 1_000));
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
        let mut law = Params(UserLaw::named("x.py:Law")).law(Window::new(10, 1_000));
        law.grow(7);
        law.on_congestion(&event(Congestion::Loss, 10_000));
        assert_eq!((law.cwnd(), law.pacing(), law.codepoint()), (10_000, None, crate::cc::Codepoint::Ect0));
        assert!(!law.limits_rate());
        law.on_undo(BEFORE);
        assert_eq!(law.state(), CcState { cwnd: 50_000, ssthresh: u64::MAX });
    }

    #[test]
    fn what_names_no_class_is_refused() {
        let key = |name| Params(UserLaw::named(name)).check().err().map(|e| e.key);
        assert_eq!((key("x.py"), key("x.py:Law")), (Some("congestion.python"), None));
    }
}
