//! `cbq` against arithmetic done by hand.

use ecnlab_aqm::Config;

use crate::bench::{Bench, droptail, near, shaped, ten_seconds, with_classes};

pub fn cbq(keys: &str) -> Config {
    let all = format!("mean_packet = \"1250 B\"\n{keys}");
    with_classes(shaped("cbq", &all), droptail(), droptail())
}

const BOUNDED: &str = "rate = \"1 Mbps\"\nbounded = true\nmaxburst = 4\n";

pub fn two_bounded() -> String {
    format!("[sharing.a]\n{BOUNDED}[sharing.b]\n{BOUNDED}")
}

#[test]
fn an_average_idle_time_allows_a_burst_and_then_the_rate() {
    // A packet takes 1 ms on the link and 10 ms of the class: each of a burst leaves it 9 ms short. Four spend the average
    // that a pause has filled; then the next leaves 10 ms after the one before.
    let mut bench = Bench::new(&cbq(&two_bounded()));
    bench.put(0, 7, 0);
    assert_eq!(bench.times(100), [0, 1, 2, 3, 13, 23, 33]);
    // After a pause the first packet fills the average, and four more spend it.
    bench.put(1_000_000, 7, 0);
    assert_eq!(bench.times(1_100), [1000, 1001, 1002, 1003, 1004, 1014, 1024]);
}

#[test]
fn a_slow_clock_makes_bursts() {
    // Ticks of 10 ms. The class would wake up at 13 ms, and does at 20 ms: it was 7 ms longer idle than it must, which one
    // packet more uses up (7 - 7/32 - 9 < 0). That one ends at 22 ms: awake at 31 ms, so at 40 ms; and so on.
    let mut bench = Bench::new(&cbq(&format!("timer = \"10 ms\"\n{}", two_bounded())));
    bench.put(0, 10, 0);
    assert_eq!(bench.times(100), [0, 1, 2, 3, 20, 21, 40, 41, 60, 61]);
}

#[test]
fn a_packet_that_comes_wakes_its_class() {
    // Ticks of a second; the class may send from 13 ms on, and is asked when something comes. Then it was 1 ms longer idle
    // than it must, and sends once more.
    let mut bench = Bench::new(&cbq(&format!("timer = \"1 s\"\n{}", two_bounded())));
    bench.put(0, 5, 0);
    assert_eq!(bench.put(12_000, 1, 0).len(), 4);
    assert_eq!(bench.put(14_000, 1, 0), []);
    assert_eq!(bench.times(500), [14, 15]);
}

#[test]
fn minburst_sends_several_at_once_and_rests_as_much_longer() {
    // offtime = 9 ms · (1 + ((32/31)^(n-1) - 1)·32). For 2 packets: 9 ms · (1 + 32/31) = 18.29 ms: asleep at 4 ms until
    // 4 + 9 + 18.29 = 31.29 ms. Then the average is 18.29 ms up: two more of a burst (18.29 > 9 + 9·(1 - 1/32)).
    let mut bench = Bench::new(&cbq(&two_bounded().replace("maxburst = 4", "maxburst = 4\nminburst = 2")));
    bench.put(0, 7, 0);
    assert_eq!(bench.times(60), [0, 1, 2, 3, 31, 32, 33]);
}

#[test]
fn a_class_that_is_not_bounded_borrows_what_the_others_leave() {
    let one = format!("[sharing.a]\nrate = \"1 Mbps\"\n[sharing.b]\n{BOUNDED}");
    near(ten_seconds(&cbq(&one)), [9, 1]);
    let mut bench = Bench::new(&cbq(&one));
    bench.put(0, 10_000, 0);
    assert_eq!(bench.shares(9_999), [10_000, 0]);
}

#[test]
fn a_bounded_parent_bounds_its_classes_together() {
    let keys = |b: &str| {
        format!(
            "[sharing.agency]\nrate = \"4 Mbps\"\nbounded = true\n[sharing.a]\nrate = \"1 Mbps\"\nparent = \"agency\"\n\
             [sharing.b]\nrate = \"3 Mbps\"\nparent = \"agency\"\n{b}"
        )
    };
    // What a class sends of its own, the parent owes, and its average forgets some of that: it has 1 or 2 % more than its rate.
    let mut bench = Bench::new(&cbq(&keys("")));
    bench.put(0, 10_000, 0);
    let shares = bench.shares(10_000);
    assert!((4_000..4_100).contains(&shares[0]), "{shares:?}");
    // An isolated class does not lend: its packets are not counted in the parent, of which the other has all.
    let shares = ten_seconds(&cbq(&keys("bounded = true\nisolated = true\n")));
    assert!((4_000..4_100).contains(&shares[0]) && shares[1].abs_diff(3_000) < 40, "{shares:?}");
}
