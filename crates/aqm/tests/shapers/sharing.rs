//! Hierarchies of classes, of `htb` and `cbq` alike.

use ecnlab_aqm::Config;

use super::bench::{droptail, refused, shaped, with_classes};

/// Classes "a" and "b" with these tables of `sharing`, which all have a rate.
fn shared(discipline: &str, classes: &[&str]) -> Config {
    let tables: Vec<String> = classes.iter().map(|class| format!("[sharing.{class}\nrate = \"1 Mbps\"")).collect();
    with_classes(shaped(discipline, &tables.join("\n")), droptail(), droptail())
}

/// The same key for both disciplines.
fn both_refuse(classes: &[&str]) -> Option<String> {
    let [htb, cbq] = ["htb", "cbq"].map(|discipline| refused(&shared(discipline, classes)));
    assert_eq!(htb, cbq);
    htb
}

#[test]
fn every_queue_has_a_rate_and_every_other_class_lends() {
    assert_eq!(both_refuse(&["a]", "b]"]), None);
    assert_eq!(both_refuse(&["a]"]).as_deref(), Some("class.b"));
    assert_eq!(both_refuse(&["a]", "b]", "c]"]).as_deref(), Some("sharing.c"));
    assert_eq!(both_refuse(&["a]", "b]\nparent = \"c\"", "c]"]), None);
}

#[test]
fn who_lends_is_a_class_without_a_queue() {
    assert_eq!(both_refuse(&["a]", "b]\nparent = \"c\""]).as_deref(), Some("sharing.b.parent"));
    assert_eq!(both_refuse(&["a]", "b]\nparent = \"a\""]).as_deref(), Some("sharing.b.parent"));
}

#[test]
fn there_are_eight_priorities() {
    assert_eq!(both_refuse(&["a]", "b]\npriority = 7"]), None);
    assert_eq!(both_refuse(&["a]", "b]\npriority = 8"]).as_deref(), Some("sharing.b.priority"));
}

#[test]
fn there_are_eight_classes_in_a_line() {
    // b, 2, 3 and so on: each is the parent of the one before.
    let line = |classes: usize| {
        let mut tables = vec!["a]".to_owned(), "b]\nparent = \"l2\"".to_owned()];
        tables.extend((2..classes).map(|i| format!("l{i}]\nparent = \"l{}\"", i + 1)));
        tables.push(format!("l{classes}]"));
        both_refuse(&tables.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert_eq!(line(8), None);
    // The leaf is at one end of the line, l9 at the other.
    assert_eq!(line(9).as_deref(), Some("sharing.b.parent"));
    let round = ["a]", "b]\nparent = \"c\"", "c]\nparent = \"d\"", "d]\nparent = \"c\""];
    assert_eq!(both_refuse(&round).as_deref(), Some("sharing.b.parent"));
}

#[test]
fn turns_are_stated_in_sharing() {
    for discipline in ["htb", "cbq"] {
        let mut config = shared(discipline, &["a]", "b]"]);
        config.classes.get_mut("a").unwrap().member.share = 2;
        assert_eq!(refused(&config).as_deref(), Some("class.a"), "{discipline}");
    }
}
