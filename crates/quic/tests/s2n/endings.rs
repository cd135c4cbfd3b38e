//! Handshakes with losses, and how connections end.

use ecnlab_base::{Dur, Time};
use ecnlab_quic::{Closing, ENDLESS, Event, Settings};

use crate::link::{Link, ms, usual};

#[test]
fn a_handshake_survives_the_loss_of_each_early_datagram() {
    for (from, number) in [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)] {
        let mut link = Link::new([&usual(), &usual()], 1).rule(move |sent| (sent.from, sent.number) != (from, number));
        link.open(&[20_000]);
        link.run(ms(10_000));
        // A lost datagram is sent again after a probe timeout: 999 ms before the first RTT sample (RFC 9002 §6.2.2).
        for event in [Event::Established, Event::Acknowledged(0)] {
            let time = link.time_of(0, &event).unwrap_or(Time::NEVER);
            assert!(time < ms(1_100), "datagram {number} of end {from}: {event:?} at {time:?}");
        }
        assert!(link.time_of(1, &Event::Established).is_some());
    }
}

#[test]
fn a_handshake_takes_one_round_trip() {
    let mut link = Link::new([&usual(), &usual()], 2);
    link.open(&[]);
    link.run(ms(100));
    // The client's Initial of 1200 B takes 0.25 ms at 40 Mb/s, the server's flight at most 1.2 ms.
    let [client, server] = [0, 1].map(|end| link.time_of(end, &Event::Established).expect("established"));
    assert!(client > ms(20) && client < ms(22), "{client:?}");
    assert!(server.since(client) > Dur::from_ms(10) && server.since(client) < Dur::from_ms(11), "{server:?}");
    let secrets = link.ends[0].take_secrets();
    for label in ["CLIENT_HANDSHAKE", "SERVER_HANDSHAKE"].map(|side| format!("{side}_TRAFFIC_SECRET")) {
        // The client's random of 32 bytes and a secret of 48 (SHA-384), in hexadecimal.
        let line = secrets.iter().find(|line| line.starts_with(&label)).expect("a line for each secret");
        assert_eq!(line.split(' ').map(str::len).collect::<Vec<_>>(), [label.len(), 64, 96], "{line}");
    }
    assert!(link.ends[0].take_secrets().is_empty());
}

#[test]
fn both_ends_time_out_without_packets() {
    let idle = Settings { idle_timeout: Dur::from_ms(3_000), ..usual() };
    let mut link = Link::new([&idle, &usual()], 3).rule(|sent| sent.at < ms(200));
    link.open(&[ENDLESS]);
    link.run(ms(60_000));
    // The last packet arrives by 200 + 10 + 40 ms, and the first that is sent after it starts the timer again.
    for end in 0..2 {
        let closed = link.time_of(end, &Event::Closed(Closing::Idle)).expect("idle");
        assert!(closed > ms(3_200) && closed < ms(3_400), "{closed:?}");
        assert_eq!(link.ends[end].deadline(), Time::NEVER);
    }
}

#[test]
fn the_peer_is_notified_of_the_end() {
    // In the handshake, at 15 ms, the stack has nothing to close: the client closes when the handshake is complete, at 20 ms.
    for (at, sent) in [(15, 20), (100, 100)] {
        let mut link = Link::new([&usual(), &usual()], 4);
        link.open(&[]);
        link.run(ms(at));
        link.close(0);
        link.run(ms(60_000));
        assert_eq!(link.time_of(0, &Event::Closed(Closing::Local)), Some(ms(at)));
        let closed = link.time_of(1, &Event::Closed(Closing::Peer)).expect("the server gets the CONNECTION_CLOSE");
        assert!(closed > ms(sent + 10) && closed < ms(sent + 11), "{closed:?}");
        assert_eq!(link.ends.each_ref().map(|end| end.deadline()), [Time::NEVER; 2]);
    }
}

#[test]
fn a_server_that_closes_before_the_first_datagram_stays_silent() {
    let mut link = Link::new([&usual(), &usual()], 5);
    link.close(1);
    link.open(&[]);
    link.run(ms(60_000));
    let text = "The connection was closed because the handshake took longer than the max handshake duration of 10s";
    assert_eq!(
        link.events.iter().map(|(_, end, event)| (*end, event)).collect::<Vec<_>>(),
        [(1, &Event::Closed(Closing::Local)), (0, &Event::Closed(Closing::Failed(text.to_owned())))]
    );
    assert_eq!(link.time_of(0, &Event::Closed(Closing::Failed(text.to_owned()))), Some(ms(10_000)));
    assert!(link.datagrams.iter().all(|&(_, from, ..)| from == 0));
    assert_eq!((link.stats()[0].srtt, link.stats()[0].rtt_min), (Dur::ZERO, Dur::ZERO), "no ACK has arrived");
}
