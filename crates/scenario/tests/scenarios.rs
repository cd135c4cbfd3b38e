//! Good scenarios: what is filled in, how arrays pair, what the hash depends on.

use crate::common;

use std::fs;
use std::sync::Arc;

use ecnlab_base::Dur;
use ecnlab_engine::{Column, Plan};
use ecnlab_scenario::{Found, Requested, Scenario, Supplier, parse_scenario, parse_scenario_with};

/// Three sources and two sinks around a bottleneck; six flows.
const PAIRS: &str = "\
format = 1
duration = \"10 s\"
[node.source]
count = 3
[node.sink]
count = 2
[link.access]
from = \"source\"
to = \"r1\"
rate = \"10 Mbps\"
delay = { uniform = [\"1 ms\", \"5 ms\"] }
[link.pipe]
from = \"r1\"
to = \"r2\"
rate = \"1 Mbps\"
delay = \"20 ms\"
drop_segments = { bulk = [3], \"lone[0]\" = [1, 2] }
[link.pipe.reverse]
rate = \"500 kbps\"
[link.exit]
from = \"r2\"
to = \"sink\"
rate = \"unlimited\"
delay = \"1 ms\"
duplex = true
[tcp.old]
profile = \"linux-2.0\"
min_rto = \"1 s\"
[flow.bulk]
count = 6
from = \"source\"
to = \"sink\"
traffic = \"ftp\"
[flow.lone]
count = 1
from = \"source[2]\"
to = \"sink[1]\"
traffic = { kind = \"crr\", request = \"1 KB\", response = \"5 KB\" }
tcp_to = \"old\"
group = \"bulk\"
start = \"1 s\"
";

fn scenario(text: &str) -> Scenario {
    parse_scenario("x.toml", text).unwrap_or_else(|e| panic!("{e}"))
}

/// Reads the traces of the examples, and has no laws.
#[derive(Debug)]
struct Traces;

impl Supplier for Traces {
    fn window(&self, _: Requested<'_>) -> Found<dyn ecnlab_tcp::cc::Supply> {
        Err("none".to_owned())
    }
    fn queue(&self, _: Requested<'_>) -> Found<dyn ecnlab_aqm::userlaw::Supply> {
        Err("none".to_owned())
    }
    fn trace(&self, _: &str, file: &str) -> Result<(String, String), String> {
        let text = fs::read_to_string(common::root().join("examples").join(file)).map_err(|e| e.to_string())?;
        Ok((text, "ab".to_owned()))
    }
}

/// A scenario without user-defined laws, with its traces.
fn traced(text: &str) -> Scenario {
    parse_scenario_with("x.toml", text, Arc::new(Traces)).unwrap_or_else(|e| panic!("{e}"))
}

fn link<'a>(plan: &'a Plan, name: &str) -> &'a ecnlab_engine::LinkPlan {
    plan.links.iter().find(|l| l.name == name).unwrap_or_else(|| panic!("{name}"))
}

/// Whether the text of an example is none of an experiment, a search and a program's `Cargo.toml`.
fn is_scenario(text: &str) -> bool {
    ["\nscenario = ", "\nexperiment = ", "\n[package]"].into_iter().all(|other| !text.contains(other))
}

#[test]
fn every_example_parses_plans_and_reads_back() {
    let mut seen = 0;
    for path in common::files("examples", &["toml"]) {
        let text = fs::read_to_string(&path).unwrap();
        if !is_scenario(&text) {
            continue;
        }
        let scenario = parse_scenario(&path.to_string_lossy(), &text).unwrap_or_else(|e| panic!("{e}"));
        assert!(!scenario.plan(1).flows.is_empty());
        // What is resolved is itself a scenario, and the same one.
        let resolved = toml::to_string(&scenario.resolved()).unwrap();
        let again = parse_scenario("resolved", &resolved).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again.resolved(), scenario.resolved());
        assert_eq!(again.hash(), scenario.hash());
        seen += 1;
    }
    assert!(seen >= 4, "{seen} examples");
}

/// Whether every flow delivers data in the first seconds, in a scenario that may be so short; `None` if a user-defined law is not
/// supplied.
fn delivers(scenario: &Scenario, seconds: u32) -> Option<bool> {
    let short = [("duration".to_owned(), format!("{seconds} s").into()), ("warmup".to_owned(), "1 s".into())];
    let Ok(scenario) = scenario.with(&short) else { return Some(false) };
    let output = match ecnlab_engine::run(&scenario.plan(1), 1) {
        Err(ecnlab_engine::Error::Unsupplied(_)) => return None,
        output => output.unwrap_or_else(|e| panic!("{e}")),
    };
    let Some(Column::U64(delivered)) = output.table("flows_run").unwrap().column("bytes_delivered") else {
        panic!("bytes_delivered")
    };
    Some(delivered.iter().all(|bytes| *bytes > 0))
}

#[test]
fn every_example_delivers_data() {
    let mut unsupplied = 0;
    for path in common::files("examples", &["toml"]) {
        let text = fs::read_to_string(&path).unwrap();
        if !is_scenario(&text) {
            continue;
        }
        let scenario = if text.contains("{ csv = ") { traced(&text) } else { scenario(&text) };
        match delivers(&scenario, 4) {
            // Nobody supplies user-defined laws here; python/tests/test_userlaws.py has them.
            None => unsupplied += 1,
            // Flows may begin later, and among many one may wait for seconds after its first packets are lost.
            Some(all) => assert!(all || delivers(&scenario, 10) == Some(true), "{}", path.display()),
        }
    }
    assert_eq!(unsupplied, 1, "only the example of user-defined laws is left out");
}

#[test]
fn the_mix_is_thirty_flows_twenty_of_them_with_ecn() {
    let text = fs::read_to_string(common::root().join("examples/mixed.toml")).unwrap();
    let plan = scenario(&text).plan(1);
    assert_eq!(plan.flows.len(), 30);
    assert_eq!(plan.groups, ["dropped", "marked"]);
    let with = |f: &&ecnlab_engine::FlowPlan| f.tcp_from.ecn.name() == "rfc3168";
    assert_eq!(plan.flows.iter().filter(with).count(), 20);
    assert!(plan.flows.iter().all(|f| f.tcp_from.recovery.name() == "newreno"));
}

#[test]
fn the_ith_flow_joins_the_ith_nodes_round_and_round() {
    let plan = scenario(PAIRS).plan(1);
    let flows: Vec<(&str, &str, &str)> = plan
        .flows
        .iter()
        .map(|f| (f.name.as_str(), plan.nodes[f.from[0]].as_str(), plan.nodes[f.to[0]].as_str()))
        .collect();
    assert_eq!(
        flows,
        [
            ("bulk[0]", "source[0]", "sink[0]"),
            ("bulk[1]", "source[1]", "sink[1]"),
            ("bulk[2]", "source[2]", "sink[0]"),
            ("bulk[3]", "source[0]", "sink[1]"),
            ("bulk[4]", "source[1]", "sink[0]"),
            ("bulk[5]", "source[2]", "sink[1]"),
            ("lone[0]", "source[2]", "sink[1]"),
        ]
    );
}

#[test]
fn a_link_from_an_array_is_an_array_of_links() {
    let plan = scenario(PAIRS).plan(1);
    let names: Vec<&str> = plan.links.iter().map(|l| l.name.as_str()).collect();
    let expected = [
        "access[0]",
        "access[0]~reverse",
        "access[1]",
        "access[1]~reverse",
        "access[2]",
        "access[2]~reverse",
        "exit[0]",
        "exit[0]~reverse",
        "exit[1]",
        "exit[1]~reverse",
        "pipe",
        "pipe~reverse",
    ];
    assert_eq!(names, expected);
    assert_eq!(plan.nodes[link(&plan, "access[2]").from], "source[2]");
    assert_eq!(plan.nodes[link(&plan, "exit[1]~reverse").from], "sink[1]");
    assert_eq!(link(&plan, "exit[0]").rate, None);
}

#[test]
fn the_reverse_direction_has_the_delay_but_not_the_faults() {
    let plan = scenario(PAIRS).plan(1);
    let (pipe, back) = (link(&plan, "pipe"), link(&plan, "pipe~reverse"));
    assert_eq!((pipe.delay, back.delay), (Dur::from_ms(20), Dur::from_ms(20)));
    assert_eq!(back.rate.map(|r| r.bps()), Some(500_000));
    assert!(back.errors.drop_segments.is_empty());
    // The flow `bulk` is instances 0 to 5, `lone[0]` is number 6.
    let bulk = (0..6).map(|flow| (flow, 3));
    assert_eq!(pipe.errors.drop_segments, bulk.chain([(6, 1), (6, 2)]).collect::<Vec<_>>());
}

#[test]
fn random_delays_are_drawn_from_streams_of_their_own() {
    let plan = scenario(PAIRS).plan(7);
    let delays: Vec<Dur> = (0..3).map(|i| link(&plan, &format!("access[{i}]")).delay).collect();
    assert!(delays.iter().all(|d| (Dur::from_ms(1)..Dur::from_ms(5)).contains(d)));
    assert_ne!(delays[0], delays[1]);
    assert_eq!(link(&plan, "access[1]~reverse").delay, delays[1]);
    assert_eq!(link(&scenario(PAIRS).plan(7), "access[1]").delay, delays[1]);
    assert_ne!(link(&scenario(PAIRS).plan(8), "access[1]").delay, delays[1]);
    // One more source, and another link before all of them in the alphabet, leave the draws alone.
    let another =
        "[link.aaa]\nfrom = \"z\"\nto = \"r1\"\nrate = \"1 Mbps\"\ndelay = { uniform = [\"1 ms\", \"5 ms\"] }\n";
    let more = scenario(&(PAIRS.replace("count = 3", "count = 4") + another)).plan(7);
    for (i, delay) in delays.iter().enumerate() {
        assert_eq!(link(&more, &format!("access[{i}]")).delay, *delay);
    }
    // A reverse direction with its own random delay gets its own draw.
    let own =
        PAIRS.replace("[link.pipe]", "[link.access.reverse]\ndelay = { uniform = [\"1 ms\", \"5 ms\"] }\n[link.pipe]");
    assert_ne!(
        link(&scenario(&own).plan(7), "access[1]~reverse").delay,
        link(&scenario(&own).plan(7), "access[1]").delay
    );
}

#[test]
fn departures_name_the_profile_its_value_and_its_source() {
    let departures = scenario(PAIRS).departures();
    assert_eq!(departures.len(), 1);
    let one = &departures[0];
    assert_eq!((one.key.as_str(), one.profile.as_str()), ("tcp.old.min_rto", "linux-2.0"));
    assert_eq!((&one.profile_value, &one.value), (&"200 ms".into(), &"1 s".into()));
    assert!(one.source.len() > 3);
    // A value that is written as the profile has it departs from nothing, however it is written.
    assert!(scenario(&PAIRS.replace("\"1 s\"\n[flow.bulk]", "\"0.2 s\"\n[flow.bulk]")).departures().is_empty());
}

#[test]
fn settings_go_to_the_ends_that_name_them() {
    let plan = scenario(PAIRS).plan(1);
    let lone = &plan.flows[6];
    assert_eq!(lone.tcp_to.min_rto, Dur::from_s(1));
    assert_eq!(*lone.tcp_from, ecnlab_tcp::profile("modern").unwrap().config);
    assert_eq!(plan.groups[lone.group], "bulk");
}

#[test]
fn overrides_are_as_if_written_in_the_file() {
    let overrides = [
        ("duration".to_owned(), "20 s".into()),
        ("flow.bulk.count".to_owned(), 2.into()),
        ("flow.bulk.traffic.size".to_owned(), "1 MB".into()),
        ("node.r1.count".to_owned(), 1.into()),
        ("queue.default.limit".to_owned(), "10 packets".into()),
        (
            "queue.new".to_owned(),
            toml::Table::from_iter([
                ("discipline".to_owned(), "droptail".into()),
                ("limit".to_owned(), "1 packet".into()),
            ])
            .into(),
        ),
        ("tcp.default.ecn".to_owned(), "rfc3168".into()),
    ];
    let by_override = scenario(PAIRS).with(&overrides).unwrap_or_else(|e| panic!("{e}"));
    let text = PAIRS
        .replace("\"10 s\"", "\"20 s\"")
        .replace("count = 6", "count = 2")
        .replace("\"ftp\"", "{ kind = \"ftp\", size = \"1 MB\" }")
        + "[node.r1]\ncount = 1\n[queue.default]\ndiscipline = \"droptail\"\nlimit = \"10 packets\"\n\
           [queue.new]\ndiscipline = \"droptail\"\nlimit = \"1 packet\"\n[tcp.default]\necn = \"rfc3168\"\n";
    assert_eq!(by_override.resolved(), scenario(&text).resolved());
    assert_eq!(scenario(PAIRS).with(&[]).unwrap().hash(), scenario(PAIRS).hash());
}

#[test]
fn the_profile_linux_7_has_the_kernel_s_dctcp() {
    let law = |profile: &str| {
        let tcp = format!("[tcp.default]\nprofile = \"{profile}\"\ncongestion = \"dctcp\"\n");
        scenario(&(PAIRS.to_owned() + &tcp)).resolved()["tcp"]["default"]["congestion"]["profile"].clone()
    };
    assert_eq!([law("linux-7"), law("modern")], ["linux".into(), serde_json::Value::Null]);
}

#[test]
fn the_profile_linux_7_has_the_kernel_s_default_law_and_slow_start_as_its_law_has_it() {
    let of = |settings: &str| {
        let scenario = scenario(&format!("{PAIRS}[tcp.default]\nprofile = \"linux-7\"\n{settings}"));
        let departed: Vec<_> =
            scenario.departures().into_iter().map(|d| d.key).filter(|key| !key.contains("old")).collect();
        (scenario.resolved()["tcp"]["default"]["slow_start"].clone(), departed.join(" "))
    };
    let law = "tcp.default.congestion";
    assert_eq!(of(""), ("hystart".into(), String::new()));
    assert_eq!(of("congestion = { kind = \"cubic\", profile = \"linux\" }"), ("hystart".into(), String::new()));
    assert_eq!(of("congestion = \"cubic\""), ("standard".into(), law.into()));
    assert_eq!(of("congestion = \"reno\""), ("standard".into(), law.into()));
    let both = format!("{law} tcp.default.slow_start");
    assert_eq!(of("congestion = \"reno\"\nslow_start = \"hystart\""), ("hystart".into(), both));
}

#[test]
fn the_hash_is_of_what_results_depend_on() {
    let base = scenario(PAIRS);
    let same = [
        PAIRS.replace("duration", "# a comment\ntitle = \"a title\"\nduration"),
        PAIRS.replace("\"20 ms\"", "\"0.02 s\""),
        PAIRS.replace("from = \"r1\"\nto = \"r2\"\n", "to = \"r2\"\nfrom = \"r1\"\n"),
        PAIRS.replace(
            "[node.source]\ncount = 3\n[node.sink]\ncount = 2\n",
            "[node.sink]\ncount = 2\n[node.source]\ncount = 3\n",
        ),
        PAIRS.replace("\"ftp\"", "{ kind = \"ftp\" }"),
        PAIRS.replace("duration = \"10 s\"", "duration = \"10 s\"\nwarmup = \"0 s\"\nprofile = \"modern\""),
    ];
    for text in same {
        assert_eq!(scenario(&text).hash(), base.hash(), "{text}");
    }
    assert_eq!(base.hash().len(), 64);
    // Every value that stands in the file, changed one at a time.
    let changes = [
        ("\"10 s\"", "\"11 s\""),
        ("count = 3", "count = 4"),
        ("count = 2", "count = 3"),
        ("\"10 Mbps\"", "\"11 Mbps\""),
        ("\"1 ms\", \"5 ms\"", "\"1 ms\", \"6 ms\""),
        ("\"1 Mbps\"", "\"2 Mbps\""),
        ("\"20 ms\"", "\"21 ms\""),
        ("bulk = [3]", "bulk = [4]"),
        ("\"500 kbps\"", "\"501 kbps\""),
        ("\"unlimited\"", "\"1 Gbps\""),
        ("\"linux-2.0\"", "\"linux-2.2\""),
        ("\"1 s\"\n[flow.bulk]", "\"2 s\"\n[flow.bulk]"),
        ("count = 6", "count = 7"),
        ("\"ftp\"", "{ kind = \"ftp\", size = \"1 MB\" }"),
        ("source[2]", "source[1]"),
        ("\"5 KB\"", "\"6 KB\""),
        ("tcp_to", "tcp_from"),
        ("group = \"bulk\"", "group = \"other\""),
        ("start = \"1 s\"", "start = \"2 s\""),
        ("duration", "sample = \"1 s\"\nduration"),
        ("duration", "packets = true\nduration"),
        ("duration", "warmup = \"1 s\"\nduration"),
    ];
    for (old, new) in changes {
        assert!(PAIRS.contains(old), "{old}");
        assert_ne!(scenario(&PAIRS.replacen(old, new, 1)).hash(), base.hash(), "{new}");
    }
}

#[test]
fn a_scenario_written_out_is_the_same_scenario() {
    for path in common::files("examples", &["toml"]) {
        let text = fs::read_to_string(&path).unwrap();
        let Ok(scenario) = parse_scenario("x.toml", &text) else { continue };
        let set = [("queue.red.max_p".to_owned(), toml::Value::from(0.1 + 0.2))];
        for scenario in [Some(scenario.clone()), scenario.with(&set).ok()].into_iter().flatten() {
            let again = parse_scenario("x.toml", &scenario.to_toml()).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(again.hash(), scenario.hash());
            assert_eq!(format!("{:?}", again.plan(7)), format!("{:?}", scenario.plan(7)));
        }
    }
}

/// Three flows of each table; what is in question is written twice, for links and flows with and without neighbours.
const STOPPING: &str = "\
format = 1
duration = \"10 s\"
[link.pipe]
from = \"a\"
to = \"b\"
rate = \"1 Mbps\"
delay = \"1 ms\"
jitter = { delay = { exponential = \"2 ms\" }, reorder = true }
burst_loss = { p = 0.01, r = 0.5 }
[flow.bulk]
count = 3
from = \"a\"
to = \"b\"
traffic = \"ftp\"
start = { uniform = [\"0 s\", \"1 s\"] }
stop = { uniform = [\"2 s\", \"9 s\"] }
";

#[test]
fn stops_are_drawn_for_each_flow_from_streams_of_their_own() {
    let stops = |text: &str, seed| scenario(text).plan(seed).flows.iter().map(|f| f.stop).collect::<Vec<_>>();
    let drawn = stops(STOPPING, 1);
    let seconds: Vec<f64> = drawn.iter().map(|stop| stop.map_or(0.0, |at| at.as_secs())).collect();
    assert!(seconds.iter().all(|at| (2.0..9.0).contains(at)) && seconds[0] != seconds[1], "{seconds:?}");
    assert_ne!(drawn, stops(STOPPING, 2));
    // One more flow, or another start, moves none of them.
    let more = format!("{STOPPING}[flow.another]\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\n");
    assert_eq!(stops(&more, 1)[1..], drawn);
    assert_eq!(stops(&STOPPING.replace("\"0 s\", \"1 s\"", "\"0 s\", \"500 ms\""), 1), drawn);
    let starts = |text: &str| scenario(text).plan(1).flows.iter().map(|f| f.start).collect::<Vec<_>>();
    let without = STOPPING.replace("stop = { uniform = [\"2 s\", \"9 s\"] }\n", "");
    assert_eq!((starts(&without), stops(&without, 1)), (starts(STOPPING), vec![None; 3]));
}

#[test]
fn jitter_and_burst_loss_are_of_one_direction() {
    let plan = scenario(STOPPING).plan(1);
    let (there, back) = (link(&plan, "pipe"), link(&plan, "pipe~reverse"));
    assert!(there.jitter.is_some_and(|jitter| jitter.reorder) && back.jitter.is_none());
    let bursts = there.errors.bursts.unwrap();
    assert_eq!((bursts.p, bursts.r, bursts.good, bursts.bad, back.errors.bursts), (0.01, 0.5, 0.0, 1.0, None));
}

#[test]
fn unset_keys_are_not_in_the_hash() {
    // New keys leave the hashes, and so the stored runs, of scenarios without them as they were.
    let resolved = scenario(PAIRS).resolved().to_string();
    assert!(["jitter", "burst_loss", "stop", "ecn\":\"not", "quench"].iter().all(|key| !resolved.contains(key)));
    assert_ne!(scenario(STOPPING).hash(), scenario(&STOPPING.replace("reorder = true", "reorder = false")).hash());
}

/// So many pairs of hosts around a bottleneck have their paths, in time that does not grow with the square of the hosts.
fn pairs_have_their_paths(pairs: usize) {
    let text = format!(
        r#"format = 1
duration = "1 s"

node.source = {{ count = {pairs} }}
node.sink = {{ count = {pairs} }}
link.access = {{ from = "source", to = "r1", rate = "10 Mbps", delay = "1 ms" }}
link.pipe = {{ from = "r1", to = "r2", rate = "1 Mbps", delay = "20 ms" }}
link.exit = {{ from = "r2", to = "sink", rate = "10 Mbps", delay = "1 ms" }}
flow.bulk = {{ count = {pairs}, from = "source", to = "sink", traffic = "ftp" }}
"#
    );
    let plan = parse_scenario("pairs.toml", &text).unwrap_or_else(|e| panic!("{e}")).plan(1);
    assert_eq!((plan.nodes.len(), plan.links.len(), plan.flows.len()), (2 * pairs + 2, 4 * pairs + 2, pairs));
    let mut paths = ecnlab_engine::Paths::of(&plan);
    let way = |paths: &mut ecnlab_engine::Paths, from: usize, to: usize| {
        let first = paths.first(from, to).unwrap();
        paths.path(first, to).map(|link| plan.links[link as usize].name.clone()).collect::<Vec<_>>()
    };
    let node = |name: String| plan.nodes.iter().position(|known| *known == name).unwrap();
    let last = pairs - 1;
    let (source, sink) = (node(format!("source[{last}]")), node(format!("sink[{last}]")));
    let expected = [format!("access[{last}]"), "pipe".to_owned(), format!("exit[{last}]")];
    assert_eq!(way(&mut paths, source, sink), expected);
}

#[test]
fn ten_thousand_pairs_of_hosts_have_their_paths() {
    pairs_have_their_paths(10_000);
}

#[test]
#[ignore = "slow: make slow"]
fn a_hundred_thousand_pairs_of_hosts_have_their_paths() {
    pairs_have_their_paths(100_000);
}

/// A queue before a link of 10 Mb/s and 10 ms.
fn with_queue(queue: &str) -> Scenario {
    let text = format!(
        "format = 1\nduration = \"1 s\"\n[link.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\n\
         queue = \"q\"\n[flow.f]\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\n[queue.q]\n{queue}"
    );
    parse_scenario("x.toml", &text).unwrap()
}

#[test]
fn values_that_laws_derive_are_stated_by_link() {
    let of = |queue: &str| with_queue(queue).in_force(1)["l"].clone();
    assert_eq!(of("discipline = \"droptail\"\nlimit = \"9 packets\""), serde_json::Value::Null);
    let fixed = "discipline = \"red\"\nlimit = \"60 packets\"\nmin_th = \"5 packets\"\nmax_th = \"15 packets\"";
    assert_eq!(of(fixed), serde_json::Value::Null);
    // 10 Mb/s are 2500 packets of 500 B a second: half of 5 ms of them are 6.25, three times that 18.75. Ten times the
    // round trip, of 0.1 s at least, is 1 s: w = 1 - exp(-1/2500) = 0.00039992.
    let auto = "discipline = \"red\"\nlimit = \"60 packets\"\nmin_th = \"auto packets\"\nmax_th = \"auto packets\"\n\
                weight = \"auto\"\n[queue.q.adaptive]\nbottom = \"auto\"";
    let found = of(auto);
    assert_eq!((found["min_th"].as_str(), found["max_th"].as_str()), (Some("6.25 packets"), Some("18.75 packets")));
    assert!((found["weight"].as_f64().unwrap() - 0.000_399_92).abs() < 1e-8);
    // A packet of 1000 B takes 0.8 ms: 125 in 100 ms, and 1/125 = 0.008.
    assert_eq!(found["adaptive"], serde_json::json!({ "bottom": 0.008 }));
    // RFC 9332's: a third of 100 ms is more than the target, 15 ms; alpha = 0.1 x 0.015/0.1², beta = 0.3/0.1.
    let rfc = of("discipline = \"dualpi2\"\nprofile = \"rfc9332\"");
    assert_eq!((rfc["tupdate"].as_str(), rfc["min_th"].as_str()), (Some("15 ms"), Some("800 us")));
    assert!(
        (rfc["alpha"].as_f64().unwrap() - 0.15).abs() < 1e-12 && (rfc["beta"].as_f64().unwrap() - 3.0).abs() < 1e-12
    );
    assert!(rfc.get("step_thresh").is_none());
    assert_eq!(of("discipline = \"cake\"\nrtt = \"40 ms\"\nlimit = \"100 packets\"")["target"], "2 ms");
}

#[test]
fn values_that_laws_of_classes_derive_are_stated_with_their_class() {
    let queue = "discipline = \"tbf\"\nlimit = \"60 packets\"\nrate = \"5 Mbps\"\nburst = \"10 kB\"\n[queue.q.class.inner]\n\
                 discipline = \"avq\"\nlimit = \"20 packets\"";
    let found = with_queue(queue).in_force(1);
    assert_eq!(found, serde_json::json!({ "l": { "class": { "inner": { "buffer": "20 packets" } } } }));
}

#[test]
fn a_drawn_delay_has_the_value_of_its_seed() {
    let text = with_queue("discipline = \"droptail\"\nlimit = \"9 packets\"");
    assert_eq!(text.in_force(1), text.in_force(2));
    let drawn = PAIRS.replace("delay = \"20 ms\"", "delay = { uniform = [\"50 ms\", \"90 ms\"] }\nqueue = \"auto\"")
        + "[queue.auto]\ndiscipline = \"red\"\nlimit = \"60 packets\"\nmin_th = \"5 packets\"\nmax_th = \"15 packets\"\n\
           weight = \"auto\"\n";
    let drawn = parse_scenario("x.toml", &drawn).unwrap();
    assert_ne!(drawn.in_force(1)["pipe"]["weight"], drawn.in_force(2)["pipe"]["weight"]);
    assert_eq!(drawn.in_force(3), drawn.in_force(3));
}

#[test]
fn over_ipv6_the_default_mss_is_twenty_bytes_less() {
    let with = |ip: &str, mss: &str| {
        let text = PAIRS.replace("[tcp.old]", &format!("[tcp.own]\n{mss}\n[tcp.old]"));
        scenario(&text.replace("[flow.bulk]", &format!("[flow.bulk]\n{ip}\ntcp = \"own\"")))
    };
    let mss = |s: &Scenario| s.plan(1).flows[0].tcp_from.mss.0;
    let (four, six, written) = (with("", ""), with("ip = 6", ""), with("ip = 6", "mss = \"1460 B\""));
    assert_eq!([mss(&four), mss(&six), mss(&written)], [1460, 1440, 1460]);
    // IPv4 is the default, and changes no hash.
    assert_eq!(with("ip = 4", "").hash(), four.hash());
    // The resolved scenario, read again, is the same; the departure from the profile is reported.
    assert_eq!(
        (&six.resolved()["flow"]["bulk"]["ip"], &six.resolved()["tcp"]["own"]["mss"]),
        (&6.into(), &"1440 B".into())
    );
    let again = toml::to_string(&six.resolved()).expect("TOML");
    assert_eq!(scenario(&again).hash(), six.hash());
    assert!(six.departures().iter().any(|d| d.key == "tcp.own.mss" && d.profile_value == "1460 B"));
    // Back to IPv4 by an override.
    let back = six.with(&[("flow.bulk.ip".to_owned(), 4.into())]).expect("a scenario");
    assert_eq!(back.hash(), four.hash());
}
