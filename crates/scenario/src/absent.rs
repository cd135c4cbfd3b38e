//! Laws that users know from elsewhere and that ecnlab lacks or names otherwise, each with the remedy.

use crate::synonyms::plain;

/// Names as [`plain`] returns them, a law that is valid wherever they could stand, and the remedy.
const ABSENT: &[(&[&str], &str, &str)] = &[
    (&["bbr2", "bbrv2"], "bbr3", "ecnlab has versions 1 and 3 of BBR: write `bbr` or `bbr3`"),
    (&["bbrv3"], "bbr3", "write `bbr3`"),
    (
        &[
            "bic", "cdg", "copa", "htcp", "hybla", "illinois", "lp", "nv", "pcc", "scream", "veno", "vivace",
            "westwood", "yeah",
        ],
        "cubic",
        "ecnlab does not have this window law; a law of your own is a class of Python: `ecnlab docs userlaws`",
    ),
    (&["ared", "adaptivered"], "red", "write `red`, whose table `adaptive` is Adaptive RED"),
    (&["wred"], "gred", "write `gred`, which has Linux's WRED as `average = \"all\"`"),
];

/// Prefixes of the modules of Linux: `tcp_cubic`, `sch_codel`.
const MODULES: [&str; 2] = ["tcp", "sch"];

/// Returns the remedy for `word`, the name of a law that is not one of the `valid` values; `None` if there is none.
pub(crate) fn remedy<S: AsRef<str>>(word: &str, valid: &[S]) -> Option<String> {
    let word = plain(word);
    let Some(name) = MODULES.iter().find_map(|prefix| word.strip_prefix(prefix)) else { return listed(&word, valid) };
    let law = valid.iter().map(AsRef::as_ref).find(|law| plain(law) == name);
    law.map(|law| format!("did you mean `{law}`?")).or_else(|| listed(name, valid))
}

/// The remedy of the table for a name in plain form.
fn listed<S: AsRef<str>>(name: &str, valid: &[S]) -> Option<String> {
    let is_valid = |law: &str| valid.iter().any(|one| one.as_ref() == law);
    let row = ABSENT.iter().find(|(absent, beside, _)| absent.contains(&name) && is_valid(beside));
    row.map(|(.., remedy)| (*remedy).to_owned())
}
