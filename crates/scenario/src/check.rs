//! Checks of a scenario beyond its types: existing names, ranges of values, paths of flows.

mod boxes;
mod captures;
mod changes;
mod ip;
mod quic;
mod reads;
mod tunnels;
mod wire;

use ecnlab_aqm as aqm;
use ecnlab_base::{Bytes, Dur};
use ecnlab_tcp as tcp;
use ecnlab_traffic::{Checked, Impossible, Params as Traffic};

use crate::diagnostic::{Diagnostic, suggest};
use crate::file::{Flow, Link};
use crate::findings::Findings;
use crate::layout::{self, Instance, Layout};
use crate::paste;
use crate::path::Path;
use crate::profile;
use crate::tables::Tables;
use crate::tree::Node;

/// The longest run: a picosecond clock in 64 bits lasts 213 days, and deadlines lie beyond the end.
const LONGEST: Dur = Dur::from_s(100 * 86_400);
/// The longest delay of a link; deadlines add several of them.
const LONGEST_DELAY: Dur = Dur::from_s(86_400);

/// Expands the arrays of a scenario and checks it.
pub(crate) fn check(tables: &Tables, tree: &Node) -> Result<Layout, Vec<Diagnostic>> {
    let mut found = Findings::of(tree);
    check_times(tables, &mut found);
    check_end(tables, &mut found);
    check_laws(tables, &mut found);
    let layout = Layout::of(tables, &mut found);
    for (name, link) in &tables.links {
        let path = Path::of(&["link", name]);
        check_link(&link.forward, &path, tables, &layout, &mut found);
        check_delay(&link.forward, &path, &mut found);
        if let Some(reverse) = &link.reverse {
            let path = path.key("reverse");
            check_link(reverse, &path, tables, &layout, &mut found);
            if link.own_delay {
                check_delay(reverse, &path, &mut found);
            }
        }
    }
    for (name, flow) in &tables.flows {
        check_flow(name, flow, tables, &mut found);
    }
    ip::check(tables, &mut found);
    captures::check(tables, &layout, &mut found);
    boxes::check(tables, &mut found);
    tunnels::check(tables, &mut found);
    if found.is_empty() {
        check_ways(tables, &layout, &mut found);
    }
    found.into_result(layout)
}

fn check_times(tables: &Tables, found: &mut Findings<'_>) {
    let head = &tables.head;
    let path = |key| Path::of(&[key]);
    if head.duration.is_zero() || head.duration > LONGEST {
        let message = format!("`duration` is {}", head.duration);
        return found.value(&path("duration"), message, "write more than 0 s, and at most 2400 h");
    }
    let message =
        format!("`warmup`, {}, is not before the end of the run (`duration`, {})", head.warmup, head.duration);
    found.unless(head.warmup < head.duration, &path("warmup"), message, "write a shorter warmup or a longer duration");
    if let Some(sample) = head.sample {
        let message = format!("`sample` is {sample}");
        found.unless(!sample.is_zero(), &path("sample"), message, "write an interval, such as \"100 ms\"");
    }
    let empty = tables.flows.values().all(|flow| flow.count == Some(0));
    found.unless(
        !empty,
        &path("flow"),
        "the scenario has no flow",
        "add a table [flow.NAME] with from, to and traffic",
    );
}

/// Checks that the flows of `end_after` can be complete.
fn check_end(tables: &Tables, found: &mut Findings<'_>) {
    let (path, known) = (Path::of(&["end_after"]), tables.flows.keys().collect::<Vec<_>>());
    for name in &tables.head.end_after {
        found.known(&path, "flow", name, &known);
        let endless = |flow: &Flow| !matches!(&flow.traffic, Traffic::Ftp(file) if file.size.is_some());
        let message = format!("`end_after`: `{name}` does not transfer one file");
        let help = format!("write traffic = {{ kind = \"ftp\", size = \"1 MB\" }} in [flow.{name}], or leave it out");
        found.unless(!tables.flows.get(name).is_some_and(endless), &path, message, help);
    }
}

/// Reports a value in `[queue.NAME]` that its law rejects.
fn refuse_queue(name: &str, e: &aqm::Impossible, found: &mut Findings<'_>) {
    let keys: Vec<&str> = ["queue", name].into_iter().chain(e.key.split('.')).collect();
    let path = Path::of(&keys);
    // Messages of laws have the form `problem: remedy`.
    let (message, help) = e.message.split_once(": ").or(e.message.split_once("; ")).unwrap_or((&e.message, ""));
    found.value(&path, format!("`{path}`: {message}"), help);
}

/// Runs the checks of the laws themselves.
fn check_laws(tables: &Tables, found: &mut Findings<'_>) {
    for (name, queue) in &tables.queues {
        if let Err(e) = queue.check() {
            refuse_queue(name, &e, found);
        }
        let groups: Vec<&str> = tables.flows.iter().map(|(name, flow)| flow.group.as_deref().unwrap_or(name)).collect();
        for (key, group) in queue.groups() {
            let path = Path::of(&["queue", name].into_iter().chain(key.split('.')).collect::<Vec<_>>());
            found.known(&path, "flow group", group, &groups);
        }
    }
    quic::check_settings(tables, found);
    for (name, tcp) in &tables.tcps {
        if let Some(refusal) = tcp.config.refusal() {
            refuse_tcp(name, &refusal, found);
        }
    }
}

/// Reports all problems of `[tcp.NAME]`, with the table that is accepted.
fn refuse_tcp(name: &str, refusal: &tcp::Refusal, found: &mut Findings<'_>) {
    let path = Path::of(&["tcp", name]);
    let problem = |problem: &tcp::Invalid| {
        let path = problem.key.split('.').fold(path.clone(), |path, key| path.key(key));
        let message = format!("`{path}` {}", problem.problem);
        (path, message)
    };
    let problems: Vec<_> = refusal.problems.iter().map(problem).collect();
    let accepted = (!refusal.remedies.is_empty()).then(|| paste::table(&path, found.node(&path), &refusal.remedies));
    found.table(&problems, accepted.unwrap_or_default());
}

fn check_link(link: &Link, path: &Path, tables: &Tables, layout: &Layout, found: &mut Findings<'_>) {
    found.known(&path.key("queue"), "queue", &link.queue, &tables.queues.keys().collect::<Vec<_>>());
    boxes::check_names(link, path, tables, found);
    tunnels::check_names(link, path, tables, found);
    let loss = path.key("loss");
    let message = format!("`{loss}` is {}, not a probability", link.loss);
    found.unless((0.0..=1.0).contains(&link.loss), &loss, message, "write a number from 0 to 1");
    if let Some(shaper) = &link.shaper {
        let at = path.key("shaper").key("rate");
        let slower = link.rate.most().is_none_or(|rate| shaper.rate < rate);
        found.unless(slower, &at, format!("`{at}`, {}, is not below the link's own rate", shaper.rate), "");
        let at = path.key("shaper").key("burst");
        found.unless(
            shaper.burst > Bytes(0),
            &at,
            format!("`{at}` is 0 B"),
            "write at least a packet, such as \"1500 B\"",
        );
    }
    let rate = link.shaper.as_ref().map(|shaper| shaper.rate).or(link.rate.most());
    if let (Some(queue), Some(rate)) = (tables.queues.get(&link.queue), rate)
        && queue.check().is_ok()
        && let Err(e) = queue.check_before(rate)
    {
        refuse_queue(&link.queue, &e, found);
    }
    wire::check(link.jitter.as_ref(), link.burst_loss.as_ref(), path, found);
    changes::check(link, path, tables.head.duration, found);
    for (key, list) in [("drop", &link.drop), ("mark", &link.mark)] {
        check_ordinals(list, &path.key(key), found);
    }
    for (key, lists) in [("drop_segments", &link.drop_segments), ("mark_segments", &link.mark_segments)] {
        for (flow, list) in lists {
            let at = path.key(key).key(flow);
            check_ordinals(list, &at, found);
            if !tables.flows.contains_key(flow) && layout.flows_called(flow).is_empty() {
                let names: Vec<&String> = tables.flows.keys().collect();
                found.key(&at, format!("`{at}`: there is no flow `{flow}`"), suggest(flow, &names, "flows"));
            }
        }
    }
}

fn check_delay(link: &Link, path: &Path, found: &mut Findings<'_>) {
    let delay = path.key("delay");
    match link.delay.max() {
        Some(max) => {
            found.unless(max <= LONGEST_DELAY, &delay, format!("`{delay}` is {max}"), "write at most 24 h");
        }
        None => {
            let message = format!("`{delay}` has no upper limit");
            found.value(&delay, message, "write a time, or { uniform = [\"1 ms\", \"5 ms\"] }");
        }
    }
}

fn check_ordinals(list: &[u64], path: &Path, found: &mut Findings<'_>) {
    if let Some(i) = list.iter().position(|n| *n == 0) {
        let at = path.index(i);
        found.value(&at, format!("`{at}` is 0"), "the first is number 1");
    }
}

fn check_flow(name: &str, flow: &Flow, tables: &Tables, found: &mut Findings<'_>) {
    let path = Path::of(&["flow", name]);
    let tcps: Vec<&String> = tables.tcps.keys().collect();
    for (key, name) in [("tcp", &flow.tcp), ("tcp_from", &flow.tcp_from), ("tcp_to", &flow.tcp_to)] {
        let Some(name) = name else { continue };
        let at = path.key(key);
        if !tables.tcps.contains_key(name) && profile::names().contains(&name.as_str()) {
            let help =
                format!("`{name}` is a profile: write a table [tcp.NAME] with profile = \"{name}\", and NAME here");
            found.value(&at, format!("`{at}`: there is no tcp `{name}`"), help);
        } else {
            found.known(&at, "tcp", name, &tcps);
        }
    }
    check_traffic(flow, &path, found);
    quic::check(flow, &path, tables, found);
    reads::check(flow, &path, found);
    let start = path.key("start");
    let (latest, end) = (flow.start.max().unwrap_or_default(), tables.head.duration);
    let message = format!("`{start}`, {latest}, is not before the end of the run, {end}");
    found.unless(latest < end || end.is_zero(), &start, message, "write an earlier start or a longer duration");
    check_stop(flow, &path, end, found);
    let group = path.key("group");
    // Result tables have the group `all` for all packets.
    let message = format!("`{group}` cannot be `all`, the name for all flows together");
    found.unless(flow.group.as_deref().unwrap_or(name) != "all", &group, message, "write another name");
}

/// Checks that a stop is after the start and before the `end` of the run for every possible draw.
fn check_stop(flow: &Flow, path: &Path, end: Dur, found: &mut Findings<'_>) {
    let Some(stop) = &flow.stop else { return };
    let (at, earliest) = (path.key("stop"), stop.min());
    let message = format!("`{at}`, {earliest}, is not before the end of the run, {end}, so it has no effect");
    found.unless(earliest < end || end.is_zero(), &at, message, "leave it out, or write an earlier one");
    match flow.start.max() {
        Some(latest) => {
            let message = format!("`{at}`, {earliest} at the earliest, is not after `start`, {latest} at the latest");
            found.unless(earliest > latest, &at, message, "write a later stop or an earlier start");
        }
        None => {
            let message = format!("`{at}`: a `start` without an upper limit may come after it");
            found.value(&at, message, "write the start as a time, or { uniform = [\"0 s\", \"1 s\"] }");
        }
    }
}

/// Checks the settings of the traffic, and that the flow has no settings that the traffic ignores.
fn check_traffic(flow: &Flow, path: &Path, found: &mut Findings<'_>) {
    if let Err(Impossible { key, message }) = flow.traffic.check() {
        let at = key.split('.').fold(path.key("traffic"), |at, key| at.key(key));
        let (message, help) = message.split_once("; ").unwrap_or((&message, ""));
        found.value(&at, format!("`{at}`: {message}"), help);
    }
    if flow.traffic.uses_tcp() {
        return;
    }
    for (key, tcp) in [("tcp", &flow.tcp), ("tcp_from", &flow.tcp_from), ("tcp_to", &flow.tcp_to)] {
        if tcp.is_some() {
            let at = path.key(key);
            let message = format!("`{at}`: traffic of the kind `{}` has no TCP", flow.traffic.name());
            found.key(&at, message, "leave it out");
        }
    }
}

/// Checks that data and ACKs have exactly one path each.
fn check_ways(tables: &Tables, layout: &Layout, found: &mut Findings<'_>) {
    let ways = layout.ways(tables);
    let island = layout::islands(layout.nodes.len(), ways.iter().map(|w| (w.from, w.to)));
    let apart = |flow| Instance::pairs(flow).find(|&(from, to)| island[from] != island[to]).map(|pair| (flow, pair));
    if let Some((flow, (from, to))) = layout.flows.iter().find_map(apart) {
        let (from, to) = (&layout.nodes[from], &layout.nodes[to]);
        let message = format!("flow `{}`: there is no path from `{from}` to `{to}` and back", flow.name);
        let help = "join them by links; data and ACKs need both directions";
        found.key(&Path::of(&["flow", &flow.table]), message, help);
    }
    if let Some((one, other)) = layout::parallel(&ways) {
        let message =
            format!("links `{}` and `{}` join the same nodes; a route uses only one of them", one.name, other.name);
        found.key(&Path::of(&["link", &other.link.table]), message, "put a node between, or make them one link");
    }
}
