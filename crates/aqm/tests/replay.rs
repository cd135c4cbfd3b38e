//! A queue before a line, against arithmetic done by hand.

use ecnlab_aqm::registry::Params;
use ecnlab_aqm::replay::{Arrival, replay, transmission};
use ecnlab_aqm::{Common, Config, LinkContext, codel, droptail};
use ecnlab_base::{Dur, Length, Rate, Rng, Time};
use ecnlab_wire::{Dscp, Ecn};

/// 1 Mbit/s: a byte is 8 µs.
fn fates(config: &Config, arrivals: &[(u64, u32)]) -> Vec<(Option<u64>, Ecn)> {
    let arrivals: Vec<_> = arrivals.iter().map(|&(us, len)| (us, len, Ecn::Ect0)).collect();
    fates_of(config, &arrivals)
}

/// The same for packets with codepoints.
fn fates_of(config: &Config, arrivals: &[(u64, u32, Ecn)]) -> Vec<(Option<u64>, Ecn)> {
    let link = LinkContext { rate: Rate::from_bps(1_000_000), delay: Dur::ZERO };
    let arrival = |&(us, len, ecn): &(u64, u32, Ecn)| Arrival {
        at: Time::ZERO + Dur::from_us(us),
        len,
        ecn,
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

/// When packets leave DualPI2 with these keys; its controller and its step never signal.
fn left_dualpi2(keys: &str, arrivals: &[(u64, u32, Ecn)]) -> Vec<u64> {
    let keys = format!("target = \"2000 s\"\nstep_thresh = \"2000 s\"\n{keys}");
    let params = Params::DualPi2(toml::from_str(&keys).unwrap());
    let config = Config::new(params, Common { ecn: true, ..Common::with_limit(Length::Packets(99.0)) });
    config.check().unwrap();
    fates_of(&config, arrivals).into_iter().map(|(left, _)| left.unwrap()).collect()
}

const L: Ecn = Ecn::Ect1;
const C: Ecn = Ecn::NotEct;

#[test]
fn dualpi2_keeps_its_credit_while_the_last_packet_is_on_the_line() {
    // Linux's dequeue_packet: the credit is reset when it is polled for a packet and has none. Equal shares: it starts at 0, and L
    // sends while it is not positive. 100 B take 800 µs. At 800 µs both wait: L sends, the credit is 50·100 = 5000. At 1600 C
    // sends, L is empty: 5000. At 2400 both wait, which came at 1700: C sends, 5000 - 5000 = 0, and L goes last.
    let arrivals = [(0, 100, C), (100, 100, L), (100, 100, C), (1700, 100, L), (1700, 100, C)];
    assert_eq!(left_dualpi2("classic_protection = 50", &arrivals), [0, 800, 1600, 3200, 2400]);
    // What comes when the line becomes free comes after the poll, and the credit is 0: the first at once, then L.
    let arrivals = [(0, 100, C), (100, 100, L), (100, 100, C), (2400, 100, C), (2500, 100, L), (2500, 100, C)];
    assert_eq!(left_dualpi2("classic_protection = 50", &arrivals), [0, 800, 1600, 2400, 3200, 4000]);
}

#[test]
fn dualpi2_starts_with_a_credit_of_its_mtu() {
    // (10 - 90)·mtu at first; 100 B of L give 10·100 back while C waits. With 100 B it is -8000: L sends from -8000 to 0, nine
    // packets, and C the next. With 200 B it is -16,000: seventeen packets.
    let served = |mtu: &str| {
        let packets: Vec<_> = [(0, 100, L)].into_iter().chain([(1, 100, C)]).chain(vec![(1, 100, L); 30]).collect();
        left_dualpi2(mtu, &packets)[1] / 800 - 1
    };
    assert_eq!([served("mtu = \"100 B\""), served("mtu = \"200 B\"")], [9, 17]);
}
