//! Times one run of a scenario: `ecnlab-bench SCENARIO [SEED]` prints one JSON object; `ecnlab-bench trace CAPTURE` does
//! the same for the analysis of a capture, reading it included. `ecnlab-bench exchange` measures how fast two cores exchange a value.
//!
//! `wall_s` covers the engine's run and nothing of reading the scenario; `packets` are the segments of `mss` bytes that
//! reached their application in order, over the whole run, as ns-2's `ack_` counts them. `peak_bytes` is the peak resident set
//! of the process, null where the system does not report it.

use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};

use ecnlab_engine::{Column, Output};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [verb] if verb == "exchange" => report(Ok(serde_json::json!({ "round_trip_ns": exchange() }))),
        [verb, path] if verb == "trace" => report(trace(path)),
        [path] => report(time(path, 1)),
        [path, seed] => match seed.parse() {
            Ok(seed) => report(time(path, seed)),
            Err(_) => usage(),
        },
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: ecnlab-bench SCENARIO [SEED], ecnlab-bench trace CAPTURE, or ecnlab-bench exchange");
    ExitCode::from(2)
}

fn report(result: Result<serde_json::Value, Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(value) => {
            println!("{value}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

// A benchmark is the one place that asks the machine for the time.
#[allow(clippy::disallowed_methods)]
fn time(path: &str, seed: u64) -> Result<serde_json::Value, Box<dyn Error>> {
    let scenario = ecnlab_scenario::parse_scenario(path, &std::fs::read_to_string(path)?)?;
    let plan = scenario.plan(seed);
    let begun = std::time::Instant::now();
    let output = ecnlab_engine::run(&plan, seed)?;
    let wall = begun.elapsed().as_secs_f64();
    let mss = plan.flows.first().ok_or("the scenario has no flow")?.tcp_from.mss.0;
    Ok(serde_json::json!({
        "simulator": "ecnlab",
        "seed": seed,
        "wall_s": wall,
        "packets": delivered(&output)? / mss,
        "peak_bytes": peak(),
    }))
}

#[allow(clippy::disallowed_methods)]
fn trace(path: &str) -> Result<serde_json::Value, Box<dyn Error>> {
    let begun = std::time::Instant::now();
    let input = ecnlab_trace::Input::open(path.as_ref())?;
    let analysis = ecnlab_trace::analyse(input, ecnlab_trace::Tracker::new(ecnlab_trace::Standard::Rfc3168), |_| true)?;
    let wall = begun.elapsed().as_secs_f64();
    Ok(serde_json::json!({
        "wall_s": wall,
        "packets": analysis.totals.packets,
        "connections": analysis.tracker.len(),
    }))
}

/// Nanoseconds for a number from one thread to another and back, which is the next number. The median of parts: at first both
/// threads may be on one core.
#[allow(clippy::disallowed_methods)]
fn exchange() -> f64 {
    const PARTS: u32 = 101;
    const ROUND_TRIPS: u32 = 1_000;
    let number = AtomicU32::new(0);
    let wait_for = |value| {
        while number.load(Ordering::Acquire) != value {
            std::hint::spin_loop();
        }
    };
    let answer = |value| {
        wait_for(value);
        number.store(value + 1, Ordering::Release);
    };
    let mut parts: Vec<f64> = std::thread::scope(|scope| {
        scope.spawn(|| (0..PARTS * ROUND_TRIPS).for_each(|round_trip| answer(2 * round_trip + 1)));
        let part = |part| {
            let begun = std::time::Instant::now();
            (part * ROUND_TRIPS..(part + 1) * ROUND_TRIPS).for_each(|round_trip| answer(2 * round_trip));
            begun.elapsed().as_nanos() as f64 / f64::from(ROUND_TRIPS)
        };
        (0..PARTS).map(part).collect()
    });
    parts.sort_by(f64::total_cmp);
    parts[parts.len() / 2]
}

/// Peak resident set of this program in bytes (`VmHWM` of Linux). Unlike `ru_maxrss`, it leaves out the parent's memory.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kibibytes| 1024 * kibibytes)
}

/// Bytes that all flows delivered in order.
fn delivered(output: &Output) -> Result<u64, Box<dyn Error>> {
    let flows = output.tables.iter().find(|t| t.name == "flows_run").ok_or("the run has no table flows_run")?;
    match flows.columns.iter().find(|(name, _)| *name == "bytes_delivered") {
        Some((_, Column::U64(bytes))) => Ok(bytes.iter().sum()),
        _ => Err("flows_run has no column bytes_delivered".into()),
    }
}
