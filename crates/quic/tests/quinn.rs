//! quinn-proto in virtual time.

mod cases;

use ecnlab_base::Dur;
use ecnlab_quic::{Congestion, Event, Settings, Stack};

use cases::link::{Link, ms, usual};

const STACK: Stack = Stack::Quinn;
/// The system seeds its generator: no datagram may depend on it.
const OTHER: Congestion = Congestion::Bbr;

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
