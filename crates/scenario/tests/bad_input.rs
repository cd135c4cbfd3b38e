//! Every mistake in a scenario is answered with its line, its key and a remedy. A table for each subject: what is written, and
//! the messages.

mod ipv6;
mod paths;
mod queues;
mod traffic;

use crate::common;

use common::GOOD;
use ecnlab_scenario::parse_scenario;

/// What stands in the good text, what stands there instead, and the messages without excerpts.
type Case = (&'static str, &'static str, &'static [&'static str]);

const CASES: &[Case] = &[
    // Keys and values that are not there.
    ("min_th = ", "minth = ", &["x.toml:12:1: unknown key `queue.red.minth`; did you mean `min_th`?"]),
    (
        "to = \"b\"\nrate",
        "to = \"b\"\ncolour = \"red\"\nrate",
        &["x.toml:6:1: unknown key `link.pipe.colour`; valid keys: from, to, count, duplex, rate, delay, queue, \
           shaper, jitter, outages, aggregation, loss, burst_loss, drop, mark, drop_segments, mark_segments, boxes, tunnel, reverse"],
    ),
    (
        "to = \"b\"\nrate",
        "to = \"b+\"\nrate",
        &["x.toml:5:6: `link.pipe.to` names `b+`, which cannot be a name; names are letters, digits, `-` and `_`"],
    ),
    (
        "to = \"b\"\nrate",
        "to = \"b[x]\"\nrate",
        &["x.toml:5:6: `link.pipe.to` has `[`, \"b[x]\"; write letters, digits, `_` and `-`"],
    ),
    (
        "to = \"b\"\nrate",
        "to = \"b\"\nshaper = [\"500 kbps\", \"3000 B\"]\nrate",
        &["x.toml:6:10: `link.pipe.shaper` is an array, not a table"],
    ),
    ("duration", "duratoin", &["x.toml:2:1: unknown key `duratoin`; did you mean `duration`?"]),
    ("[link.pipe]", "[links.pipe]", &["x.toml:3:2: unknown key `links`; did you mean `link`?"]),
    (
        "\"red\"\nlimit",
        "\"rde\"\nlimit",
        &["x.toml:10:14: `queue.red.discipline` cannot be `rde`; did you mean `red`?"],
    ),
    (
        "\"off\"",
        "\"on\"",
        &[
            "x.toml:15:7: `tcp.mine.ecn` cannot be `on`; did you mean `rfc3168`? one echo per round trip (RFC 3168); \"accecn\" counts marks (RFC 9768), \"off\" is no ECN",
        ],
    ),
    ("ecn = \"off\"", "profle = \"modern\"", &["x.toml:15:1: unknown key `tcp.mine.profle`; did you mean `profile`?"]),
    (
        "ecn = \"off\"",
        "profile = \"linux-2.1\"",
        &["x.toml:15:11: `tcp.mine.profile` cannot be `linux-2.1`; did you mean `linux-2.0`?"],
    ),
    (
        "duration = \"10 s\"",
        "duration = \"10 s\"\nprofile = \"solaris\"",
        &["x.toml:3:11: `profile` cannot be `solaris`; valid values: modern, linux-2.0, linux-2.2, linux-7, \
           ns-2.1b6, ns-2.1b8a, ns-2.29, ns-2.35, l4s"],
    ),
    (
        "\"ftp\"",
        "{ kind = \"ftp\", sise = \"1 MB\" }",
        &["x.toml:19:27: unknown key `flow.bulk.traffic.sise`; did you mean `size`?"],
    ),
    ("\"ftp\"", "\"fpt\"", &["x.toml:19:11: `flow.bulk.traffic.kind` cannot be `fpt`; did you mean `ftp`?"]),
    // Guessed names.
    ("ecn = \"off\"", "cc = \"cubic\"", &["x.toml:15:1: unknown key `tcp.mine.cc`; did you mean `congestion`?"]),
    (
        "\"ftp\"",
        "\"bulk\"",
        &[
            "x.toml:19:11: `flow.bulk.traffic.kind` cannot be `bulk`; did you mean `ftp`? it sends without end, or `size` bytes",
        ],
    ),
    (
        "ecn = \"off\"",
        "ecn = true",
        &[
            "x.toml:15:7: `tcp.mine.ecn` is a boolean, not one of its values in quotes; for true write \"rfc3168\", one echo per \
           round trip (RFC 3168), or \"accecn\", counts of marks (RFC 9768, with dsack = true); for false write \"off\"",
        ],
    ),
    (
        "rate = \"1 Mbps\"",
        "rate = \"1 Mbps\"\nlatency = \"1 ms\"\nrtt = \"2 ms\"\nbuffer = 9\naqm = \"red\"\nbandwidth = 3",
        &[
            "x.toml:7:1: unknown key `link.pipe.latency`; did you mean `delay`? one way",
            "x.toml:8:1: unknown key `link.pipe.rtt`; did you mean `delay`? one way, so half of the RTT if no other link adds to it",
            "x.toml:9:1: unknown key `link.pipe.buffer`; did you mean `queue`? it names a table [queue.NAME], whose `limit` is the buffer",
            "x.toml:10:1: unknown key `link.pipe.aqm`; did you mean `queue`? it names a table [queue.NAME], whose `discipline` is the AQM",
            "x.toml:11:1: unknown key `link.pipe.bandwidth`; did you mean `rate`?",
        ],
    ),
    (
        "limit = ",
        "buffer = ",
        &[
            "x.toml:9:1: `queue.red` lacks `limit`; add, for example, `limit = \"100 packets\"`",
            "x.toml:11:1: unknown key `queue.red.buffer`; did you mean `limit`? with a unit: \"100 packets\" or \"150 kB\"",
        ],
    ),
    // Keys of a TCP that are rules of its window, beside others.
    (
        "ecn = \"off\"",
        "ecn = \"on\"\ngrowth = \"per-akc\"\nrounding = 3\ngrowht_limit = 2",
        &[
            "x.toml:15:7: `tcp.mine.ecn` cannot be `on`; did you mean `rfc3168`? one echo per round trip (RFC 3168); \"accecn\" counts marks (RFC 9768), \"off\" is no ECN",
            "x.toml:16:10: `tcp.mine.growth` cannot be `per-akc`; did you mean `per-ack`?",
            "x.toml:17:12: `tcp.mine.rounding` is an integer, not one of its values in quotes",
            "x.toml:18:1: unknown key `tcp.mine.growht_limit`; did you mean `growth_limit`?",
        ],
    ),
    ("ecn = \"off\"", "growth_limit = 0", &["x.toml:15:16: `tcp.mine.growth_limit` must be at least 1"]),
    // The window law: a name, or a table of its kind and parameters.
    (
        "ecn = \"off\"",
        "congestion = \"rno\"",
        &["x.toml:15:14: `tcp.mine.congestion` cannot be `rno`; did you mean `reno`?"],
    ),
    (
        "ecn = \"off\"",
        "congestion = { kind = \"ecn-alpha-beta\", bta = 0.9 }",
        &["x.toml:15:41: unknown key `tcp.mine.congestion.bta`; did you mean `beta`?"],
    ),
    (
        "ecn = \"off\"",
        "congestion = { kind = \"ecn\", beta = 0.9 }",
        &[
            "x.toml:15:23: `tcp.mine.congestion.kind` cannot be `ecn`; valid values: reno, ecn-alpha-beta, abe, cubic, dctcp, bbr, bbr3, highspeed, scalable, vegas, ledbat, prague, user-defined",
        ],
    ),
    (
        "ecn = \"off\"",
        "ecn = \"rfc3168\"\ncongestion = \"prague\"",
        &[
            "x.toml:14:1: `tcp.mine.dsack` must be true with ecn = \"accecn\" and sack = true (RFC 9768 §3.1.1)",
            "x.toml:14:1: `tcp.mine.recovery` must be \"linux-newreno\" or \"rack\" with congestion = \"prague\", which sets its window by itself",
            "x.toml:16:14: `tcp.mine.congestion` needs feedback that counts marks: ecn = \"dctcp\" or \"accecn\" or \"accecn-linux\", not \"rfc3168\"",
        ],
    ),
    (
        "ecn = \"off\"",
        "congestion = { kind = \"reno\", beta = 0.9 }",
        &["x.toml:15:31: unknown key `tcp.mine.congestion.beta`; there are no keys"],
    ),
    (
        "ecn = \"off\"",
        "congestion = { kind = \"abe\", beta = 1.0 }",
        &["x.toml:15:37: `tcp.mine.congestion.beta` must be above 0 and below 1, not 1"],
    ),
    (
        "ecn = \"off\"",
        "congestion = { beta = 0.9 }",
        &["x.toml:15:1: `tcp.mine.congestion` lacks `kind`; add, for example, `kind = \"ecn-alpha-beta\"`"],
    ),
    (
        "ecn = \"off\"",
        "congestion = 3",
        &["x.toml:15:14: `tcp.mine.congestion` is an integer, not the name of a window law or a table with its kind"],
    ),
    // Keys that are missing.
    ("rate = \"1 Mbps\"\n", "", &["x.toml:3:1: `link.pipe` lacks `rate`; add, for example, `rate = \"10 Mbps\"`"]),
    ("max_th = \"15 packets\"\n", "", &["x.toml:9:1: `queue.red` lacks `max_th`"]),
    // The format.
    ("format = 1\n", "", &["x.toml:1:1: `format` is missing; this build reads format 1: write `format = 1`"]),
    (
        "format = 1",
        "format = 7",
        &["x.toml:1:10: unknown format version 7; this build reads format 1: write `format = 1`"],
    ),
    (
        "format = 1",
        "format = \"1\"",
        &["x.toml:1:10: `format` is not a version; this build reads format 1: write `format = 1`"],
    ),
    ("format = 1", "format = = 1", &["x.toml:1:10: not TOML: extra `=`, expected nothing"]),
    ("rate = ", "from = ", &["x.toml:6:1: not TOML: duplicate key"]),
    // Units and types.
    (
        "\"1 Mbps\"",
        "\"1\"",
        &["x.toml:6:8: `link.pipe.rate`: `1` is not a rate; write a number and a unit, such as \"1.5 Mbps\""],
    ),
    (
        "\"5 ms\"",
        "5",
        &[
            "x.toml:7:9: `link.pipe.delay` is an integer, not a time such as \"20 ms\" or { uniform = [\"1 ms\", \"5 ms\"] }",
        ],
    ),
    (
        "\"5 ms\"",
        "{ unifrom = [\"1 ms\", \"5 ms\"] }",
        &["x.toml:7:11: unknown key `link.pipe.delay.unifrom`; did you mean `uniform`?"],
    ),
    (
        "\"5 ms\"",
        "{ uniform = [\"9 ms\", \"5 ms\"] }",
        &["x.toml:7:21: `link.pipe.delay.uniform`: 9 ms is more than 5 ms; write the smaller first"],
    ),
    (
        "\"5 packets\"",
        "\"5\"",
        &["x.toml:12:10: `queue.red.min_th`: `5` is not a queue length; \
           write a number and a unit, such as \"30 packets\" or \"15 kB\""],
    ),
    (
        "to = \"b\"\nrate",
        "to = \"b\"\nduplex = 1\nrate",
        &["x.toml:6:10: `link.pipe.duplex` is an integer, not a boolean"],
    ),
    (
        "to = \"b\"\nrate",
        "to = \"b\"\ndrop = [1, -2]\nrate",
        &["x.toml:6:12: `link.pipe.drop[1]` is -2, not a whole number from 0 to 9223372036854775807"],
    ),
    (
        "[tcp.mine]\necn = \"off\"",
        "tcp.mine = 5",
        &["x.toml:14:1: unknown key `queue.red.tcp`; valid keys: min_th, max_th, max_p, weight, mean_packet, idle, \
         probability, spacing, count_arrival, count_reset, first_passes, spare_short, gentle, above, mark_p, \
         target_delay, adaptive, feng, frozen_gentle, becn, limit, full, admit, forced, mark_at, ecn, quantiles, discipline"],
    ),
    (
        "format = 1",
        "format = 1\nflow = 3",
        &["x.toml:17:2: not TOML: cannot extend value of type integer with a dotted key"],
    ),
    ("delay = \"5 ms\"", "delay = nan", &["x.toml:7:9: `link.pipe.delay`: the number is not finite"]),
    (
        "delay = \"5 ms\"",
        "delay = 1979-05-27",
        &["x.toml:7:9: `link.pipe.delay`: no key takes a date; a time is written as \"20 ms\""],
    ),
    // Names without a bearer.
    (
        "queue = \"red\"",
        "queue = \"rad\"",
        &["x.toml:8:9: `link.pipe.queue`: there is no queue `rad`; did you mean `red`?"],
    ),
    (
        "to = \"b\"\ntraffic",
        "to = \"c\"\ntraffic",
        &["x.toml:18:6: `flow.bulk.to`: there is no node `c`; valid nodes: a, b"],
    ),
    (
        "to = \"b\"\ntraffic",
        "to = \"b[2]\"\ntraffic",
        &["x.toml:18:6: `flow.bulk.to`: there is no node `b[2]`; there is b"],
    ),
    (
        "tcp = \"mine\"",
        "tcp = \"main\"",
        &["x.toml:20:7: `flow.bulk.tcp`: there is no tcp `main`; valid tcps: default, mine"],
    ),
    (
        "tcp = \"mine\"",
        "tcp = \"modern\"",
        &["x.toml:20:7: `flow.bulk.tcp`: there is no tcp `modern`; \
           `modern` is a profile: write a table [tcp.NAME] with profile = \"modern\", and NAME here"],
    ),
    (
        "queue = \"red\"",
        "drop_segments = { bukl = [1] }",
        &["x.toml:8:19: `link.pipe.drop_segments.bukl`: there is no flow `bukl`; did you mean `bulk`?"],
    ),
    (
        "[queue.red]",
        "[queue.\"re d\"]",
        &["x.toml:9:8: `re d` cannot be a name; names are letters, digits, `-` and `_`"],
    ),
    // Values that cannot be.
    (
        "duration = \"10 s\"",
        "duration = \"10 s\"\nwarmup = \"10 s\"",
        &["x.toml:3:10: `warmup`, 10 s, is not before the end of the run (`duration`, 10 s); \
         write a shorter warmup or a longer duration"],
    ),
    ("\"10 s\"", "\"0 s\"", &["x.toml:2:12: `duration` is 0 s; write more than 0 s, and at most 2400 h"]),
    (
        "duration = \"10 s\"",
        "duration = \"10 s\"\nsample = \"0 s\"",
        &["x.toml:3:10: `sample` is 0 s; write an interval, such as \"100 ms\""],
    ),
    (
        "[flow.bulk]\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\ntcp = \"mine\"\n",
        "",
        &["x.toml:1:1: the scenario has no flow; add a table [flow.NAME] with from, to and traffic"],
    ),
    (
        "traffic = ",
        "count = 0\ntraffic = ",
        &["x.toml:16:2: the scenario has no flow; add a table [flow.NAME] with from, to and traffic"],
    ),
    (
        "rate = ",
        "count = 0\nrate = ",
        &["x.toml:6:9: `link.pipe.count` is 0; write at least 1, or leave the table out"],
    ),
    (
        "traffic = ",
        "count = 4000000000\ntraffic = ",
        &["x.toml:19:9: `flow.bulk.count` is 4000000000; at most 16000000 of a kind fit in a scenario"],
    ),
    (
        "traffic = ",
        "start = \"10 s\"\ntraffic = ",
        &["x.toml:19:9: `flow.bulk.start`, 10 s, is not before the end of the run, 10 s; \
           write an earlier start or a longer duration"],
    ),
    (
        "traffic = ",
        "read_rate = \"1 bps\"\ntraffic = ",
        &["x.toml:19:13: `flow.bulk.read_rate`: 1 bps for 10 ms is less than a byte; write a higher rate"],
    ),
    (
        "traffic = ",
        "read_interval = \"10 ms\"\ntraffic = ",
        &["x.toml:19:1: `flow.bulk.read_interval` needs a `read_rate`; add one, such as \"2 Mbps\", or leave this out"],
    ),
    (
        "traffic = ",
        "read_rate = \"2 Mbps\"\nread_interval = \"0 s\"\ntraffic = ",
        &["x.toml:20:17: `flow.bulk.read_interval` is 0 s; write at least 1 us"],
    ),
    (
        "traffic = ",
        "group = \"all\"\ntraffic = ",
        &["x.toml:19:9: `flow.bulk.group` cannot be `all`, the name for all flows together; write another name"],
    ),
    (
        "tcp = \"mine\"\n",
        "tcp = \"mine\"\ndscp = 64\n",
        &["x.toml:21:8: `flow.bulk.dscp`: 64 is not a DSCP; write a number from 0 to 63"],
    ),
    (
        "tcp = \"mine\"\n",
        "tcp = \"mine\"\ndscp = \"ef\"\n",
        &["x.toml:21:8: `flow.bulk.dscp` cannot be `ef`; did you mean `EF`?"],
    ),
    (
        "[tcp.mine]",
        "[queue.dual]\ndiscipline = \"dualpi2\"\nl4s = { groups = [\"blk\"] }\n[tcp.mine]",
        &["x.toml:16:18: `queue.dual.l4s.groups`: there is no flow group `blk`; did you mean `bulk`?"],
    ),
    (
        "[tcp.mine]",
        "[queue.dual]\ndiscipline = \"dualpi2\"\nmin_th = \"1 ms\"\n[tcp.mine]",
        &["x.toml:16:10: `queue.dual.min_th`: only profile \"rfc9332\" has it; leave it out"],
    ),
    (
        "queue = \"red\"",
        "loss = 1.5",
        &["x.toml:8:8: `link.pipe.loss` is 1.5, not a probability; write a number from 0 to 1"],
    ),
    ("queue = \"red\"", "drop = [3, 0]", &["x.toml:8:12: `link.pipe.drop[1]` is 0; the first is number 1"]),
    (
        "queue = \"red\"",
        "shaper = { rate = \"2 Mbps\", burst = \"1500 B\" }",
        &["x.toml:8:19: `link.pipe.shaper.rate`, 2 Mbps, is not below the link's own rate"],
    ),
    (
        "\"5 packets\"",
        "\"50 packets\"",
        &["x.toml:12:10: `queue.red.min_th`: 50 packets must be less than max_th, 15 packets"],
    ),
    (
        "max_th = \"15 packets\"",
        "max_th = \"15 packets\"\nbecn = { thresh = \"20 packets\" }",
        &[
            "x.toml:14:19: `queue.red.becn.thresh`: 20 packets must lie from min_th, 5 packets, to max_th, 15 packets, in \
           their unit",
        ],
    ),
    (
        "max_th = \"15 packets\"",
        "max_th = \"15 packets\"\nbecn = { threshold = \"10 packets\" }",
        &["x.toml:14:10: unknown key `queue.red.becn.threshold`; did you mean `thresh`?"],
    ),
    (
        "\"60 packets\"",
        "\"0 packets\"",
        &["x.toml:11:9: `queue.red.limit`: 0 packets is not a valid limit; write whole packets or bytes, at least one"],
    ),
    ("ecn = \"off\"", "mss = \"1 B\"", &["x.toml:15:7: `tcp.mine.mss` must be from 64 B to 65495 B, not 1 B"]),
];

/// The messages of a text, without the excerpts.
fn errors(text: &str) -> Vec<String> {
    match parse_scenario("x.toml", text) {
        Err(wrong) => wrong.iter().map(|d| d.to_string().lines().next().unwrap_or_default().to_owned()).collect(),
        Ok(_) => Vec::new(),
    }
}

#[test]
fn the_text_that_the_cases_change_is_good() {
    parse_scenario("x.toml", GOOD).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn every_mistake_is_answered() {
    let mut wrong = Vec::new();
    for (old, new, expected) in [CASES, ipv6::CASES, traffic::CASES, queues::CASES, paths::CASES].concat() {
        assert!(GOOD.contains(old), "{old}");
        let errors = errors(&GOOD.replacen(old, new, 1));
        if errors != expected {
            wrong.push(format!("{new}\n  says     {errors:#?}\n  must say {expected:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Line, column, width and line of the first error of a text.
fn place(text: &str) -> (usize, usize, usize, String) {
    let wrong = parse_scenario("x.toml", text).unwrap_err();
    let one = wrong.iter().next().unwrap();
    (one.line, one.column, one.width, one.excerpt.clone())
}

#[test]
fn columns_count_characters_and_lines_count_from_one() {
    // "µ" is two bytes.
    assert_eq!(place("a = 1\nx = [\"µ\", nan]\r\n"), (2, 11, 3, "x = [\"µ\", nan]".to_owned()));
    assert_eq!(place(""), (1, 1, 1, String::new()));
    // The end of a line, before `\r\n`.
    assert_eq!(place("ab\r\n"), (1, 3, 1, "ab".to_owned()));
    assert_eq!(place("µ = 1"), (1, 1, 1, "µ = 1".to_owned()));
}

#[test]
fn all_values_that_no_key_takes_are_refused_together() {
    let wrong = parse_scenario("x.toml", "a = nan\nb = [2020-01-01]\nc = 99999999999999999999\n").unwrap_err();
    let lines: Vec<_> = wrong.iter().map(|one| (one.line, one.key.as_str())).collect();
    assert_eq!(lines, [(1, "a"), (2, "b[0]"), (3, "c")]);
}

#[test]
fn a_message_shows_the_line_with_a_caret() {
    let wrong = parse_scenario("dir/x.toml", &GOOD.replace("min_th", "minth")).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "dir/x.toml:12:1: unknown key `queue.red.minth`; did you mean `min_th`?\n  \
         12 | minth = \"5 packets\"\n     \
         | ^^^^^"
    );
    let one = wrong.iter().next().unwrap();
    assert_eq!((one.line, one.column, one.width), (12, 1, 5));
    assert_eq!((one.key.as_str(), one.help.as_str()), ("queue.red.minth", "did you mean `min_th`?"));
}

#[test]
fn an_override_is_reported_where_it_stands() {
    let scenario = parse_scenario("x.toml", GOOD).unwrap();
    let refused = |key: &str, value: toml::Value| {
        let wrong = scenario.with(&[(key.to_owned(), value)]).unwrap_err().to_string();
        wrong.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        refused("queue.red.maxp", 0.5.into()),
        "override:1:1: unknown key `queue.red.maxp`; did you mean `max_p`?"
    );
    assert_eq!(
        refused("link.pip.delay", "1 ms".into()),
        "override:1:1: `link.pip.delay`: there is no link `pip`; did you mean `pipe`?"
    );
    assert_eq!(
        refused("link.pipe.delay", 3.into()),
        "override:1:21: `link.pipe.delay` is an integer, not a time such as \"20 ms\" or { uniform = [\"1 ms\", \"5 ms\"] }"
    );
    assert_eq!(
        refused("link.pipe.delay.uniform", 3.into()),
        "override:1:1: `link.pipe.delay.uniform`: `link.pipe.delay` is a string, not a table; \
         set `link.pipe.delay` as a whole"
    );
    assert!(refused("link", toml::Table::new().into()).starts_with("override:1:1: `link` is a whole section"));
    for odd in ["a..b", ""] {
        assert!(refused(odd, 1.into()).starts_with(&format!("override:1:1: `{odd}` is not a dotted key")));
    }
    assert!(refused("queue.red.max_p", f64::NAN.into()).contains("not finite"));
}

/// `GOOD` with a queue of `levels` queues within each other, as headers or as inline tables.
fn nested(levels: usize, inline: bool, name: &str) -> String {
    let keys = ["discipline = \"classes\"", "schedule = \"strict\"", "limit = \"9 packets\""];
    let last = "discipline = \"droptail\"";
    let mut path = "queue.two".to_owned();
    let queue = if inline {
        let open = format!("{{ {}, class = {{ {name} = ", keys.join(", "));
        format!("[queue]\ntwo = {}{{ {last}, {} }}{}\n", open.repeat(levels), keys[2], " } }".repeat(levels))
    } else {
        let mut text = String::new();
        for _ in 0..levels {
            text += &format!("[{path}]\n{}\n", keys.join("\n"));
            path += &format!(".class.{name}");
        }
        text + &format!("[{path}]\n{last}\n{}\n", keys[2])
    };
    format!("{GOOD}\n{queue}")
}

#[test]
fn queues_within_queues_have_a_limit_that_is_stated_with_line_and_key() {
    let errors = |text: &str| parse_scenario("x.toml", text).unwrap_err().to_string();
    for inline in [false, true] {
        assert!(parse_scenario("x.toml", &nested(16, inline, "c")).is_ok());
        let e = errors(&nested(17, inline, "c"));
        assert!(e.contains("is more than 16 levels of classes deep; write at most 16 levels"), "{e}");
        assert!(e.contains("`queue.two.class.c.class.c"), "{e}");
    }
    // Deeper than the parser of TOML goes.
    let help = "nest fewer tables; a queue has at most 16 levels of classes";
    for (name, levels) in [("c", 60), ("\"c\"", 60), ("c", 300)] {
        let e = errors(&nested(levels, false, name));
        let line = GOOD.lines().count() + 2 + 18 * 4;
        assert!(
            e.starts_with(&format!("x.toml:{line}:2: `queue.two` has tables nested 38 deep; the limit is 36; {help}")),
            "{}",
            &e[..300]
        );
        let e = errors(&nested(levels, true, name));
        assert!(e.contains(&format!("tables are nested too deep here; {help}")), "{e}");
    }
}

#[test]
fn a_line_in_a_text_is_no_header() {
    let text = GOOD.replacen("format = 1", &format!("format = 1\ntitle = '''\n[{}]\n'''", ".".repeat(100)), 1);
    assert!(parse_scenario("x.toml", &text).is_ok());
}
