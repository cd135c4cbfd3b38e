//! `htb` against arithmetic done by hand.

use ecnlab_aqm::Config;

use crate::bench::{Bench, droptail, near, shaped, ten_seconds, with_classes};

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
