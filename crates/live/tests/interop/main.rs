//! Our TCP and the kernel's, over a TUN device in a namespace of its own, with a bad wire between them.
//!
//! Each test carries `ECNLAB_LIVE_BYTES` bytes (2 MB unless said) and needs to be root; where it is not, it is ignored.
//! `python/tests/test_live_virtual.py` runs the same in the kernel of virtual time.

mod kernel;
mod stretch;
mod transfer;

use ecnlab_trace::Negotiation;
use libtest_mimic::{Arguments, Failed, Trial};

use transfer::{Case, Ecn, Result, WAYS, Way, run};

fn main() {
    let mut arguments = Arguments::from_args();
    // Each is two busy threads already.
    arguments.test_threads.get_or_insert(1);
    libtest_mimic::run(&arguments, trials()).exit();
}

fn trials() -> Vec<Trial> {
    let cases = cases();
    let missing = transfer::missing();
    if let Some(why) = &missing {
        println!("ignored, since {why}");
    }
    let trial = |case: Case| {
        Trial::test(case.name(), move || prove(&case).map_err(Failed::from)).with_ignored_flag(missing.is_some())
    };
    cases.into_iter().map(trial).collect()
}

/// Both roles, ECN agreed on, refused by either, and off; data each way by itself and both ways at once.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for role in [ecnlab_live::Role::Client, ecnlab_live::Role::Server] {
        for ecn in [Ecn::Agreed, Ecn::Refused, Ecn::Off] {
            cases.extend(WAYS.map(|way| Case::new(role, ecn, way)));
        }
    }
    let plain = Case::new(ecnlab_live::Role::Client, Ecn::Agreed, Way::Both);
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
        // Whose SYN asks, is refused.
        (Ecn::Refused, _) => Negotiation::Refused,
        (Ecn::Off, _) => Negotiation::NotOffered,
    };
    ensure(negotiation == expected, || format!("ECN was {}, not {}", negotiation.name(), expected.name()))?;
    ensure(done.heard.ecn == (case.ecn == Ecn::Agreed), || "our endpoint sees that otherwise".into())?;
    done.sums_agree()?;
    done.wire_was_bad()?;
    done.marks_were_answered(case)?;
    let broken = done.violations_of_ours();
    ensure(broken.is_empty(), || format!("our endpoint broke rules: {}", broken.join("; ")))
}

fn ensure(holds: bool, why: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(why()) }
}
