//! A script must be able to fail: each of its claims, falsified, has to be caught.

use ecnlab_base::{Dur, Time};
use ecnlab_wire::{AccEcn, Ecn, Flags};

use ecnlab_script::segment::{Described, Options};
use ecnlab_script::{Action, Step};

/// Every falsification of every claim of a line, each with the name of what is wrong.
pub fn claims(step: &Step) -> Vec<(&'static str, Step)> {
    let falsified = |at: Time, action| Step { at, action, place: step.place.clone() };
    match &step.action {
        Action::Expect(segment) => {
            let late = ("time", falsified(step.at + Dur::from_ps(1), step.action.clone()));
            let wrong = wrong_segments(segment).into_iter();
            let wrong = wrong.map(|(what, wrong)| (what, falsified(step.at, Action::Expect(wrong))));
            std::iter::once(late).chain(wrong).collect()
        }
        Action::Check { name, value } => {
            let wrong = Action::Check { name: name.clone(), value: format!("{value}0") };
            vec![("value", falsified(step.at, wrong))]
        }
        _ => Vec::new(),
    }
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
