//! The corpus and mutations of it, the same ones in every run: no target may panic, and none may hang.

use std::sync::mpsc;
use std::time::Duration;

use ecnlab_base::Rng;
use ecnlab_fuzz::{Input, TARGETS, Target, corpus, mutated, target};

/// Longest that one input may take: far more than any takes on a busy machine.
const HANG: Duration = Duration::from_secs(60);
/// Mutations of a target's corpus in a run of the tests.
const MUTATIONS: u64 = 1_000;

fn inputs(target: &Target) -> Vec<Input> {
    corpus(target).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// Runs inputs, each with what to call it, on another thread; a panic or a hang names the input.
fn all_pass(target: &'static Target, inputs: impl Iterator<Item = (String, Vec<u8>)> + Send + 'static) {
    let (send, results) = mpsc::channel();
    std::thread::spawn(move || {
        for (name, input) in inputs {
            if send.send(Some(name)).is_err() {
                return;
            }
            (target.run)(&input);
        }
        let _ = send.send(None);
    });
    let mut last = "nothing".to_owned();
    loop {
        match results.recv_timeout(HANG) {
            Ok(Some(name)) => last = name,
            Ok(None) => return,
            Err(error) => panic!("{}: {last}: it panicked, or took more than {HANG:?} ({error})", target.name),
        }
    }
}

/// The whole corpus, or the one input that `ECNLAB_FUZZ_INPUT` names.
fn replay(name: &str) {
    let target = target(name).unwrap();
    let mut inputs = inputs(target);
    if let Ok(only) = std::env::var("ECNLAB_FUZZ_INPUT") {
        inputs.retain(|input| input.name == only);
        assert!(!inputs.is_empty(), "{name} has no input {only:?}");
    }
    assert!(!inputs.is_empty(), "{name} has no corpus");
    let called = move |input: Input| {
        let again = format!("ECNLAB_FUZZ_INPUT={:?} cargo test -p ecnlab-fuzz {}::corpus", input.name, target.name);
        (format!("{} of {} (alone: {again})", input.name, input.from.display()), input.bytes)
    };
    all_pass(target, inputs.into_iter().map(called));
}

fn mutate(name: &str) {
    let target = target(name).unwrap();
    let inputs: Vec<Vec<u8>> = inputs(target).into_iter().map(|input| input.bytes).collect();
    let seeds = match std::env::var("ECNLAB_FUZZ_SEED") {
        Ok(seed) => seed.parse().map(|seed: u64| seed..seed + 1).expect("a number"),
        Err(_) => 0..MUTATIONS,
    };
    all_pass(
        target,
        seeds.map(move |seed| {
            let mut rng = Rng::named(seed, "fuzz");
            let mut pick = || inputs[rng.below(inputs.len() as u64) as usize].as_slice();
            let (input, other) = (pick(), pick());
            let again = format!("ECNLAB_FUZZ_SEED={seed} cargo test -p ecnlab-fuzz {}::mutations", target.name);
            (format!("a mutation (alone: {again})"), mutated(input, other, &mut rng))
        }),
    );
}

macro_rules! targets {
    ($($name:ident),+) => {
        $(mod $name {
            #[test]
            fn corpus() {
                super::replay(stringify!($name));
            }
            #[test]
            fn mutations() {
                super::mutate(stringify!($name));
            }
        })+
        const TESTED: &[&str] = &[$(stringify!($name)),+];
    };
}

targets!(scenario, experiment, simulation, filter, pcap, pcapng, options, headers, endpoint, pair, queue);

#[test]
fn every_target_is_tested() {
    assert_eq!(TARGETS.iter().map(|target| target.name).collect::<Vec<_>>(), TESTED);
}
