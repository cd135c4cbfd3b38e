//! `tbf` against arithmetic done by hand.

use ecnlab_aqm::registry::Params;
use ecnlab_aqm::{Common, Config, Full};
use ecnlab_base::{Length, Rate};
use proptest::prelude::*;

use super::bench::{Bench, droptail, marks_after_5_ms, shaped, with_classes, with_inner};

pub fn tbf(keys: &str) -> Config {
    shaped("tbf", keys)
}

#[test]
fn a_token_bucket_lets_a_burst_go_and_then_its_rate() {
    // 125 B a millisecond. 3000 B: one packet at 0 (1750 left), one at 1 ms (1875 - 1250 = 625 left). At 2 ms there are
    // 750, and 500 more take 4 ms. Then one every 10 ms.
    let mut bench = Bench::new(&tbf("rate = \"1 Mbps\"\nburst = \"3 kB\""));
    bench.put(0, 6, 0);
    assert_eq!(bench.times(40), [0, 1, 6, 16, 26, 36]);
    // 4 ms later there are 500 B; 200 ms later the bucket is full, and not more than that.
    bench.put(200_000, 4, 0);
    assert_eq!(bench.times(300), [200, 201, 206, 216]);
}

#[test]
fn a_peak_rate_spreads_the_burst() {
    // 625 B a millisecond at the peak: one packet every 2 ms, while 5000 B last: 0, 2, 4, 6 ms leave 750 B at 6 ms, 1000 B at
    // 8 ms, 1250 B at 10 ms.
    let keys = "rate = \"1 Mbps\"\nburst = \"5 kB\"\npeakrate = \"5 Mbps\"\nmtu = \"1250 B\"";
    let mut bench = Bench::new(&tbf(keys));
    bench.put(0, 6, 0);
    assert_eq!(bench.times(40), [0, 2, 4, 6, 10, 20]);
}

#[test]
fn the_bucket_of_a_peak_rate_holds_an_ethernet_frame_by_default() {
    // 1514 B (1500 B and a header of 14 B), 0.625 B a microsecond. Packets of 1000 B, 800 µs each: 514 B are left at 0, 1014 B
    // at 800 µs; the third waits for 986 B, which take 1577.6 µs; the fourth for 1000 B, which take 1600 µs.
    let mut bench = Bench::new(&tbf("rate = \"1 Mbps\"\nburst = \"5 kB\"\npeakrate = \"5 Mbps\""));
    bench.put_sized(0, 4, 0, 1000);
    let times: Vec<u64> = bench.until(5_000).into_iter().map(|(us, _)| us).collect();
    assert_eq!(times, [0, 800, 2_377, 3_977]);
}

#[test]
fn it_reports_the_rate_to_which_it_limits_the_queue() {
    assert_eq!(tbf("rate = \"1 Mbps\"\nburst = \"5 kB\"").rate(), Some(Rate::from_bps(1_000_000)));
}

#[test]
fn a_virtual_clock_has_no_burst() {
    let mut bench = Bench::new(&tbf("rate = \"1 Mbps\"\nburst = \"0 B\""));
    bench.put(0, 3, 0);
    assert_eq!(bench.times(90), [0, 10, 20]);
    // The clock is at 30 ms when nothing is there, and at 100 ms when something comes.
    bench.put(100_000, 2, 0);
    bench.add(2, 0, 125);
    assert_eq!(bench.times(200), [100, 110, 120, 121]);
}

#[test]
fn a_packet_larger_than_the_bucket_leaves_when_it_is_full() {
    // 1000 B take 8 ms to fill. After 1250 B, 250 B are owed: 10 ms.
    let mut bench = Bench::new(&tbf("rate = \"1 Mbps\"\nburst = \"1 kB\""));
    bench.put(0, 3, 0);
    assert_eq!(bench.times(40), [0, 10, 20]);
}

#[test]
fn a_law_judges_when_the_packet_before_has_left_and_with_a_virtual_clock_when_its_own_time_comes() {
    // CoDel marks what has waited more than 5 ms. The second packet leaves at 10 ms, and is judged at 1 ms, when the link is
    // free; the third is judged at 11 ms.
    let marks = |burst: &str| {
        let config = with_inner(tbf(&format!("rate = \"1 Mbps\"\nburst = \"{burst}\"")), marks_after_5_ms());
        let mut bench = Bench::new(&config);
        bench.put(0, 3, 0);
        assert_eq!(bench.times(50), [0, 10, 20]);
        bench.marked
    };
    assert_eq!((marks("1250 B"), marks("0 B")), (vec![3], vec![2, 3]));
}

#[test]
fn the_head_that_was_judged_is_still_in_the_queue_and_may_be_dropped() {
    // Room for two, and the head makes room: the second is judged at 1 ms, dropped at 2 ms, and the third leaves at 10 ms.
    let mut config = tbf("rate = \"1 Mbps\"\nburst = \"1250 B\"");
    let mut inner = droptail();
    inner.common = Common { full: Full::Front, ..Common::with_limit(Length::Packets(2.0)) };
    config = with_inner(config, inner);
    let mut bench = Bench::new(&config);
    assert_eq!(bench.put(0, 2, 0), []);
    assert_eq!(bench.put(1_500, 1, 0), [(0, 0)]);
    assert_eq!(bench.queue.packets(), 2);
    bench.put(2_000, 1, 0);
    assert_eq!((bench.queue.packets(), bench.times(50)), (2, vec![10, 20]));
}

#[test]
fn what_a_token_bucket_has_looked_at_is_not_overtaken() {
    // "a" goes before "b", but the packet of "b" that the bucket waits for is next (Linux's qdisc_peek_dequeued).
    let strict = shaped("classes", "schedule = \"strict\"");
    let inner = with_classes(strict, droptail(), droptail());
    let mut bench = Bench::new(&with_inner(tbf("rate = \"1 Mbps\"\nburst = \"1250 B\""), inner));
    bench.put(0, 3, 1);
    assert_eq!(bench.put(5_000, 2, 0), [(0, 1)]);
    assert_eq!(bench.until(60_000), [(10_000, 1), (20_000, 0), (30_000, 0), (40_000, 1)]);
}

#[test]
fn a_class_that_is_shaped_leaves_the_link_to_the_others() {
    for schedule in ["strict", "drr", "drr++", "fifo", "wrr"] {
        let classes = shaped("classes", &format!("schedule = \"{schedule}\""));
        let mut bench = Bench::new(&with_classes(classes, tbf("rate = \"1 Mbps\"\nburst = \"1250 B\""), droptail()));
        bench.fill([20, 200]);
        // "a" has 1 Mbit/s: ten packets in 100 ms; the link is never idle.
        let shares = bench.shares(99);
        assert_eq!(shares, [10, 90], "{schedule}");
        // Alone it has no more, and the link is idle.
        bench.put(400_000, 3, 0);
        assert_eq!(bench.times(450), [400, 410, 420], "{schedule}");
    }
}

#[test]
fn a_packet_that_waits_for_tokens_is_not_dropped_to_make_room() {
    // 1 Mbit/s, 125 B a millisecond, 1514 B. At 0 a packet leaves, 264 B are left. The second, of 1250 B, is looked at as
    // the link is free, and waits for 986 B: 7.888 ms. Three of 1000 B come at 2 ms and are one too many: the flow loses
    // half of the other 3000 B, two packets. The last has its 1000 B 8 ms after the second.
    let params = toml::from_str("salt = 7").unwrap();
    let common = Common { full: Full::Fattest, ..Common::with_limit(Length::Packets(3.0)) };
    let inner = Config::new(Params::FqCodel(params), common);
    let mut bench = Bench::new(&with_inner(tbf("rate = \"1 Mbps\"\nburst = \"1514 B\""), inner));
    bench.put(0, 2, 0);
    assert_eq!(bench.put_sized(2_000, 3, 0, 1_000), [(0, 0)]);
    assert_eq!(bench.until(20_000), [(7_888, 0), (15_888, 0)]);
}

#[test]
fn where_the_fattest_waits_for_tokens_another_makes_room() {
    // As above: the second packet of "a" waits from 1 ms to 7.888 ms. With three of "b", of 100 B, four are held, one too many.
    // All bytes of "a" wait, so "b" loses one. 100 B take 80 µs on the link.
    let mut strict = shaped("classes", "schedule = \"strict\"");
    strict.common = Common { full: Full::Fattest, ..Common::with_limit(Length::Packets(3.0)) };
    let bucket = tbf("rate = \"1 Mbps\"\nburst = \"1514 B\"");
    let mut bench = Bench::new(&with_classes(strict, bucket, droptail()));
    bench.put(0, 2, 0);
    assert_eq!(bench.put_sized(2_000, 3, 1, 100), [(0, 0)]);
    assert_eq!(bench.queue.packets(), 3);
    assert_eq!(bench.until(20_000), [(2_000, 1), (2_080, 1), (7_888, 0)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever comes when, a token bucket never lets more go than its depth and its rate (RFC 2697's conformance).
    #[test]
    fn a_token_bucket_is_obeyed_between_any_two_departures(
        arrivals in prop::collection::vec((0_u64..30_000, 40_u32..1500), 1..60),
    ) {
        let mut bench = Bench::new(&tbf("rate = \"1 Mbps\"\nburst = \"3 kB\""));
        let (mut at, mut gone, mut sizes) = (0, Vec::new(), Vec::new());
        for &(gap, len) in &arrivals {
            at += gap;
            gone.extend(bench.put_sized(at, 1, 0, len));
            sizes.push(u64::from(len));
        }
        gone.extend(bench.until(at + 10_000_000));
        prop_assert_eq!(gone.len(), sizes.len());
        for i in 0..gone.len() {
            for k in i..gone.len() {
                // 1 Mbit/s are 1/8 byte a microsecond; times are rounded down to one.
                let most = 3_000.0 + (gone[k].0 - gone[i].0 + 1) as f64 / 8.0;
                prop_assert!(sizes[i..=k].iter().sum::<u64>() as f64 <= most);
            }
        }
    }
}
