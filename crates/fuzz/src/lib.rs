//! Untrusted input, as bytes: each target reads one kind of input and asserts what must hold of it.
//!
//! `make fuzz` has libFuzzer look for inputs that break a target; the tests replay the corpus and mutations of it. See
//! docs/testing.md.

mod bytes;
mod capture;
mod corpus;
mod endpoint;
mod headers;
mod input;
mod mutate;
mod pair;
mod queue;
mod seeds;
mod text;

pub use corpus::corpus;
pub use input::Input;
pub use mutate::mutated;

/// One kind of input.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, and that of its archive in the corpus.
    pub name: &'static str,
    /// Reads an input. It panics if something does not hold that must.
    pub run: fn(&[u8]),
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target { name: "scenario", run: text::scenario },
    Target { name: "experiment", run: text::experiment },
    Target { name: "simulation", run: text::simulation },
    Target { name: "filter", run: text::filter },
    Target { name: "pcap", run: capture::capture },
    Target { name: "pcapng", run: capture::capture },
    Target { name: "options", run: headers::options },
    Target { name: "headers", run: headers::headers },
    Target { name: "endpoint", run: endpoint::endpoint },
    Target { name: "pair", run: pair::pair },
    Target { name: "queue", run: queue::queue },
];

/// The target called `name`.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
