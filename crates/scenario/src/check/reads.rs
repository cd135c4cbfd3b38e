//! Checks of the reads of a flow's application.

use ecnlab_base::Dur;

use crate::file::Flow;
use crate::findings::Findings;
use crate::path::Path;

/// The shortest time between reads.
const MIN_INTERVAL: Dur = Dur::from_us(1);

/// Rejects reads of nothing, and reads of traffic other than bulk transfers. `path` is the flow's.
pub(crate) fn check(flow: &Flow, path: &Path, found: &mut Findings<'_>) {
    let Some(rate) = flow.read_rate else {
        if flow.read_interval.is_some() {
            let at = path.key("read_interval");
            found.key(&at, format!("`{at}` needs a `read_rate`"), "add one, such as \"2 Mbps\", or leave this out");
        }
        return;
    };
    let at = path.key("read_rate");
    if !matches!(flow.traffic, ecnlab_traffic::Params::Ftp(_)) {
        let message = format!("`{at}`: applications of the kind `{}` read at once", flow.traffic.name());
        return found.key(&at, message, "leave it out, or write traffic = \"ftp\"");
    }
    let every = flow.read_interval();
    if every < MIN_INTERVAL {
        let at = path.key("read_interval");
        return found.value(&at, format!("`{at}` is {every}"), "write at least 1 us");
    }
    let message = format!("`{at}`: {rate} for {every} is less than a byte");
    found.unless(flow.reads().is_some_and(|reads| reads.bytes > 0), &at, message, "write a higher rate");
}
