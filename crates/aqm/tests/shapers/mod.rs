//! Queues that let packets wait although the link is free: `tbf`, `htb` and `cbq`.

mod bench;
mod cbq;
mod htb;
mod sharing;
mod tbf;

use proptest::prelude::*;

use self::bench::{Bench, droptail, shaped, with_classes, with_inner};
use self::cbq::{cbq, two_bounded};
use self::htb::{family, htb};
use self::tbf::tbf;

#[test]
fn what_is_held_by_shapers_all_comes_out() {
    let shapers = [tbf("rate = \"1 Mbps\"\nburst = \"1250 B\""), htb(&family("", "")), cbq(&two_bounded())];
    for config in shapers {
        let mut bench = Bench::new(&config);
        bench.fill([50; 2]);
        assert_eq!(bench.until(10_000_000).len(), 100);
        assert_eq!(bench.queue.counters().total().all().departed.packets, 100);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Shapers within shapers release all packets in the end, and return the next time to poll.
    #[test]
    fn shapers_within_shapers_come_to_an_end(
        arrivals in prop::collection::vec((0_u64..20_000, 40_u32..1500, 0_usize..2), 1..60),
        outer in 0_usize..5,
        inner in 0_usize..4,
    ) {
        let within = || match inner {
            0 => tbf("rate = \"700 kbps\"\nburst = \"0 B\""),
            1 => with_inner(tbf("rate = \"900 kbps\"\nburst = \"2 kB\""), shaped("fq_codel", "salt = 7")),
            2 => htb(&family("", "priority = 1")),
            _ => cbq(&two_bounded()),
        };
        let config = match outer {
            0 => with_inner(tbf("rate = \"1 Mbps\"\nburst = \"3 kB\""), within()),
            1 => with_classes(shaped("htb", &family("", "")), within(), droptail()),
            2 => with_classes(shaped("cbq", &two_bounded()), within(), within()),
            3 => with_classes(shaped("classes", "schedule = \"drr\""), within(), droptail()),
            _ => with_classes(shaped("classes", "schedule = \"wrr\""), within(), within()),
        };
        let mut bench = Bench::new(&config);
        let (mut at, mut gone) = (0, 0);
        for &(gap, len, group) in &arrivals {
            at += gap;
            gone += bench.put_sized(at, 1, group, len).len();
        }
        gone += bench.until(at + 60_000_000).len();
        let dropped = bench.queue.counters().total().all().dropped().packets as usize;
        prop_assert_eq!(gone + dropped, arrivals.len());
    }
}
