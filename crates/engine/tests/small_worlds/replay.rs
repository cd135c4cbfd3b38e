//! A world as files that replay it: a scenario, and a script of the client's conversation.

use std::fmt::Write;

use ecnlab_base::Time;
use ecnlab_script::segment::Described;
use ecnlab_tcp::Endpoint;

use super::case::{BYTES, Case};
use super::world::{CLIENT, DELAY, Fate, ISS, LATENESS, Observe, RATE, SERVER, Step, World, run};

/// The world as a scenario for `ecnlab run`. Scenarios have no late packets by number: the script has them.
pub fn scenario(case: &Case, world: &World) -> String {
    let numbers = |events: &[(usize, Fate)], of, first| {
        events.iter().filter(|(_, fate)| *fate == of).map(|(n, _)| n + first).collect::<Vec<_>>()
    };
    let quoted = |value: String| {
        if value.parse::<u32>().is_ok() || value.parse::<bool>().is_ok() { value } else { format!("{value:?}") }
    };
    let settings: Vec<_> =
        case.settings().into_iter().map(|(key, value)| format!("{key} = {}", quoted(value))).collect();
    let late = [&world.data, &world.acks].map(|events| numbers(events, Fate::Late, 1));
    format!(
        r#"# Late by {LATENESS}, which only the script has: data packets {:?}, ACKs {:?}.
format = 1
title = "A small world"
duration = "30 s"
warmup = "0 s"
profile = "{}"

[node.client]
[node.server]

[link.path]
from = "client"
to = "server"
rate = "{RATE}"
delay = "{DELAY}"
drop_segments = {{ flow = {:?} }}
mark_segments = {{ flow = {:?} }}
reverse = {{ drop = {:?} }}

[queue.default]
discipline = "droptail"
limit = "1000 packets"

[tcp.world]
{}

[flow.flow]
from = "client"
to = "server"
traffic = {{ kind = "ftp", size = "{BYTES} B" }}
tcp = "world"
"#,
        late[CLIENT],
        late[SERVER],
        case.profile,
        numbers(&world.data, Fate::Lost, 1),
        numbers(&world.data, Fate::Marked, 1),
        numbers(&world.acks, Fate::Lost, 2),
        settings.join("\n"),
    )
}

/// The world as a script of the client's conversation for `ecnlab script`.
pub fn script(case: &Case, world: &World) -> String {
    let mut script = format!("rule A small world.\nsource a small world: {world:?}\nprofile {}\n", case.profile);
    for (key, value) in case.settings() {
        let _ = writeln!(script, "set {key} = {value}");
    }
    let _ = writeln!(script, "0 connect");
    let mut lines = Lines(script);
    if let Some(config) = case.config() {
        run(world, &config, BYTES, &mut lines);
    }
    lines.0
}

struct Lines(String);

impl Observe for Lines {
    fn see(&mut self, step: &Step<'_>, _: &[Endpoint; 2]) {
        if step.side != CLIENT {
            return;
        }
        let at = seconds(step.now);
        if let Some(segment) = step.arrived {
            let _ = writeln!(self.0, "{at} < {}", Described::of(segment, ISS[SERVER], ISS[CLIENT]));
        }
        if let Some(quench) = step.quench {
            let _ = writeln!(self.0, "{at} < quench marked {}", quench.seq - ISS[CLIENT]);
        }
        for segment in step.sent {
            let _ = writeln!(self.0, "{at} > {}", Described::of(segment, ISS[CLIENT], ISS[SERVER]));
        }
        if step.now == Time::ZERO {
            let _ = writeln!(self.0, "{at} write {BYTES}\n{at} close");
        }
    }
}

/// A time in seconds, with all its digits.
fn seconds(time: Time) -> String {
    let ps = time.ps();
    format!("{}.{:012}", ps / 1_000_000_000_000, ps % 1_000_000_000_000)
}

#[test]
fn the_script_of_a_world_plays() {
    use super::world::Fate::{Late, Lost, Marked};
    use ecnlab_script::{parse, run as play, settings};
    use ecnlab_tcp::registry::{EcnKind, RecoveryKind};

    let world = World { data: vec![(1, Late), (5, Lost), (6, Marked)], acks: vec![(2, Lost)] };
    let case = Case { profile: "linux-7", feedback: EcnKind::AccEcn, recovery: RecoveryKind::Rack, law: "cubic" };
    let lines = parse::number_lines("world".as_ref(), &script(&case, &world));
    let cases = parse::cases(&[], "world", &lines).expect("a script");
    let config = settings::config(&cases[0]).expect("settings").into();
    play::run(&config, &cases[0]).expect("the conversation of the world");
}
