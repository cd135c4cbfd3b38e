//! Logs of quinn-proto's connections, compared with its statistics.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use ecnlab_base::Time;
use ecnlab_quic::{Error, Qlog, Settings, Stack, check, connection};
use serde_json::Value;

use crate::cases::link::{Link, ms, usual};

/// The bytes of each log by its name.
#[derive(Clone, Default)]
struct Logs(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

struct Log(Logs, String);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.0.lock().unwrap().entry(self.1.clone()).or_default().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Logs {
    fn bytes(&self) -> BTreeMap<String, Vec<u8>> {
        self.0.lock().unwrap().clone()
    }

    /// The events of both ends, the client's first.
    fn events(&self) -> Vec<Vec<Value>> {
        self.bytes().values().map(|log| events(log)).collect()
    }

    /// The settings of both ends with these logs.
    fn settings(&self) -> [Settings; 2] {
        [(); 2].map(|()| {
            let logs = self.clone();
            let qlog = Qlog::new(move |name| Box::new(Log(logs.clone(), name.to_owned())));
            Settings { qlog: Some(qlog), ..usual() }
        })
    }
}

/// 2 MB over a queue that overflows in slow start.
fn transfer(client: &Settings, server: &Settings) -> Link {
    let mut link = Link::new([client, server], 1);
    link.open(&[2_000_000]);
    link.run(ms(2_000));
    link
}

fn logged() -> (Link, Logs) {
    let logs = Logs::default();
    let [client, server] = logs.settings();
    (transfer(&client, &server), logs)
}

/// The events of a log after its header.
fn events(log: &[u8]) -> Vec<Value> {
    let records = log.split(|&byte| byte == 0x1e).filter(|record| !record.is_empty());
    records.skip(1).map(|record| serde_json::from_slice(record).expect("JSON")).collect()
}

fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["name"].as_str().expect("a name").ends_with(name)).collect()
}

/// The time of each packet, by its type and number.
fn packets(events: &[Value], name: &str) -> BTreeMap<(String, u64), f64> {
    let packet = |event: &&Value| {
        let header = &event["data"]["header"];
        let kind = header["packet_type"].as_str().expect("a type").to_owned();
        ((kind, header["packet_number"].as_u64().expect("a number")), event["time"].as_f64().expect("a time"))
    };
    named(events, name).iter().map(packet).collect()
}

#[test]
fn two_runs_have_the_same_logs_and_the_datagrams_of_a_run_without() {
    let [(link, one), (_, two)] = [logged(), logged()];
    assert_eq!(one.bytes().keys().collect::<Vec<_>>(), ["0-client", "0-server"]);
    assert!(one.bytes() == two.bytes());
    assert_eq!(link.digest(), transfer(&usual(), &usual()).digest());
}

#[test]
fn a_log_agrees_with_the_statistics() {
    let (mut link, logs) = logged();
    assert!(link.stats()[0].packets_lost > 0, "the queue overflows");
    for (stats, events) in link.stats().iter().zip(logs.events()) {
        assert_eq!(named(&events, ":packet_lost").len() as u64, stats.packets_lost);
        assert_eq!(packets(&events, ":packet_sent").len() as u64, stats.packets_sent);
        let windows: Vec<_> = events.iter().filter_map(|event| event["data"]["congestion_window"].as_u64()).collect();
        assert_eq!(windows.last(), Some(&stats.cwnd));
    }
    link.close(0);
    link.run(ms(3_000));
    // Each end sends a packet with CONNECTION_CLOSE, which the statistics omit.
    for (stats, events) in link.stats().iter().zip(logs.events()) {
        assert_eq!(packets(&events, ":packet_sent").len() as u64, stats.packets_sent + 1);
    }
}

#[test]
fn times_are_those_of_the_link() {
    let (link, logs) = logged();
    let logs = logs.events();
    for log in &logs {
        let times: Vec<_> = log.iter().map(|event| event["time"].as_f64().expect("a time")).collect();
        assert!(times.is_sorted() && times.last().is_some_and(|&last| last <= link.now.ns() as f64 / 1e6));
    }
    assert_eq!(logs[0][0]["time"], 0.0);
    for [from, to] in [[0, 1], [1, 0]] {
        let (sent, received) = (packets(&logs[from], ":packet_sent"), packets(&logs[to], ":packet_received"));
        let lost = sent.len() - received.len();
        assert!(lost as u64 <= link.stats()[from].packets_lost, "{lost}");
        let delays = received.iter().map(|(packet, time)| time - sent[packet]);
        // 10 ms, and 1480 B take 0.296 ms at 40 Mb/s. Waiting in the queue takes up to 40 ms. Times are rounded to 24 bits.
        let [least, most] = [f64::min, f64::max].map(|choose| delays.clone().reduce(choose).expect("packets"));
        assert!((10.0..10.3).contains(&least) && most < 50.4, "{least} {most}");
    }
}

#[test]
fn only_connections_of_quinn_have_a_log() {
    let logs = Logs::default();
    let [client, server] = logs.settings();
    check([&client, &server]).expect("accepted");
    assert!(logs.bytes().is_empty());
    let [wrong, other] = [client, server].map(|end| Settings { stack: Stack::Noq, ..end });
    let expected = Error::Rejected("noq", "qlog: only quinn has one; leave it out".to_owned()).to_string();
    assert_eq!(check([&wrong, &other]).expect_err("noq").to_string(), expected);
    assert_eq!(connection([&wrong, &other], 1, Time::ZERO).expect_err("noq").to_string(), expected);
}
