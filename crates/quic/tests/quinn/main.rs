//! quinn-proto in virtual time.

mod link;

use ecnlab_base::Time;
use ecnlab_quic::Event;

use link::{Link, quinn};

const MB: u64 = 1_000_000;

fn seconds(s: u64) -> Time {
    Time::from_ps(s * 1_000_000_000_000)
}

#[test]
fn a_bulk_transfer_arrives_and_is_acknowledged() {
    let mut link = Link::new([&quinn(), &quinn()], 1);
    let streams = link.open(&[2 * MB]);
    link.run(seconds(5));
    assert_eq!(streams, [0]);
    let done = link.time_of(0, &Event::Acknowledged(0)).expect("acknowledged");
    eprintln!("{done:?} {:?}", link.stats());
}
