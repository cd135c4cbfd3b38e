//! A refused combination of TCP settings is answered by all that is missing and a table that is accepted.

use crate::common::GOOD;

use ecnlab_scenario::registry::laws;
use ecnlab_scenario::{Diagnostics, parse_scenario};

/// `GOOD` with `table` as its TCP.
fn with_tcp(table: &str) -> String {
    GOOD.replacen("[tcp.mine]\necn = \"off\"", table, 1)
}

/// The table that a refusal proposes.
fn proposed(wrong: &Diagnostics) -> String {
    let tables: Vec<&String> = wrong.iter().map(|one| &one.table).filter(|table| !table.is_empty()).collect();
    assert_eq!(tables.len(), 1, "{wrong}");
    tables[0].clone()
}

/// Whether these settings together resolve every refused combination, in each profile, is tested in `crates/tcp/src/remedies.rs`.
#[test]
fn the_table_of_a_refusal_is_accepted_for_every_window_law_and_ecn_kind() {
    let names = |family| laws().into_iter().filter(move |law| law.family == family).map(|law| law.name);
    let kinds: Vec<&str> = names("ecn").chain(["off", ""]).collect();
    let (mut refused, mut all) = (0, 0);
    for profile in ["modern", "linux-2.0"] {
        // A user-defined law is an object of Python's.
        for law in names("congestion").filter(|law| *law != "user-defined") {
            for ecn in &kinds {
                let ecn = if ecn.is_empty() { String::new() } else { format!("ecn = \"{ecn}\"\n") };
                let table = format!("[tcp.mine]\nprofile = \"{profile}\"\n{ecn}congestion = \"{law}\"");
                all += 1;
                if let Err(wrong) = parse_scenario("x.toml", &with_tcp(&table)) {
                    refused += 1;
                    let better = proposed(&wrong);
                    assert!(better.contains(&format!("congestion = \"{law}\"")), "{better}");
                    parse_scenario("x.toml", &with_tcp(&better)).unwrap_or_else(|e| panic!("{table}\n{better}\n{e}"));
                }
            }
        }
    }
    assert!(refused > 50 && refused < all, "{refused} of {all}");
}

#[test]
fn one_message_lists_all_that_a_prague_sender_lacks() {
    let text = with_tcp("[tcp.mine]\ncongestion = \"prague\"");
    let wrong = parse_scenario("x.toml", &text).unwrap_err();
    let expected = "\
x.toml:14:1: `tcp.mine.dsack` must be true with ecn = \"accecn\" and sack = true (RFC 9768 §3.1.1)
  14 | [tcp.mine]
     | ^^^^^^^^^^
x.toml:14:1: `tcp.mine.recovery` must be \"linux-newreno\" or \"rack\" with congestion = \"prague\", which sets its window by itself
  14 | [tcp.mine]
     | ^^^^^^^^^^
x.toml:15:14: `tcp.mine.congestion` needs feedback that counts marks: ecn = \"dctcp\" or \"accecn\" or \"accecn-linux\", not \"off\"
  15 | congestion = \"prague\"
     |              ^^^^^^^^
  this table is accepted:
    [tcp.mine]
    congestion = \"prague\"
    dsack = true
    ecn = \"accecn\"
    recovery = \"rack\"";
    assert_eq!(wrong.to_string(), expected);
}

#[test]
fn a_value_that_is_impossible_by_itself_has_no_table() {
    let wrong = parse_scenario("x.toml", &with_tcp("[tcp.mine]\ncongestion = \"prague\"\nmss = \"1 B\"")).unwrap_err();
    assert!(wrong.iter().all(|one| one.table.is_empty()));
    let keys: Vec<&str> = wrong.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["tcp.mine.dsack", "tcp.mine.recovery", "tcp.mine.congestion", "tcp.mine.mss"]);
}

#[test]
fn the_profile_l4s_is_a_sender_for_l4s() {
    let text = with_tcp("[tcp.mine]\nprofile = \"l4s\"");
    parse_scenario("x.toml", &text).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn a_discipline_with_a_kind_is_shown_in_its_place() {
    let table =
        "[queue.red]\ndiscipline = \"red\"\nlimit = \"60 packets\"\nmin_th = \"5 packets\"\nmax_th = \"15 packets\"";
    assert!(GOOD.contains(table));
    let written = "[queue.red]\nlimit = \"60 packets\"\n\
        discipline = { kind = \"red\", min_th = \"5 packets\", max_th = \"15 packets\" }";
    let wrong = parse_scenario("x.toml", &GOOD.replacen(table, written, 1)).unwrap_err();
    assert!(wrong.to_string().contains("a discipline is a name, and its keys are keys of `queue.red`"), "{wrong}");
    let better = proposed(&wrong);
    assert!(better.starts_with("[queue.red]\ndiscipline = \"red\"\n"), "{better}");
    parse_scenario("x.toml", &GOOD.replacen(table, &better, 1)).unwrap_or_else(|e| panic!("{better}\n{e}"));
}
