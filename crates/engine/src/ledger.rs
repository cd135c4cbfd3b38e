//! Link measurements for a driver with its own clock: the tables of a run that need no endpoint.

use ecnlab_base::Time;

use crate::balance;
use crate::error::Error;
use crate::hosts::Hosts;
use crate::link::Link;
use crate::period::{Period, Snapshot};
use crate::plan::Plan;
use crate::series::Series;
use crate::signals::Signals;
use ecnlab_base::Table;

/// Counters of links at the end of the warm-up, and samples of their queues.
pub struct Ledger {
    warm: Option<Snapshot>,
    series: Series,
}

impl Ledger {
    /// Starts at time zero with the `links` of `plan`.
    pub fn new(plan: &Plan, links: &mut [Link]) -> Ledger {
        observe(Time::ZERO, links);
        Ledger { warm: None, series: Series::of(plan) }
    }

    /// Ends the warm-up at `now`; all link events up to `now` must be processed.
    pub fn end_warmup(&mut self, now: Time, links: &mut [Link]) {
        observe(now, links);
        self.warm = Some(Snapshot::take(now, links, &[], &Hosts::default()));
    }

    /// Samples every queue at `now`; all link events up to `now` must be processed.
    pub fn sample(&mut self, now: Time, links: &mut [Link]) {
        observe(now, links);
        self.series.sample(now, links, &[], &Hosts::default(), &Signals::new(0));
    }

    /// Returns the tables of links and queues, for the measured period and for the whole run, which ends at `now`; also
    /// their series, if `plan` has a sample interval.
    ///
    /// # Errors
    /// [`Error::Conservation`] if a link's packet counts do not balance.
    pub fn close(mut self, plan: &Plan, now: Time, links: &mut [Link]) -> Result<Vec<Table>, Error> {
        observe(now, links);
        let mut period = Period::until(now, links, &[], &Hosts::default());
        balance::check_links(plan, links)?;
        let mut warm = self.warm.unwrap_or_else(|| period.end());
        period.add_stats(&mut warm);
        let whole = period.link_tables(plan, "_run", &|_| true);
        let measured = period.measured(warm);
        let mut tables = measured.link_tables(plan, "", &|_| true);
        tables.extend(whole);
        tables.extend(measured.sojourn_bins(plan));
        if plan.sample.is_some() {
            let names: Vec<String> = plan.links.iter().map(|link| link.name.clone()).collect();
            tables.extend(self.series.queue_tables(&names));
        }
        Ok(tables)
    }
}

/// Processes all link events up to `now`.
fn observe(now: Time, links: &mut [Link]) {
    links.iter_mut().for_each(|link| link.observe(now, &mut ()));
}
