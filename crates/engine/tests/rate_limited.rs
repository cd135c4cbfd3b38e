//! `rate_limited_growth` of a sender whose application pauses.

use crate::common;

use common::{droptail, flow, number, path, tcp};
use ecnlab_base::Dur;
use ecnlab_engine::{Plan, run};
use ecnlab_tcp::config::RateLimitedGrowth::{self, Rfc7661, WindowLimited};
use ecnlab_traffic::{LiveParams, Params};

/// Windows in bytes: at 1 s, after 100 ms of data, and at the second `resumed`, 5 ms after the pause, when none of the new
/// data are acknowledged, as a round trip takes more than 20 ms.
fn windows(growth: RateLimitedGrowth, resumed: u64) -> [f64; 2] {
    let tcp = tcp("modern", |c| {
        c.rate_limited_growth = growth;
        c.idle_restart = growth == WindowLimited;
    });
    let data = |start, ms| (Dur::from_ms(start), Dur::from_ms(ms));
    let bulk = vec![data(0, 100), data(1_000 * resumed - 5, 100)];
    let live = Params::Live(LiveParams { bulk, ..LiveParams::default() });
    let plan = path(&droptail(100.0), "10 Mbps", "10 ms", vec![flow("f", 2, &tcp, live)]);
    let (warmup, duration, sample) = (Dur::ZERO, Dur::from_s(resumed + 1), Some(Dur::from_s(1)));
    let out = run(&Plan { warmup, duration, sample, ..plan }, 1).expect("a run");
    let at = |second: u64| {
        let rows = out.table("flow_series").expect("a series").rows();
        let row = (0..rows).find(|&row| number(&out, "flow_series", "time_s", row) == second as f64);
        number(&out, "flow_series", "cwnd_bytes", row.expect("a sample"))
    };
    [at(1), at(resumed)]
}

#[test]
fn rfc_7661_keeps_the_window_over_a_pause_and_halves_it_after_five_minutes() {
    // Ten segments of 1448 bytes at first. The ACKs of 100 ms of slow start add several times as many.
    const INITIAL: f64 = 14_480.0;
    let [window, kept] = windows(Rfc7661, 299);
    assert!((4.0..32.0).contains(&(window / INITIAL)) && kept == window, "{window} {kept}");
    // The last data are acknowledged within 200 ms: 301 s end one period of 300 s, 601 s two of them.
    assert_eq!(windows(Rfc7661, 301), [window, window / 2.0]);
    assert_eq!(windows(Rfc7661, 601), [window, window / 4.0]);
    // 1501 s end five periods: a 32nd of the window is below the floor, the initial window.
    assert_eq!(windows(Rfc7661, 1501), [window, INITIAL]);
    // RFC 5681 §4.1 restarts from it after any pause of a retransmission timeout.
    let [window, restarted] = windows(WindowLimited, 299);
    assert!(window > 4.0 * INITIAL && restarted == INITIAL, "{window} {restarted}");
}
