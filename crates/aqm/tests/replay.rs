//! A queue before a line, against arithmetic done by hand.

use ecnlab_aqm::registry::Params;
use ecnlab_aqm::replay::{Arrival, replay, transmission};
use ecnlab_aqm::{Common, Config, LinkContext, codel, droptail};
use ecnlab_base::{Dur, Length, Rate, Rng, Time};
use ecnlab_wire::{Dscp, Ecn};

/// 1 Mbit/s: a byte is 8 µs.
fn fates(config: &Config, arrivals: &[(u64, u32)]) -> Vec<(Option<u64>, Ecn)> {
    let link = LinkContext { rate: Rate::from_bps(1_000_000), delay: Dur::ZERO };
    let arrival = |&(us, len): &(u64, u32)| Arrival {
        at: Time::ZERO + Dur::from_us(us),
        len,
        ecn: Ecn::Ect0,
        dscp: Dscp::from_bits(0),
        group: 0,
        flow: 0,
    };
    let arrivals: Vec<Arrival> = arrivals.iter().map(arrival).collect();
    let fates = replay(config, link, &["all".to_owned()], Rng::named(1, "queue"), &arrivals);
    fates.into_iter().map(|fate| (fate.left.map(|at| at.ns() / 1000), fate.ecn)).collect()
}

#[test]
fn packets_leave_when_the_line_is_free_and_those_without_room_do_not() {
    let config = Config::new(Params::DropTail(droptail::Params {}), Common::with_limit(Length::Packets(2.0)));
    // 100 B take 800 µs. The first is on the line until 800; two wait; the fourth finds no room. At 800 the second goes,
    // before the fifth comes, which finds room. The line is free at 3200; the last comes later.
    let left = fates(&config, &[(0, 100), (1, 100), (2, 100), (3, 100), (800, 100), (4000, 50)]);
    let left: Vec<_> = left.into_iter().map(|(at, _)| at).collect();
    assert_eq!(left, [Some(0), Some(800), Some(1600), None, Some(2400), Some(4000)]);
}

#[test]
fn a_packet_has_the_codepoint_with_which_it_leaves() {
    let params = codel::Params { ce_threshold: Some(Dur::from_us(900)), ..codel::Params::default() };
    let config = Config::new(Params::Codel(params), Common::with_limit(Length::Packets(9.0)));
    // They wait for 0, 800 and 1600 µs.
    let left = fates(&config, &[(0, 100), (0, 100), (0, 100)]);
    assert_eq!(left, [(Some(0), Ecn::Ect0), (Some(800), Ecn::Ect0), (Some(1600), Ecn::Ce)]);
}

#[test]
fn a_transmission_is_whole_nanoseconds() {
    // 40 B at 1.5 Mbit/s: 213,333.3 ns.
    let link = LinkContext { rate: Rate::from_bps(1_500_000), delay: Dur::ZERO };
    assert_eq!(transmission(link, 40), Dur::from_ns(213_334));
}
