//! Web traffic: sessions of pages of objects, as in ns-2's `PagePool/WebTraf` (`webcache/webtraf.cc`; Akujobi et al.,
//! Table I).
//!
//! Sessions arrive one after the other. A session belongs to one client; each of its pages is on a randomly chosen
//! server, and its objects are requested one after the other, independent of earlier transfers. A request is one packet
//! from the client to the server on its own connection; once it is acknowledged, the server sends the object on another
//! connection. The transfer is complete when the server has received the acknowledgement of its last byte.
//!
//! The random draws of a session depend only on its number, not on the speed of the network: runs with different
//! networks have the same sessions, pages and objects.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ecnlab_base::{Bytes, Dist, Dur, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::object::Object;
use crate::{Checked, Demand, Done, Exchange, Impossible, Side, Source, UnderWay};

/// Sessions between the clients `to` and the servers `from`. An array at either end is a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Number of sessions.
    pub sessions: u32,
    /// Time from the start of a session to the start of the next; the first starts with the flow.
    pub inter_session: Dist<Dur>,
    /// Pages of a session, rounded up.
    pub pages: Dist<f64>,
    /// Time from one page of a session to the next.
    pub inter_page: Dist<Dur>,
    /// Start of `inter_page`: the start of the page (ns-2 before November 2001, and its `interPageOption` 0), or the
    /// end of the transfer of its last object. Default `end-to-start` (ns-2 since November 2001).
    #[serde(default)]
    pub page_spacing: PageSpacing,
    /// Objects of a page, rounded up.
    pub objects: Dist<f64>,
    /// Time from the request for one object of a page to the next request.
    pub inter_object: Dist<Dur>,
    /// Bytes of an object, rounded up to whole packets.
    pub object_size: Dist<Bytes>,
    /// Payload of a packet: a request is one packet, an object a number of packets.
    pub packet: Bytes,
}

/// Start of the time between two pages of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PageSpacing {
    /// At the start of the page: ns-2 up to November 2001, and its `interPageOption` 0.
    StartToStart,
    /// When the page's last object has been transferred: ns-2's default since, `interPageOption` 1.
    #[default]
    EndToStart,
}

impl Checked for Params {
    fn check(&self) -> Result<(), Impossible> {
        if self.packet == Bytes(0) {
            let message = "a packet cannot have 0 B; write the TCP's segment size, such as \"1000 B\"".to_owned();
            return Err(Impossible { key: "packet", message });
        }
        Ok(())
    }
}

/// The population of sessions.
#[derive(Clone, Debug)]
pub struct Web {
    params: Params,
    pool: [u32; 2],
    events: BinaryHeap<Reverse<(Time, Next)>>,
    begun: bool,
    stopped: bool,
    sessions: Vec<Session>,
    pages: Vec<Page>,
    objects: Vec<Object>,
    /// The page of each object.
    page_of: Vec<u32>,
}

/// Next event; events at the same time are in this order, then by age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Session,
    Page(u32),
    Request(u32),
    Response(u32),
}

#[derive(Clone, Debug)]
struct Session {
    rng: Rng,
    client: u32,
    pages: u32,
    begun: u32,
}

#[derive(Clone, Debug)]
struct Page {
    rng: Rng,
    session: u32,
    number: u32,
    server: u32,
    objects: u32,
    requested: u32,
    done: u32,
}

impl Web {
    /// Creates the source from `params`, with the given numbers of servers and clients.
    pub fn new(params: &Params, pool: [u32; 2]) -> Web {
        Web {
            params: params.clone(),
            pool,
            events: BinaryHeap::new(),
            begun: false,
            stopped: false,
            sessions: Vec::new(),
            pages: Vec::new(),
            objects: Vec::new(),
            page_of: Vec::new(),
        }
    }

    /// Returns the objects requested from `start` to `until` if transfers took no time. Another engine uses them to
    /// reproduce the sessions, whose remaining random draws are the pauses.
    pub fn unhindered(params: &Params, pool: [u32; 2], rng: &mut Rng, start: Time, until: Time) -> Vec<Object> {
        let (mut web, mut now, mut out) = (Web::new(params, pool), start, Vec::new());
        while now < until {
            let mut next = web.poll(now, rng, &mut out);
            for demand in out.drain(..) {
                if let Demand::Exchange(exchange) = demand {
                    next = web.on_done(exchange.key, now);
                }
            }
            let Some(at) = next else { break };
            now = at;
        }
        web.objects
    }

    fn after(&mut self, now: Time, pause: Dur, next: Next) {
        self.events.push(Reverse((now.saturating_add(pause), next)));
    }

    fn next_wake(&self) -> Option<Time> {
        self.events.peek().map(|Reverse((at, _))| *at)
    }

    fn begin_session(&mut self, now: Time, rng: &mut Rng) {
        let client = rng.below(u64::from(self.pool[1])) as u32;
        let mut own = Rng::named(rng.u64(), "session");
        let pages = whole(self.params.pages.draw(&mut own));
        let number = self.sessions.len() as u32;
        self.sessions.push(Session { rng: own, client, pages, begun: 0 });
        if number + 1 < self.params.sessions {
            let pause = self.params.inter_session.draw(rng);
            self.after(now, pause, Next::Session);
        }
        self.begin_page(number, now);
    }

    fn begin_page(&mut self, session: u32, now: Time) {
        let s = &mut self.sessions[session as usize];
        let server = s.rng.below(u64::from(self.pool[0])) as u32;
        let mut rng = Rng::named(s.rng.u64(), "page");
        let objects = whole(self.params.objects.draw(&mut rng));
        let number = s.begun;
        s.begun += 1;
        self.pages.push(Page { rng, session, number, server, objects, requested: 0, done: 0 });
        if self.params.page_spacing == PageSpacing::StartToStart {
            self.schedule_page(session, now);
        }
        self.after(now, Dur::ZERO, Next::Request(self.pages.len() as u32 - 1));
    }

    /// Schedules a session's next page, if it has one, after the pause.
    fn schedule_page(&mut self, session: u32, now: Time) {
        let s = &mut self.sessions[session as usize];
        if s.begun < s.pages && !self.stopped {
            let pause = self.params.inter_page.draw(&mut s.rng);
            self.after(now, pause, Next::Page(session));
        }
    }

    fn ask(&mut self, page: u32, now: Time, out: &mut Vec<Demand>) {
        let p = &mut self.pages[page as usize];
        let size = self.params.object_size.draw(&mut p.rng);
        let index = p.requested;
        p.requested += 1;
        let more = p.requested < p.objects;
        let pause = if more { self.params.inter_object.draw(&mut p.rng) } else { Dur::ZERO };
        let ends = [p.server, self.sessions[p.session as usize].client];
        let packet = self.params.packet.0;
        let bytes = size.0.div_ceil(packet).max(1).saturating_mul(packet);
        let (session, page_number) = (p.session, p.number);
        let object = self.objects.len() as u32;
        let (answered, transferred) = (None, None);
        self.objects.push(Object {
            session,
            page: page_number,
            index,
            ends,
            bytes,
            requested: now,
            answered,
            transferred,
        });
        self.page_of.push(page);
        if more {
            self.after(now, pause, Next::Request(page));
        }
        out.push(transfer(2 * object, Side::To, ends, packet));
    }

    fn answer(&mut self, object: u32, now: Time, out: &mut Vec<Demand>) {
        let o = &mut self.objects[object as usize];
        o.answered = Some(now);
        out.push(transfer(2 * object + 1, Side::From, o.ends, o.bytes));
    }

    /// Handles the end of an object's transfer, completed or given up.
    fn leave(&mut self, object: u32, now: Time) -> Option<Time> {
        let page = &mut self.pages[self.page_of[object as usize] as usize];
        page.done += 1;
        if page.done == page.objects && self.params.page_spacing == PageSpacing::EndToStart {
            let session = page.session;
            self.schedule_page(session, now);
        }
        self.next_wake()
    }
}

/// Rounds up to a whole number of at least one.
fn whole(x: f64) -> u32 {
    (libm::ceil(x) as u32).max(1) // `as` saturates
}

fn transfer(key: u32, opener: Side, ends: [u32; 2], bytes: u64) -> Demand {
    Demand::Exchange(Exchange { key, opener, ends, request: bytes, response: 0, done: Done::Acknowledged })
}

impl Source for Web {
    const POOL: bool = true;

    fn poll(&mut self, now: Time, rng: &mut Rng, out: &mut Vec<Demand>) -> Option<Time> {
        if !self.begun {
            self.begun = true;
            self.after(now, Dur::ZERO, Next::Session);
        }
        while self.next_wake().is_some_and(|at| at <= now) {
            match self.events.pop().map(|Reverse((_, next))| next) {
                Some(Next::Session) => self.begin_session(now, rng),
                Some(Next::Page(session)) => self.begin_page(session, now),
                Some(Next::Request(page)) => self.ask(page, now, out),
                Some(Next::Response(object)) => self.answer(object, now, out),
                None => break,
            }
        }
        self.next_wake()
    }

    fn stop(&mut self) -> UnderWay {
        (self.begun, self.stopped) = (true, true);
        // Requests are answered.
        self.events.retain(|Reverse((_, next))| matches!(next, Next::Response(_)));
        UnderWay::Completed
    }

    fn on_done(&mut self, key: u32, now: Time) -> Option<Time> {
        let object = key / 2;
        if key.is_multiple_of(2) {
            self.after(now, Dur::ZERO, Next::Response(object));
            return self.next_wake();
        }
        self.objects[object as usize].transferred = Some(now);
        self.leave(object, now)
    }

    fn on_failed(&mut self, key: u32, now: Time) -> Option<Time> {
        self.leave(key / 2, now)
    }

    fn objects(&self) -> &[Object] {
        &self.objects
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use ecnlab_base::Tail;

    fn ms(x: u64) -> Dur {
        Dur::from_ms(x)
    }

    fn at(x: u64) -> Time {
        Time::ZERO + ms(x)
    }

    /// Two sessions 1000 ms apart, of two pages 500 ms apart, of two objects 10 ms apart.
    fn regular(page_spacing: PageSpacing) -> Params {
        Params {
            sessions: 2,
            inter_session: Dist::Constant(ms(1000)),
            pages: Dist::Constant(2.0),
            inter_page: Dist::Constant(ms(500)),
            page_spacing,
            objects: Dist::Constant(1.2),
            inter_object: Dist::Constant(ms(10)),
            object_size: Dist::Constant(Bytes(7001)),
            packet: Bytes(1000),
        }
    }

    /// Drives a source whose exchanges all take `takes` of time; one that `fails` is given up.
    fn drive(params: &Params, pool: [u32; 2], takes: Dur, fails: impl Fn(u32) -> bool) -> Vec<Object> {
        let (mut web, mut rng) = (Web::new(params, pool), Rng::named(5, "web"));
        let mut under_way: BinaryHeap<Reverse<(Time, u32)>> = BinaryHeap::new();
        let mut wake = Some(Time::ZERO);
        loop {
            let done = under_way.peek().map(|Reverse((at, _))| *at);
            let Some(now) = [wake, done].into_iter().flatten().min() else { return web.objects };
            if done == Some(now) {
                let key = under_way.pop().map_or(0, |Reverse((_, key))| key);
                wake = if fails(key) { web.on_failed(key, now) } else { web.on_done(key, now) };
                continue;
            }
            let mut out = Vec::new();
            wake = web.poll(now, &mut rng, &mut out);
            for demand in out {
                let Demand::Exchange(exchange) = demand else { panic!("a datagram") };
                under_way.push(Reverse((now + takes, exchange.key)));
            }
        }
    }

    fn requested(objects: &[Object]) -> Vec<(u32, u32, u32, Time)> {
        objects.iter().map(|o| (o.session, o.page, o.index, o.requested)).collect()
    }

    #[test]
    fn what_is_drawn_does_not_depend_on_how_long_transfers_take() {
        let random = Params {
            pages: Dist::Exponential(3.0),
            objects: Dist::Exponential(3.0),
            inter_page: Dist::Exponential(ms(400)),
            inter_object: Dist::Exponential(ms(30)),
            object_size: Dist::Exponential(Bytes(9_000)),
            ..regular(PageSpacing::EndToStart)
        };
        let pool = [3, 4];
        let ideal = Web::unhindered(&random, pool, &mut Rng::named(7, "flow.web"), at(0), at(60_000));
        assert!(ideal.len() > 4);
        // In a real network each transfer takes 70 ms, one after the other.
        let (mut web, mut rng, mut out) = (Web::new(&random, pool), Rng::named(7, "flow.web"), Vec::new());
        let mut under_way: BinaryHeap<Reverse<(Time, u32)>> = BinaryHeap::new();
        let mut now = at(0);
        while now < at(60_000) {
            while under_way.peek().is_some_and(|Reverse((end, _))| *end <= now) {
                let Some(Reverse((_, key))) = under_way.pop() else { break };
                web.on_done(key, now);
            }
            let next = web.poll(now, &mut rng, &mut out);
            for demand in out.drain(..) {
                let Demand::Exchange(exchange) = demand else { panic!("no exchange") };
                under_way.push(Reverse((now + ms(70), exchange.key)));
            }
            let end = under_way.peek().map(|Reverse((end, _))| *end);
            match next.into_iter().chain(end).min() {
                Some(soonest) => now = soonest,
                None => break,
            }
        }
        let drawn = |objects: &[Object]| {
            let mut all: Vec<_> = objects.iter().map(|o| (o.session, o.page, o.index, o.ends, o.bytes)).collect();
            all.sort_unstable();
            all
        };
        assert_eq!(drawn(web.objects()), drawn(&ideal));
        assert!(web.objects().last().unwrap().requested > ideal.last().unwrap().requested);
    }

    #[test]
    fn pages_may_be_spaced_from_start_to_start() {
        let objects = drive(&regular(PageSpacing::StartToStart), [1, 1], ms(30), |_| false);
        let session =
            |s: u32, t: u64| [(s, 0, 0, at(t)), (s, 0, 1, at(t + 10)), (s, 1, 0, at(t + 500)), (s, 1, 1, at(t + 510))];
        assert_eq!(requested(&objects), [session(0, 0), session(1, 1000)].concat());
        // Requested at 0, acknowledged and answered at 30, transferred at 60; 7001 B are 8 packets.
        let first = objects[0];
        assert_eq!((first.answered, first.transferred, first.bytes), (Some(at(30)), Some(at(60)), 8000));
    }

    #[test]
    fn or_from_end_to_start() {
        // A page lasts until its second object, requested at 10, has been transferred at 70.
        let objects = drive(&regular(PageSpacing::EndToStart), [1, 1], ms(30), |_| false);
        let session =
            |s: u32, t: u64| [(s, 0, 0, at(t)), (s, 0, 1, at(t + 10)), (s, 1, 0, at(t + 570)), (s, 1, 1, at(t + 580))];
        assert_eq!(requested(&objects), [session(0, 0), session(1, 1000)].concat());
    }

    #[test]
    fn an_object_that_fails_ends_its_page_all_the_same() {
        // The request for the first object (key 0) and the answer for the second (key 3) are given up.
        let objects = drive(&regular(PageSpacing::EndToStart), [1, 1], ms(30), |key| key == 0 || key == 3);
        assert_eq!(objects.len(), 8);
        assert_eq!((objects[0].answered, objects[0].transferred), (None, None));
        assert_eq!((objects[1].answered, objects[1].transferred), (Some(at(40)), None));
        assert_eq!(objects[2].requested, at(570));
    }

    /// Akujobi et al., Table I.
    fn table_1(sessions: u32) -> Params {
        let pareto2 = |mean: Dur, shape| Dist::Pareto2(Tail { mean, shape });
        Params {
            sessions,
            inter_session: Dist::Exponential(ms(500)),
            pages: Dist::Constant(10.0),
            inter_page: pareto2(Dur::from_s(10), 2.0),
            page_spacing: PageSpacing::EndToStart,
            objects: Dist::Pareto2(Tail { mean: 3.0, shape: 1.5 }),
            inter_object: pareto2(ms(100), 1.5),
            object_size: Dist::Constant(Bytes(8000)),
            packet: Bytes(1000),
        }
    }

    #[test]
    fn the_requests_of_a_session_do_not_depend_on_the_network() {
        let sorted = |takes: Dur| {
            let mut all: Vec<_> = drive(&table_1(40), [10, 10], takes, |_| false)
                .iter()
                .map(|o| (o.session, o.page, o.index, o.ends, o.bytes))
                .collect();
            all.sort_unstable();
            all
        };
        let fast = sorted(ms(1));
        assert_eq!(fast, sorted(Dur::from_s(3)));
        let pages: std::collections::BTreeSet<_> = fast.iter().map(|o| (o.0, o.1)).collect();
        assert_eq!(pages.len(), 400);
        // Servers change from page to page, clients from session to session only.
        assert!((0..40).all(|s| {
            fast.iter().filter(|o| o.0 == s).all(|o| o.3[1] == fast.iter().find(|f| f.0 == s).map_or(0, |f| f.3[1]))
        }));
        let servers: std::collections::BTreeSet<_> = fast.iter().map(|o| o.3[0]).collect();
        assert_eq!(servers.len(), 10);
    }

    #[test]
    fn the_load_is_that_of_its_means() {
        let objects = drive(&table_1(1000), [10, 10], ms(100), |_| false);
        // Objects of a page are ceil(X), X Lomax of scale 1.5 and shape 1.5. P(X > 1) = (5/3)^-1.5 =
        // 0.4648: of 10000 pages 5352 have one object; five standard errors of sqrt(.2488 / 10000).
        let mut sizes = std::collections::BTreeMap::new();
        objects.iter().for_each(|o| *sizes.entry((o.session, o.page)).or_insert(0_u32) += 1);
        let share = |few: u32| sizes.values().filter(|objects| **objects <= few).count() as f64 / 1e4;
        assert_eq!(sizes.len(), 10_000);
        assert!((share(1) - 0.5352).abs() < 5.0 * 0.005, "{}", share(1));
        // P(X > 12) = 9^-1.5 = 1/27: the tail is there.
        assert!((share(12) - 26.0 / 27.0).abs() < 5.0 * 0.0019, "{}", share(12));
        // The mean of ceil(X) is 3.579, the sum over n >= 0 of (1 + n / 1.5)^-1.5. Its variance is infinite,
        // so pages of more than 1000 objects, 6 in 100000, are left out: the same sum up to n = 999 less
        // 1000 times the last tail is 3.405; the second moment, with weights 2 n + 1, is 160; five standard
        // errors are 5 * sqrt((160 - 3.4^2) / 10000) = 0.61.
        let small = sizes.values().filter(|objects| **objects <= 1000);
        let mean = small.clone().map(|o| f64::from(*o)).sum::<f64>() / small.count() as f64;
        assert!((mean - 3.405).abs() < 0.61, "{mean}");
        // Two sessions a second, of 10 pages, 3.579 objects and 8000 B: 4.58 Mbit/s in the long run.
        let arrivals = objects.iter().filter(|o| o.page == 0 && o.index == 0).map(|o| o.requested.as_secs());
        let span = arrivals.fold(0.0, f64::max);
        assert!((span / 999.0 - 0.5).abs() < 5.0 * 0.5 / 31.6, "{span}");
    }
}
