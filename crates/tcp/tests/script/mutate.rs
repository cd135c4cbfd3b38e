//! A script must be able to fail: each of its claims, falsified, has to be caught.

use ecnlab_base::{Dur, Time};
use ecnlab_wire::{AccEcn, Ecn, Flags};

use ecnlab_script::segment::{Described, Options};
use ecnlab_script::{Action, Case, Failure, Place};

/// A case with one claim falsified.
pub struct Mutant {
    pub case: Case,
    what: &'static str,
    place: Place,
}

impl Mutant {
    /// The failure to report when the falsified case still runs through.
    pub fn survived(&self) -> Failure {
        Failure::new(&self.place, format!("the script still holds with a wrong {} in this line", self.what))
    }
}

/// Every falsification of every claim of the case.
pub fn claims(case: &Case) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for (i, step) in case.steps.iter().enumerate() {
        let mut falsify = |what, at: Time, action| {
            let mut mutant = case.clone();
            (mutant.steps[i].at, mutant.steps[i].action) = (at, action);
            mutants.push(Mutant { case: mutant, what, place: step.place.clone() });
        };
        match &step.action {
            Action::Expect(segment) => {
                falsify("time", step.at + Dur::from_ps(1), step.action.clone());
                for (what, wrong) in wrong_segments(segment) {
                    falsify(what, step.at, Action::Expect(wrong));
                }
            }
            Action::Check { name, value } => {
                let wrong = Action::Check { name: name.clone(), value: format!("{value}0") };
                falsify("value", step.at, wrong);
            }
            _ => {}
        }
    }
    mutants
}

fn wrong_segments(right: &Described) -> Vec<(&'static str, Described)> {
    let codepoint = if right.ecn == Ecn::NotEct { Ecn::Ect0 } else { Ecn::NotEct };
    let mut wrong = vec![
        ("sequence number", Described { seq: right.seq + 1, ..right.clone() }),
        ("length", Described { len: right.len + 1, ..right.clone() }),
        ("ECE", Described { flags: right.flags ^ Flags::ECE, ..right.clone() }),
        ("CWR", Described { flags: right.flags ^ Flags::CWR, ..right.clone() }),
        ("AE", Described { flags: right.flags ^ Flags::AE, ..right.clone() }),
        ("FIN", Described { flags: right.flags ^ Flags::FIN, ..right.clone() }),
        ("codepoint", Described { ecn: codepoint, ..right.clone() }),
    ];
    wrong.extend(right.ack.map(|ack| ("ack", Described { ack: Some(ack + 1), ..right.clone() })));
    wrong.extend(right.window.map(|window| ("window", Described { window: Some(window ^ 1), ..right.clone() })));
    if let Some(options) = &right.options {
        let with = |change: fn(&mut Options)| {
            let mut options = options.clone();
            change(&mut options);
            Described { options: Some(options), ..right.clone() }
        };
        wrong.push(("SACK block", with(|o| o.sack.push((1, 2)))));
        wrong.push(("AccECN option", with(|o| o.acc_ecn = Some(AccEcn::new(o.acc_ecn.is_none(), &[7, 7, 7])))));
    }
    wrong
}
