//! libFuzzer on the target that `ECNLAB_FUZZ_TARGET` names. `make fuzz` builds it with coverage and runs it.

#![no_main]
#![allow(unsafe_code, reason = "libFuzzer calls a function by its unmangled name")]

use std::sync::OnceLock;

use ecnlab_fuzz::{Target, target};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    static TARGET: OnceLock<&Target> = OnceLock::new();
    let target = TARGET.get_or_init(|| {
        let name = std::env::var("ECNLAB_FUZZ_TARGET").unwrap_or_default();
        target(&name).unwrap_or_else(|| panic!("ECNLAB_FUZZ_TARGET={name} names no target"))
    });
    (target.run)(input);
});
