//! Words that are not valid: what is proposed in their place, and how errors show them.

use std::collections::BTreeSet;

use ecnlab_scenario::registry::laws;
use ecnlab_scenario::{Diagnostic, law_remedy};

const NO_LAW: &str =
    "ecnlab does not have this window law; a law of your own is a class of Python: `ecnlab docs userlaws`";
const VERSIONS: &str = "ecnlab has versions 1 and 3 of BBR: write `bbr` or `bbr3`";
const ADAPTIVE: &str = "write `red`, whose table `adaptive` is Adaptive RED";

/// Names of laws that ecnlab lacks or names otherwise, and the remedies.
const ABSENT: &[(&[&str], &str)] = &[
    (&["bbr2", "bbrv2"], VERSIONS),
    (&["bbrv3"], "write `bbr3`"),
    (&["bic", "cdg", "copa", "htcp", "hybla", "illinois", "lp", "nv", "pcc", "scream", "veno", "vivace"], NO_LAW),
    (&["westwood", "yeah"], NO_LAW),
    (&["ared", "adaptivered"], ADAPTIVE),
    (&["wred"], "write `gred`, which has Linux's WRED as `average = \"all\"`"),
];

fn plain(word: &str) -> String {
    word.to_lowercase().replace(['_', '-', ' '], "")
}

#[test]
fn suggestions_forgive_a_third_of_the_letters() {
    let remedy = |word: &str, valid: &[&str]| law_remedy(word, valid).unwrap_or_default();
    let keys = ["min_th", "max_th", "weight"];
    assert_eq!(remedy("minth", &keys), "did you mean `min_th`?");
    assert_eq!(remedy("wieght", &keys), "did you mean `weight`?");
    for later in ["bbr2", "BBRv2", "bbr-v2", "tcp_bbr2"] {
        assert_eq!(remedy(later, &["bbr", "bbr3", "cubic"]), VERSIONS);
    }
    assert_eq!(remedy("BBRv3", &["bbr", "bbr3"]), "write `bbr3`");
    assert_eq!(remedy("bbr2", &["bbr", "cubic"]), "did you mean `bbr`?");
    assert_eq!(remedy("bbr1", &["bbr", "cubic"]), "did you mean `bbr`?");
    assert_eq!(remedy("c", &["a", "b"]), "");
    assert_eq!(remedy("colour", &keys), "");
    assert_eq!(remedy(&"x".repeat(2_000), &["min_th"]), "");
    assert_eq!(law_remedy("x", &[""; 0]), None);
}

#[test]
fn absent_names_are_found_and_no_law_has_them() {
    let there: Vec<&str> = laws().iter().map(|law| law.name).collect();
    for (names, expected) in ABSENT {
        for name in *names {
            assert!(there.iter().all(|law| plain(law) != *name), "{name}");
            assert_eq!(law_remedy(name, &there).as_deref(), Some(*expected));
            assert_eq!(law_remedy(&format!("TCP_{name}"), &there).as_deref(), Some(*expected));
            assert_eq!(law_remedy(name, &["host"]), None);
        }
    }
}

#[test]
fn modules_of_linux_have_the_names_of_their_laws() {
    let valid = ["bbr", "cubic", "fq_codel"];
    assert_eq!(law_remedy("tcp_bbr", &valid).unwrap(), "did you mean `bbr`?");
    assert_eq!(law_remedy("sch_fq_codel", &valid).unwrap(), "did you mean `fq_codel`?");
    assert_eq!(law_remedy("sch_cake", &valid), None);
    assert_eq!(law_remedy("tcp", &valid), None);
}

/// Reads the rows in the source: a word that is not in plain form would never be found.
#[test]
fn every_synonym_applies_where_its_meaning_is_the_only_valid_word() {
    let rows = include_str!("../src/synonyms.rs").lines().filter_map(|line| line.strip_prefix("    (\""));
    let rows: Vec<(&str, &str)> = rows
        .map(|row| {
            let (guessed, rest) = row.split_once("\", \"").expect("two words");
            (guessed, rest.split_once('"').expect("the end of the second").0)
        })
        .collect();
    for &(guessed, wanted) in &rows {
        let hint = law_remedy(guessed, &[wanted]).expect(guessed);
        assert!(hint.starts_with(&format!("did you mean `{wanted}`?")), "{hint}");
        let is_plain = guessed.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        assert!(is_plain, "`{guessed}` is never found: words are in lower case without separators");
    }
    assert!(rows.len() > 50, "{} rows are read", rows.len());
    assert_eq!(rows.iter().collect::<BTreeSet<_>>().len(), rows.len());
}

#[test]
fn a_word_is_read_by_its_place() {
    let of_link = law_remedy("Buffer", &["rate", "queue"]).unwrap();
    assert_eq!(of_link, "did you mean `queue`? it names a table [queue.NAME], whose `limit` is the buffer");
    assert!(law_remedy("buffer_size", &["limit", "discipline"]).unwrap().starts_with("did you mean `limit`?"));
    assert_eq!(law_remedy("buffer", &["sack", "receive_buffer"]).unwrap(), "did you mean `receive_buffer`?");
}

/// How an error at this column of a line is shown.
fn shown(message: &str, excerpt: &str, column: usize, width: usize) -> String {
    let (path, key, help, table) = Default::default();
    let (message, excerpt) = (message.to_owned(), excerpt.to_owned());
    Diagnostic { path, line: 1, column, key, message, help, excerpt, width, table }.to_string()
}

#[test]
fn of_a_long_line_the_part_around_the_place_is_shown() {
    let shown = |column: usize, width: usize, length: usize| shown("", &"x".repeat(length), column, width);
    let (x120, carets) = ("x".repeat(120), |from: usize, n: usize| " ".repeat(from) + &"^".repeat(n));
    assert_eq!(shown(3, 2, 120), format!(":1:3: \n  1 | {x120}\n    | {}", carets(2, 2)));
    assert_eq!(shown(3, 2, 121), format!(":1:3: \n  1 | {x120}…\n    | {}", carets(2, 2)));
    assert_eq!(shown(3, 5000, 4000), format!(":1:3: \n  1 | {x120}…\n    | {}", carets(2, 118)));
    assert_eq!(shown(301, 5, 4000), format!(":1:301: \n  1 | …{x120}…\n    | {}", carets(41, 5)));
    assert_eq!(shown(301, 5, 310), format!(":1:301: \n  1 | …{}\n    | {}", "x".repeat(50), carets(41, 5)));
}

#[test]
fn what_a_terminal_would_obey_is_written_out() {
    let first = |message: &str| shown(message, "", 1, 1).lines().next().unwrap_or_default().to_owned();
    assert_eq!(first("a\x1b[2Jb\u{9b}\u{202e}c\r"), ":1:1: a\\x1b[2Jb\\x9b\\u{202e}c\\x0d");
    assert_eq!(first("größe\tµ = 1"), ":1:1: größe\tµ = 1");
}
