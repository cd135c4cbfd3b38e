//! What changes in a link during a run: the steps of its rate and delay, with its outages.

use std::sync::Arc;

use ecnlab_base::{Dur, Rng, Steps, Time};
use ecnlab_engine as engine;

use crate::file::Link;
use crate::outages::Fate;

/// What changes in the direction `link`, called `name`, in a run with `seed` of length `duration`.
pub(crate) fn of(link: &Link, name: &str, seed: u64, duration: Dur) -> engine::Changes {
    let stream = |of: &str| Rng::named(seed, &format!("{of}.{name}"));
    let outages = link.outages.as_ref().map(|o| (o.draw(duration, &mut stream("outages")), o.packets));
    let rate = link.rate.varying().map(|rate| rate.steps(duration, &mut stream("rate")));
    let (held, lost) = match outages {
        Some((times, Fate::Held)) => (times, Vec::new()),
        Some((times, Fate::Lost)) => (Vec::new(), times),
        None => (Vec::new(), Vec::new()),
    };
    let fixed = || link.rate.most().map(|rate| Steps::new(vec![(Time::ZERO, rate.bps())], None));
    let rate = if held.is_empty() { rate } else { rate.or_else(fixed).map(|rate| stopped(&rate, &held, duration)) };
    let delay = link.delay.varying().map(|delay| delay.steps(duration, &mut stream("changing-delay")));
    engine::Changes { rate, delay, lost: Arc::from(lost), aggregation: link.aggregation.as_ref().map(Into::into) }
}

/// `rate` up to the end of the run, but zero in the times `held`.
fn stopped(rate: &Steps, held: &[(Time, Time)], duration: Dur) -> Steps {
    let end = Time::ZERO + duration;
    let mut steps = Vec::new();
    let mut outages = held.iter().peekable();
    let mut put = |at: Time, bps: u64| {
        if steps.last().is_some_and(|(last, _)| *last == at) {
            steps.pop();
        }
        if steps.last().is_none_or(|(_, last)| *last != bps) {
            steps.push((at, bps));
        }
    };
    let all = rate.until(end);
    for (i, &(start, bps)) in all.iter().enumerate() {
        let next = all.get(i + 1).map_or(Time::NEVER, |step| step.0);
        put(start, bps);
        while let Some(&&(from, to)) = outages.peek() {
            if from >= next {
                break;
            }
            put(from.max(start), 0);
            if to > next {
                break;
            }
            if to < next {
                put(to, bps);
            }
            outages.next();
        }
    }
    Steps::new(steps, None)
}
