//! s2n-quic-transport in virtual time, over a link of 40 Mb/s with a round trip of 20 ms.

mod endings;
#[path = "../cases/link.rs"]
#[allow(dead_code, reason = "it is shared with the tests of other stacks")]
mod link;

use std::process::Command;

use ecnlab_base::{Bytes, Dur, Time};
use ecnlab_quic::{AckFrequency, Congestion, Crypto, ENDLESS, Error, Event, Settings, Stack, connection};
use ecnlab_wire::Ecn;

use link::{Link, ms, usual};

const MB: u64 = 1_000_000;

/// Name of the test that prints digests for another process.
const PRINTS: &str = "prints_digests";

const STACK: Stack = Stack::S2n;

#[test]
fn a_bulk_transfer_arrives_and_is_acknowledged() {
    for congestion in [Congestion::Cubic, Congestion::Bbr] {
        let settings = Settings { congestion, ..usual() };
        let mut link = Link::new([&settings, &settings], 1);
        assert_eq!(link.open(&[2 * MB]), [0]);
        link.run(ms(5_000));
        let [client, server] = link.stats();
        assert_eq!(server.received, 2 * MB);
        // At most 1424 of the 1480 bytes of an IP packet are the stream's: 28 are IP's and UDP's, 1 + 8 + 1 the short
        // header's, 16 the tag's, and 2 the frame's. 2 MB take 416 ms at least, after the 20 ms of the handshake.
        let done = link.time_of(0, &Event::Acknowledged(0)).expect("acknowledged");
        let least = Dur::from_secs(2e6 * 8.0 / 40e6 * 1480.0 / 1424.0);
        assert!(done.since(ms(20)) > least && done.since(ms(20)) < least.saturating_mul(2), "{congestion:?}: {done:?}");
        assert!(link.time_of(1, &Event::Arrived(0)).expect("arrived") < done);
        // Two ways of 10 ms, and less than 1 ms in which two packets are sent.
        assert!(client.rtt_min > Dur::from_ms(20) && client.rtt_min < Dur::from_ms(21), "{:?}", client.rtt_min);
        assert_eq!((client.mtu, client.ecn_events, server.packets_lost), (1452, Some(0), 0));
        // In slow start the queue of 40 ms overflows; BBR leaves Startup when the rate stops to grow.
        let lossy = congestion == Congestion::Cubic;
        assert_eq!((client.packets_lost > 0, client.congestion_events > 0), (lossy, lossy), "{client:?}");
    }
}

#[test]
fn a_response_arrives_after_its_request() {
    let mut link = Link::new([&usual(), &usual()], 2);
    link.response = MB;
    link.open(&[1_000]);
    link.run(ms(5_000));
    let [client, server] = link.stats();
    assert_eq!((client.received, server.received), (MB, 1_000));
    let [request, response] =
        [(1, Event::Arrived(0)), (0, Event::Arrived(0))].map(|(end, event)| link.time_of(end, &event).unwrap());
    assert!(response.since(request) > Dur::from_ms(200), "1 MB at 40 Mb/s");
    assert!(link.time_of(1, &Event::Acknowledged(0)).is_some());
}

#[test]
fn streams_beyond_the_limit_of_the_peer_wait() {
    for count in [10, 250] {
        let mut link = Link::new([&usual(), &usual()], 3);
        let ids = link.open(&vec![10_000; count]);
        assert_eq!(ids, (0..count as u64).map(|n| 4 * n).collect::<Vec<_>>());
        link.run(ms(5_000));
        assert_eq!(link.stats()[1].received, count as u64 * 10_000);
        for id in ids {
            assert!(
                link.time_of(1, &Event::Arrived(id)).is_some() && link.time_of(0, &Event::Acknowledged(id)).is_some()
            );
        }
    }
}

#[test]
fn a_stream_that_is_cut_ends_after_its_bytes() {
    let mut link = Link::new([&usual(), &usual()], 4);
    link.open(&[ENDLESS]);
    link.run(ms(300));
    let bytes = link.ends[0].cut(0);
    link.serve(0);
    assert!(bytes > MB && link.time_of(1, &Event::Arrived(0)).is_none());
    link.run(ms(10_000));
    assert_eq!(link.stats()[1].received, bytes);
    assert!(link.time_of(1, &Event::Arrived(0)).is_some() && link.time_of(0, &Event::Acknowledged(0)).is_some());
}

#[test]
fn a_stream_that_is_cut_before_it_opens_is_empty() {
    let mut link = Link::new([&usual(), &usual()], 4);
    link.open(&[1_000, 10_000]);
    assert_eq!(link.ends[0].cut(4), 0);
    link.run(ms(1_000));
    assert_eq!(link.stats()[1].received, 1_000);
    assert!(link.time_of(1, &Event::Arrived(4)).is_some());
}

#[test]
fn marks_reduce_the_window() {
    let mut link = Link::new([&usual(), &usual()], 5).marking(Dur::from_ms(5));
    link.open(&[2 * MB]);
    link.run(ms(5_000));
    let client = &link.stats()[0];
    assert!(client.ecn_events > Some(0), "{client:?}");
    assert_eq!((client.packets_lost, client.ecn_events), (0, Some(client.congestion_events)));
    // The stack tests with its first packets, and sends Not-ECT until their counts have arrived (RFC 9000 §13.4.2). Later a
    // packet that tests for suppressed reports is CE.
    let codepoints = [Time::ZERO..ms(20), ms(20)..ms(42), ms(42)..Time::NEVER].map(|time| link.codepoints(0, time));
    assert!(codepoints[0].iter().all(|&ecn| ecn == Ecn::Ect0) && codepoints[1].contains(&Ecn::NotEct));
    let own = codepoints[2].iter().filter(|&&ecn| ecn != Ecn::Ect0).collect::<Vec<_>>();
    assert!(own.len() <= 3 && own.iter().all(|&&ecn| ecn == Ecn::Ce), "{own:?}");
}

#[test]
fn validation_fails_behind_a_path_that_bleaches() {
    let mut link = Link::new([&usual(), &usual()], 6).marking(Dur::from_ms(5)).rule(|sent| {
        sent.ecn = Ecn::NotEct;
        true
    });
    link.open(&[2 * MB]);
    link.run(ms(5_000));
    // The first ACK, after one round trip, has no counts.
    assert!(link.codepoints(0, Time::ZERO..ms(20)).iter().all(|&ecn| ecn == Ecn::Ect0));
    assert!(link.codepoints(0, ms(42)..Time::NEVER).iter().all(|&ecn| ecn == Ecn::NotEct));
    assert_eq!((link.stats()[0].ecn_events, link.stats()[1].received), (Some(0), 2 * MB));
}

#[test]
fn a_host_without_ecn_neither_sets_nor_reads_codepoints() {
    let without = Settings { ecn: false, ..usual() };
    let mut link = Link::new([&usual(), &without], 7).marking(Dur::from_ms(5));
    link.open(&[2 * MB]);
    link.run(ms(5_000));
    assert!(link.codepoints(1, Time::ZERO..Time::NEVER).iter().all(|&ecn| ecn == Ecn::NotEct));
    // It reports no counts, so its peer stops as behind a path that bleaches.
    assert!(link.codepoints(0, ms(42)..Time::NEVER).iter().all(|&ecn| ecn == Ecn::NotEct));
    assert_eq!(link.stats()[0].ecn_events, Some(0));
}

#[test]
fn a_black_hole_for_large_datagrams_is_detected() {
    let mut link = Link::new([&usual(), &usual()], 8).rule(|sent| sent.at < ms(300) || sent.size <= 1200);
    link.open(&[3 * MB]);
    link.run(ms(200));
    assert_eq!(link.stats()[0].mtu, 1452);
    link.run(ms(20_000));
    let client = &link.stats()[0];
    assert!(client.black_holes >= 1 && client.mtu == 1200, "{client:?}");
    assert!(link.time_of(0, &Event::Acknowledged(0)).is_some());
}

#[test]
fn the_receive_window_limits_a_transfer() {
    let server = Settings { receive_window: Some(Bytes(50_000)), ..usual() };
    let mut link = Link::new([&usual(), &server], 9);
    link.open(&[MB]);
    link.run(ms(5_000));
    // 20 windows, of which the first needs no round trip of its own.
    let done = link.time_of(1, &Event::Arrived(0)).expect("arrived");
    assert!(done > ms(19 * 20) && done < ms(2 * 20 * 20), "{done:?}");
}

#[test]
fn settings_that_the_stack_would_change_are_rejected() {
    let frequency = Some(AckFrequency { threshold: 1, max_delay: Dur::from_ms(25) });
    let cases = [
        ("crypto", Settings { crypto: Crypto::Null, ..usual() }),
        ("congestion", Settings { congestion: Congestion::NewReno, ..usual() }),
        ("ack_frequency", Settings { ack_frequency: frequency, ..usual() }),
        ("initial_mtu", Settings { initial_mtu: Bytes(1199), ..usual() }),
        ("max_mtu", Settings { max_mtu: Bytes(65_508), ..usual() }),
        ("max_mtu", Settings { initial_mtu: Bytes(1453), ..usual() }),
        ("idle_timeout", Settings { idle_timeout: Dur::from_us(999), ..usual() }),
        ("receive_window", Settings { receive_window: Some(Bytes(1 << 32)), ..usual() }),
    ];
    for (key, wrong) in cases {
        let error = connection([&usual(), &wrong], 1, Time::ZERO).expect_err(key);
        assert!(matches!(&error, Error::Rejected("s2n", text) if text.starts_with(&format!("{key}: "))), "{error}");
    }
}

#[test]
fn the_extreme_sizes_of_packets_are_accepted() {
    for size in [1_200, 65_507] {
        let settings = Settings { initial_mtu: Bytes(size), max_mtu: Bytes(size), ..usual() };
        connection([&settings, &settings], 1, Time::ZERO).expect("accepted");
    }
}

fn digests(seed: u64) -> [u64; 2] {
    [Congestion::Cubic, Congestion::Bbr].map(|congestion| {
        let settings = Settings { congestion, ..usual() };
        let mut link = Link::new([&settings, &settings], seed).marking(Dur::from_ms(5));
        link.response = 100_000;
        link.open(&[MB, 1_000]);
        link.run(ms(1_000));
        link.digest()
    })
}

#[test]
#[ignore = "the next test runs it in another process"]
fn prints_digests() {
    println!("digests {:?} {:?}", digests(1), digests(2));
}

#[test]
fn the_datagrams_are_those_of_the_seed_in_any_process() {
    let [one, two] = [digests(1), digests(2)];
    assert!(one[0] != two[0] && one[1] != two[1]);
    let program = std::env::current_exe().expect("the test has a path");
    let other = Command::new(program).args(["--exact", PRINTS, "--ignored", "--nocapture"]).output().expect("it runs");
    let text = String::from_utf8(other.stdout).expect("text");
    assert!(text.contains(&format!("digests {one:?} {two:?}")), "{text}");
}
