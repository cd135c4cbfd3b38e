//! Small worlds: all placements of at most three losses, marks and late packets in a short transfer, through the endpoint
//! and the links of the engine. `docs/testing.md` lists the invariants.

mod choices;
mod world;

use crate::common;

use choices::Choices;
use ecnlab_base::Dur;
use ecnlab_tcp::Endpoint;
use world::{Fate, Observe, PLACES, SERVER, Step, World, run};

struct Nothing;

impl Observe for Nothing {
    fn see(&mut self, _: &Step<'_>, _: &[Endpoint; 2]) {}
}

/// Up to `most` events at the packets of one direction, each of `fates`.
fn events(choices: &mut Choices, most: usize, fates: &[Fate]) -> Vec<(usize, Fate)> {
    let (mut events, mut from) = (Vec::new(), 0);
    while events.len() < most && from < PLACES {
        let place = from + choices.pick(PLACES - from + 1);
        if place == PLACES {
            break;
        }
        events.push((place, fates[choices.pick(fates.len())]));
        from = place + 1;
    }
    events
}

#[test]
fn every_loss_is_repaired() {
    let config = common::tcp("modern", |c| c.initial_window = 4);
    let (mut choices, mut worlds) = (Choices::default(), 0);
    while choices.next_world() {
        let world = World { data: events(&mut choices, 3, &[Fate::Lost]), acks: Vec::new() };
        let (end, ends) = run(&world, &config, 14 * 1448, &mut Nothing);
        assert_eq!(ends[SERVER].received(), 14 * 1448, "{world:?}");
        // 7 timeouts of at most 300 ms: each loss, that of the retransmission too, costs one, the next the double.
        assert!(end < ecnlab_base::Time::ZERO + Dur::from_s(4), "{world:?}: {end}");
        worlds += 1;
    }
    // C(12,0) + C(12,1) + C(12,2) + C(12,3)
    assert_eq!(worlds, 1 + 12 + 66 + 220);
}
