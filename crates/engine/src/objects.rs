//! Web objects: request and transfer time.

use ecnlab_base::Time;
use ecnlab_traffic::{Object, Source};

use crate::flow::Flow;
use crate::plan::Plan;
use ecnlab_base::Table;

/// Returns the table of objects; `None` if no flow is web traffic.
pub fn table(plan: &Plan, flows: &[Flow]) -> Option<Table> {
    if !plan.flows.iter().any(|flow| matches!(flow.traffic, ecnlab_traffic::Params::Web(_))) {
        return None;
    }
    let of_flow = |(i, flow): (usize, &'_ Flow)| flow.source.objects().iter().map(|o| (i, *o)).collect::<Vec<_>>();
    let rows: Vec<(usize, Object)> = flows.iter().enumerate().flat_map(of_flow).collect();
    let names: Vec<String> = plan.flows.iter().map(|f| f.name.clone()).collect();
    let seconds = |time: Option<Time>| time.map_or(f64::NAN, Time::as_secs);
    let warm = Time::ZERO + plan.warmup;

    let mut t = Table::new("objects");
    t.u32("flow", rows.iter().map(|(flow, _)| *flow as u32));
    t.text("name", rows.iter().map(|(flow, _)| *flow as u32), &names);
    t.text("group", rows.iter().map(|(flow, _)| plan.flows[*flow].group as u32), &plan.groups);
    t.u32("session", rows.iter().map(|(_, o)| o.session));
    t.u32("page", rows.iter().map(|(_, o)| o.page));
    t.u32("index", rows.iter().map(|(_, o)| o.index));
    t.text("from", rows.iter().map(|(flow, o)| plan.flows[*flow].from[o.ends[0] as usize] as u32), &plan.nodes);
    t.text("to", rows.iter().map(|(flow, o)| plan.flows[*flow].to[o.ends[1] as usize] as u32), &plan.nodes);
    t.u64("bytes", rows.iter().map(|(_, o)| o.bytes));
    t.f64("asked_s", rows.iter().map(|(_, o)| o.requested.as_secs()));
    t.f64("answered_s", rows.iter().map(|(_, o)| seconds(o.answered)));
    t.f64("transferred_s", rows.iter().map(|(_, o)| seconds(o.transferred)));
    t.f64("delay_s", rows.iter().map(|(_, o)| o.transferred.map_or(f64::NAN, |end| end.since(o.requested).as_secs())));
    t.bool("complete", rows.iter().map(|(_, o)| o.transferred.is_some()));
    t.bool("measured", rows.iter().map(|(_, o)| o.transferred.is_some_and(|end| end >= warm)));
    Some(t)
}
