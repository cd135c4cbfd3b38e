//! What does not fit into memory is refused before anything is laid out.

use std::sync::Arc;

use ecnlab_scenario::{Available, Found, Limit, Requested, Scenario, Supplier, parse_scenario, parse_scenario_with};

const FILE: &str = r#"format = 1
duration = "10 s"
[link.l]
from = "a"
to = "b"
rate = "1 Mbps"
delay = "10 ms"
queue = "q"
[flow.f]
from = "a"
to = "b"
count = COUNT
traffic = "ftp"
[queue.q]
discipline = "fq"
limit = "1000 packets"
flows = OUTER
[queue.q.class.each]
discipline = "fq"
limit = "1000 packets"
flows = INNER
[queue.q.class.each.class.each]
discipline = "droptail"
limit = "100 packets"
"#;

/// Has so much memory and no laws.
#[derive(Debug)]
struct Machine(Result<u64, &'static str>);

impl Supplier for Machine {
    fn window(&self, _: Requested<'_>) -> Found<dyn ecnlab_tcp::cc::Supply> {
        Err("there is none".to_owned())
    }
    fn queue(&self, _: Requested<'_>) -> Found<dyn ecnlab_aqm::userlaw::Supply> {
        Err("there is none".to_owned())
    }
    fn memory(&self) -> Result<Option<Available>, String> {
        let available = |bytes| Some(Available { bytes, limit: Limit::Machine });
        self.0.map(available).map_err(str::to_owned)
    }
}

const GB: u64 = 1_000_000_000;

fn file(flows: u32, outer: u32, inner: u32) -> String {
    let file = FILE.replace("COUNT", &flows.to_string()).replace("OUTER", &outer.to_string());
    file.replace("INNER", &inner.to_string())
}

fn read(text: &str, memory: u64) -> Result<Scenario, String> {
    parse_scenario_with("x.toml", text, Arc::new(Machine(Ok(memory)))).map_err(|wrong| wrong.to_string())
}

fn memory(flows: u32, outer: u32, inner: u32) -> u64 {
    parse_scenario("x.toml", &file(flows, outer, inner)).unwrap().memory()
}

#[test]
fn four_billion_inner_queues_are_refused_with_their_key() {
    let wrong = read(&file(100_000, 65_536, 65_536), 22 * GB).unwrap_err();
    assert!(wrong.starts_with("x.toml:17:9: a run takes about 3."), "{wrong}");
    assert!(wrong.contains(" TB of it for `queue.q.flows`, and 22 GB are available; write less there"), "{wrong}");
    assert!(wrong.contains("or allow more with ECNLAB_MAX_MEMORY=\"3"), "{wrong}");
}

#[test]
fn the_key_is_that_of_the_most_inner_queues() {
    let wrong = read(&file(1000, 1024, 65_536), GB).unwrap_err();
    assert!(wrong.starts_with("x.toml:21:9:") && wrong.contains("`queue.q.class.each.flows`"), "{wrong}");
}

#[test]
fn quic_has_data_in_flight_up_to_the_larger_receive_window_of_both_ends() {
    let of = |from: &str, to: &str| {
        let ends = "traffic = \"ftp\"\nquic_from = \"from\"\nquic_to = \"to\"";
        let quic = |name, window| format!("[quic.{name}]\nstack = \"quinn\"\nreceive_window = \"{window}\"\n");
        let text = file(10, 16, 16).replace("traffic = \"ftp\"", ends).replace("1 Mbps", "1 Gbps");
        let text = text.replace("1000 packets", "1000000 packets") + &quic("from", from) + &quic("to", to);
        parse_scenario("x.toml", &text).unwrap().memory()
    };
    let large = of("15 MB", "15 MB");
    assert_eq!([of("15 kB", "15 MB"), of("15 MB", "15 kB")], [large; 2]);
    // 10 flows have 10 · 10,000 packets in flight in place of 10 · 10, half of which are estimated with at least 3.7 kB each.
    assert!(large - of("15 kB", "15 kB") > 150_000_000);
}

#[test]
fn inner_queues_that_no_flow_comes_to_take_little() {
    // One flow: 65,536 places outside, and the inner queues of one flow and of the first place.
    let (one, other) = (memory(1, 1, 65_536), memory(1, 65_536, 65_536));
    let places = other - one;
    assert!(read(&file(1, 65_536, 65_536), GB).is_ok() && (100_000_000..200_000_000).contains(&places), "{places}");
}

#[test]
fn millions_of_flows_are_refused_before_they_are_laid_out() {
    for (count, needed) in [(900_000, "5."), (9_000_000, "5")] {
        let wrong = read(&file(count, 1, 1), GB).unwrap_err();
        assert!(wrong.starts_with("x.toml:12:9: a run takes about 5"), "{wrong}");
        assert!(wrong.contains(needed) && wrong.contains("`flow.f.count`, and 1.0 GB are available"), "{wrong}");
    }
}

#[test]
fn arrays_of_nodes_count_as_links_and_flows() {
    let text = file(1, 1, 1).replace("count = 1\n", "").replace("10 s", "10 ms") + "[node.a]\ncount = 1000000\n";
    let wrong = read(&text, GB).unwrap_err();
    assert!(wrong.starts_with("x.toml:3:") && wrong.contains("for `link.l`"), "{wrong}");
}

#[test]
fn what_fits_is_read() {
    let text = file(1000, 1024, 4);
    let needed = read(&text, 22 * GB).unwrap().memory();
    assert!(read(&text, needed).is_ok() && read(&text, needed - 1).is_err());
}

#[test]
fn transactions_are_as_many_as_round_trips_and_the_bottleneck_leave_room_for() {
    let crr = |think: &str, rate: &str, duration: &str| {
        let traffic = format!("{{ kind = \"crr\", request = \"500 B\", response = \"1000 B\", think = \"{think}\" }}");
        let text = file(100, 1, 1).replace("\"ftp\"", &traffic).replace("1 Mbps", rate).replace("\"10 s\"", duration);
        parse_scenario("x.toml", &text).unwrap().memory()
    };
    // Two round trips of 20 ms and 10 ms to think: 20 a second, 10 s or 110 s, 100 flows: 200,000 more rows of 245 B.
    let rows = (crr("10 ms", "1 Gbps", "\"110 s\"") - crr("10 ms", "1 Gbps", "\"10 s\"")) as f64;
    assert!((rows / 49e6 - 1.0).abs() < 0.15, "{rows}");
    // 1500 B at 1.2 Mbit/s: 100 a second of all flows together, 10,000 more.
    let rows = (crr("10 ms", "1.2 Mbps", "\"110 s\"") - crr("10 ms", "1.2 Mbps", "\"10 s\"")) as f64;
    assert!((rows / 2.45e6 - 1.0).abs() < 0.3, "{rows}");
}

#[test]
fn sums_do_not_overflow() {
    let mut text = file(16_000_000, 65_536, 65_536);
    let mut table = "queue.q.class.each.class.each".to_owned();
    for _ in 0..8 {
        text = text.replace(
            &format!("[{table}]\ndiscipline = \"droptail\"\nlimit = \"100 packets\"\n"),
            &format!("[{table}]\ndiscipline = \"fq\"\nlimit = \"100 packets\"\nflows = 65536\n"),
        );
        table += ".class.each";
        text += &format!("[{table}]\ndiscipline = \"droptail\"\nlimit = \"100 packets\"\n");
    }
    let wrong = read(&text, 22 * GB).unwrap_err();
    assert!(wrong.contains("for `queue.q.flows`"), "{wrong}");
}

#[test]
fn a_limit_that_is_no_size_is_refused_with_its_remedy() {
    let machine = Arc::new(Machine(Err("ECNLAB_MAX_MEMORY is \"much\"; write a size such as \"8 GB\"")));
    let wrong = parse_scenario_with("x.toml", &file(1, 1, 1), machine).unwrap_err().to_string();
    assert!(wrong.contains("ECNLAB_MAX_MEMORY is \"much\"; write a size"), "{wrong}");
}

#[test]
fn overrides_are_held_to_the_same_memory() {
    let small = read(&file(1, 1, 1), GB).unwrap();
    let wrong = small.with(&[("flow.f.count".to_owned(), 1_000_000.into())]).unwrap_err().to_string();
    assert!(wrong.starts_with("override:1:") && wrong.contains("`flow.f.count`"), "{wrong}");
}

#[test]
fn the_estimate_grows_with_what_it_counts() {
    let base = memory(1000, 1024, 1);
    for more in [memory(100_000, 1024, 1), memory(1000, 65_536, 2), memory(1000, 1024, 128)] {
        assert!(more > base, "{more} and {base}");
    }
}
