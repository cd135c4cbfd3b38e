//! The tins, and all of them as a shaping scheduler: selects the tin, the flow and the time (`cake_dequeue`).

use ecnlab_base::{Rate, Rng, Time};
use ecnlab_wire::Dscp;

use super::hosts::{Apart, host_hashes};
use super::pace::{Gate, Meter, Pace, Wire};
use super::rounds::Rounds;
use super::{Diffserv, Params, QUEUES};
use crate::Tally;
use crate::contract::shape::{Header, Heads, Shape};

/// Parameters of a tin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tin {
    pub name: &'static str,
    /// Rate up to which it is served before the tins that precede it in the list.
    pub pace: Pace,
    /// Bytes per round if there is no rate.
    quantum: i64,
    flow_quantum: u64,
}

impl Tin {
    /// Returns the tins of `params` (`cake_config_besteffort` and similar functions).
    pub fn all(params: &Params) -> Vec<Tin> {
        let rate = params.bytes_per_s();
        // Each tin has a fraction of the rate, given as a right shift, and of the round.
        let shifted = |quantum: i64, tins: &[(&'static str, u32)]| {
            let tin = |(name, shift): &(&'static str, u32)| {
                Tin::new(name, rate.map(|rate| rate >> shift), (quantum >> shift).max(1))
            };
            tins.iter().map(tin).collect()
        };
        match params.diffserv {
            Diffserv::Besteffort => shifted(65_535, &[("best-effort", 0)]),
            Diffserv::Diffserv3 => shifted(1024, &[("best-effort", 0), ("bulk", 4), ("voice", 2)]),
            Diffserv::Diffserv4 => shifted(1024, &[("best-effort", 0), ("bulk", 4), ("video", 1), ("voice", 2)]),
            Diffserv::Precedence | Diffserv::Diffserv8 => {
                const NAMES: [&str; 8] = ["tin0", "tin1", "tin2", "tin3", "tin4", "tin5", "tin6", "tin7"];
                let less =
                    |(rate, quantum): &(Option<u64>, i64)| Some((rate.map(|rate| (rate * 7) >> 3), (quantum * 7) >> 3));
                let parts = std::iter::successors(Some((rate, 256)), less);
                NAMES.into_iter().zip(parts).map(|(name, (rate, quantum))| Tin::new(name, rate, quantum)).collect()
            }
        }
    }

    /// Creates a tin with a rate in bytes per second, or without limit.
    fn new(name: &'static str, rate: Option<u64>, quantum: i64) -> Tin {
        let flow_quantum = rate.map_or(1514, |rate| (rate >> 12).clamp(300, 1514));
        Tin { name, pace: rate.map_or(Pace::NONE, Pace::of), quantum, flow_quantum }
    }
}

impl Diffserv {
    /// Returns the index of the tin of packets with this DSCP.
    fn tin(self, dscp: Dscp) -> u8 {
        let dscp = dscp.bits();
        match self {
            Diffserv::Besteffort => 0,
            Diffserv::Precedence => dscp >> 3,
            Diffserv::Diffserv3 => match dscp {
                1 | 8 => 1,
                4 | 44 | 46 | 48 | 56 => 2,
                _ => 0,
            },
            Diffserv::Diffserv4 => match dscp {
                1 | 8 => 1,
                4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38 => 2,
                32 | 40 | 44 | 46 | 48 | 56 => 3,
                _ => 0,
            },
            Diffserv::Diffserv8 => match dscp {
                1 => 0,
                2 | 8 | 10 | 12 | 14 => 1,
                24 | 26 | 28 | 30 | 34 | 36 | 38 => 3,
                4 | 18 | 20 | 22 => 4,
                16 => 5,
                32 | 40 | 44 | 46 => 6,
                48 | 56 => 7,
                _ => 2,
            },
        }
    }
}

/// The state of a tin.
#[derive(Clone, Debug)]
struct Active {
    rounds: Rounds,
    meter: Meter,
    quantum: i64,
    deficit: i64,
    packets: u64,
}

/// All tins. The inner queues of a tin are consecutive, `QUEUES` of them.
#[derive(Clone, Debug)]
pub(super) struct Tins {
    /// Index of the tin of each DSCP.
    of_dscp: [u8; 64],
    apart: Apart,
    wire: Wire,
    ingress: bool,
    rate: Option<Rate>,
    salt: Option<u64>,
    rng: Rng,
    tins: Vec<Active>,
    gate: Gate,
    shaped: bool,
    packets: u64,
    /// The tin served next if there is no rate.
    turn: usize,
    /// No flow has been polled since the last packet left: the next may be a decaying one.
    may_decay: bool,
    /// The flow or, with `ingress`, the tin to poll again because its COBALT has just dropped a packet.
    again: Option<usize>,
}

impl Tins {
    pub fn new(params: &Params, tins: Vec<Tin>) -> Tins {
        let apart = Apart::of(params.isolation);
        let pace = tins.first().map_or(Pace::NONE, |tin| tin.pace);
        let active = |tin: Tin| Active {
            rounds: Rounds::new(tin.flow_quantum, apart),
            meter: Meter::new(tin.pace),
            quantum: tin.quantum,
            deficit: 0,
            packets: 0,
        };
        Tins {
            of_dscp: std::array::from_fn(|dscp| params.diffserv.tin(Dscp::from_bits(dscp as u8))),
            apart,
            wire: Wire::of(params),
            ingress: params.ingress,
            rate: params.rate,
            salt: params.salt,
            rng: Rng::named(0, "cake"),
            tins: tins.into_iter().map(active).collect(),
            gate: Gate::new(pace),
            shaped: !pace.is_none(),
            packets: 0,
            turn: 0,
            may_decay: true,
            again: None,
        }
    }

    /// The tin of a packet, and the hash of its flow.
    fn sort(&self, header: &Header) -> (usize, Option<u32>) {
        (usize::from(self.of_dscp[usize::from(header.dscp.bits())]), self.apart.queue_hash(header, self.salt()))
    }

    fn salt(&self) -> u64 {
        self.salt.unwrap_or_default()
    }

    fn choose(&mut self, now: i64) -> Option<usize> {
        if self.packets == 0 {
            return None;
        }
        let again = self.again.take();
        if let Some(i) = again.filter(|_| !self.ingress) {
            return Some(i);
        }
        let tin = match again {
            Some(i) => i / QUEUES,
            None if self.gate.opens() > now => return None,
            None => self.tin(now),
        };
        let flow = self.tins[tin].rounds.next(&mut self.may_decay, &mut self.rng)?;
        Some(tin * QUEUES + flow)
    }

    /// Returns the next tin; some packet must be queued.
    fn tin(&mut self, now: i64) -> usize {
        if self.shaped { self.first_on_time(now) } else { self.in_turn() }
    }

    /// Returns the last tin in the list that is within its rate; if there is none, the one that will be first.
    fn first_on_time(&self, now: i64) -> usize {
        let mut best = (i64::MAX, 0);
        for (i, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.rounds.is_active()) {
            let wait = tin.meter.next - now;
            if wait <= 0 || wait <= best.0 {
                best = (wait, i);
            }
        }
        best.1
    }

    /// Rounds of the tins, by their quanta.
    fn in_turn(&mut self) -> usize {
        loop {
            let tin = &mut self.tins[self.turn];
            if tin.deficit >= 0 && tin.rounds.is_active() {
                return self.turn;
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.quantum;
            }
            self.turn = if self.turn + 1 < self.tins.len() { self.turn + 1 } else { 0 };
        }
    }

    /// Counts a packet of queue `i` less.
    fn took(&mut self, i: usize) {
        self.packets -= 1;
        self.tins[i / QUEUES].packets -= 1;
        self.tins[i / QUEUES].rounds.took(i % QUEUES);
    }

    /// `cake_advance_shaper` for a packet of queue `i` with `bytes` on the wire.
    fn advance(&mut self, i: usize, bytes: u64, dropped: bool, now: Time) {
        if self.shaped {
            self.tins[i / QUEUES].meter.advance(bytes, now.ns() as i64);
            self.gate.advance(bytes, dropped);
        }
    }

    fn charge(&mut self, i: usize, bytes: u64) {
        self.tins[i / QUEUES].deficit -= bytes as i64;
        self.tins[i / QUEUES].rounds.charge(i % QUEUES, bytes);
    }
}

impl Shape for Tins {
    fn begin(&mut self, link: Rate, rng: &mut Rng) {
        self.rate = self.rate.or(Some(link));
        let drawn = rng.u64();
        self.salt = self.salt.or(Some(drawn));
        self.rng = Rng::named(drawn, "cake");
    }

    fn rate(&self, _i: usize) -> Rate {
        self.rate.unwrap_or(Rate::from_bps(u64::MAX))
    }

    fn place(&self, header: &Header) -> Option<usize> {
        let (tin, hash) = self.sort(header);
        Some(tin * QUEUES + self.tins[tin].rounds.place(hash).index())
    }

    fn claim(&mut self, header: &Header) -> Option<usize> {
        let ((tin, hash), salt) = (self.sort(header), self.salt());
        Some(tin * QUEUES + self.tins[tin].rounds.claim(hash, || host_hashes(header, salt)))
    }

    fn arrived(&mut self, i: usize, now: Time) {
        let now = now.ns() as i64;
        let tin = &mut self.tins[i / QUEUES];
        if tin.packets == 0 {
            tin.meter.refresh(now);
        }
        if self.packets == 0 {
            self.gate.refresh(now);
        }
        tin.packets += 1;
        self.packets += 1;
        tin.rounds.arrived(i % QUEUES, &mut self.rng);
    }

    fn next(&mut self, _heads: Heads<'_>, now: Time) -> Option<usize> {
        let chosen = self.choose(now.ns() as i64);
        self.may_decay |= chosen.is_none();
        chosen
    }

    fn delays(&self) -> bool {
        self.shaped
    }

    fn among(&self, i: usize) -> Option<u32> {
        Some(if self.ingress { self.tins[i / QUEUES].rounds.bulk() } else { 0 })
    }

    fn lost(&mut self, i: usize, len: u32, now: Time) {
        self.took(i);
        if self.ingress {
            let bytes = self.wire.len(len);
            self.advance(i, bytes, true, now);
            self.charge(i, bytes);
        }
        self.again = Some(i);
    }

    fn shed(&mut self, i: usize, gone: Tally, now: Time) {
        for _ in 0..gone.packets {
            self.took(i);
            if self.ingress {
                self.advance(i, self.wire.len((gone.bytes / gone.packets) as u32), true, now);
            }
        }
    }

    fn found_empty(&mut self, i: usize, at_rest: bool) {
        self.tins[i / QUEUES].rounds.found_empty(i % QUEUES, at_rest);
    }

    fn sent(&mut self, i: usize, len: u32, _heads: Heads<'_>, now: Time) {
        self.took(i);
        let bytes = self.wire.len(len);
        self.advance(i, bytes, false, now);
        self.charge(i, bytes);
        self.may_decay = true;
    }

    fn ready(&self, _heads: Heads<'_>) -> Time {
        if self.packets == 0 { Time::NEVER } else { Time::from_ps((self.gate.opens() as u64).saturating_mul(1000)) }
    }

    fn copy(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
#[path = "tins_tests.rs"]
mod tests;
