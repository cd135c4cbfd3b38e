//! The same seed gives the same datagrams.

use std::process::Command;

use ecnlab_base::Dur;

use crate::link::{Link, ms, quinn};

/// Name of the test that prints digests for another process.
const PRINTS: &str = "digests::prints_digests";

fn link(seed: u64) -> Link {
    let mut link = Link::new([&quinn(), &quinn()], seed).marking(Dur::from_ms(5));
    link.response = 100_000;
    link.open(&[500_000, 1_000]);
    link
}

fn digest(seed: u64) -> u64 {
    let mut link = link(seed);
    link.run(ms(1_000));
    link.digest()
}

#[test]
#[ignore = "the next test runs it in another process"]
fn prints_digests() {
    println!("digest {} {}", digest(1), digest(2));
}

#[test]
fn the_datagrams_are_those_of_the_seed_in_any_process() {
    let [one, two] = [digest(1), digest(2)];
    assert_ne!(one, two);
    let program = std::env::current_exe().expect("the test has a path");
    let other = Command::new(program).args(["--exact", PRINTS, "--ignored", "--nocapture"]).output().expect("it runs");
    let text = String::from_utf8(other.stdout).expect("text");
    assert!(text.contains(&format!("digest {one} {two}")), "{text}");
}

#[test]
fn connections_that_interleave_do_not_affect_each_other() {
    let mut links = [link(1), link(2)];
    for step in 1..=1_000 {
        links.iter_mut().for_each(|link| link.run(ms(step)));
    }
    assert_eq!(links.map(|link| link.digest()), [digest(1), digest(2)]);
}
