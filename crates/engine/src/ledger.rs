//! Link measurements for a driver with its own clock: the tables of a run that need no endpoint.

use ecnlab_base::Time;

use crate::balance;
use crate::error::Error;
use crate::hosts::Hosts;
use crate::link::Link;
use crate::plan::Plan;
use crate::series::Series;
use crate::signals::Signals;
use crate::table::Table;
use crate::window::{Snapshot, Window};

/// Counters of links at the start and at the end of the warm-up, and samples of their queues.
pub struct Ledger {
    start: Snapshot,
    warm: Option<Snapshot>,
    series: Series,
}

impl Ledger {
    /// Starts at time zero with the `links` of `plan`.
    pub fn new(plan: &Plan, links: &mut [Link]) -> Ledger {
        Ledger { start: take(Time::ZERO, links), warm: None, series: Series::of(plan) }
    }

    /// Ends the warm-up at `now`; all link events up to `now` must be processed.
    pub fn end_warmup(&mut self, now: Time, links: &mut [Link]) {
        self.warm = Some(take(now, links));
    }

    /// Samples every queue at `now`; all link events up to `now` must be processed.
    pub fn sample(&mut self, now: Time, links: &mut [Link]) {
        links.iter_mut().for_each(|link| link.observe(now, &mut ()));
        self.series.sample(now, links, &[], &Hosts::default(), &Signals::new(0));
    }

    /// Returns the tables of links and queues, for the measured window and for the whole run, which ends at `now`; also
    /// their series, if `plan` has a sample interval.
    ///
    /// # Errors
    /// [`Error::Conservation`] if a link's packet counts do not balance.
    pub fn close(self, plan: &Plan, now: Time, links: &mut [Link]) -> Result<Vec<Table>, Error> {
        let end = take(now, links);
        balance::check_links(plan, links)?;
        let warm = self.warm.as_ref().unwrap_or(&end);
        let mut tables = Vec::new();
        let measured = Window::measured(warm, &end);
        tables.extend(measured.link_tables(plan, ""));
        tables.extend(Window::whole(&self.start, warm, &end).link_tables(plan, "_run"));
        tables.extend(measured.sojourn_bins(plan));
        if plan.sample.is_some() {
            let names: Vec<String> = plan.links.iter().map(|link| link.name.clone()).collect();
            tables.extend(self.series.queue_tables(&names));
        }
        Ok(tables)
    }
}

fn take(now: Time, links: &mut [Link]) -> Snapshot {
    links.iter_mut().for_each(|link| link.observe(now, &mut ()));
    Snapshot::take(now, links, &[], &Hosts::default())
}
