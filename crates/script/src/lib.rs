//! Scripts of segments: read one, play it to a TCP endpoint, compare. `docs/scripts.md` describes the language.

pub mod observe;
pub mod parse;
pub mod run;
pub mod segment;
pub mod settings;

use std::fmt;
use std::path::{Path, PathBuf};

use ecnlab_base::Time;
use ecnlab_wire::QuenchCause;
use segment::Described;

/// One test: a script, with the variant of its `each` lines filled in.
#[derive(Clone, Debug)]
pub struct Case {
    /// Path below the folder of scripts, without extension, and the variant in brackets.
    pub name: String,
    /// The fact that it proves, in one sentence.
    pub rule: String,
    /// Where the fact is written.
    pub source: String,
    /// The TCP profile to start from.
    pub profile: String,
    /// Departures from the profile, in order: the last of a key wins.
    pub settings: Vec<Setting>,
    /// The conversation.
    pub steps: Vec<Step>,
}

/// A departure from the profile: dotted key and value.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The key of the TCP.
    pub key: String,
    /// JSON, or a plain string.
    pub value: String,
    /// Its line.
    pub place: Place,
}

/// One line of the body, at its instant.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its instant.
    pub at: Time,
    /// What it does or claims.
    pub action: Action,
    /// Its line.
    pub place: Place,
}

/// What a line does or claims.
#[derive(Clone, Debug)]
pub enum Action {
    /// Active open.
    Connect,
    /// Passive open.
    Listen,
    /// The application writes bytes.
    Write(u64),
    /// The application reads only on request.
    ReadLater,
    /// The application reads up to so many bytes.
    Read(u64),
    /// FIN behind the data.
    Close,
    /// FIN behind what of the data has been sent.
    Withdraw,
    /// RST.
    Abort,
    /// A segment arrives.
    Arrive(Described),
    /// An ICMP source quench arrives.
    Quench {
        /// What the router did with the packet.
        cause: QuenchCause,
        /// The first sequence number of the packet.
        seq: u32,
    },
    /// The endpoint sends this segment.
    Expect(Described),
    /// Nothing was sent.
    Nothing,
    /// State of the endpoint.
    Check {
        /// As [`observe::observe`] has it.
        name: String,
        /// As a script writes it.
        value: String,
    },
}

/// A line of a file, kept for messages.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// From 1; 0 for the whole file.
    pub number: usize,
    /// Without its comment.
    pub text: String,
}

/// Why a script could not be read, or did not hold.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The line.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// What was expected, what came, and all that travelled.
    pub notes: Vec<String>,
}

impl Failure {
    /// Creates a failure without notes.
    pub fn new(place: &Place, message: impl Into<String>) -> Failure {
        Failure { place: place.clone(), message: message.into(), notes: Vec::new() }
    }
    /// Adds a note.
    pub fn note(mut self, note: impl Into<String>) -> Failure {
        self.notes.push(note.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { path, number, text } = &self.place;
        let margin = " ".repeat(number.to_string().len());
        writeln!(f, "error: {}", self.message)?;
        if *number == 0 {
            return writeln!(f, "{margin}--> {}", path.display());
        }
        writeln!(f, "{margin}--> {}:{number}", path.display())?;
        writeln!(f, "{margin} |\n{number} | {text}\n{margin} |")?;
        for note in &self.notes {
            writeln!(f, "{margin} = {}", note.replace('\n', &format!("\n{margin}   ")))?;
        }
        Ok(())
    }
}

/// Seconds with up to twelve decimals, exactly.
pub fn parse_time(text: &str) -> Option<Time> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || decimals.len() > 12 || !all_digits(whole) || !all_digits(decimals) {
        return None;
    }
    let ps: u64 = format!("{decimals:0<12}").parse().ok()?;
    Some(Time::from_ps(whole.parse::<u64>().ok()?.checked_mul(1_000_000_000_000)?.checked_add(ps)?))
}

/// Seconds with milliseconds, and finer digits only where they are not zero.
pub fn show_time(time: Time) -> String {
    let text = format!("{}.{:012}", time.ps() / 1_000_000_000_000, time.ps() % 1_000_000_000_000);
    let finer = text.len() - 9;
    format!("{}{}", &text[..finer], text[finer..].trim_end_matches('0'))
}

/// Every script below `root`, in the order of their paths.
pub fn find(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(find(&path)?);
        } else if path.extension().is_some_and(|e| e == "script") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
