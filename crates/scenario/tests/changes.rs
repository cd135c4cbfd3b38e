//! Links that change: the forms of a rate and a delay, outages, traces, and what is refused.

use std::sync::Arc;

use ecnlab_base::{Dur, Steps, Time};
use ecnlab_engine::Changes;
use ecnlab_scenario::{Found, Requested, Scenario, Supplier, parse_scenario, parse_scenario_with};

/// A scenario of 60 s whose link has these lines.
fn file(link: &str) -> String {
    format!(
        "format = 1\nduration = \"60 s\"\n[link.l]\nfrom = \"a\"\nto = \"b\"\n{link}\n\
         [flow.f]\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\n"
    )
}

fn scenario(link: &str) -> Scenario {
    parse_scenario("x.toml", &file(link)).expect("a scenario")
}

/// The changes of both directions with seed 1.
fn changes(link: &str) -> [Changes; 2] {
    let plan = scenario(link).plan(1);
    [plan.links[0].changes.clone(), plan.links[1].changes.clone()]
}

fn error(link: &str) -> String {
    parse_scenario("x.toml", &file(link)).expect_err("a wrong scenario").to_string()
}

fn s(x: u64) -> Time {
    Time::ZERO + Dur::from_s(x)
}

#[test]
fn steps_of_a_rate_and_a_delay_reach_the_engine_in_both_directions() {
    let link = "rate = [[\"0 s\", \"50 Mbps\"], [\"10 s\", \"1 Mbps\"]]\n\
                delay = { square = [\"20 ms\", \"35 ms\"], every = \"30 s\" }";
    let [forward, reverse] = changes(link);
    assert_eq!(forward.rate, Some(Steps::new(vec![(s(0), 50_000_000), (s(10), 1_000_000)], None)));
    let delays = vec![(s(0), Dur::from_ms(20).ps()), (s(15), Dur::from_ms(35).ps())];
    assert_eq!(forward.delay, Some(Steps::new(delays, Some(Dur::from_s(30)))));
    assert_eq!(forward, reverse);
    // The queue is configured for the highest rate and the longest delay.
    let plan = scenario(link).plan(1);
    assert_eq!(plan.links[0].rate.map(|rate| rate.bps()), Some(50_000_000));
    assert_eq!(plan.links[0].delay, Dur::from_ms(35));
}

#[test]
fn other_engines_get_the_changes_before_the_end_of_the_run() {
    let drawn = |link: &str| scenario(link).drawn(1).links[0].changes.clone();
    let ps = |seconds: u64| s(seconds).ps();
    let link = "rate = { square = [\"9 Mbps\", \"1 Mbps\"], every = \"40 s\" }\ndelay = \"1 ms\"\n\
                outages = { times = [[\"50 s\", \"5 s\"], [\"70 s\", \"1 s\"]] }";
    let rate = [(0, 9_000_000), (20, 1_000_000), (40, 9_000_000), (50, 0), (55, 9_000_000)];
    let found = drawn(link).expect("changes");
    assert_eq!(found.rate, Some(rate.map(|(at, bps)| (ps(at), bps)).to_vec()));
    assert_eq!((found.delay, found.lost), (None, Vec::new()));
    // Lost packets do not change the rate.
    let lost = link.replace("1 s\"]] }", "1 s\"]], packets = \"lost\" }");
    assert_eq!(drawn(&lost).map(|found| found.lost), Some(vec![(ps(50), ps(55))]));
    assert_eq!(drawn("rate = \"9 Mbps\"\ndelay = \"1 ms\""), None);
}

#[test]
fn a_reverse_direction_with_a_rate_of_its_own_does_not_change() {
    let [forward, reverse] = changes(
        "rate = [[\"0 s\", \"50 Mbps\"], [\"10 s\", \"1 Mbps\"]]\ndelay = \"1 ms\"\nreverse = { rate = \"5 Mbps\" }",
    );
    assert!(forward.rate.is_some() && reverse.rate.is_none());
}

#[test]
fn each_direction_walks_by_itself_and_each_seed_anew() {
    let link = "rate = { walk = [\"1 Mbps\", \"9 Mbps\"], step = \"1 s\", change = 0.5 }\ndelay = \"1 ms\"";
    let [forward, reverse] = changes(link);
    assert_ne!(forward.rate, reverse.rate);
    let rate = |seed| scenario(link).plan(seed).links[0].changes.rate.clone();
    assert_eq!(rate(1), forward.rate);
    assert_ne!(rate(2), forward.rate);
}

#[test]
fn a_resolved_scenario_is_a_scenario_with_the_same_changes() {
    for link in [
        "rate = [[\"0 s\", \"50 Mbps\"], [\"10 s\", \"1 Mbps\"]]\ndelay = \"1 ms\"",
        "rate = { sine = [\"1 Mbps\", \"9 Mbps\"], every = \"10 s\" }\ndelay = { uniform = [\"1 ms\", \"9 ms\"] }",
        "rate = \"9 Mbps\"\ndelay = { walk = [\"1 ms\", \"9 ms\"], step = \"1 s\", change = 0.5 }",
        "rate = \"9 Mbps\"\ndelay = \"1 ms\"\noutages = { times = [[\"10 s\", \"1 s\"]], packets = \"lost\" }",
        "rate = \"9 Mbps\"\ndelay = \"1 ms\"\naggregation = { every = \"1 ms\", access = { uniform = [\"0 s\", \"1 ms\"] } }",
        "rate = \"9 Mbps\"\ndelay = \"1 ms\"\noutages = { up = { exponential = \"10 s\" }, down = \"1 s\" }",
    ] {
        let first = scenario(link);
        let again = parse_scenario("y.toml", &toml::to_string(&first.resolved()).expect("TOML")).expect("a scenario");
        assert_eq!(first.resolved(), again.resolved());
        assert_eq!(first.hash(), again.hash());
    }
}

#[test]
fn the_longest_times_are_possible() {
    let [held, _] = changes("rate = \"9 Mbps\"\ndelay = \"24 h\"\noutages = { times = [[\"59 s\", \"5124 h\"]] }");
    assert_eq!(held.rate.map(|rate| rate.until(s(60))), Some(vec![(s(0), 9_000_000), (s(59), 0)]));
    let far =
        "rate = \"9 Mbps\"\ndelay = \"1 ms\"\noutages = { times = [[\"5124 h\", \"5124 h\"]], packets = \"lost\" }";
    assert_eq!(changes(far)[0].lost.len(), 1);
}

#[test]
fn outages_hold_packets_by_a_rate_of_zero_or_lose_them() {
    let link = |packets| {
        format!("rate = \"9 Mbps\"\ndelay = \"1 ms\"\noutages = {{ times = [[\"10 s\", \"1 s\"]]{packets} }}")
    };
    let [held, back] = changes(&link(""));
    assert_eq!(held.rate, Some(Steps::new(vec![(s(0), 9_000_000), (s(10), 0), (s(11), 9_000_000)], None)));
    assert_eq!(back, Changes::default());
    let [lost, _] = changes(&link(", packets = \"lost\""));
    assert_eq!((lost.rate, &*lost.lost), (None, &[(s(10), s(11))][..]));
}

#[test]
fn a_held_outage_is_a_rate_of_zero() {
    let stop = |times: &str| {
        let rate = "rate = [[\"0 s\", \"50 Mbps\"], [\"10 s\", \"5 Mbps\"]]\ndelay = \"1 ms\"";
        let [held, _] = changes(&format!("{rate}\noutages = {{ times = [{times}] }}"));
        let steps = held.rate.expect("steps of a rate").until(s(60));
        steps.into_iter().map(|(at, bps)| (at.as_secs(), bps / 1_000_000)).collect::<Vec<_>>()
    };
    assert_eq!(stop("[\"2 s\", \"1 s\"]"), [(0.0, 50), (2.0, 0), (3.0, 50), (10.0, 5)]);
    // Over a step, at its start, up to its start, from the start of the run, and after the last step.
    assert_eq!(stop("[\"8 s\", \"4 s\"]"), [(0.0, 50), (8.0, 0), (12.0, 5)]);
    assert_eq!(stop("[\"10 s\", \"2 s\"]"), [(0.0, 50), (10.0, 0), (12.0, 5)]);
    assert_eq!(stop("[\"8 s\", \"2 s\"]"), [(0.0, 50), (8.0, 0), (10.0, 5)]);
    let twice = "[\"0 s\", \"1 s\"], [\"20 s\", \"1 s\"]";
    assert_eq!(stop(twice), [(0.0, 0), (1.0, 50), (10.0, 5), (20.0, 0), (21.0, 5)]);
    // Two in one step.
    let close = "[\"1 s\", \"1 s\"], [\"3 s\", \"1 s\"]";
    assert_eq!(stop(close), [(0.0, 50), (1.0, 0), (2.0, 50), (3.0, 0), (4.0, 50), (10.0, 5)]);
}

#[test]
fn drawn_outages_alternate_with_the_time_between() {
    let [lost, _] =
        changes("rate = \"9 Mbps\"\ndelay = \"1 ms\"\noutages = { up = \"20 s\", down = \"2 s\", packets = \"lost\" }");
    assert_eq!(*lost.lost, [(s(20), s(22)), (s(42), s(44))]);
}

#[test]
fn what_cannot_be_is_refused_at_its_key_with_a_remedy() {
    let fast = "rate = \"9 Mbps\"\ndelay = \"1 ms\"\n";
    for (link, key, remedy) in [
        ("rate = []\ndelay = \"1 ms\"", "link.l.rate", "write at least one"),
        ("rate = [[\"0 s\", 5]]\ndelay = \"1 ms\"", "link.l.rate", "\"1.5 Mbps\""),
        ("rate = { square = [\"1 Mbps\", \"2 Mbps\"] }\ndelay = \"1 ms\"", "link.l.rate", "write both"),
        ("rate = { sqare = [\"1 Mbps\", \"2 Mbps\"] }\ndelay = \"1 ms\"", "link.l.rate.sqare", "square"),
        ("rate = \"1 Mbps\"\ndelay = { mahimahi = \"x\" }", "link.l.delay", "of rates only"),
        (
            "rate = \"1 Mbps\"\ndelay = { walk = [\"1 ms\", \"2 ms\"], step = \"1 us\", change = 0.1 }",
            "link.l.delay",
            "longer",
        ),
        ("rate = \"1 Mbps\"\ndelay = [[\"0 s\", \"25 h\"]]", "link.l.delay", "at most 24 h"),
        (&format!("{fast}outages = {{}}"), "link.l.outages", "times"),
        (&format!("{fast}outages = {{ up = \"1 s\" }}"), "link.l.outages", "write both"),
        (&format!("{fast}outages = {{ up = \"1 s\", down = \"0 s\" }}"), "link.l.outages.down", "longer"),
        (&format!("{fast}outages = {{ up = \"1 us\", down = \"1 us\" }}"), "link.l.outages", "longer"),
        (
            "rate = { square = [\"1 Mbps\", \"2 Mbps\"], every = \"1 us\" }\ndelay = \"1 ms\"",
            "120000000 steps",
            "longer",
        ),
        (&format!("{fast}aggregation = {{}}"), "link.l.aggregation", "`every`"),
        (&format!("{fast}aggregation = {{ time = \"0 s\" }}"), "link.l.aggregation.time", "longer"),
        (&format!("{fast}aggregation = {{ bytes = \"0 B\" }}"), "link.l.aggregation.bytes", "at least a packet"),
        (
            &format!("{fast}aggregation = {{ time = \"4 ms\", access = {{ exponential = \"1 ms\" }} }}"),
            "link.l.aggregation.access",
            "uniform",
        ),
        (
            &format!(
                "{fast}aggregation = {{ time = \"4 ms\" }}\njitter = {{ delay = {{ exponential = \"1 ms\" }}, reorder = false }}"
            ),
            "`link.l.aggregation` and `link.l.jitter`",
            "`access` varies",
        ),
        (
            &format!("{fast}outages = {{ times = [[\"1 s\", \"2 s\"], [\"2 s\", \"1 s\"]] }}"),
            "link.l.outages.times",
            "each after the end",
        ),
        (&format!("{fast}outages = {{ times = [[\"1 s\", \"0 s\"]] }}"), "link.l.outages.times", "above 0 s"),
        (
            "rate = \"unlimited\"\ndelay = \"1 ms\"\noutages = { times = [[\"1 s\", \"1 s\"]] }",
            "link.l.outages",
            "packets = \"lost\"",
        ),
    ] {
        let error = error(link);
        assert!(error.contains(key) && error.contains(remedy), "{link}:\n{error}");
    }
}

/// Has one trace.
#[derive(Debug)]
struct Folder(&'static str);

impl Supplier for Folder {
    fn window(&self, _: Requested<'_>) -> Found<dyn ecnlab_tcp::cc::Supply> {
        Err("none".to_owned())
    }
    fn queue(&self, _: Requested<'_>) -> Found<dyn ecnlab_aqm::userlaw::Supply> {
        Err("none".to_owned())
    }
    fn trace(&self, scenario: &str, file: &str) -> Result<(String, String), String> {
        assert_eq!((scenario, file), ("runs/x.toml", "fade.csv"));
        Ok((self.0.to_owned(), "ab".to_owned()))
    }
}

fn traced(text: &'static str) -> Result<Scenario, String> {
    let file = file("rate = { csv = \"fade.csv\", every = \"9 s\" }\ndelay = \"1 ms\"");
    parse_scenario_with("runs/x.toml", &file, Arc::new(Folder(text))).map_err(|found| found.to_string())
}

#[test]
fn a_trace_is_read_once_and_named_by_its_digest() {
    let scenario = traced("time_s,rate_mbps\n0,5\n3,0\n4,5\n").expect("a trace");
    let rate = Steps::new(vec![(s(0), 5_000_000), (s(3), 0), (s(4), 5_000_000)], Some(Dur::from_s(9)));
    assert!(scenario.plan(1).links.iter().all(|link| link.changes.rate.as_ref() == Some(&rate)));
    let resolved = scenario.resolved();
    assert_eq!(resolved["link"]["l"]["rate"]["sha256"], "ab");
    assert_eq!(resolved["link"]["l"]["rate"]["highest"], "5 Mbps");
}

#[test]
fn a_wrong_trace_is_refused_once_with_file_and_line() {
    let error = traced("time_s,rate_mbps\n0,5\n0,6\n").expect_err("a wrong trace");
    assert!(error.contains("`link.l.rate.csv`: fade.csv:3: the time 0 does not follow"), "{error}");
    assert_eq!(error.matches("fade.csv:3").count(), 1, "{error}");
    // Also where the reverse direction has a delay of its own, and takes the rate of the forward one.
    let both = file("rate = { csv = \"fade.csv\" }\ndelay = \"1 ms\"\nreverse = { delay = \"2 ms\" }");
    let error =
        parse_scenario_with("runs/x.toml", &both, Arc::new(Folder("x"))).expect_err("a wrong trace").to_string();
    assert_eq!(error.matches("fade.csv:1").count(), 1, "{error}");
    let error = traced("time_s,rate_mbps\n0,5\n9,6\n").expect_err("a step at the end of the period");
    assert!(error.contains("`link.l.rate.every` is 9 s, and the last step of the trace begins at 9 s"), "{error}");
    // Without a supplier it stays a name.
    let file = file("rate = { csv = \"fade.csv\" }\ndelay = \"1 ms\"");
    assert!(
        parse_scenario("x.toml", &file)
            .is_ok_and(|scenario| scenario.resolved()["link"]["l"]["rate"]["csv"] == "fade.csv")
    );
}
