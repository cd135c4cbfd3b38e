//! The test language itself: every kind of claim can fail, and mistakes in a script are named with their line.

use crate::script;

use std::path::Path;
use std::sync::Arc;

use ecnlab_script::{Case, Failure, find, parse, parse_time, run, segment, settings, show_time};
use script::{mutate, rules};

const HEAD: &str = "rule r\nsource s\ninclude textbook\n";
/// Lines 4 to 11: a handshake, one segment, its retransmission.
const BODY: &str = "\
0.000 connect
      > S 0:0 win 65535 <mss 1460>
0.100 < S. 0:0 ack 1 win 65535 <mss 1000>
      > . 1:1 ack 1 <>
      write 1000
      > . 1:1001 ack 1
0.400 > . 1:1001 ack 1
      check timeouts 1 cwnd 1000 state ESTABLISHED ecn no rto 0.6
";

fn cases(text: &str) -> Result<Vec<Case>, Failure> {
    let root = Path::new("../../tests/data/scripts");
    parse::cases(&[root], "test", &parse::number_lines(Path::new("test.script"), text))
}

fn play(text: &str) -> Result<(), Failure> {
    cases(text)?.iter().try_for_each(run)
}

fn run(case: &Case) -> Result<(), Failure> {
    run::run(&Arc::new(settings::config(case)?), case)
}

/// Failure of the body with `right` replaced by `wrong`.
fn failure_of(right: &str, wrong: &str) -> String {
    assert!(BODY.contains(right), "{right}");
    let text = format!("{HEAD}{}", BODY.replacen(right, wrong, 1));
    play(&text).expect_err(wrong).to_string()
}

#[test]
fn a_right_script_holds() {
    play(&format!("{HEAD}{BODY}")).unwrap();
}

#[test]
fn each_part_of_an_expected_segment_is_compared() {
    let first = "> S 0:0 win 65535 <mss 1460>";
    for (right, wrong, named) in [
        (first, "> S. 0:0 ack 0 win 65535 <mss 1460>", "differs in flags, ack"),
        (first, "> S 0:0 win 65535 <mss 1460> ECE", "differs in flags"),
        (first, "> S 0:0 win 65535 <mss 1460> CWR", "differs in flags"),
        (first, "> S 1:1 win 65535 <mss 1460>", "differs in sequence range"),
        (first, "> S 0:0 win 65534 <mss 1460>", "differs in window"),
        (first, "> S 0:0 win 65535 <mss 1459>", "differs in options"),
        (first, "> S 0:0 win 65535 <mss 1460,sackOK>", "differs in options"),
        (first, "> S 0:0 win 65535 <mss 1460,wscale 0>", "differs in options"),
        (first, "> S 0:0 win 65535 <>", "differs in options"),
        (first, "> S 0:0 win 65535 <mss 1460> [ECT0]", "differs in ECN codepoint"),
        ("> . 1:1 ack 1 <>", "> . 1:1 ack 1 <TS>", "differs in options"),
        ("> . 1:1 ack 1 <>", "> . 1:1 ack 1 <sack 1:2>", "differs in options"),
        ("> . 1:1001 ack 1", "> . 1:1000 ack 1", "differs in sequence range"),
        ("> . 1:1001 ack 1", "> . 1:1001 ack 2", "differs in ack"),
        ("> . 1:1001 ack 1", "> P. 1:1001 ack 1 [CE]", "ECN codepoint"),
        ("0.400 > .", "0.400000000001 > .", "expected  0.400000000001 >"),
        ("0.400 > .", "0.300 > .", "the expected segment did not come"),
    ] {
        let failure = failure_of(right, wrong);
        assert!(failure.contains(named), "{wrong}: {failure}");
    }
}

#[test]
fn a_segment_too_many_fails() {
    let unexpected = "a segment came that no line expects";
    for (right, wrong) in [
        ("      > . 1:1 ack 1 <>\n", ""),
        ("      > . 1:1001 ack 1\n0", "0"),
        ("0.400 > . 1:1001 ack 1\n", "0.500 nothing\n"),
        ("0.400 > . 1:1001 ack 1\n", "0.500 write 1\n"),
    ] {
        let failure = failure_of(right, wrong);
        assert!(failure.contains(unexpected), "{wrong}: {failure}");
    }
    let failure = play(&format!("{HEAD}{BODY}abort\n")).unwrap_err().to_string();
    assert!(failure.contains("after the last line"), "{failure}");
}

#[test]
fn each_checked_value_is_compared() {
    for (right, wrong) in [
        ("timeouts 1", "timeouts 0"),
        ("cwnd 1000", "cwnd 1001"),
        ("state ESTABLISHED", "state CLOSED"),
        ("ecn no", "ecn yes"),
        ("rto 0.6", "rto 0.60001"),
    ] {
        let failure = failure_of(right, wrong);
        assert!(failure.contains("is not as written"), "{wrong}: {failure}");
    }
    assert!(failure_of("timeouts 1", "weather 1").contains("`weather` is nothing that can be checked"));
}

#[test]
fn a_failure_shows_the_line_and_what_travelled() {
    let failure = failure_of("0.400 > . 1:1001", "0.400 > . 1:1002");
    assert!(failure.contains("--> test.script:10\n"), "{failure}");
    assert!(failure.contains("10 | 0.400 > . 1:1002 ack 1\n"), "{failure}");
    assert!(failure.contains("0.100 < S. 0:0 ack 1 win 65535 <mss 1000>\n"), "{failure}");
}

#[test]
fn mistakes_are_named_with_their_line() {
    for (line, named) in [
        ("0.5 > Q 1:1", "`Q` in `Q` is no flag"),
        ("0.5 > . 5:1 ack 1", "`5:1` is an impossible range"),
        ("0.5 > . 1:5/0 ack 1", "is an impossible range"),
        ("0.5 > . 1:1", "come together"),
        ("0.5 > S 1:1 ack 1", "come together"),
        ("0.5 > . 1 ack 1", "is not `first:next`"),
        ("0.5 > . 1:1 ack x", "`ack x`: not a number"),
        ("0.5 < . 1:1 ack 1 win 65536", "`win 65536`: not a number that fits"),
        ("0.5 < . 1:1 ack 1 <mss 1", "`<` without `>`"),
        ("0.5 < . 1:1 ack 1 <mms 1>", "unknown option `mms 1`"),
        ("0.5 < . 1:1 ack 1 <mss 1 2>", "`2` is too much"),
        ("0.5 < . 1:1 ack 1 <TS van 2>", "`van` in a timestamp option"),
        ("0.5 < . 1:1 ack 1 ECR", "`ECR` is no part of a segment"),
        ("0.5 dance", "`dance` is no command"),
        ("0.5 close now", "`close` stands alone"),
        ("0.5 write much", "`much` is no number of bytes"),
        ("0.5 check cwnd", "`check NAME VALUE"),
        ("0.05 nothing", "lies before the line above"),
        ("0.x nothing", "`0.x` is not a time"),
        ("rule again", "this line stands once"),
        ("set cwnd 7", "`set KEY = VALUE`"),
        ("set cwnd = 7", "a TCP has no setting `cwnd`"),
        ("set ecn = rfc", "`ecn`: unknown variant `rfc`"),
        ("set min_rto = 5", "`min_rto`:"),
        ("include nothing-like-it", "nothing-like-it.inc"),
        ("each a 1 2", "`each NAME in VALUE"),
        ("each a,b in 1,2 3", "2 names but 1 values"),
        ("0.5 write $a", "a `$name` without its `each` line"),
    ] {
        let failure = play(&format!("{HEAD}{BODY}{line}\n")).expect_err(line).to_string();
        assert!(failure.contains(named), "{line}: {failure}");
        assert!(failure.contains("--> test.script:12\n"), "{line}: {failure}");
    }
    for missing in ["rule r\n", "source s\n"] {
        let failure = play(&format!("{}{BODY}", HEAD.replace(missing, ""))).unwrap_err();
        assert!(failure.message.contains("the script has no"), "{failure}");
    }
    assert!(play("rule r\nsource s\nprofile modern\n").unwrap_err().message.contains("does nothing"));
    let failure = play("rule r\nsource s\nprofile vms\n0 connect\n").unwrap_err();
    assert!(failure.message.contains("no profile is called `vms`"), "{failure}");
    let failure = play(&format!("{HEAD}0 write 5\n")).unwrap_err();
    assert!(failure.message.contains("no `connect` or `listen`"), "{failure}");
}

#[test]
fn each_line_multiplies_and_names_the_variants() {
    let text = format!("{HEAD}each a,b in 1,2 3,4\neach c in x -\n0 connect\n0.5 check $a$b $c.\n");
    let cases = cases(&text).unwrap();
    let names: Vec<_> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["test [a=1 b=2 c=x]", "test [a=1 b=2 c=-]", "test [a=3 b=4 c=x]", "test [a=3 b=4 c=-]"]);
    assert_eq!(cases[0].steps[1].place.text, "0.5 check 12 x.");
    assert_eq!(cases[3].steps[1].place.text, "0.5 check 34 .");
}

#[test]
fn a_mutant_is_made_of_every_claim() {
    let case = &cases(&format!("{HEAD}{BODY}")).unwrap()[0];
    let with = |i: usize, step| {
        let mut mutant = case.clone();
        mutant.steps[i] = step;
        mutant
    };
    let of_step = |(i, step)| mutate::claims(step).into_iter().map(move |(what, step)| (what, with(i, step)));
    let mutants: Vec<(&str, Case)> = case.steps.iter().enumerate().flat_map(of_step).collect();
    // SYN: time, seq, length, four flags, codepoint, window, SACK, AccECN; the bare ACK the same with ack for window;
    // each data segment time, seq, length, four flags, codepoint, ack; five values.
    assert_eq!(mutants.len(), 11 + 11 + 9 + 9 + 5);
    for (what, mutant) in &mutants {
        assert!(run(mutant).is_err(), "{what}");
    }
}

#[test]
fn segments_print_as_they_are_read() {
    for text in [
        "S 0:0 win 65535 <mss 1460,wscale 7,sackOK,TS val 1 ecr 0> ECE CWR",
        "S. 0:0 ack 1 ECE",
        "FP. 1:1461 ack 1 [ECT0]",
        ". 1:1 ack 9 <sack 11:21 31:41> [CE]",
        "R 1:1 <TS ecr 5> [ECT1]",
    ] {
        let read = segment::parse(text).unwrap();
        assert_eq!(read.len(), 1);
        assert_eq!(read[0].to_string(), text);
    }
}

#[test]
fn trains_and_repetitions_expand() {
    let train: Vec<_> = segment::parse(". 1:2501/1000 ack 1").unwrap().iter().map(|s| (s.seq, s.len)).collect();
    assert_eq!(train, [(1, 1000), (1001, 1000), (2001, 500)]);
    assert_eq!(segment::parse(". 1:1 ack 1 x3").unwrap().len(), 3);
    assert_eq!(segment::parse(". 1:1 ack 1 x0").unwrap().len(), 0);
}

#[test]
fn times_are_exact() {
    for (text, ps) in [("0", 0), ("1.5", 1_500_000_000_000), ("0.000000000001", 1)] {
        assert_eq!(parse_time(text).unwrap().ps(), ps);
    }
    for text in ["", ".5", "1.0000000000001", "-1", "1e3", "99999999"] {
        assert_eq!(parse_time(text), None, "{text}");
    }
    assert_eq!(show_time(parse_time("1.5").unwrap()), "1.500");
    assert_eq!(show_time(parse_time("0.6625").unwrap()), "0.6625");
}

#[test]
fn the_rules_page_has_one_line_a_script() {
    let root = Path::new("../../tests/data/scripts");
    let files = find(&root.join("ecn-negotiation")).unwrap();
    let cases: Vec<_> = files.iter().flat_map(|file| parse::read(&[root], file).unwrap()).collect();
    assert!(cases.len() > files.len(), "some have variants");
    let page = rules::page(&cases);
    assert_eq!(page.matches("| `ecn-negotiation/").count(), files.len());
    assert!(page.contains("| RFC 3168 §6.1.1.2 | `ecn-negotiation/reflected-flags` |\n"), "{page}");
}
