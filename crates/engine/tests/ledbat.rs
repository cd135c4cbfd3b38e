//! LEDBAT with congestion on the path of its ACKs.

use crate::common;

use common::{droptail, flow, ftp, number, path, tcp};
use ecnlab_base::{Dur, Time};
use ecnlab_engine::{FlowPlan, Plan, run};
use ecnlab_tcp::cc::ledbat::{Delay, Params};
use ecnlab_tcp::registry::WindowLaw;

/// Goodput in Mbit/s from 40 to 100 s of LEDBAT over 10 Mbit/s and an RTT of 42 ms,
/// while Reno fills the buffer of 300 packets, 360 ms, on the way of its ACKs from 10 s on.
fn behind_a_full_reverse_queue(delay: Delay) -> f64 {
    let ledbat = tcp("linux-7", |c| c.congestion = WindowLaw::Ledbat(Params { delay, ..Params::default() }));
    let reno = tcp("linux-7", |c| c.congestion = WindowLaw::Reno(Default::default()));
    let reverse = FlowPlan {
        from: vec![2],
        to: vec![0],
        start: Time::ZERO + Dur::from_s(10),
        ..flow("reverse", 2, &reno, ftp())
    };
    let plan = path(&droptail(300.0), "10 Mbps", "20 ms", vec![flow("ledbat", 2, &ledbat, ftp()), reverse]);
    let out = run(&Plan { duration: Dur::from_s(100), warmup: Dur::from_s(40), ..plan }, 1).expect("a run");
    number(&out, "flows", "goodput_bps", 0) / 1e6
}

/// The reverse queue has more than the target of 100 ms in it: on RTTs the window falls to two segments in a round trip of about
/// 0.4 s, 2 · 1448 B · 8 / 0.4 s = 0.06 Mbit/s. One-way delays have the queue of the data only; the ACKs of Reno take a
/// part of the 10 Mbit/s there.
#[test]
fn one_way_delays_leave_out_the_queue_of_the_acks() {
    let (rtt, one_way) = (behind_a_full_reverse_queue(Delay::Rtt), behind_a_full_reverse_queue(Delay::OneWay));
    assert!((0.05..0.10).contains(&rtt), "{rtt}");
    assert!((8.4..8.8).contains(&one_way), "{one_way}");
}
