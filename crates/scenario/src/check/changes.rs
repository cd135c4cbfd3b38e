//! Checks of a link's changes.

use ecnlab_base::level::Level;
use ecnlab_base::varying::{MOST_STEPS, Varying};
use ecnlab_base::{Bytes, Dist, Dur};

use crate::aggregation::Aggregation;
use crate::file::Link;
use crate::findings::Findings;
use crate::outages::{Fate, Outages};
use crate::path::Path;
use crate::quantity::LinkRate;

/// Rejects impossible changes. `path` is the link's direction, `duration` the length of a run.
pub(crate) fn check(link: &Link, path: &Path, duration: Dur, found: &mut Findings<'_>) {
    if let Some(rate) = link.rate.varying() {
        check_steps(rate, &path.key("rate"), duration, found);
        let at = path.key("rate");
        let message = format!("`{at}` is 0 at all times");
        let is_read = rate.trace().is_none_or(|trace| trace.highest().is_some());
        found.unless(!is_read || rate.max().units() > 1, &at, message, "use a trace in which packets can leave");
    }
    if let Some(delay) = link.delay.varying() {
        check_steps(delay, &path.key("delay"), duration, found);
        let at = path.key("delay");
        let is_mahimahi = delay.trace().is_some_and(|trace| trace.key() == "mahimahi");
        found.unless(
            !is_mahimahi,
            &at,
            format!("`{at}` is a trace of Mahimahi"),
            "such traces are of rates only; use `csv`",
        );
    }
    if let Some(aggregation) = &link.aggregation {
        check_bursts(aggregation, link, path, found);
    }
    let Some(outages) = &link.outages else { return };
    let at = path.key("outages");
    if outages.packets == Fate::Held && link.rate == LinkRate::Unlimited {
        let message = format!("`{at}`: a link without a rate holds no packets");
        found.value(&at, message, "give it a rate, or write `packets = \"lost\"`");
    }
    match (&outages.up, &outages.down) {
        (None, None) => check_times(outages, &at, found),
        (Some(up), Some(down)) if outages.times.is_empty() => check_drawn(up, down, &at, duration, found),
        (Some(_), Some(_)) => {
            found.value(
                &at,
                format!("`{at}` has `times` and `up`"),
                "write the times, or the distributions `up` and `down`",
            );
        }
        _ => found.value(&at, format!("`{at}` has one of `up` and `down`"), "write both, or `times`"),
    }
}

fn check_steps<T: Level>(varying: &Varying<T>, at: &Path, duration: Dur, found: &mut Findings<'_>) {
    check_period(varying, at, found);
    let count = varying.count(duration);
    let message = format!("`{at}` has {count} steps in a run");
    found.unless(
        count <= MOST_STEPS as u64,
        at,
        message,
        format!("at most {MOST_STEPS} are possible: write a longer `step` or `every`"),
    );
}

/// `path` is the link's direction.
fn check_bursts(bursts: &Aggregation, link: &Link, path: &Path, found: &mut Findings<'_>) {
    let at = path.key("aggregation");
    if bursts.time.is_none() && bursts.bytes.is_none() && bursts.every.is_none() {
        found.value(&at, format!("`{at}` has no limit"), "write `time`, `bytes` or `every`");
    }
    for (key, time) in [("time", bursts.time), ("every", bursts.every)] {
        let at = at.key(key);
        found.unless(time.is_none_or(|time| !time.is_zero()), &at, format!("`{at}` is 0 s"), "write a longer time");
    }
    let bytes = at.key("bytes");
    found.unless(
        bursts.bytes != Some(Bytes(0)),
        &bytes,
        format!("`{bytes}` is 0 B"),
        "write at least a packet, such as \"1500 B\"",
    );
    let access = at.key("access");
    match bursts.access.max() {
        Some(max) => found.unless(
            max <= Dur::from_s(86_400),
            &access,
            format!("`{access}` can exceed 24 h"),
            "write at most 24 h",
        ),
        None => {
            found.value(&access, format!("`{access}` has no upper limit"), "write { uniform = [\"0 s\", \"2 ms\"] }")
        }
    }
    for (key, given) in [("jitter", link.jitter.is_some()), ("shaper", link.shaper.is_some())] {
        let message = format!("`{at}` and `{path}.{key}` cannot both hold");
        found.unless(!given, &at, message, "leave one of them out; `access` varies the times of bursts");
    }
}

/// Rejects a trace whose period ends before its last step.
fn check_period<T: Level>(varying: &Varying<T>, at: &Path, found: &mut Findings<'_>) {
    let at = at.key("every");
    if let Some((last, every)) = varying.beyond_period() {
        let message = format!("`{at}` is {every}, and the last step of the trace begins at {last}");
        found.value(&at, message, "write a longer time, or leave it out");
    }
}

fn check_times(outages: &Outages, at: &Path, found: &mut Findings<'_>) {
    let times = at.key("times");
    if outages.times.is_empty() {
        return found.value(at, format!("`{at}` has no outage"), "write such as `times = [[\"10 s\", \"500 ms\"]]`");
    }
    if let Some((start, _)) = outages.times.iter().find(|(_, length)| length.is_zero()) {
        return found.value(
            &times,
            format!("`{times}`: the outage at {start} has no length"),
            "write a time above 0 s",
        );
    }
    let overlap =
        outages.times.windows(2).find(|pair| pair[1].0.saturating_sub(pair[0].0) < pair[0].1 || pair[1].0 < pair[0].0);
    if let Some(pair) = overlap {
        let message = format!("`{times}`: the outage at {} is not over at {}", pair[0].0, pair[1].0);
        found.value(&times, message, "write outages in order, each after the end of the one before");
    }
}

fn check_drawn(up: &Dist<Dur>, down: &Dist<Dur>, at: &Path, duration: Dur, found: &mut Findings<'_>) {
    for (key, dist) in [("up", up), ("down", down)] {
        let at = at.key(key);
        let never = dist.max().is_some_and(|max| max.is_zero());
        found.unless(!never, &at, format!("`{at}` is always 0 s"), "write a longer time");
    }
    let count = duration.as_secs() / (up.mean().as_secs() + down.mean().as_secs());
    let message = format!("`{at}` has about {count:.0} outages in a run");
    found.unless(count <= MOST_STEPS as f64 / 4.0, at, message, "write a longer time for `up`");
}
