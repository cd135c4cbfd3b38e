//! A queue in front of a link, driven packet by packet.

use ecnlab_aqm::LinkContext;
use ecnlab_aqm::replay::{Arrival, replay, transmission};
use ecnlab_base::{Dur, Rng, Time};
use ecnlab_wire::{Dscp, Ecn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::scenario::Scenario;
use crate::userlaws::unless_failed;

/// Arrival time in nanoseconds, length, TOS octet, flow group, flow.
type Row = (u64, u32, u8, usize, u64);
/// Departure time in picoseconds, TOS octet, indices of inner queues, nanoseconds on the link.
type Outcome = (Option<u64>, u8, Vec<usize>, u64);

/// The outcome of `arrivals` at the queue in front of link `index`, numbered as in `Scenario.drawn`, at its rate. See
/// `ecnlab._core`.
#[pyfunction]
pub fn replay_packets(
    py: Python<'_>,
    scenario: &Scenario,
    index: usize,
    seed: u64,
    arrivals: Vec<Row>,
) -> PyResult<Vec<Outcome>> {
    let plan = scenario.0.plan(seed);
    let wrong = |message: String| PyErr::new::<PyValueError, _>(message);
    let link = plan.links.get(index).ok_or_else(|| wrong(format!("there is no link {index}")))?;
    let rate = link.rate.ok_or_else(|| wrong(format!("link {} has no rate", link.name)))?;
    if arrivals.windows(2).any(|pair| pair[0].0 > pair[1].0) {
        return Err(wrong("packets are not in the order of their times".to_owned()));
    }
    let limit = plan.groups.len();
    let arrival = |&(ns, len, tos, group, flow): &Row| {
        if len == 0 || len > MOST_BYTES || group >= limit || ns > MOST_NS {
            return Err(wrong(format!("no packet has {len} B, group {group} and {ns} ns")));
        }
        let (ecn, dscp) = (Ecn::from_bits(tos), Dscp::from_bits(tos >> 2));
        Ok(Arrival { at: Time::ZERO + Dur::from_ns(ns), len, ecn, dscp, group, flow })
    };
    let rows: Vec<Arrival> = arrivals.iter().map(arrival).collect::<PyResult<_>>()?;
    let context = LinkContext { rate, delay: link.delay };
    let rng = Rng::named(seed, &format!("link.{}.queue", link.name));
    let fates = py.detach(|| unless_failed(|| replay(&link.queue, context, &plan.groups, rng, &rows)))?;
    let outcome = |(fate, row): (ecnlab_aqm::replay::Fate, &Row)| {
        let tos = row.2 & !3 | fate.ecn as u8;
        (fate.left.map(Time::ps), tos, fate.place, transmission(context, row.1).ps() / 1000)
    };
    Ok(fates.into_iter().zip(&arrivals).map(outcome).collect())
}

/// Maximum length of an IP packet in bytes.
const MOST_BYTES: u32 = 65_535;
/// One day in nanoseconds.
const MOST_NS: u64 = 86_400_000_000_000;
