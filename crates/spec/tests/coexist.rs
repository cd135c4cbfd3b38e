//! DualPI2 in a closed loop: what RFC 9332 promises of a scalable flow beside a Classic one, of examples/coexist.toml.

mod common;

use std::fs;

use ecnlab_engine::{Column, Output, run};
use ecnlab_spec::{Scenario, parse_scenario};

/// The example with other values at these keys.
fn scenario(set: &[(&str, &str)]) -> Scenario {
    let path = common::root().join("examples/coexist.toml");
    let text = fs::read_to_string(&path).unwrap();
    let overrides: Vec<(String, toml::Value)> =
        set.iter().map(|(key, value)| ((*key).to_owned(), toml::Value::from(*value))).collect();
    parse_scenario("coexist.toml", &text)
        .and_then(|scenario| scenario.with(&overrides))
        .unwrap_or_else(|e| panic!("{e}"))
}

/// The value of a column in the row in which others have these texts.
fn at(output: &Output, table: &str, column: &str, row: &[(&str, &str)]) -> f64 {
    let table = output.table(table).unwrap();
    let says = |i: usize, (column, text): &(&str, &str)| match table.column(column) {
        Some(Column::Text { codes, names }) => names[codes[i] as usize] == *text,
        _ => panic!("{column} is no text"),
    };
    let i = (0..table.rows()).find(|&i| row.iter().all(|cell| says(i, cell))).unwrap();
    match table.column(column) {
        Some(Column::U64(values)) => values[i] as f64,
        Some(Column::F64(values)) => values[i],
        _ => panic!("{column} is no number"),
    }
}

/// What came of a run with the profile, at a round trip of so many milliseconds without queues.
fn check(profile: &str, rtt: f64) {
    let delay = &format!("{} ms", rtt / 2.0);
    let scenario = scenario(&[("queue.aqm.profile", profile), ("link.bottleneck.delay", delay)]);
    let output = run(&scenario.plan(1), 1).unwrap();
    let class = |class, column| at(&output, "classes", column, &[("link", "bottleneck"), ("class", class)]);
    let goodput = |flow| at(&output, "flows", "goodput_bps", &[("name", flow)]);
    let utilisation = at(&output, "links", "utilisation", &[("link", "bottleneck")]);
    let [sojourn_l, sojourn_c] = ["L", "C"].map(|queue| class(queue, "sojourn_mean_s") * 1e3);
    let marked = class("L", "marks_coupled") / class("L", "departed");
    let dropped = class("C", "early_drops") / class("C", "arrived");
    // Windows in segments: DCTCP 2/p_L (Alizadeh et al. 2010), CUBIC as Reno √(3/2)/√p_C (Mathis et al. 1997; RFC 9438
    // §4.3), and p_L = 2·√p_C. Rates are windows over round trips.
    let expected = (rtt + sojourn_c) / (rtt + sojourn_l) / 1.5_f64.sqrt();
    let ratio = goodput("scalable") / goodput("classic");
    let told = format!(
        "{profile} {rtt} ms: ratio {ratio:.2} ({expected:.2} expected), utilisation {utilisation:.3}, L {sojourn_l:.2} ms (p99 {:.2}), C {sojourn_c:.1} ms, \
         marks of L {:.4} (coupled {marked:.4}), drops of C {dropped:.5}",
        class("L", "sojourn_p99_s") * 1e3,
        class("L", "marks") / class("L", "departed"),
    );
    println!("{told}");
    assert!(ratio > expected / 2.0 && ratio < expected * 2.0, "{told}");
    assert!(utilisation > 0.95, "{told}");
    // L's own law begins at 1 ms (Linux) or marks all from 1.2 ms on (the RFC); C's target is 15 ms.
    assert!(sojourn_l < 1.2 && (5.0..20.0).contains(&sojourn_c), "{told}");
    // p_CL = 2·√p_C: of averages the left is below the right, as p' varies.
    assert!((0.6..1.05).contains(&(marked / (2.0 * dropped.sqrt()))), "{told}");
    assert_eq!((class("L", "dropped"), class("C", "marks")), (0.0, 0.0));
}

#[test]
fn a_scalable_flow_and_a_classic_one_share_and_the_first_hardly_waits() {
    for profile in ["linux", "rfc9332"] {
        check(profile, 5.0);
        check(profile, 20.0);
    }
}
