//! The program runs, and its controller responds to marks.

use std::path::Path;
use std::process::Command;

#[test]
fn the_controller_fills_a_link_and_responds_to_its_marks() {
    let text = run("short.toml", &[]);
    let [rate, reductions] = numbers(&text);
    // At most 1424 of 1480 bytes of a packet are the stream's: 38.5 of 40 Mb/s. A window of 0.8 or more of a BDP and a queue of
    // 5 ms keep most of it.
    assert!((20.0..38.5).contains(&rate) && reductions >= 1.0, "{text}");
}

#[test]
#[cfg(feature = "qlog")]
fn each_end_of_a_connection_has_a_log() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("qlog");
    let _ = std::fs::remove_dir_all(&folder);
    let text = run("logged.toml", &["--qlog", folder.to_str().expect("text")]);
    assert_eq!(text, run("logged.toml", &[]));
    let mut names: Vec<_> =
        std::fs::read_dir(&folder).expect("it exists").map(|file| file.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["bulk-0-client.sqlog", "bulk-0-server.sqlog"]);
    for name in names {
        let log = std::fs::read_to_string(folder.join(name)).expect("text");
        let last = log.trim_end().rsplit('\u{1e}').next().expect("an event");
        let time = last.strip_prefix("{\"time\":").and_then(|rest| rest.split(',').next()).expect("a time");
        assert!((2900.0..=3000.0).contains(&time.parse::<f64>().expect("milliseconds")), "{last}");
    }
}

/// The output for 3 s of the example, whose file is `name` here.
fn run(name: &str, options: &[&str]) -> String {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("examples").join("quic.toml");
    let text = std::fs::read_to_string(example).expect("an example of ecnlab");
    let short = text.replace("duration = \"10 s\"\nwarmup = \"2 s\"", "duration = \"3 s\"\nwarmup = \"1 s\"");
    assert_ne!(short, text);
    let scenario = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&scenario, short).expect("a folder of cargo");
    let program = env!("CARGO_BIN_EXE_quic-controller");
    let output = Command::new(program).arg(scenario).args(options).output().expect("it starts");
    String::from_utf8(output.stdout).expect("text")
}

/// The two numbers of "bulk: 37.10 Mb/s, 12 reductions by marks".
fn numbers(text: &str) -> [f64; 2] {
    let (_, text) = text.split_once(": ").expect("a flow");
    let (rate, text) = text.split_once(" Mb/s, ").expect("a rate");
    let (reductions, _) = text.split_once(' ').expect("reductions");
    [rate, reductions].map(|number| number.parse().expect("a number"))
}
