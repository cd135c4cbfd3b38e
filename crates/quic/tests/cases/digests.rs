//! The same seed gives the same datagrams.

use std::cell::RefCell;
use std::process::Command;
use std::rc::Rc;

use ecnlab_base::Dur;
use ecnlab_quic::{Congestion, Crypto, Settings};

use super::link::{Link, ms, usual};

/// Name of the test that prints digests for another process.
const PRINTS: &str = "cases::digests::prints_digests";

fn link(congestion: Congestion, seed: u64) -> Link {
    link_with(Settings { congestion, ..usual() }, seed)
}

/// A transfer and a transaction, with marks.
fn link_with(settings: Settings, seed: u64) -> Link {
    let mut link = Link::new([&settings, &settings], seed).marking(Dur::from_ms(5));
    link.response = 100_000;
    link.open(&[1_000_000, 1_000]);
    link
}

/// Digests with CUBIC and with another controller.
fn digests(seed: u64) -> [u64; 2] {
    [Congestion::Cubic, crate::OTHER].map(|congestion| digest(congestion, seed))
}

fn digest(congestion: Congestion, seed: u64) -> u64 {
    let mut link = link(congestion, seed);
    link.run(ms(1_000));
    link.digest()
}

#[test]
#[ignore = "the next test runs it in another process"]
fn prints_digests() {
    println!("digests {:?} {:?}", digests(1), digests(2));
}

#[test]
fn the_datagrams_are_those_of_the_seed_in_any_process() {
    let [one, two] = [digests(1), digests(2)];
    assert!(one[0] != two[0] && one[1] != two[1]);
    let program = std::env::current_exe().expect("the test has a path");
    let other = Command::new(program).args(["--exact", PRINTS, "--ignored", "--nocapture"]).output().expect("it runs");
    let text = String::from_utf8(other.stdout).expect("text");
    assert!(text.contains(&format!("digests {one:?} {two:?}")), "{text}");
}

#[test]
fn connections_that_interleave_do_not_affect_each_other() {
    let mut links = [link(Congestion::Cubic, 1), link(crate::OTHER, 2)];
    for step in 1..=1_000 {
        links.iter_mut().for_each(|link| link.run(ms(step)));
    }
    assert_eq!(links.map(|link| link.digest()), [digest(Congestion::Cubic, 1), digest(crate::OTHER, 2)]);
}

#[test]
fn without_crypto_times_sizes_and_codepoints_are_the_same() {
    let [tls, null] = [Crypto::Tls, Crypto::Null].map(|crypto| {
        let sent = Rc::new(RefCell::new(Vec::new()));
        let log = sent.clone();
        let mut link = link_with(Settings { crypto, ..usual() }, 3).rule(move |datagram| {
            log.borrow_mut().push((datagram.from, datagram.at, datagram.ecn, datagram.size));
            true
        });
        link.run(ms(10_000));
        let secrets = link.ends[0].take_secrets().len();
        (sent.take(), link.events.clone(), link.stats(), secrets > 0, link.digest())
    });
    assert!(tls.0.len() > 1_000 && tls.2[0].ecn_events > Some(0));
    assert_eq!((&null.0, &null.1, &null.2), (&tls.0, &tls.1, &tls.2));
    assert_eq!((null.3, tls.3), (false, true));
    assert_ne!(null.4, tls.4, "the bytes differ");
}
