//! Our TCP and the kernel's, over a TUN device in a namespace of its own, with an impaired link between them.
//!
//! Each test carries `ECNLAB_LIVE_BYTES` bytes (2 MB by default) and needs to be root; where it is not, and with 0 bytes, it is ignored.
//! `python/tests/test_live_virtual.py` runs the same in the kernel of virtual time.

mod kernel;
mod probed;
mod routed;
mod stretch;
mod transfer;
mod window;

use ecnlab_trace::Negotiation;
use libtest_mimic::{Arguments, Failed, Trial};

use ecnlab_live::Role;
use transfer::{Case, Ecn, MARKING, Result, WAYS, Way, run};
use window::{Signal, windows};

fn main() {
    let mut arguments = Arguments::from_args();
    // Each waits for most of its time: two threads with 0.4 of a processor.
    arguments.test_threads.get_or_insert(3);
    libtest_mimic::run(&arguments, trials()).exit();
}

fn trials() -> Vec<Trial> {
    let cases = cases();
    let missing = transfer::missing();
    if let Some(why) = &missing {
        println!("ignored, since {why}");
    }
    let trial = |name: String, test: Box<dyn FnOnce() -> Result<()> + Send>| {
        Trial::test(name, || test().map_err(Failed::from)).with_ignored_flag(missing.is_some())
    };
    let transfers = cases.into_iter().map(|case| trial(case.name(), Box::new(move || prove(&case))));
    let others = [
        trial("alpha-beta".into(), Box::new(a_mark_costs_an_eighth)),
        trial("becn".into(), Box::new(routed::quenches_halve_the_window)),
    ];
    // The files of the scenario are not in the kernel of virtual time.
    let probe =
        (!transfer::in_virtual_time()).then(|| trial("probe".into(), Box::new(probed::every_box_is_classified)));
    transfers.chain(others).chain(probe).collect()
}

/// Both roles, ECN agreed on, refused by either, and off; data each way by itself and both ways at once.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for role in [Role::Client, Role::Server] {
        for ecn in [Ecn::Agreed, Ecn::Refused, Ecn::Off] {
            cases.extend(WAYS.map(|way| Case::new(role, ecn, way)));
        }
    }
    let plain = Case::new(Role::Client, Ecn::Agreed, Way::Both);
    cases.push(plain.with("sack", "false").with("recovery", "\"newreno\""));
    cases.push(plain.with("timestamps", "false"));
    cases.push(plain.with("window_scaling", "false").with("receive_buffer", "\"32 kB\""));
    cases.push(plain.with("congestion", "\"ecn-alpha-beta\""));
    cases.push(plain.profile("linux-2.0"));
    cases
}

fn prove(case: &Case) -> Result<()> {
    let done = run(case)?;
    let negotiation = done.connection.negotiation;
    let expected = match (case.ecn, case.role) {
        (Ecn::Agreed, _) => Negotiation::Accepted,
        // A SYN that requests ECN is refused.
        (Ecn::Refused, _) => Negotiation::Refused,
        (Ecn::Off, _) => Negotiation::NotOffered,
    };
    ensure(negotiation == expected, || format!("ECN was {}, not {}", negotiation.name(), expected.name()))?;
    ensure(done.outcome.ecn == (case.ecn == Ecn::Agreed), || "our endpoint sees that otherwise".into())?;
    done.sums_agree()?;
    done.wire_was_bad()?;
    done.marks_were_answered(case)?;
    let broken = done.violations_of_ours();
    ensure(broken.is_empty(), || format!("our endpoint broke rules: {}", broken.join("; ")))
}

/// ECN(alpha, beta) keeps 7/8 of its window, where Reno keeps half, and that once a round trip: seen on the packets that
/// the kernel's TCP receives.
fn a_mark_costs_an_eighth() -> Result<()> {
    let case = Case::new(Role::Client, Ecn::Agreed, Way::Up).with("congestion", "\"ecn-alpha-beta\"").wire(MARKING);
    let done = run(&case)?;
    done.sums_agree()?;
    let seen = windows(&done.capture, transfer::OURS, Signal::Echo)?;
    let counted = done.outcome.counters.ecn_reductions;
    let all = seen.notified;
    let [before, after]: [u64; 2] =
        [seen.reductions.iter().map(|r| r.before).sum(), seen.reductions.iter().map(|r| r.after).sum()];
    let kept = after as f64 / before as f64;
    transfer::report(|| format!("alpha-beta: {all} reductions, {kept:.3} of the window kept on average"));
    ensure(all > 0 && [counted, seen.cwr] == [all; 2], || format!("{all} reductions seen, {counted} counted"))?;
    ensure((kept - 0.875).abs() < 0.05, || format!("{kept} of the window kept: {:?}", seen.reductions))
}

fn ensure(holds: bool, why: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(why()) }
}
