//! A flow behind a policer, whose line is ten times as fast.

use crate::common::{droptail, duplex, flow, ftp, number, path, tcp};
use ecnlab_aqm::policer::Params;
use ecnlab_aqm::registry::Params as QueueParams;
use ecnlab_aqm::{Common, Config};
use ecnlab_base::{Bytes, Dur, Length, Rate};
use ecnlab_engine::run;
use ecnlab_tcp::registry::WindowLaw;

/// The rows of `queues` are all and one group for each link: access, access~, pipe, pipe~.
const PIPE: usize = 2 * 2;

#[test]
fn a_cubic_flow_gets_the_rate_of_the_policer_without_delay() {
    let (rate, burst) = (10_000_000, 200_000);
    let params = Params { rate: Rate::from_bps(rate), burst: Bytes(burst) };
    let queue = Config::new(QueueParams::Policer(params), Common::with_limit(Length::Packets(1000.0)));
    let cubic = tcp("modern", |c| {
        c.congestion = serde_json::from_str::<WindowLaw>("{\"kind\": \"cubic\"}").expect("CUBIC");
    });
    let mut plan = path(&queue, "100 Mbps", "20 ms", vec![flow("bulk", 2, &cubic, ftp())]);
    plan.links.splice(..2, duplex("access", 0, 1, "1 Gbps", "0 ms", &droptail(1000.0)));
    (plan.duration, plan.warmup) = (Dur::from_s(30), Dur::ZERO);
    let out = run(&plan, 1).expect("a run");

    let of_pipe = |column: &str| number(&out, "queues", column, PIPE);
    let [arrived, early, departed, bytes] = ["arrived", "early_drops", "departed", "departed_bytes"].map(of_pipe);
    assert_eq!((of_pipe("forced_drops"), of_pipe("tail_drops"), of_pipe("marks")), (0.0, 0.0, 0.0));
    assert!(early > 0.0 && arrived - early - departed <= 1000.0, "{arrived} {early} {departed}");
    // What conforms in 30 s: the bucket and 30 s of the rate.
    let most = burst as f64 + rate as f64 / 8.0 * 30.0;
    assert!(bytes <= most, "{bytes} of {most}");
    let share = number(&out, "flows", "goodput_bps", 0) * 30.0 / 8.0 / (most * 1448.0 / 1500.0);
    assert!((0.9..=1.0).contains(&share), "{share}");
    // 40 ms and a few packets at 100 Mbit/s and 1 Gbit/s: the sender's bursts wait for the line, 200 kB at most for 16 ms.
    let rtt = number(&out, "flows", "rtt_mean_s", 0);
    assert!((0.040..0.048).contains(&rtt), "{rtt}");
}
