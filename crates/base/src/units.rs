//! Quantities as people write them: `"1.5 Mbps"`, `"20 ms"`, `"30 packets"`.
//!
//! Every quantity in a scenario file is a string with its unit; a bare number is refused, because
//! `delay = 20` has cost the field enough papers.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::Dur;

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// The length of a queue, counted in packets or in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// So many packets, whatever their size. RED thresholds may be fractions of one.
    Packets(f64),
    /// So many bytes.
    Bytes(f64),
}

impl Rate {
    /// `bps` bits per second. Zero is no rate: it is taken as one.
    pub const fn from_bps(bps: u64) -> Rate {
        Rate(if bps == 0 { 1 } else { bps })
    }
    /// Bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }
    /// The time that `bytes` bytes take at this rate, rounded up to a picosecond.
    pub fn time_for(self, bytes: u64) -> Dur {
        const PS_PER_BYTE_AT_1_BPS: u64 = 8_000_000_000_000;
        // Two megabytes fit 64 bits, whose division is several times as fast as that of 128.
        if let Some(ps) = bytes.checked_mul(PS_PER_BYTE_AT_1_BPS) {
            return Dur::from_ps(ps.div_ceil(self.0));
        }
        let ps = (u128::from(bytes) * u128::from(PS_PER_BYTE_AT_1_BPS)).div_ceil(u128::from(self.0));
        Dur::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

/// Why a quantity could not be read, and what to write.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{text}` {problem}; {remedy}")]
pub struct ParseUnitError {
    text: String,
    problem: String,
    remedy: String,
}

/// The highest rate: at it a bit lasts a tenth of a picosecond, in which time is counted, and an ACK 32.
const FASTEST_BPS: f64 = 1e13;

/// The longest time, 5124 hours: 64 bits of picoseconds are a few minutes more.
const LONGEST_S: f64 = 5124.0 * 3600.0;

/// The largest number of bytes: 64 bits hold a third more in excess of it.
const MOST_BYTES: f64 = 1e19;

type Table = &'static [(&'static str, f64)];

const TIME: Table = &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("ns", 1e-9), ("min", 60.0), ("h", 3600.0)];
const RATE: Table = &[
    ("bps", 1.0),
    ("bit/s", 1.0),
    ("kbps", 1e3),
    ("kbit/s", 1e3),
    ("Mbps", 1e6),
    ("Mbit/s", 1e6),
    ("Mb/s", 1e6),
    ("Gbps", 1e9),
    ("Gbit/s", 1e9),
    ("Gb/s", 1e9),
];
const BYTES: Table = &[
    ("B", 1.0),
    ("byte", 1.0),
    ("bytes", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];
const PACKETS: Table = &[("packets", 1.0), ("packet", 1.0), ("pkts", 1.0)];

/// What people write for a unit that is not in the tables, and the unit they mean.
const MEANT: &[(&str, &str)] = &[
    ("bit", "bps"),
    ("bits/s", "bps"),
    ("kbit", "kbps"),
    ("kb/s", "kbps"),
    ("mbit", "Mbps"),
    ("mb", "Mbps"),
    ("gbit", "Gbps"),
    ("gb", "Gbps"),
    ("sec", "s"),
    ("second", "s"),
    ("msec", "ms"),
    ("millisecond", "ms"),
    ("usec", "us"),
    ("microsecond", "us"),
    ("nsec", "ns"),
    ("minute", "min"),
    ("hour", "h"),
    ("hr", "h"),
    ("pkt", "packets"),
    ("p", "packets"),
    ("octet", "bytes"),
];

/// A text that may be a quantity: its number, and what stands behind it.
fn split(text: &str) -> Option<(f64, &str, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || ".+-_".contains(c))).unwrap_or(text.len());
    let number = text[..end].replace('_', "").parse().ok()?;
    Some((number, &text[..end], text[end..].trim()))
}

/// The number and its unit's factor, or `None` where either is not there.
fn scan(text: &str, table: Table) -> Option<f64> {
    let (number, _, unit) = split(text)?;
    let (_, factor) = table.iter().find(|(name, _)| *name == unit)?;
    let value = number * factor;
    (value.is_finite() && value >= 0.0).then_some(value)
}

fn parse(text: &str, table: Table, what: &str, example: &str) -> Result<f64, ParseUnitError> {
    scan(text, table).ok_or_else(|| wrong(text, table, what, example))
}

/// Why `text` is not `what`, in a unit of `table`.
fn wrong(text: &str, table: Table, what: &str, example: &str) -> ParseUnitError {
    let error = |problem: String, remedy: String| ParseUnitError { text: text.to_owned(), problem, remedy };
    let plain = || error(format!("is not {what}"), format!("write a number and a unit, such as {example}"));
    let Some((number, digits, unit)) = split(text) else { return plain() };
    if number < 0.0 && table.iter().any(|(name, _)| *name == unit) {
        return error("is negative".into(), format!("write {what} that is not, such as {example}"));
    }
    if number < 0.0 {
        return plain();
    }
    if let Some(bits) = bytes_per_second(unit).filter(|bits| table.iter().any(|(name, _)| name == bits)) {
        return error(
            format!("is not {what}: rates are in bits per second"),
            format!("did you mean `{digits} {bits}`, or `{} {bits}`?", number * 8.0),
        );
    }
    match meant(unit, table) {
        Some(meant) => error(format!("is not {what}"), format!("did you mean `{digits} {meant}`?")),
        None => plain(),
    }
}

/// The unit in bits per second with the prefix of `unit`, if that is one in bytes per second.
fn bytes_per_second(unit: &str) -> Option<String> {
    let prefix =
        unit.strip_suffix("Bps").or_else(|| unit.strip_suffix("B/s")).or_else(|| unit.strip_suffix("bytes/s"))?;
    Some(format!("{}bps", if prefix == "K" { "k" } else { prefix }))
}

/// The unit of `table` that is probably meant by `unit`.
fn meant(unit: &str, table: Table) -> Option<&'static str> {
    let known = |name: &str| table.iter().map(|(known, _)| *known).find(|known| *known == name);
    let lower = unit.to_lowercase();
    let same_letters = table.iter().map(|(name, _)| *name).find(|name| name.to_lowercase() == lower);
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    let word = || MEANT.iter().find(|(written, _)| *written == lower || *written == singular);
    same_letters.or_else(|| word().and_then(|(_, meant)| known(meant)))
}

fn refused(text: &str, problem: &str, remedy: &str) -> ParseUnitError {
    ParseUnitError { text: text.to_owned(), problem: problem.to_owned(), remedy: remedy.to_owned() }
}

/// `value`, unless it is above `most`.
fn at_most(value: f64, most: f64, text: &str, problem: &str, remedy: &str) -> Result<f64, ParseUnitError> {
    if value > most { Err(refused(text, problem, remedy)) } else { Ok(value) }
}

impl FromStr for Dur {
    type Err = ParseUnitError;
    fn from_str(text: &str) -> Result<Dur, ParseUnitError> {
        let seconds = parse(text, TIME, "a time", "\"20 ms\" or \"1.5 s\"")?;
        at_most(seconds, LONGEST_S, text, "is longer than 5124 hours", "write at most \"5124 h\"").map(Dur::from_secs)
    }
}
impl FromStr for Rate {
    type Err = ParseUnitError;
    fn from_str(text: &str) -> Result<Rate, ParseUnitError> {
        let bps = libm::round(parse(text, RATE, "a rate", "\"1.5 Mbps\"")?);
        if bps < 1.0 {
            return Err(refused(text, "is not a rate above zero", "write a number and a unit, such as \"1.5 Mbps\""));
        }
        at_most(bps, FASTEST_BPS, text, "is above 10 Tbit/s", "write at most \"10000 Gbps\"")
            .map(|bps| Rate(bps as u64))
    }
}
impl FromStr for Bytes {
    type Err = ParseUnitError;
    fn from_str(text: &str) -> Result<Bytes, ParseUnitError> {
        let bytes = libm::round(parse(text, BYTES, "a number of bytes", "\"20 MB\" or \"1460 B\"")?);
        at_most(bytes, MOST_BYTES, text, "is above 10 million TB", "write at most \"10000000000 GB\"")
            .map(|bytes| Bytes(bytes as u64))
    }
}
impl FromStr for Length {
    type Err = ParseUnitError;
    fn from_str(text: &str) -> Result<Length, ParseUnitError> {
        match scan(text, PACKETS) {
            Some(n) => Ok(Length::Packets(n)),
            None => parse(text, BYTES, "a queue length", "\"30 packets\" or \"15 kB\"").map(Length::Bytes),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b if b >= 1_000_000_000 => write!(f, "{} Gbps", b as f64 / 1e9),
            b if b >= 1_000_000 => write!(f, "{} Mbps", b as f64 / 1e6),
            b if b >= 1_000 => write!(f, "{} kbps", b as f64 / 1e3),
            b => write!(f, "{b} bps"),
        }
    }
}
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b if b >= 1_000_000 && b % 1_000 == 0 => write!(f, "{} MB", b as f64 / 1e6),
            b if b >= 1_000 && b % 100 == 0 => write!(f, "{} kB", b as f64 / 1e3),
            b => write!(f, "{b} B"),
        }
    }
}
impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Length::Packets(n) => write!(f, "{n} packets"),
            Length::Bytes(n) => write!(f, "{n} B"),
        }
    }
}

/// A quantity is a text in TOML, JSON and the schema.
macro_rules! as_text {
    ($($type:ident: $what:literal, $pattern:literal, $example:literal;)*) => {$(
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct AsText;
                impl de::Visitor<'_> for AsText {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(concat!($what, " with its unit in quotes, such as ", $example))
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                d.deserialize_str(AsText)
            }
        }
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": concat!($what, " with its unit, such as ", $example),
                    "pattern": $pattern,
                })
            }
        }
    )*};
}
as_text! {
    Dur: "a time", r"^[0-9._]+\s*(s|ms|us|µs|ns|min|h)$", "\"20 ms\"";
    Rate: "a rate", r"^[0-9._]+\s*([kMG]?(bps|bit/s)|[MG]b/s)$", "\"1.5 Mbps\"";
    Bytes: "a number of bytes", r"^[0-9._]+\s*(B|bytes?|[kKMG]B|[KMG]iB)$", "\"20 MB\"";
    Length: "a queue length", r"^[0-9._]+\s*(packets?|pkts|B|bytes?|[kKMG]B|[KMG]iB)$", "\"30 packets\"";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_as_people_write_them() {
        assert_eq!("20 ms".parse(), Ok(Dur::from_ms(20)));
        assert_eq!("0.5ms".parse(), Ok(Dur::from_us(500)));
        assert_eq!("1.5 Mbps".parse(), Ok(Rate::from_bps(1_500_000)));
        assert_eq!("20 MB".parse(), Ok(Bytes(20_000_000)));
        assert_eq!("15 KB".parse(), Ok(Length::Bytes(15_000.0)));
        assert_eq!("30 packets".parse(), Ok(Length::Packets(30.0)));
    }

    #[test]
    fn bare_numbers_and_strange_units_are_refused_with_an_example() {
        let e = "20".parse::<Dur>().unwrap_err().to_string();
        assert_eq!(e, "`20` is not a time; write a number and a unit, such as \"20 ms\" or \"1.5 s\"");
        assert!("-3 ms".parse::<Dur>().is_err());
        let error = |text: &str| text.parse::<Rate>().unwrap_err().to_string();
        assert_eq!(error("10 Mbit"), "`10 Mbit` is not a rate; did you mean `10 Mbps`?");
        assert_eq!(error("10 mbps"), "`10 mbps` is not a rate; did you mean `10 Mbps`?");
        assert_eq!(
            error("10 MBps"),
            "`10 MBps` is not a rate: rates are in bits per second; did you mean `10 Mbps`, or `80 Mbps`?"
        );
        assert_eq!(
            error("1.5 kB/s"),
            "`1.5 kB/s` is not a rate: rates are in bits per second; did you mean `1.5 kbps`, or `12 kbps`?"
        );
        assert_eq!(error("10001 Gbps"), "`10001 Gbps` is above 10 Tbit/s; write at most \"10000 Gbps\"");
        assert!("10000 Gbps".parse::<Rate>().is_ok());
        let e = "-20 ms".parse::<Dur>().unwrap_err().to_string();
        assert_eq!(e, "`-20 ms` is negative; write a time that is not, such as \"20 ms\" or \"1.5 s\"");
        assert_eq!("20 msec".parse::<Dur>().unwrap_err().to_string(), "`20 msec` is not a time; did you mean `20 ms`?");
        let e = "1000000 h".parse::<Dur>().unwrap_err().to_string();
        assert_eq!(e, "`1000000 h` is longer than 5124 hours; write at most \"5124 h\"");
        assert_eq!("5124 h".parse::<Dur>().unwrap().to_string(), "18446400 s");
        let e = "99999999999 GB".parse::<Bytes>().unwrap_err().to_string();
        assert_eq!(e, "`99999999999 GB` is above 10 million TB; write at most \"10000000000 GB\"");
        assert!("0 Mbps".parse::<Rate>().is_err());
        assert!("5 furlongs".parse::<Length>().is_err());
        assert!("".parse::<Rate>().is_err());
    }

    #[test]
    fn serialisation_time_is_exact() {
        // 1500 B at 1.5 Mbit/s: 12000 bits / 1.5e6 = 8 ms.
        assert_eq!(Rate::from_bps(1_500_000).time_for(1500), Dur::from_ms(8));
        // 1 B at 3 bit/s: 8/3 s, rounded up.
        assert_eq!(Rate::from_bps(3).time_for(1), Dur::from_ps(2_666_666_666_667));
    }

    #[test]
    fn what_is_printed_reads_back() {
        for text in ["1.5 Mbps", "20 ms", "30 packets", "1460 B", "2.25 Gbps", "0 s"] {
            let again = [
                text.parse::<Rate>().map(|r| r.to_string()).ok(),
                text.parse::<Dur>().map(|r| r.to_string()).ok(),
                text.parse::<Length>().map(|r| r.to_string()).ok(),
            ];
            assert!(again.iter().flatten().any(|t| t == text), "{text}: {again:?}");
        }
    }
}
