//! Each check fails on the mistake that it is meant for, and citations are read as people write them.

use std::path::Path;

use super::check::{Evidence, Script};
use super::citation::{cited, in_source};
use super::record::{Rfc, levels};

const RECORD: &str = r#"
title = "A title"
[[rule]]
section = "6.1"
quote = """A sender MUST
  do this."""
tests = ["a/script"]
[[exception]]
section = "7"
quote = "A receiver MAY do that."
reason = "Not simulated."
"#;

/// The rule once more.
const AGAIN: &str = r#"
[[rule]]
section = "6.1"
quote = "A sender MUST do this."
tests = ["a/script"]
"#;

/// Contradictions of a record, a script's source and a source file's text.
fn contradictions(record: &str, source: &str, code: &str) -> Vec<String> {
    let evidence = Evidence {
        records: [(3168, Rfc::parse(record).expect("a record"))].into(),
        scripts: vec![Script { name: "a/script".to_owned(), source: source.to_owned() }],
        sources: in_source(code).into_iter().map(|(c, line)| (c, format!("x.rs:{line}"))).collect(),
        repository: Path::new(super::REPOSITORY),
    };
    evidence.contradictions()
}

fn sections(text: &str, default: Option<u32>) -> Vec<(u32, String)> {
    cited(text, default).into_iter().collect()
}

fn expected(sections: &[(u32, &str)]) -> Vec<(u32, String)> {
    sections.iter().map(|&(rfc, section)| (rfc, section.to_owned())).collect()
}

#[test]
fn records_that_agree_have_no_contradiction() {
    let code = "// RFC 3168 §7: not done.\n";
    assert_eq!(contradictions(RECORD, "RFC 3168 §6.1", code), Vec::<String>::new());
    let departs = RECORD.replacen("A receiver MAY do that.", "A sender MUST do this.", 1);
    assert_eq!(contradictions(&departs, "RFC 3168 §6.1", code), Vec::<String>::new());
    for end in [":", ";"] {
        let goes_on = RECORD.replacen("do this.", &format!("do this{end}"), 1);
        assert_eq!(contradictions(&goes_on, "RFC 3168 §6.1", code), Vec::<String>::new());
    }
}

#[test]
fn each_mistake_is_named() {
    let source = "RFC 3168 §6.1";
    let changed = |from: &str, to: &str| contradictions(&RECORD.replacen(from, to, 1), source, "");
    let cases = [
        (changed("a/script", "b/script"), "there is no script b/script"),
        (changed("a/script", "crates/tcp/tests/rfcs/checks.rs::not_there"), "there is no test"),
        (changed("[\"a/script\"]", "[]"), "no test"),
        (changed("section = \"6.1\"", "section = \"6.2\""), "does not cite the section"),
        (changed("section = \"7\"", "section = \"seven\""), "the section is not a number"),
        (changed("do this.", "do this"), "not one whole sentence"),
        (changed("do this.", "do this. It MUST."), "not one whole sentence"),
        (
            contradictions(&format!("{RECORD}{AGAIN}"), source, ""),
            "RFC 3168 §6.1, \"A sender MUST do this. ...\": quoted twice",
        ),
        (changed("Not simulated.", " "), "no reason"),
        (contradictions(RECORD, "RFC 3168 §6.1, §7", ""), "script a/script cites RFC 3168 §7"),
        (contradictions(RECORD, source, "\n// RFC 3168\n// §9\n"), "x.rs:2: RFC 3168 §9 has no quote"),
        (contradictions(RECORD, "RFC 3168 §6.1; RFC 5681 §2", ""), "RFC 5681 is cited by section"),
        (contradictions(RECORD, source, "// RFC 5681 §2\n"), "RFC 5681 is cited by section"),
    ];
    for (found, message) in cases {
        assert!(found.iter().any(|f| f.contains(message)), "{message}: {found:?}");
    }
}

#[test]
fn a_rust_test_is_found_by_file_and_name() {
    let record =
        RECORD.replacen("a/script\"", "a/script\", \"crates/tcp/tests/rfcs/checks.rs::each_mistake_is_named\"", 1);
    assert_eq!(contradictions(&record, "RFC 3168 §6.1", ""), Vec::<String>::new());
}

#[test]
fn sections_belong_to_the_rfc_before_them() {
    let source = "Kwon 2002 §2; RFC 3168 §6.1.2, §6.1.5 (new); RFC 9768 appendix A.2; Akujobi et al. 2003 §IV-B, §3";
    assert_eq!(sections(source, None), expected(&[(3168, "6.1.2"), (3168, "6.1.5"), (9768, "A.2")]));
    assert_eq!(sections("§3.2 as in RFC 3168 section 6.1.2.", Some(8257)), expected(&[(3168, "6.1.2"), (8257, "3.2")]));
    assert_eq!(
        sections("RFC 3168 §6.1.4 to §6.1.6", None),
        expected(&[(3168, "6.1.4"), (3168, "6.1.5"), (3168, "6.1.6")])
    );
    assert_eq!(sections("RFC 3168; RFCs; pcapng §4.2", None), expected(&[]));
}

#[test]
fn a_comment_of_several_lines_is_one_text() {
    let code = "//! Of RFC 8257.\n/// RFC 3168\n/// §6.1.2\nfn f() {}\n// §3.2\nlet x = 1; // §3.3\n";
    let found: Vec<(u32, String, usize)> = in_source(code).into_iter().map(|((rfc, s), line)| (rfc, s, line)).collect();
    let there = [(3168, "6.1.2".to_owned(), 1), (8257, "3.2".to_owned(), 5), (8257, "3.3".to_owned(), 6)];
    assert_eq!(found, there);
}

#[test]
fn levels_are_the_key_words_of_a_sentence() {
    assert_eq!(levels("It MUST NOT do this, and SHOULD do that (it MAY)."), "MUST NOT, SHOULD, MAY");
    assert_eq!(levels("It is RECOMMENDED, and that is NOT RECOMMENDED."), "RECOMMENDED, NOT RECOMMENDED");
    assert_eq!(levels("It must do this."), "none");
}
