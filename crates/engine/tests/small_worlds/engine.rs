//! A world as a run of the engine: the same packets at the same times.

use std::sync::atomic::AtomicBool;

use ecnlab_base::{Bytes, Dur, Time};
use ecnlab_engine::capture::{Capture, Interface, Seen, Sink};
use ecnlab_engine::{Body, Plan, run_captured};
use ecnlab_tcp::Endpoint;
use ecnlab_tcp::registry::{EcnKind, RecoveryKind};
use ecnlab_traffic::{FtpParams, Params};
use ecnlab_wire::{Ecn, Flags};

use super::case::{BYTES, Case};
use super::common::flow;
use super::world::{CLIENT, Fate, Observe, Step, World, path, run};

/// What the client receives: times, flags and codepoints, and bytes on the wire.
#[derive(Default, Debug, PartialEq)]
struct Received(Vec<(Time, Flags, Ecn, u32)>);

impl Sink for Received {
    fn take(&mut self, seen: &Seen) -> bool {
        if let (false, Body::Tcp(segment)) = (seen.outbound, &seen.cargo.body) {
            self.0.push((seen.time, segment.flags, ecnlab_aqm::Item::ecn(&seen.packet), segment.wire_len));
        }
        true
    }
}

impl Observe for Received {
    fn see(&mut self, step: &Step<'_>, _: &[Endpoint; 2]) {
        if let Some(segment) = step.arrived.filter(|_| step.side == CLIENT) {
            self.0.push((step.now, segment.flags, segment.ecn, segment.wire_len));
        }
    }
}

fn in_engine(case: &Case, world: &World) -> Received {
    let config = case.config().expect("laws that fit");
    let plan = Plan {
        nodes: ["client", "server"].map(str::to_owned).to_vec(),
        links: path(world).to_vec(),
        groups: vec!["all".to_owned()],
        flows: vec![flow("flow", 1, &config, Params::Ftp(FtpParams { size: Some(Bytes(BYTES)) }))],
        duration: Dur::from_s(30),
        warmup: Dur::ZERO,
        sample: None,
        packet_events: false,
        end_after: Vec::new(),
    };
    let interfaces = vec![Interface { name: "client".to_owned(), out: Some(0), into: Some(1) }];
    let capture = Capture { name: "client".to_owned(), interfaces, before_queue: false };
    let mut received = Received::default();
    run_captured(&plan, 1, &AtomicBool::new(false), &[capture], &mut received).expect("a run");
    received
}

#[test]
fn the_engine_has_the_same_packets_at_the_same_times() {
    use Fate::{Lost, Marked};
    for (feedback, recovery) in [(EcnKind::Rfc3168, RecoveryKind::Sack), (EcnKind::AccEcn, RecoveryKind::Rack)] {
        for place in 0..12 {
            let data = vec![(place, Lost), (place + 1, Marked), (place + 2, Lost)];
            for world in [World { data, acks: Vec::new() }, World { data: Vec::new(), acks: vec![(place, Lost)] }] {
                let case = Case { profile: "modern", feedback, recovery, law: "reno" };
                let mut received = Received::default();
                let _ = run(&world, &case.config().expect("laws that fit"), BYTES, &mut received);
                // A world ends when both sides are closed, and a late duplicate with it.
                let engine = in_engine(&case, &world);
                assert!(engine.0.starts_with(&received.0), "{case:?} {world:?}: {received:?} {engine:?}");
            }
        }
    }
}
