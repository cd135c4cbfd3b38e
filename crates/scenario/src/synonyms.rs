//! Names that other programs use, or that a reader guesses, with the keys and values that they stand for.

use crate::path::{Part, Path};

/// Guessed word, the key or value meant, and an explanation ("" if none is needed). Of several rows for a word, the first
/// whose meaning is valid at the place applies. Words are in lower case without separators.
const SYNONYMS: &[(&str, &str, &str)] = &[
    // Keys of `[tcp.NAME]`, and its values.
    ("cc", "congestion", ""),
    ("cca", "congestion", ""),
    ("congestioncontrol", "congestion", ""),
    ("algorithm", "congestion", ""),
    ("iw", "initial_window", ""),
    ("initcwnd", "initial_window", ""),
    ("segmentsize", "mss", ""),
    ("l4s", "prague", "`profile = \"l4s\"` has the other settings of an L4S sender"),
    ("accurateecn", "accecn", ""),
    ("on", "rfc3168", ECN_KINDS),
    ("true", "rfc3168", ECN_KINDS),
    ("yes", "rfc3168", ECN_KINDS),
    ("classic", "rfc3168", ECN_KINDS),
    ("none", "off", ""),
    ("false", "off", ""),
    // Kinds of traffic.
    ("bulk", "ftp", "it sends without end, or `size` bytes"),
    ("greedy", "ftp", "it sends without end, or `size` bytes"),
    ("iperf", "ftp", "it sends without end, or `size` bytes"),
    ("udp", "cbr", "it sends packets at a constant rate"),
    ("http", "web", ""),
    // Keys of `[link.NAME]`.
    ("bandwidth", "rate", ""),
    ("bw", "rate", ""),
    ("capacity", "rate", ""),
    ("speed", "rate", ""),
    ("bitrate", "rate", ""),
    ("latency", "delay", "one way"),
    ("propagation", "delay", "one way"),
    ("rtt", "delay", "one way, so half of the RTT if no other link adds to it"),
    // Queues: as keys of a link, then of a queue.
    ("buffer", "queue", "it names a table [queue.NAME], whose `limit` is the buffer"),
    ("buffersize", "queue", "it names a table [queue.NAME], whose `limit` is the buffer"),
    ("limit", "queue", "it names a table [queue.NAME], whose `limit` is the buffer"),
    ("aqm", "queue", "it names a table [queue.NAME], whose `discipline` is the AQM"),
    ("discipline", "queue", "it names a table [queue.NAME], whose `discipline` is the AQM"),
    ("qdisc", "queue", "it names a table [queue.NAME], whose `discipline` is the AQM"),
    ("buffer", "limit", "with a unit: \"100 packets\" or \"150 kB\""),
    ("buffersize", "limit", "with a unit: \"100 packets\" or \"150 kB\""),
    ("buffer", "receive_buffer", ""),
    ("aqm", "discipline", ""),
    ("queue", "discipline", ""),
    ("qdisc", "discipline", ""),
    ("kind", "discipline", ""),
    ("type", "discipline", ""),
    ("type", "kind", ""),
    ("fifo", "droptail", ""),
    ("pfifo", "droptail", ""),
    ("bfifo", "droptail", ""),
    ("tail", "droptail", ""),
    ("taildrop", "droptail", ""),
    // Sections and keys of the file.
    ("host", "node", ""),
    ("sender", "flow", ""),
    ("source", "from", ""),
    ("src", "from", ""),
    ("destination", "to", ""),
    ("dst", "to", ""),
    ("time", "duration", ""),
    ("runtime", "duration", ""),
];

/// The feedback schemes between which a switch does not choose.
const ECN_KINDS: &str = "one echo per round trip (RFC 3168); \"accecn\" counts marks (RFC 9768), \"off\" is no ECN";

/// Returns `word` in lower case without separators.
pub(crate) fn plain(word: &str) -> String {
    word.to_lowercase().replace(['_', '-', ' '], "")
}

/// Returns the remedy for `word` if it is a synonym of one of the `valid` words.
pub(crate) fn meant<S: AsRef<str>>(word: &str, valid: &[S]) -> Option<String> {
    let word = plain(word);
    let is_valid = |meant: &str| valid.iter().any(|one| one.as_ref() == meant);
    let (_, meant, about) = SYNONYMS.iter().find(|(guessed, meant, _)| *guessed == word && is_valid(meant))?;
    let about = if about.is_empty() { String::new() } else { format!(" {about}") };
    Some(format!("did you mean `{meant}`?{about}"))
}

/// Returns the remedy for a boolean at `path` where a name is expected; "" if there is none in particular.
pub(crate) fn of_switch(path: &Path) -> &'static str {
    match &path.0[..] {
        [Part::Key(section), Part::Key(_), Part::Key(key)] if section == "tcp" && key == "ecn" => {
            "for true write \"rfc3168\", one echo per round trip (RFC 3168), or \"accecn\", counts of marks (RFC 9768, \
             with dsack = true); for false write \"off\""
        }
        _ => "",
    }
}
