//! scratch
use std::hash::{DefaultHasher, Hasher};
fn main() {
    for path in std::env::args().skip(1) {
        for seed in [1, 2] {
            let Ok(scenario) = ecnlab_spec::parse_scenario(&path, &std::fs::read_to_string(&path).unwrap()) else {
                println!("skip {path}");
                continue;
            };
            for events in [false, true] {
                let mut plan = scenario.plan(seed);
                plan.packet_events = events && !path.contains("/c.") && !path.contains("/d.");
                if events != plan.packet_events {
                    continue;
                }
                let out = ecnlab_engine::run(&plan, seed).unwrap();
                let mut h = DefaultHasher::new();
                for t in &out.tables {
                    h.write(format!("{t:?}").as_bytes());
                }
                println!("{path} {seed} {events} {:016x}", h.finish());
            }
        }
    }
}
