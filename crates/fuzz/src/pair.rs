//! Two endpoints over a link that loses, duplicates, reorders, delays and marks by the input; then the impairments end.

use ecnlab_base::{Dur, Time};
use ecnlab_tcp::{Endpoint, State};
use ecnlab_wire::{Ecn, IpVersion, Segment, Seq};

use crate::bytes::Bytes;
use crate::endpoint::config;

/// One way of the wire when it is well.
const DELAY: Dur = Dur::from_ms(10);
/// Segments past which an input shows nothing new.
const MAX_SEGMENTS: usize = 50_000;

struct Pair<'a> {
    ends: [Endpoint; 2],
    /// What is under way: when it arrives, to whom, and in which order it was sent.
    wire: Vec<(Time, usize, u64, Segment)>,
    sent: u64,
    wrong: Bytes<'a>,
}

/// A transfer ends as it should once the wire is well, unless an end had given up before.
pub fn pair(input: &[u8]) {
    let Some((settings, mut bytes)) = Bytes::behind_settings(input) else { return };
    let Some(config) = config(settings) else { return };
    let written = [u64::from(bytes.u16()), u64::from(bytes.u8()) * 100];
    let mut out = Vec::new();
    let mut client = Endpoint::connect(&config, IpVersion::V4, Seq(u32::MAX - 3_000), Time::ZERO, &mut out);
    client.write(written[0], Time::ZERO, &mut out);
    let mut server = Endpoint::listen(&config, IpVersion::V4, Seq(17));
    server.write(written[1], Time::ZERO, &mut Vec::new());
    let mut pair = Pair { ends: [client, server], wire: Vec::new(), sent: 0, wrong: bytes };
    pair.send(0, Time::ZERO, out);
    pair.run();
    let has_given_up = pair.ends.iter().any(|end| end.state() == State::Closed);
    for (end, written) in pair.ends.iter().zip([written[1], written[0]]) {
        assert!(end.received() <= written, "more arrived than was written");
        let in_time = pair.sent < MAX_SEGMENTS as u64;
        assert!(has_given_up || !in_time || end.received() == written, "{} of {written} arrived", end.received());
    }
}

impl Pair<'_> {
    fn send(&mut self, from: usize, now: Time, out: Vec<Segment>) {
        for mut segment in out {
            self.sent += 1;
            let fate = if self.wrong.is_empty() { 0 } else { self.wrong.u8() };
            let late = if fate & 0x80 == 0 { Dur::ZERO } else { self.wrong.pause() };
            let arrives = now + DELAY + late;
            if fate & 8 != 0 && segment.ecn != Ecn::NotEct {
                segment.ecn = Ecn::Ce;
            }
            let copies = match fate & 7 {
                1 | 2 => 0,
                3 => 2,
                _ => 1,
            };
            for _ in 0..copies {
                self.wire.push((arrives, 1 - from, self.sent, segment));
            }
        }
    }

    fn run(&mut self) {
        while self.sent < MAX_SEGMENTS as u64 {
            let first = (0..self.wire.len()).min_by_key(|&i| (self.wire[i].0, self.wire[i].2));
            let arrival = first.map_or(Time::NEVER, |i| self.wire[i].0);
            let end = usize::from(self.ends[1].deadline() < self.ends[0].deadline());
            let deadline = self.ends[end].deadline();
            let now = arrival.min(deadline);
            if now == Time::NEVER {
                return;
            }
            let mut out = Vec::new();
            if deadline < arrival {
                self.ends[end].on_deadline(now, &mut out);
                self.send(end, now, out);
            } else if let Some(i) = first {
                let (_, to, _, segment) = self.wire.swap_remove(i);
                self.ends[to].on_segment(&segment, now, &mut out);
                self.send(to, now, out);
            }
        }
    }
}
