//! CAKE's keys.

use super::*;
use crate::registry;

fn params(keys: &str) -> Params {
    toml::from_str(keys).unwrap()
}

fn config(keys: &str) -> Config {
    let common = Common { full: crate::Full::Fattest, ecn: true, ..Common::with_limit(Length::Packets(1e6)) };
    Config::new(registry::Params::Cake(params(keys)), common)
}

#[test]
fn what_a_scenario_leaves_out_is_of_sch_cake() {
    let Params { rate, rtt, target, diffserv, isolation, overhead, mpu, framing, ingress, memory, mtu, salt } =
        params("");
    assert_eq!((rate, rtt, target, memory, salt), (None, Dur::from_ms(100), None, None, None));
    assert_eq!((diffserv, isolation, framing), (Diffserv::Diffserv3, Isolation::TripleIsolate, Framing::Plain));
    assert_eq!((overhead, mpu, ingress, mtu), (0, 0, false, Bytes(1514)));
}

#[test]
fn memory_is_four_round_trips_within_bounds() {
    // 40 Mbit/s are 5,000,000 B/s: 4·5,000,000·0.2 = 4,000,000 B, less than 4 MiB; with 300 ms 6,000,000 B. At most 10240
    // packets: 15,503,360 B.
    assert_eq!(params("rate = \"40 Mbps\"\nrtt = \"200 ms\"").memory(), 4 << 20);
    assert_eq!(params("rate = \"40 Mbps\"\nrtt = \"300 ms\"").memory(), 6_000_000);
    assert_eq!(params("rate = \"40 Mbps\"\nrtt = \"800 ms\"").memory(), 15_503_360);
    assert_eq!(params("").memory(), 15_503_360);
    assert_eq!(params("mtu = \"300 B\"\nrate = \"1 Mbps\"").memory(), 3_072_000);
    assert_eq!(params("rate = \"40 Mbps\"\nmemory = \"20 MB\"").memory(), 20_000_000);
}

#[test]
fn slow_tins_allow_for_the_time_that_a_packet_takes() {
    let cobalt = |keys: &str| {
        let params = params(keys);
        Tin::all(&params).iter().map(|tin| params.cobalt(&tin.pace)).collect::<Vec<_>>()
    };
    let times = |p: &cobalt::Params| [p.target, p.interval, p.mtu_time].map(|dur| dur.ps() / 1_000_000);
    // 8 Mbit/s: 1514 B take 1514 µs, and 1.5 of them are less than 5 ms. Bulk: 24,224 µs, 36,336; interval 100,000 +
    // 31,336. Voice: 6056, 9084; 104,084.
    let tins = cobalt("rate = \"8 Mbps\"");
    let all: Vec<_> = tins.iter().map(times).collect();
    assert_eq!(all, [[5_000, 100_000, 1_514], [36_336, 131_336, 24_224], [9_084, 104_084, 6_056]]);
    // 128 kbit/s: 94,625 µs, 141,937.5; the interval is twice that, more than 100,000 + 136,937.5.
    assert_eq!(times(&cobalt("rate = \"128 kbps\"\ndiffserv = \"besteffort\"")[0]), [141_937, 283_875, 94_625]);
    // A target of its own; without a rate a packet takes no time.
    let own = cobalt("rate = \"8 Mbps\"\ntarget = \"1 ms\"\nrtt = \"20 ms\"\ndiffserv = \"besteffort\"");
    assert_eq!(times(&own[0]), [2_271, 21_271, 1_514]);
    assert_eq!(times(&cobalt("rtt = \"20 ms\"\ndiffserv = \"besteffort\"")[0]), [1_000, 20_000, 0]);
}

#[test]
fn impossible_values_are_refused() {
    let key = |keys: &str| config(keys).check().err().map(|e| e.key).unwrap_or_default();
    assert_eq!(key(""), "");
    assert_eq!(
        ["rtt = \"0 s\"", "rtt = \"1001 s\"", "rtt = \"1 us\"", "rtt = \"1000 s\""].map(key),
        ["rtt", "rtt", "", ""]
    );
    assert_eq!(["target = \"100 ms\"", "target = \"101 ms\""].map(key), ["", "target"]);
    assert_eq!(["rate = \"511 bps\"", "rate = \"512 bps\""].map(key), ["rate", ""]);
    assert_eq!(
        ["overhead = -65", "overhead = -64", "overhead = 256", "overhead = 257"].map(key),
        ["overhead", "", "", "overhead"]
    );
    assert_eq!(["mpu = 256", "mpu = 257"].map(key), ["", "mpu"]);
    assert_eq!(
        ["mtu = \"255 B\"", "mtu = \"256 B\"", "mtu = \"65535 B\"", "mtu = \"65536 B\""].map(key),
        ["mtu", "", "", "mtu"]
    );
    assert_eq!(["memory = \"2089 B\"", "memory = \"2090 B\""].map(key), ["memory", ""]);
    let mut classes = config("");
    let queue = Config::new(registry::Params::Cobalt(cobalt::Params::default()), classes.common);
    classes.classes.insert("a".to_owned(), crate::Class { member: crate::Member::default(), queue });
    assert_eq!(classes.check().unwrap_err().key, "class");
}

#[test]
fn it_may_be_as_fast_as_its_link_but_not_faster() {
    let key =
        |mbps: u64| config("rate = \"8 Mbps\"").check_before(Rate::from_bps(mbps * 1_000_000)).err().map(|e| e.key);
    assert_eq!([7, 8].map(key), [Some("rate".to_owned()), None]);
    assert_eq!((config("").rate(), config("rate = \"8 Mbps\"").rate()), (None, Some(Rate::from_bps(8_000_000))));
}

#[test]
fn tins_have_rows_where_there_are_several() {
    assert_eq!(config("").class_names(), ["all", "best-effort", "bulk", "voice"]);
    assert_eq!(config("diffserv = \"besteffort\"").class_names(), ["all"]);
}
