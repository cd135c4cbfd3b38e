//! quinn-proto in virtual time.

mod cases;
#[cfg(feature = "qlog")]
#[path = "cases/qlog.rs"]
mod qlog;

use ecnlab_base::Dur;
use ecnlab_quic::quinn_proto::congestion::NewRenoConfig;
use ecnlab_quic::{Congestion, Controller, Event, Settings, Stack};

use cases::link::{Link, ms, usual};

const STACK: Stack = Stack::Quinn;
/// The system seeds its generator: no datagram may depend on it.
const OTHER: Congestion = Congestion::Bbr;

#[test]
fn a_programs_controller_is_in_place_of_congestion() {
    let digest = |settings: &Settings| {
        let mut link = Link::new([settings, settings], 12);
        link.open(&[1_000_000]);
        link.run(ms(1_000));
        link.digest()
    };
    let own = Settings { controller: Some(Controller::quinn(NewRenoConfig::default())), ..usual() };
    assert_eq!(digest(&own), digest(&Settings { congestion: Congestion::NewReno, ..usual() }));
    assert_ne!(digest(&own), digest(&usual()));
    assert_eq!(own, own.clone());
    assert_ne!(own, usual());
}

#[test]
fn bbr_does_not_respond_to_marks() {
    let bbr = Settings { congestion: Congestion::Bbr, ..usual() };
    let mut link = Link::new([&bbr, &bbr], 11).marking(Dur::from_ms(5));
    link.open(&[1_000_000]);
    link.run(ms(5_000));
    let client = &link.stats()[0];
    assert!(link.time_of(0, &Event::Acknowledged(0)).is_some_and(|done| done < ms(500)));
    assert_eq!((client.ecn_events, client.ssthresh), (Some(0), None));
}
