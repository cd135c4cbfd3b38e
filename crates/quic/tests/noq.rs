//! noq-proto in virtual time.

mod cases;

use ecnlab_base::Time;
use ecnlab_quic::{Congestion, Error, Settings, Stack, connection};

use cases::link::usual;

const STACK: Stack = Stack::Noq;
const OTHER: Congestion = Congestion::NewReno;

#[test]
fn bbr_is_rejected() {
    let bbr = Settings { congestion: Congestion::Bbr, ..usual() };
    let error = connection([&bbr, &usual()], 1, Time::ZERO).expect_err("its generator has no seed");
    assert!(matches!(&error, Error::Rejected("noq", text) if text.starts_with("congestion: ")), "{error}");
}

#[test]
#[cfg(feature = "quinn")]
fn a_controller_for_another_stack_is_rejected() {
    let factory = ecnlab_quic::quinn_proto::congestion::NewRenoConfig::default();
    let wrong = Settings { controller: Some(ecnlab_quic::Controller::quinn(factory)), ..usual() };
    let error = connection([&wrong, &usual()], 1, Time::ZERO).expect_err("it is for quinn");
    assert_eq!(error.to_string(), "noq: controller: it is for another stack; make it for this one");
}

#[test]
fn both_ends_have_the_same_stack() {
    let error = connection([&usual(), &Settings::of(Stack::Quinn)], 1, Time::ZERO).expect_err("two stacks");
    assert_eq!(error.to_string(), "noq: the peer has the stack quinn; set the same for both ends");
}
