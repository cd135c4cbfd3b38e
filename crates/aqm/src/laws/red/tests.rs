//! Order of the decision, and keys of a scenario.

use super::*;
use Verdict::{Drop, Pass, Signal, SignalByDrop};
use ecnlab_base::coverage::must_reach;
use ecnlab_base::{Length, Rate};
use ecnlab_wire::Ecn;

/// Thresholds of 2 and 4 packets on an average that is the queue itself: the verdict is that of the queue seen.
fn red(change: impl FnOnce(&mut Params)) -> Red {
    let mut params = between(2.0, 4.0);
    params.weight = Weight::Of(1.0);
    change(&mut params);
    assert_eq!(params.check(), Ok(()));
    params.law(link())
}

fn between(min: f64, max: f64) -> Params {
    Params::new(Threshold::At(Length::Packets(min)), Threshold::At(Length::Packets(max)))
}

fn link() -> LinkContext {
    LinkContext { rate: Rate::from_bps(1_000_000), delay: Dur::from_ms(10) }
}

/// The verdicts on 500 B packets that find these many packets held, one after the other.
fn verdicts(red: &mut Red, queue: &[u64]) -> Vec<Verdict> {
    let mut rng = Rng::named(1, "red");
    let view =
        |&packets: &u64| View { packets, bytes: 500 * packets, in_all: 500 * packets, idle: None, polled: false };
    let packet = PacketView { size: 500, ecn: Ecn::Ect0, flow: 0, can_mark: true, sojourn: Dur::ZERO };
    queue.iter().map(|q| red.on_enqueue(&packet, &view(q), Time::ZERO, &mut rng)).collect()
}

#[test]
fn below_min_th_all_pass_and_from_max_th_none() {
    let _reached = must_reach(["red.passes_below_min_th", "red.forced_drop"]);
    assert_eq!(verdicts(&mut red(|_| {}), &[0, 1, 4, 9]), [Pass, Pass, Drop, Drop]);
    let mut marking = red(|p| p.above = Above::Mark);
    assert_eq!(verdicts(&mut marking, &[0, 1, 4, 9]), [Pass, Pass, Signal, Signal]);
}

#[test]
fn gentle_puts_the_forced_drop_off_to_twice_max_th() {
    // At 4 the gentle slope starts from max_p = 0.02, and a first draw of 1 in 50 seldom hits.
    assert_eq!(verdicts(&mut red(|p| p.gentle = true), &[4, 8]), [Pass, Drop]);
}

#[test]
fn the_average_counts_in_the_thresholds_unit() {
    // 3 packets are 1500 B, at max_th in bytes though under the packets' 4.
    let mut params = Params::new(Threshold::At(Length::Bytes(1000.0)), Threshold::At(Length::Bytes(1500.0)));
    params.weight = Weight::Of(1.0);
    assert_eq!(verdicts(&mut params.law(link()), &[1, 3]), [Pass, Drop]);
}

#[test]
fn from_mark_p_even_a_capable_packet_is_dropped() {
    let _reached = must_reach(["red.signal", "red.signal_by_drop", "red.passes_by_chance"]);
    // max_p = 1: at 3, half way, p_b = 1/2; uniform spacing signals the second packet at the latest.
    for (mark_p, kind) in [(0.6, Signal), (0.5, SignalByDrop)] {
        let mut red = red(|p| {
            p.max_p = 1.0;
            p.mark_p = Some(mark_p);
        });
        let signalled: Vec<Verdict> = verdicts(&mut red, &[3; 40]).into_iter().filter(|&v| v != Pass).collect();
        assert!(signalled.len() >= 20 && signalled.iter().all(|&v| v == kind), "{signalled:?}");
    }
}

/// p_a of the next packet at p_b = 1/4 and `wait`, after three packets that passed and `then`.
fn p_a_after(reset: CountReset, then: impl FnOnce(&mut Red)) -> f64 {
    let mut red = red(|p| {
        p.spacing = Spacing::Wait;
        p.count_reset = reset;
    });
    assert_eq!(verdicts(&mut red, &[3, 3, 3]), [Pass, Pass, Pass]);
    then(&mut red);
    red.spacer.spaced(0.25, 500)
}

#[test]
fn what_restarts_the_count_is_a_choice() {
    let _reached = must_reach(["red.forced_drop_keeps_count", "red.overflow_restarts_count"]);
    let forced = |red: &mut Red| assert_eq!(verdicts(red, &[4]), [Drop]);
    let full = |red: &mut Red| red.on_full();
    let below = |red: &mut Red| assert_eq!(verdicts(red, &[1]), [Pass]);
    // The next packet is the fourth: 1/4 / (2 - 4/4); the fifth: 1/4 / (2 - 5/4); or the first again: 0.
    assert_eq!(p_a_after(CountReset::Forced, |_| {}), 0.25);
    assert_eq!(p_a_after(CountReset::Signals, full), 0.25);
    assert_eq!(p_a_after(CountReset::Forced, full), 0.25);
    assert_eq!(p_a_after(CountReset::All, full), 0.0);
    assert_eq!(p_a_after(CountReset::Signals, forced), 0.25 / 0.75);
    assert_eq!(p_a_after(CountReset::Forced, forced), 0.0);
    assert_eq!(p_a_after(CountReset::All, forced), 0.0);
    assert_eq!(p_a_after(CountReset::Signals, below), 0.0);
}

#[test]
fn the_packet_that_crosses_min_th_may_be_let_through() {
    let _reached = must_reach(["red.first_passes"]);
    // max_p = 1, just under max_th: uniform spacing would signal at once.
    let near = |p: &mut Params| {
        p.min_th = Threshold::At(Length::Packets(0.5));
        p.max_th = Threshold::At(Length::Packets(3.001));
        p.max_p = 1.0;
    };
    assert_eq!(verdicts(&mut red(near), &[3, 3]), [Signal, Signal]);
    let mut first = red(|p| {
        near(p);
        p.first_passes = true;
    });
    // It passes once a crossing, and below min_th a new crossing is made ready.
    assert_eq!(verdicts(&mut first, &[3, 3, 3, 0, 3, 3]), [Pass, Signal, Signal, Pass, Pass, Signal]);
}

#[test]
fn a_packet_that_finds_at_most_one_may_be_spared() {
    let _reached = must_reach(["red.spared_short"]);
    let mark = |p: &mut Params| {
        p.min_th = Threshold::At(Length::Packets(0.25));
        p.max_th = Threshold::At(Length::Packets(0.5));
        p.above = Above::Mark;
    };
    assert_eq!(verdicts(&mut red(mark), &[1, 2]), [Signal, Signal]);
    let mut spared = red(|p| {
        mark(p);
        p.spare_short = true;
    });
    assert_eq!(verdicts(&mut spared, &[1, 2]), [Pass, Signal]);
}

#[test]
fn the_average_is_reported_with_its_region() {
    let mut red = red(|_| {});
    for (queue, region) in [(1, Region::Below), (2, Region::Inside), (3, Region::Inside), (4, Region::Above)] {
        verdicts(&mut red, &[queue]);
        assert_eq!(red.values(), [queue as f64, 500.0 * queue as f64, 0.02]);
        assert_eq!(red.region(), region);
    }
}

#[test]
fn at_min_th_a_packet_counts_towards_the_next_signal() {
    // FJ93 figure 2: "if min_th <= avg < max_th: increment count". Three packets at min_th, 2: the next is the fourth.
    let mut red = red(|p| p.spacing = Spacing::Wait);
    assert_eq!(verdicts(&mut red, &[2, 2, 2]), [Pass; 3]);
    assert_eq!(red.spacer.spaced(0.25, 500), 0.25);
}

#[test]
fn a_gentle_slope_is_frozen_only_where_there_is_one_and_max_p_moves() {
    let key = |gentle, adaptive: Option<Floyd>, feng: Option<Feng>| {
        let params = Params { frozen_gentle: true, gentle, adaptive, feng, ..between(5.0, 15.0) };
        params.check().err().map(|e| e.key)
    };
    let refused = Some("frozen_gentle".to_owned());
    assert_eq!([key(true, None, None), key(false, Some(Floyd::default()), None)], [refused.clone(), refused]);
    assert_eq!([key(true, Some(Floyd::default()), None), key(true, None, Some(Feng::default()))], [None, None]);
}

#[test]
fn linux_spacing_counts_packets_and_has_its_own_first_packet() {
    let key = |change: fn(&mut Params)| {
        let mut params = Params { spacing: Spacing::Linux, ..between(5.0, 15.0) };
        change(&mut params);
        params.check().err().map(|e| e.key)
    };
    assert_eq!(key(|_| {}), None);
    assert_eq!(key(|p| p.first_passes = true), Some("first_passes".to_owned()));
    assert_eq!(key(|p| p.probability = Probability::Bytes), Some("probability".to_owned()));
    assert_eq!(key(|p| p.count_arrival = true), Some("count_arrival".to_owned()));
}

#[test]
fn impossible_values_are_refused_by_key() {
    let refused = |change: fn(&mut Params)| {
        let mut params = between(5.0, 15.0);
        change(&mut params);
        params.check().map_err(|e| e.key)
    };
    assert_eq!(refused(|_| {}), Ok(()));
    assert_eq!(refused(|p| p.min_th = Threshold::At(Length::Packets(15.0))), Err("min_th".to_owned()));
    assert_eq!(refused(|p| p.min_th = Threshold::At(Length::Bytes(5.0))), Err("max_th".to_owned()));
    assert_eq!(refused(|p| p.min_th = Threshold::Auto(Unit::Packets)), Err("max_th".to_owned()));
    assert_eq!(refused(|p| p.max_th = Threshold::Auto(Unit::Bytes)), Err("max_th".to_owned()));
    assert_eq!(
        refused(|p| {
            p.min_th = Threshold::At(Length::Packets(0.0));
            p.max_th = Threshold::Auto(Unit::Packets);
        }),
        Err("min_th".to_owned())
    );
    assert_eq!(refused(|p| p.max_p = 0.0), Err("max_p".to_owned()));
    assert_eq!(refused(|p| p.max_p = 1.01), Err("max_p".to_owned()));
    assert_eq!(refused(|p| p.max_p = f64::NAN), Err("max_p".to_owned()));
    assert_eq!(refused(|p| p.weight = Weight::Of(0.0)), Err("weight".to_owned()));
    assert_eq!(refused(|p| p.weight = Weight::Of(1.5)), Err("weight".to_owned()));
    assert_eq!(refused(|p| p.weight = Weight::TimeConstant(Dur::ZERO)), Err("weight".to_owned()));
    assert_eq!(refused(|p| p.mean_packet = Bytes(0)), Err("mean_packet".to_owned()));
    assert_eq!(refused(|p| p.mark_p = Some(0.0)), Err("mark_p".to_owned()));
    assert_eq!(
        refused(|p| {
            p.spacing = Spacing::Wait;
            p.count_arrival = true;
        }),
        Err("count_arrival".to_owned())
    );
    assert_eq!(refused(|p| p.frozen_gentle = true), Err("frozen_gentle".to_owned()));
    assert_eq!(
        refused(|p| {
            p.adaptive = Some(Floyd::default());
            p.feng = Some(Feng::default());
        }),
        Err("feng".to_owned())
    );
    let floyd = |change: fn(&mut Floyd)| {
        let mut law = Floyd::default();
        change(&mut law);
        law.check().map_err(|e| e.key)
    };
    assert_eq!(floyd(|l| l.interval = Dur::ZERO), Err("adaptive.interval".to_owned()));
    assert_eq!(floyd(|l| l.interval = Dur::from_ns(9_999)), Err("adaptive.interval".to_owned()));
    assert_eq!(floyd(|l| l.interval = Dur::from_us(10)), Ok(()));
    assert_eq!(floyd(|l| l.alpha = 0.0), Err("adaptive.alpha".to_owned()));
    assert_eq!(floyd(|l| l.beta = 1.0), Err("adaptive.beta".to_owned()));
    assert_eq!(floyd(|l| l.top = 1.5), Err("adaptive.top".to_owned()));
    assert_eq!(floyd(|l| l.bottom = adaptive::Bottom::At(0.5)), Err("adaptive.bottom".to_owned()));
    assert_eq!(Feng { alpha: 1.0, beta: 2.0 }.check().map_err(|e| e.key), Err("feng.alpha".to_owned()));
    assert_eq!(Feng { alpha: 3.0, beta: 0.5 }.check().map_err(|e| e.key), Err("feng.beta".to_owned()));
}

/// The keys of a scenario, as the reader of scenarios hands them to the law.
fn read(keys: &str) -> Result<Params, String> {
    toml::from_str::<toml::Table>(keys).unwrap().try_into().map_err(|e: toml::de::Error| e.to_string())
}

#[test]
fn what_a_scenario_leaves_out_is_as_in_fj93() {
    let params = read("min_th = \"5 packets\"\nmax_th = \"15 packets\"").unwrap();
    assert_eq!(params, between(5.0, 15.0));
    assert_eq!((params.max_p, params.weight), (0.02, Weight::Of(0.002)));
    // Floyd's packets of 500 B, and the delay of Floyd et al. 2001.
    assert_eq!((params.mean_packet, params.target_delay), (Bytes(500), Dur::from_ms(5)));
}

#[test]
fn an_empty_table_turns_an_adaptation_on_with_its_papers_values() {
    let params = read("min_th = \"5 packets\"\nmax_th = \"15 packets\"\nadaptive = {}").unwrap();
    assert_eq!(params.adaptive, Some(Floyd::default()));
    let params = read("min_th = \"5 packets\"\nmax_th = \"15 packets\"\nfeng = { alpha = 4.0 }").unwrap();
    assert_eq!(params.feng, Some(Feng { alpha: 4.0, beta: 2.0 }));
}

#[test]
fn missing_unknown_and_unitless_keys_are_refused() {
    assert!(read("min_th = \"5 packets\"").unwrap_err().contains("max_th"));
    assert!(read("min_th = \"5 packets\"\nmax_th = \"15 packets\"\nmaxp = 0.1").unwrap_err().contains("maxp"));
    assert!(read("min_th = 5\nmax_th = \"15 packets\"").unwrap_err().contains("5 packets"));
    assert!(
        read("min_th = \"5 packets\"\nmax_th = \"15 packets\"\nfeng = { gamma = 1 }").unwrap_err().contains("gamma")
    );
}

#[test]
fn becn_lies_between_the_thresholds_in_their_unit() {
    let wrong = |thresh: &str| {
        let params =
            read(&format!("min_th = \"15 kB\"\nmax_th = \"45 kB\"\nbecn = {{ thresh = \"{thresh}\" }}")).unwrap();
        params.check().err().map(|e| e.key)
    };
    for thresh in ["15 kB", "20 kB", "45 kB"] {
        assert_eq!(wrong(thresh), None, "{thresh}");
    }
    for thresh in ["14999 B", "45001 B", "20 packets"] {
        assert_eq!(wrong(thresh), Some("becn.thresh".to_owned()), "{thresh}");
    }
    let auto = read("min_th = \"auto bytes\"\nmax_th = \"auto bytes\"\nbecn = { thresh = \"5 kB\" }").unwrap();
    assert_eq!(auto.check().unwrap_err().key, "becn.thresh");
    let small = read("min_th = \"15 kB\"\nmax_th = \"45 kB\"\nbecn = { thresh = \"20 kB\", quench_size = \"27 B\" }");
    assert_eq!(small.unwrap().check().unwrap_err().key, "becn.quench_size");
}

#[test]
fn what_is_written_reads_back() {
    let mut params = between(5.0, 15.0);
    params.weight = Weight::Auto;
    params.mark_p = Some(0.1);
    params.adaptive = Some(Floyd { bottom: adaptive::Bottom::Auto, ..Floyd::default() });
    let json = serde_json::to_string(&params).unwrap();
    assert_eq!(serde_json::from_str::<Params>(&json).unwrap(), params);
}

#[test]
fn the_page_shows_ns2_as_it_computes_it() {
    let page = include_str!("../../../../../docs/laws/red.md");
    let (_, block) = page.split_once("```toml ns-2.35\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let mut keys: toml::Table =
        toml::from_str::<toml::Table>(block).unwrap()["queue"]["red"].as_table().unwrap().clone();
    keys.remove("discipline");
    for key in crate::Common::KEYS {
        keys.remove(key);
    }
    let params: Params = keys.try_into().unwrap();
    assert_eq!(params.check(), Ok(()));
    // ns-2's automatic values at 0.7 Mbit/s, 20 ms.
    let th = auto::thresholds(&params, LinkContext { rate: Rate::from_bps(700_000), delay: Dur::from_ms(20) });
    assert_eq!((th.unit, th.min, th.max), (Unit::Bytes, 2500.0, 7500.0));
}
