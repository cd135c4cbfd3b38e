//! A law over one FIFO that stands in a file of the user's own. Whoever runs the scenario supplies its object, which has the
//! methods.

use ecnlab_base::{Dur, Length, Outside, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::Facts;
use crate::contract::outside::{Object, Supply};
use crate::{Aqm, Impossible, LinkContext, PacketView, Verdict, View};

/// What there is to know of it.
pub const FACTS: Facts = Facts {
    name: "external",
    label: "a law in Python",
    summary: "a class in a file of Python, which has the methods of a law over one FIFO",
    shown: &["python"],
    named_by: Some("python"),
    ..Facts::PLAIN
};

/// Where the law stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Params(pub Outside<dyn Supply>);

impl Params {
    /// Refuses what names no file and class.
    pub fn check(&self) -> Result<(), Impossible> {
        self.0.check().map_err(|message| Impossible { key: "python".to_owned(), message })
    }
}

/// The object on one queue. Without one every packet passes: who runs a scenario refuses a law that nobody has supplied.
#[derive(Debug)]
pub struct External {
    object: Option<Box<dyn Object>>,
    tick: Option<Dur>,
}

impl Aqm for External {
    type Params = Params;

    fn new(params: &Params, link: LinkContext) -> External {
        let law = params.0.law();
        External { object: law.map(|law| law.object(link)), tick: law.and_then(|law| law.tick()) }
    }

    fn outside(params: &Params) -> Option<&Outside<dyn Supply>> {
        Some(&params.0)
    }

    fn outside_mut(params: &mut Params) -> Option<&mut Outside<dyn Supply>> {
        Some(&mut params.0)
    }

    fn limited(&mut self, limit: Length) {
        if let Some(object) = &mut self.object {
            object.limited(limit);
        }
    }

    fn on_enqueue(&mut self, packet: &PacketView, view: &View, now: Time, rng: &mut Rng) -> Verdict {
        self.object.as_mut().map_or(Verdict::Pass, |object| object.on_enqueue(packet, view, now, rng))
    }

    fn on_unlike(&mut self, packet: &PacketView, view: &View, rng: &mut Rng) -> Verdict {
        self.object.as_mut().map_or(Verdict::Pass, |object| object.on_unlike(packet, view, rng))
    }

    fn on_dequeue(&mut self, packet: &PacketView, view: &View, now: Time, rng: &mut Rng) -> Verdict {
        self.object.as_mut().map_or(Verdict::Pass, |object| object.on_dequeue(packet, view, now, rng))
    }

    fn on_full(&mut self) {
        if let Some(object) = &mut self.object {
            object.on_full();
        }
    }

    fn on_shed(&mut self, packets: u32) {
        if let Some(object) = &mut self.object {
            object.on_shed(packets);
        }
    }

    fn on_empty(&mut self) {
        if let Some(object) = &mut self.object {
            object.on_empty();
        }
    }

    fn tick(&self) -> Option<Dur> {
        self.tick
    }

    fn on_tick(&mut self, view: &View) {
        if let Some(object) = &mut self.object {
            object.on_tick(view);
        }
    }
}
