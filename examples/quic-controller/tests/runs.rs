//! The program runs, and its controller responds to marks.

use std::path::Path;
use std::process::Command;

#[test]
fn the_controller_fills_a_link_and_responds_to_its_marks() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("examples").join("quic.toml");
    let text = std::fs::read_to_string(example).expect("an example of ecnlab");
    let short = text.replace("duration = \"10 s\"\nwarmup = \"2 s\"", "duration = \"3 s\"\nwarmup = \"1 s\"");
    assert_ne!(short, text);
    let scenario = Path::new(env!("CARGO_TARGET_TMPDIR")).join("short.toml");
    std::fs::write(&scenario, short).expect("a folder of cargo");
    let output = Command::new(env!("CARGO_BIN_EXE_quic-controller")).arg(scenario).output().expect("it starts");
    let text = String::from_utf8(output.stdout).expect("text");
    let [rate, reductions] = numbers(&text);
    // At most 1424 of 1480 bytes of a packet are the stream's: 38.5 of 40 Mb/s. A window of 0.8 or more of a BDP and a queue of
    // 5 ms keep most of it.
    assert!((20.0..38.5).contains(&rate) && reductions >= 1.0, "{text}");
}

/// The two numbers of "bulk: 37.10 Mb/s, 12 reductions by marks".
fn numbers(text: &str) -> [f64; 2] {
    let (_, text) = text.split_once(": ").expect("a flow");
    let (rate, text) = text.split_once(" Mb/s, ").expect("a rate");
    let (reductions, _) = text.split_once(' ').expect("reductions");
    [rate, reductions].map(|number| number.parse().expect("a number"))
}
