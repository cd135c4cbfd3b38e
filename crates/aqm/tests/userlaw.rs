//! User-defined laws (`user-defined`): their objects are called like laws of this crate.

use crate::bench;

use std::sync::{Arc, Mutex};

use ecnlab_aqm::registry::Params;
use ecnlab_aqm::userlaw::Supply;
use ecnlab_aqm::{Aqm, Common, Config, DropReason, LinkContext, PacketView, Verdict, View, user_defined};
use ecnlab_base::{Dur, Length, Rng, Time, UserLaw};
use ecnlab_wire::Ecn;

/// Times are in ms.
type Bench = bench::Bench<1000>;
type Calls = Arc<Mutex<Vec<String>>>;

/// Signals arrivals that find more than two packets, drops departures after 5 ms, and records all other calls.
#[derive(Debug)]
struct Law(Calls, Option<Dur>);

impl Law {
    fn note(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }
}

impl Aqm for Law {
    fn limited(&mut self, limit: Length) {
        self.note(format!("limited {limit}"));
    }
    fn on_enqueue(&mut self, packet: &PacketView, view: &View, _: Time, _: &mut Rng) -> Verdict {
        match (view.packets > 2, packet.ecn) {
            (_, Ecn::Ce) => Verdict::Compare,
            (true, _) => Verdict::Signal,
            (false, _) => Verdict::Pass,
        }
    }
    fn on_unlike(&mut self, _: &PacketView, _: &View, _: &mut Rng) -> Verdict {
        Verdict::Drop
    }
    fn on_dequeue(&mut self, packet: &PacketView, _: &View, _: Time, _: &mut Rng) -> Verdict {
        if packet.sojourn > Dur::from_ms(5) { Verdict::Drop } else { Verdict::Pass }
    }
    fn on_full(&mut self) {
        self.note("full".to_owned());
    }
    fn on_shed(&mut self, packets: u32) {
        self.note(format!("shed {packets}"));
    }
    fn on_empty(&mut self) {
        self.note("empty".to_owned());
    }
    fn tick(&self) -> Option<Dur> {
        self.1
    }
    fn on_tick(&mut self, view: &View) {
        self.note(format!("tick {}", view.packets));
    }
}

struct Maker(Calls, Option<Dur>);

impl Supply for Maker {
    fn object(&self, link: LinkContext) -> Box<dyn Aqm> {
        let law = Law(self.0.clone(), self.1);
        law.note(format!("made {}", link.rate));
        Box::new(law)
    }
}

/// A queue of five packets with the law, and its recorded calls.
fn supplied(tick: Option<Dur>) -> (Bench, Calls) {
    let calls = Calls::default();
    let mut law = UserLaw::<dyn Supply>::named("x.py:Law");
    law.supply(Arc::new(Maker(calls.clone(), tick)), "12".to_owned()).unwrap();
    (Bench::new(&config(law)), calls)
}

fn config(law: UserLaw<dyn Supply>) -> Config {
    let common = Common { ecn: true, ..Common::with_limit(Length::Packets(5.0)) };
    Config::new(Params::UserDefined(user_defined::Params(law)), common)
}

fn calls(calls: &Calls) -> Vec<String> {
    std::mem::take(&mut *calls.lock().unwrap())
}

#[test]
fn the_verdicts_of_the_object_are_carried_out() {
    let (mut bench, notes) = supplied(None);
    assert_eq!(calls(&notes), ["made 1 Mbps", "limited 5 packets"]);
    for _ in 0..6 {
        bench.put_as(0, 0, 125, Ecn::Ect0, 0);
    }
    // The fourth and fifth find 3 and 4; the sixth finds the queue full.
    assert_eq!(bench.diary.marked.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [4, 5]);
    assert_eq!((bench.dropped(), calls(&notes)), (vec![6], vec!["full".to_owned()]));
    assert_eq!(bench.take(5).map(|packet| packet.id), Some(1));
    // All others have waited 6 ms.
    assert_eq!((bench.take(6).map(|packet| packet.id), calls(&notes)), (None, vec!["empty".to_owned()]));
    assert_eq!(bench.diary.dropped[1..], [2, 3, 4, 5].map(|id| (id, DropReason::Forced)));
}

#[test]
fn an_arrival_is_compared_and_one_of_another_flow_is_judged_again() {
    let (mut bench, _) = supplied(None);
    bench.put_as(0, 1, 125, Ecn::Ect0, 0);
    bench.put_as(0, 2, 125, Ecn::Ce, 0);
    assert_eq!(bench.dropped(), [2]);
    bench.put_as(0, 1, 125, Ecn::Ce, 0);
    assert_eq!(bench.dropped(), [2, 1, 3]);
}

#[test]
fn ticks_come_at_the_period_of_the_object() {
    let (mut bench, notes) = supplied(Some(Dur::from_ms(2)));
    calls(&notes);
    bench.put_as(1, 0, 125, Ecn::Ect0, 0);
    bench.queue.observe(Bench::at(5));
    assert_eq!(calls(&notes), ["tick 1", "tick 1"]);
}

#[test]
fn a_law_that_nobody_supplies_is_found_wherever_it_is_and_passes_all() {
    let plain = config(UserLaw::named("x.py:Law"));
    assert_eq!(plain.unsupplied(), Some("x.py:Law"));
    let mut bench = Bench::new(&plain);
    for _ in 0..5 {
        bench.put_as(0, 0, 125, Ecn::Ect0, 0);
    }
    assert_eq!((bench.diary.marked.len(), bench.dropped(), bench.drain(9).len()), (0, vec![], 5));

    let classes =
        Params::deserialize("classes", toml::from_str::<toml::Table>("schedule = \"strict\"").unwrap()).unwrap();
    let mut outer = Config::new(classes, Common::with_limit(Length::Packets(9.0)));
    let member = toml::from_str("").unwrap();
    outer.classes.insert("low".to_owned(), ecnlab_aqm::Class { member, queue: config(UserLaw::named("in.py:Law")) });
    assert_eq!(outer.unsupplied(), Some("in.py:Law"));
    let mut ways = Vec::new();
    outer.supply(&mut |way, law| {
        ways.push((way.to_owned(), law.python.clone()));
        law.supply(Arc::new(Maker(Calls::default(), None)), "12".to_owned()).unwrap();
    });
    assert_eq!(ways, [("class.low".to_owned(), "in.py:Law".to_owned())]);
    assert_eq!(outer.unsupplied(), None);
}

#[test]
fn what_names_no_class_is_refused() {
    assert_eq!(config(UserLaw::named("x.py")).check().unwrap_err().key, "python");
}
