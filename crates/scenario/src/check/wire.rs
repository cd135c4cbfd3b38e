//! Checks of the jitter and the burst losses of a link.

use ecnlab_base::Dur;

use crate::findings::Findings;
use crate::path::Path;
use crate::wire::{BurstLoss, Jitter};

/// Rejects impossible values. `path` is the link's direction.
pub(crate) fn check(jitter: Option<&Jitter>, bursts: Option<&BurstLoss>, path: &Path, found: &mut Findings<'_>) {
    if let Some(jitter) = jitter {
        let at = path.key("jitter").key("delay");
        if jitter.delay.max().is_some_and(|max| max.is_zero()) {
            found.value(
                &at,
                format!("`{at}` is always 0 s"),
                "write a distribution such as { uniform = [\"0 s\", \"5 ms\"] }",
            );
        } else if jitter.delay.max().is_some_and(|max| max > Dur::from_s(86_400)) {
            found.value(&at, format!("`{at}` can exceed 24 h"), "write at most 24 h");
        }
    }
    let Some(bursts) = bursts else { return };
    let path = path.key("burst_loss");
    for (key, value) in [("p", bursts.p), ("r", bursts.r), ("good", bursts.good), ("bad", bursts.bad)] {
        if !(0.0..=1.0).contains(&value) {
            let at = path.key(key);
            found.value(&at, format!("`{at}` is {value}, not a probability"), "write a number from 0 to 1");
        }
    }
    if bursts.r == 0.0 {
        let at = path.key("r");
        let help = "write a number above 0; for losses at all times use `loss`";
        found.value(&at, format!("`{at}` is 0: the bad state would never end"), help);
    }
}
