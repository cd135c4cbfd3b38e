//! The paths of a run: those of its flows, and those back to senders from routers and boxes on their way.

use crate::error::Error;
use crate::flow::{Flow, Ways};
use crate::link::Link;
use crate::paths::Paths;
use crate::plan::{BoxPlan, FlowPlan, Plan};

/// Computes the paths between the ends of a flow; `paths` then holds them.
pub(super) fn ways(plan: &Plan, flow: &FlowPlan, paths: &mut Paths) -> Result<Ways, Error> {
    let mut path = |from, to| paths.first(from, to).ok_or_else(|| no_route(plan, flow, from, to));
    let pairs = flow.from.iter().flat_map(|&from| flow.to.iter().map(move |&to| (from, to)));
    let first_links = pairs.map(|(from, to)| Ok([path(from, to)?, path(to, from)?])).collect::<Result<_, Error>>()?;
    let nodes = [&flow.from, &flow.to].map(|nodes| nodes.iter().map(|&node| node as u32).collect());
    Ok(Ways { nodes, first_links })
}

fn no_route(plan: &Plan, flow: &FlowPlan, from: usize, to: usize) -> Error {
    Error::NoRoute { flow: flow.name.clone(), from: plan.nodes[from].clone(), to: plan.nodes[to].clone() }
}

/// Adds routes from routers that send source quenches, and from boxes that reset, to each sender whose packets pass
/// them.
pub(super) fn learn_ways_back(plan: &Plan, links: &[Link], flows: &[Flow], paths: &mut Paths) -> Result<(), Error> {
    let speakers = |link: u32| {
        let (link, plan) = (&links[link as usize], &plan.links[link as usize]);
        let resets = plan.boxes.iter().any(BoxPlan::resets);
        [link.queue().speaks_back().then_some(plan.from), resets.then_some(plan.to)].into_iter().flatten()
    };
    if (0..links.len() as u32).all(|link| speakers(link).next().is_none()) {
        return Ok(());
    }
    for (flow, planned) in flows.iter().zip(&plan.flows) {
        for (first_link, [sender, receiver]) in flow.paths() {
            let path: Vec<u32> = paths.path(first_link, receiver as usize).collect();
            for router in path.into_iter().flat_map(speakers) {
                if !paths.know(router, sender as usize) {
                    return Err(no_route(plan, planned, router, sender as usize));
                }
            }
        }
    }
    Ok(())
}
