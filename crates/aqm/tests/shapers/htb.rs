//! `htb` against arithmetic done by hand.

use ecnlab_aqm::Config;

use super::bench::{Bench, droptail, marks_after_5_ms, near, refused, shaped, ten_seconds, with_c, with_classes};

pub fn htb(classes: &str) -> Config {
    with_classes(shaped("htb", classes), droptail(), droptail())
}

const BOTH: &str = "burst = \"1250 B\"\ncburst = \"1250 B\"\n";

#[test]
fn a_class_sends_while_it_owes_nothing() {
    // 2500 B, 125 B a millisecond: 0 (1250 left), 1 ms (125 left), 2 ms (1000 owed), 10 ms (1250 owed), 20 ms.
    let depth = "burst = \"2500 B\"\ncburst = \"2500 B\"";
    let keys = format!("[sharing.a]\nrate = \"1 Mbps\"\n{depth}\n[sharing.b]\nrate = \"1 Mbps\"\n{depth}");
    let mut bench = Bench::new(&htb(&keys));
    bench.put(0, 5, 0);
    assert_eq!(bench.times(40), [0, 1, 2, 10, 20]);
}

#[test]
fn a_class_borrows_up_to_its_ceiling() {
    // 0: own 0 left, ceiling 0 left. 1 ms: own 125, ceiling 250: it sends; own 1125 owed, ceiling 1000 owed, which are 4 ms.
    // 5 ms: own 625 owed, so it borrows; ceiling 1250 owed, which are 5 ms. 10 ms: own is 0, and pays. 15 ms: it borrows.
    let keys = format!(
        "[sharing.link]\nrate = \"5 Mbps\"\n{BOTH}[sharing.a]\nrate = \"1 Mbps\"\nceil = \"2 Mbps\"\nparent = \"link\"\n{BOTH}\
         [sharing.b]\nrate = \"1 Mbps\"\nparent = \"link\"\n{BOTH}"
    );
    let mut bench = Bench::new(&htb(&keys));
    bench.put(0, 6, 0);
    assert_eq!(bench.times(40), [0, 1, 5, 10, 15, 20]);
}

pub fn family(a: &str, b: &str) -> String {
    format!(
        "[sharing.link]\nrate = \"8 Mbps\"\n[sharing.a]\nrate = \"1 Mbps\"\nceil = \"8 Mbps\"\nparent = \"link\"\n{a}\n\
         [sharing.b]\nrate = \"3 Mbps\"\nceil = \"8 Mbps\"\nparent = \"link\"\n{b}\n"
    )
}

#[test]
#[ignore = "slow: make slow"]
fn what_is_left_of_a_parent_is_shared_by_quantum_and_priority() {
    let quantum = |bytes: u32| format!("quantum = \"{bytes} B\"");
    // 4 Mbit/s are left of 8: 2 and 2; 3 and 1; all of it to the one of the lower number.
    near(ten_seconds(&htb(&family(&quantum(1250), &quantum(1250)))), [3, 5]);
    near(ten_seconds(&htb(&family(&quantum(3750), &quantum(1250)))), [4, 4]);
    near(ten_seconds(&htb(&family("", "priority = 1"))), [5, 3]);
    // Where one is silent the other has all.
    let mut bench = Bench::new(&htb(&family("", "")));
    bench.put(0, 10_000, 0);
    near(bench.shares(10_000), [8, 0]);
}

#[test]
#[ignore = "slow: make slow"]
fn hierarchies_lend_from_level_to_level() {
    // a (1 Mbit/s) and its parent (2, up to 8) are below the link (8), as b is (3). Both want all: a has 1 of its own and 1 of
    // its parent's before anything is lent by the link, whose 3 are shared alike.
    let keys = "[sharing.link]\nrate = \"8 Mbps\"\n[sharing.agency]\nrate = \"2 Mbps\"\nceil = \"8 Mbps\"\nparent = \"link\"\n\
         [sharing.a]\nrate = \"1 Mbps\"\nceil = \"8 Mbps\"\nparent = \"agency\"\nquantum = \"1250 B\"\n\
         [sharing.b]\nrate = \"2 Mbps\"\nceil = \"8 Mbps\"\nparent = \"link\"\nquantum = \"1250 B\"\n";
    near(ten_seconds(&htb(keys)), [4, 4]);
    // An agency that has 2 at most holds a to 2, and b has the rest.
    near(
        ten_seconds(&htb(&keys.replace(
            "rate = \"2 Mbps\"\nceil = \"8 Mbps\"\nparent = \"link\"\n[",
            "rate = \"2 Mbps\"\nparent = \"link\"\n[",
        ))),
        [2, 6],
    );
}

/// Buckets that last for a test.
const DEEP: &str = "burst = \"100 kB\"\ncburst = \"100 kB\"\n";
/// A class that owes a second of its own rate after its first packet, and borrows all else.
const POOR: &str =
    "rate = \"10 kbps\"\nceil = \"10 Mbps\"\nburst = \"1 B\"\ncburst = \"100 kB\"\nquantum = \"1250 B\"\n";

#[test]
fn a_quantum_is_a_tenth_of_a_second_by_default() {
    // r2q is 10: 1 Mbit/s are 125,000 B a second, so 12,500 B. Deficits are 0 at first: one packet makes it -1250 B, which ends
    // the turn and brings the quantum: 11,250 B. Nine packets leave 0 B, and a tenth ends the turn.
    let keys = format!("[sharing.a]\nrate = \"1 Mbps\"\n{DEEP}[sharing.b]\nrate = \"1 Mbps\"\n{DEEP}");
    let mut bench = Bench::new(&htb(&keys));
    bench.fill([21, 21]);
    assert_eq!(bench.order(50), format!("ab{0}{1}{0}{1}", "a".repeat(10), "b".repeat(10)));
    // 2500 B: one, then two in turn.
    let mut bench =
        Bench::new(&htb(&keys.replace("burst = \"100 kB\"\nc", "quantum = \"2500 B\"\nburst = \"100 kB\"\nc")));
    bench.fill([5, 5]);
    assert_eq!(bench.order(50), "abaabbaabb");
}

#[test]
fn leaves_of_one_parent_take_turns_with_their_own_rates_and_with_what_it_lends() {
    let own = format!("parent = \"link\"\nrate = \"1 Mbps\"\nquantum = \"1250 B\"\n{DEEP}");
    let borrowed = format!("parent = \"link\"\n{POOR}");
    for leaf in [own, borrowed] {
        let link = format!("[sharing.link]\nrate = \"10 Mbps\"\n{DEEP}");
        let classes = format!("{link}[sharing.a]\n{leaf}[sharing.b]\n{leaf}[sharing.c]\n{leaf}");
        let mut bench = Bench::new(&with_c(htb(&classes)));
        bench.fill([4, 4]);
        bench.add(4, 2, 1250);
        // By `order`, then by name: b takes the rest, and is last.
        assert_eq!(bench.order(20), "acbacbacbacb");
    }
}

#[test]
fn lenders_of_one_level_take_turns_by_rounds_of_their_borrowers() {
    // Each leaf sends a packet of its own. Then the first agency lends to each of its two, then the second to its one.
    let agency = format!("rate = \"5 Mbps\"\n{DEEP}");
    let keys = format!(
        "[sharing.agency1]\n{agency}[sharing.agency2]\n{agency}[sharing.a]\nparent = \"agency1\"\n{POOR}\
         [sharing.c]\nparent = \"agency1\"\n{POOR}[sharing.b]\nparent = \"agency2\"\n{POOR}"
    )
    .replace("ceil = \"10 Mbps\"", "ceil = \"5 Mbps\"");
    let mut bench = Bench::new(&with_c(htb(&keys)));
    bench.fill([4, 4]);
    bench.add(4, 2, 1250);
    assert_eq!(bench.order(20), "acbacbacbacb");
}

#[test]
fn a_round_of_the_link_has_a_round_of_each_agency_within() {
    // Agencies as poor as their leaves: what a leaf sends of its own, its agency owes too, so that the link lends all but the
    // first packet of each leaf. A round of the link is a round of the one agency (a, c), and one of the other (b).
    let keys = format!(
        "[sharing.link]\nrate = \"10 Mbps\"\n{DEEP}[sharing.agency1]\nparent = \"link\"\n{POOR}\
         [sharing.agency2]\nparent = \"link\"\n{POOR}[sharing.a]\nparent = \"agency1\"\n{POOR}\
         [sharing.c]\nparent = \"agency1\"\n{POOR}[sharing.b]\nparent = \"agency2\"\n{POOR}"
    );
    let mut bench = Bench::new(&with_c(htb(&keys)));
    bench.fill([6, 5]);
    bench.add(6, 2, 1250);
    assert_eq!(bench.order(20), "acb".repeat(5) + "ac");
}

#[test]
fn a_class_that_has_used_its_rate_hands_its_turn_to_the_next() {
    // 2500 B: one packet (1250 B are left of the turn), then two in turn. "a" has 625 B a millisecond and 1000 B: it owes 250 B
    // after each packet, for 0.4 ms. At 2 ms it owes them in the middle of its turn, which is the next one's, though it is back at
    // 2.4 ms (Linux's `htb_remove_class_from_row`). So it has one packet in three.
    let quantum = "quantum = \"2500 B\"\n";
    let a = format!("rate = \"5 Mbps\"\nburst = \"1 kB\"\ncburst = \"1 kB\"\n{quantum}");
    let mut bench = Bench::new(&htb(&format!("[sharing.a]\n{a}[sharing.b]\nrate = \"10 Mbps\"\n{DEEP}{quantum}")));
    bench.fill([5, 8]);
    assert_eq!(bench.order(20), "ababbabbabbab");
}

#[test]
fn a_class_that_may_not_borrow_for_a_while_keeps_its_turn() {
    // All have a packet of their own, then borrow: one packet (1250 B are left of the turn), then two in turn. "c" has 312.5 B a
    // millisecond up to its ceiling, and 1000 B. It is at its ceiling from 1 ms (250 B owed) to 1.8 ms, from 4 ms (562.5 B) to
    // 5.8 ms, and from 8 ms, in the middle of its turn, to 9.8 ms: at 9 ms it is the turn of the next behind it. At 13 ms
    // 250 B are owed, and its turn is over. At 18 ms they are owed in the middle of its turn, and at 19 ms it is back, and it is
    // still its turn (Linux's `last_ptr_id`).
    let poor = POOR.replace("1250 B", "2500 B");
    let c = poor.replace("10 Mbps", "2500 kbps").replace("100 kB", "1 kB");
    let keys = format!(
        "[sharing.link]\nrate = \"10 Mbps\"\n{DEEP}[sharing.a]\nparent = \"link\"\n{poor}\
         [sharing.b]\nparent = \"link\"\n{poor}[sharing.c]\nparent = \"link\"\n{c}"
    );
    let mut bench = Bench::new(&with_c(htb(&keys)));
    bench.fill([8, 8]);
    bench.add(6, 2, 1250);
    assert_eq!(bench.order(30), ["acb", "acb", "aacbb", "aacbb", "aaccbb"].concat());
}

#[test]
fn no_more_than_a_minute_is_owed() {
    // 8 bit/s: a byte a second. 0: 0 B are left, nothing is owed. 1 ms: 1250 B are owed, of which a minute stays. The next
    // leaves at 60.001 s, and the one after it a minute later (`mbuffer`).
    let slow = format!("rate = \"8 bps\"\n{BOTH}");
    let mut bench = Bench::new(&htb(&format!("[sharing.a]\n{slow}[sharing.b]\n{slow}")));
    bench.put(0, 4, 0);
    assert_eq!(bench.times(200_000), [0, 1, 60_001, 120_001]);
}

#[test]
fn no_law_is_called_before_its_packet_leaves() {
    // CoDel marks what has waited more than 5 ms. 125 B a millisecond: 0 B are left at 0, 1125 B owed at 1 ms, for 9 ms.
    let keys = format!("[sharing.a]\nrate = \"1 Mbps\"\n{BOTH}[sharing.b]\nrate = \"1 Mbps\"\n{BOTH}");
    let mut bench = Bench::new(&with_classes(shaped("htb", &keys), marks_after_5_ms(), droptail()));
    bench.put(0, 3, 0);
    assert_eq!((bench.times(50), bench.marked), (vec![0, 1, 10], vec![3]));
}

#[test]
fn impossible_values_are_refused_by_key() {
    let of = |keys: &str| refused(&htb(&format!("[sharing.a]\n{keys}\n[sharing.b]\nrate = \"1 Mbps\"")));
    assert_eq!(of("rate = \"10 Mbps\"\nceil = \"10 Mbps\""), None);
    let key = |rest: &str| of(&format!("rate = \"1 Mbps\"\n{rest}"));
    assert_eq!(key("burst = \"1 B\"\ncburst = \"1 B\"\nquantum = \"256 B\""), None);
    assert_eq!(key("ceil = \"999 kbps\"").as_deref(), Some("sharing.a.ceil"));
    assert_eq!(key("burst = \"0 B\"").as_deref(), Some("sharing.a.burst"));
    assert_eq!(key("cburst = \"0 B\"").as_deref(), Some("sharing.a.cburst"));
    assert_eq!(key("quantum = \"255 B\"").as_deref(), Some("sharing.a.quantum"));
    // Before a link of 10 Mbit/s.
    assert_eq!(key("ceil = \"10001 kbps\"").as_deref(), Some("sharing.a.ceil"));
    assert_eq!(of("rate = \"10001 kbps\"").as_deref(), Some("sharing.a.rate"));
}
