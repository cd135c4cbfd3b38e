//! Small worlds: all placements of at most three losses, marks and late packets in a short transfer, through the endpoint
//! and the links of the engine. `docs/testing.md` lists the invariants.

mod case;
mod checks;
mod choices;
mod engine;
mod feedback;
mod replay;
mod world;

use crate::common;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use case::{BYTES, Case};
use checks::{Broken, Checks};
use choices::Choices;
use ecnlab_tcp::Config;
use ecnlab_tcp::registry::{EcnKind, RecoveryKind};
use world::{Fate, PLACES, World, run};

/// No ECN, and every feedback scheme.
const FEEDBACKS: &[EcnKind] = EcnKind::ALL;

/// Up to `most` events at the packets of one direction, each of `fates`.
fn events(choices: &mut Choices, most: usize, fates: &[Fate]) -> Vec<(usize, Fate)> {
    let (mut events, mut from) = (Vec::new(), 0);
    while events.len() < most && from < PLACES {
        let place = from + choices.pick(PLACES - from + 1);
        if place == PLACES {
            break;
        }
        events.push((place, fates[choices.pick(fates.len())]));
        from = place + 1;
    }
    events
}

/// Fates of data packets. Without ECN marks have no effect.
fn fates(feedback: EcnKind) -> &'static [Fate] {
    if feedback == EcnKind::Off { &[Fate::Lost, Fate::Late] } else { &[Fate::Lost, Fate::Late, Fate::Marked] }
}

/// Worlds with at most three events at the data packets, then those with at most three at the ACKs, which are Not-ECT.
fn three_events(feedback: EcnKind) -> Vec<World> {
    let (mut worlds, mut choices) = (Vec::new(), Choices::default());
    while choices.next_world() {
        worlds.push(World { data: events(&mut choices, 3, fates(feedback)), acks: Vec::new() });
    }
    let mut choices = Choices::default();
    while choices.next_world() {
        worlds.push(World { data: Vec::new(), acks: events(&mut choices, 3, fates(EcnKind::Off)) });
    }
    worlds
}

/// Worlds with at most one event of each kind or two marks at the data packets, and those with one event at the ACKs.
fn one_of_each(feedback: EcnKind) -> Vec<World> {
    let (mut worlds, mut choices) = (Vec::new(), Choices::default());
    while choices.next_world() {
        let mut data: Vec<_> = fates(feedback).iter().flat_map(|&fate| events(&mut choices, 1, &[fate])).collect();
        data.sort_by_key(|&(n, _)| n);
        if data.windows(2).all(|two| two[0].0 < two[1].0) {
            worlds.push(World { data, acks: Vec::new() });
        }
    }
    let mut choices = Choices::default();
    while feedback != EcnKind::Off && choices.next_world() {
        worlds.push(World { data: events(&mut choices, 2, &[Fate::Marked]), acks: Vec::new() });
    }
    let mut choices = Choices::default();
    while choices.next_world() {
        worlds.push(World { data: Vec::new(), acks: events(&mut choices, 1, fates(EcnKind::Off)) });
    }
    worlds
}

/// Runs one world.
fn check(case: &Case, config: &Arc<Config>, world: &World) -> Result<(), Broken> {
    let mut checks = Checks::new(case, world);
    let (end, ends) = run(world, config, BYTES, &mut checks);
    checks.finish(end, &ends, (world.data.len() + world.acks.len()) as u32)
}

/// Violations by invariant and case: their number, and the first one.
type Violations = BTreeMap<(&'static str, String), (usize, Case, World, String)>;

/// Runs the worlds of `cases` on two threads.
fn run_all(cases: &[Case], worlds: impl Fn(&Case) -> Vec<World> + Sync) -> (usize, Violations) {
    let (next, count, found) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Violations::new()));
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let config = case.config().expect("a case of laws that fit");
            for world in worlds(case) {
                count.fetch_add(1, Ordering::Relaxed);
                if let Err((name, what)) = check(case, &config, &world) {
                    let key = (
                        name,
                        format!("{} {} {} {}", case.profile, case.recovery.name(), case.law, case.feedback.name()),
                    );
                    let first = || (0, *case, world, what);
                    found.lock().expect("no panic").entry(key).or_insert_with(first).0 += 1;
                }
            }
        }
    };
    std::thread::scope(|threads| {
        threads.spawn(work);
        work();
    });
    (count.into_inner(), found.into_inner().expect("no panic"))
}

/// Prints the violations with a replay of the first one, and fails if there are any.
fn report(what: &str, (count, found): (usize, Violations)) {
    println!("{what}: {count} worlds");
    for ((name, case), (times, _, world, first)) in &found {
        println!("{name}: {times} worlds of {case}; {world:?}: {first}");
    }
    if let Some((_, case, world, _)) = found.values().next() {
        println!("\nThe first as a scenario:\n{}", replay::scenario(case, world));
        println!("The first as a script:\n{}", replay::script(case, world));
    }
    assert!(found.is_empty(), "{} invariants are broken", found.len());
}

#[test]
fn one_event_of_each_kind_breaks_no_invariant_of_the_default_laws() {
    use RecoveryKind::{NewReno, Rack, Sack};
    let cases = [NewReno, Sack, Rack].into_iter().flat_map(|recovery| {
        FEEDBACKS.iter().map(move |&feedback| Case { profile: "modern", feedback, recovery, law: "reno" })
    });
    let cases: Vec<_> = cases.collect();
    report("modern", run_all(&cases, |case| one_of_each(case.feedback)));
}

#[test]
#[ignore = "slow: make slow"]
fn three_events_break_no_invariant() {
    for profile in ["modern", "linux-7"] {
        report(profile, run_all(&case::all(profile, FEEDBACKS), |case| three_events(case.feedback)));
    }
}
