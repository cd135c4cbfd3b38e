//! Expected rows of the table of packets: shares of links, converted to packets on the links of a path.

use ecnlab_scenario::parse_scenario;

/// Rows of `packets` in 10 s over the links a–b and b–c without delay, whose window limits no flow.
fn packets(ab: &str, bc: &str, flows: &[(&str, &str, &str)]) -> Option<f64> {
    let mut text = "format = 1\nduration = \"10 s\"\n".to_owned();
    for (from, to, rate) in [("a", "b", ab), ("b", "c", bc)] {
        text += &format!("[link.{from}{to}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\ndelay = \"0 s\"\n");
    }
    for (i, (from, to, traffic)) in flows.iter().enumerate() {
        text += &format!("[flow.f{i}]\nfrom = \"{from}\"\nto = \"{to}\"\ntraffic = {traffic}\n");
    }
    parse_scenario("x.toml", &text).unwrap_or_else(|e| panic!("{e}")).volume(true)["packets"]
}

const TCP: &str = "\"ftp\"";
const UDP: &str = "{ kind = \"cbr\", rate = \"2 Mbps\", packet = \"1000 B\" }";

fn close(found: Option<f64>, expected: f64) {
    assert!(found.is_some_and(|found| (found - expected).abs() < 1e-6 * expected), "{found:?} is not {expected}");
}

/// One flow over both links, one on each; the second link is wider. The shares are 5, 5 and 25 Mbit/s. A packet has 1500 B
/// and an ACK, and three rows a link: 3 × 10 s / 12000 bit × (5 × 4 + 5 × 2 + 25 × 2) Mbit/s.
#[test]
fn a_parking_lot_is_shared_by_max_min() {
    close(packets("10 Mbps", "30 Mbps", &[("a", "c", TCP), ("a", "b", TCP), ("b", "c", TCP)]), 200_000.0);
}

/// UDP has 2 Mbit/s in packets of 1000 B without ACKs, TCP the other 8: 3 × 10 s × (2 Mbit/s / 8000 bit + 8 × 2 / 12000).
#[test]
fn what_one_cannot_use_the_others_have() {
    close(packets("10 Mbps", "1 Mbps", &[("a", "b", UDP), ("a", "b", TCP)]), 47_500.0);
    close(packets("unlimited", "1 Mbps", &[("a", "b", UDP)]), 7_500.0);
    assert_eq!(packets("unlimited", "1 Mbps", &[("a", "b", UDP), ("a", "b", TCP)]), None);
}
