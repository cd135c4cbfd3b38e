//! Segments as a script writes them, after tcpdump: `P. 1:1461 ack 1 win 8192 <mss 1460,sackOK> ECE [ECT0]`.
//!
//! One form serves three ends: what a script lets arrive, what it expects, and what the endpoint really sent.

use std::fmt;

use ecnlab_wire::{AccEcn, Ecn, Flags, SackBlock, SackBlocks, Segment, Seq, Timestamps};

/// A segment with sequence numbers relative to the connection: either side's SYN is number 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Described {
    /// Flags, of AccECN also AE.
    pub flags: Flags,
    /// The first sequence number.
    pub seq: u32,
    /// Payload in bytes.
    pub len: u32,
    /// The next byte wanted, if ACK is set.
    pub ack: Option<u32>,
    /// `None` where the script leaves the window field open.
    pub window: Option<u16>,
    /// `None` where the script leaves the options open.
    pub options: Option<Options>,
    /// The codepoint of its packet.
    pub ecn: Ecn,
}

/// The TCP options between `<` and `>`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Maximum segment size.
    pub mss: Option<u16>,
    /// Shift of the window.
    pub window_scale: Option<u8>,
    /// SACK is permitted.
    pub sack_permitted: bool,
    /// Timestamps.
    pub timestamps: Option<Stamp>,
    /// SACK blocks: first and next sequence number.
    pub sack: Vec<(u32, u32)>,
    /// AccECN's counters.
    pub acc_ecn: Option<AccEcn>,
}

/// A timestamp option; a value the script leaves out is `None` and matches any.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stamp {
    /// TS val.
    pub value: Option<u32>,
    /// TS ecr.
    pub echo: Option<u32>,
}

/// Most segments of a line.
const MAX_SEGMENTS: u64 = 100_000;

/// Reads a segment. A range `1:2921/1460` gives one segment for each 1460 bytes, `x3` three of the same.
/// The message of an error names the word.
pub fn parse(text: &str) -> Result<Vec<Described>, String> {
    let (text, options) = split_options(text)?;
    let mut words = text.split_whitespace();
    let (mut segment, mut times) = (Described { options, ..Described::default() }, 1_u64);
    segment.flags = parse_flags(words.next().ok_or("a segment begins with its flags")?)?;
    let (start, end, step) = parse_range(words.next().ok_or("a segment needs `first:next` sequence numbers")?)?;
    while let Some(word) = words.next() {
        match word {
            "ack" => segment.ack = Some(number("ack", words.next())?),
            "win" => segment.window = Some(number("win", words.next())?),
            "ECE" => segment.flags |= Flags::ECE,
            "CWR" => segment.flags |= Flags::CWR,
            "AE" => segment.flags |= Flags::AE,
            "ace" => segment.flags |= ace(number("ace", words.next())?)?,
            "[ECT0]" => segment.ecn = Ecn::Ect0,
            "[ECT1]" => segment.ecn = Ecn::Ect1,
            "[CE]" => segment.ecn = Ecn::Ce,
            _ if word.starts_with('x') => times = number("x", Some(&word[1..]))?,
            _ => {
                return Err(format!(
                    "`{word}` is no part of a segment (ack, win, ECE, CWR, AE, ace, [ECT0], [ECT1], [CE], x2)"
                ));
            }
        }
    }
    if segment.ack.is_some() != segment.flags.contains(Flags::ACK) {
        return Err("flags and acknowledgement disagree: `.` and `ack N` come together".into());
    }
    let length = step.map_or(1, |step| u64::from(end - start).div_ceil(u64::from(step)));
    if length.saturating_mul(times) > MAX_SEGMENTS {
        return Err(format!("`{text}`: more than {MAX_SEGMENTS} segments"));
    }
    let train = train(segment, start, end, step);
    Ok(train.iter().cycle().take(train.len() * times as usize).cloned().collect())
}

/// The flags of an ACE field: AE, CWR, ECE from the highest bit down (RFC 9768 §3.2).
fn ace(number: u8) -> Result<Flags, String> {
    if number > 7 {
        return Err(format!("`ace {number}`: three bits hold 0 to 7"));
    }
    let flag = |bit: u8, flag| if number & bit != 0 { flag } else { Flags::empty() };
    Ok(flag(4, Flags::AE) | flag(2, Flags::CWR) | flag(1, Flags::ECE))
}

/// One segment from `start` to `end`, or a train of them of `step` bytes each (the last may be shorter).
fn train(first: Described, start: u32, end: u32, step: Option<u32>) -> Vec<Described> {
    let Some(step) = step else { return vec![Described { seq: start, len: end - start, ..first }] };
    (start..end)
        .step_by(step as usize)
        .map(|seq| Described { seq, len: step.min(end - seq), ..first.clone() })
        .collect()
}

fn split_options(text: &str) -> Result<(String, Option<Options>), String> {
    let Some((before, rest)) = text.split_once('<') else { return Ok((text.to_owned(), None)) };
    let (inside, after) = rest.split_once('>').ok_or("`<` without `>`")?;
    Ok((format!("{before} {after}"), Some(parse_options(inside)?)))
}

fn parse_flags(word: &str) -> Result<Flags, String> {
    let mut flags = Flags::empty();
    for letter in word.chars() {
        flags |= match letter {
            'F' => Flags::FIN,
            'S' => Flags::SYN,
            'R' => Flags::RST,
            'P' => Flags::PSH,
            '.' => Flags::ACK,
            _ => return Err(format!("`{letter}` in `{word}` is no flag (S F R P .; ECE and CWR are words)")),
        };
    }
    Ok(flags)
}

fn parse_range(word: &str) -> Result<(u32, u32, Option<u32>), String> {
    let (range, step) = match word.split_once('/') {
        Some((range, step)) => (range, Some(number("step", Some(step))?)),
        None => (word, None),
    };
    let (start, end) = range.split_once(':').ok_or(format!("`{word}` is not `first:next`"))?;
    let (start, end): (u32, u32) = (number("first", Some(start))?, number("next", Some(end))?);
    if end < start || step == Some(0) || (step.is_some() && end == start) {
        return Err(format!("`{word}` is an impossible range"));
    }
    Ok((start, end, step))
}

fn parse_options(text: &str) -> Result<Options, String> {
    let mut options = Options::default();
    for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let mut words = item.split_whitespace();
        match words.next() {
            Some("mss") => options.mss = Some(number("mss", words.next())?),
            Some("wscale") => options.window_scale = Some(number("wscale", words.next())?),
            Some("sackOK") => options.sack_permitted = true,
            Some("TS") => options.timestamps = Some(parse_stamp(&mut words)?),
            Some("sack") => {
                for block in words.by_ref() {
                    let (start, end, _) = parse_range(block)?;
                    options.sack.push((start, end));
                }
            }
            Some("ECN") => options.acc_ecn = Some(parse_acc_ecn(&mut words)?),
            _ => return Err(format!("unknown option `{item}` (mss, wscale, sackOK, TS, sack, ECN)")),
        }
        if let Some(word) = words.next() {
            return Err(format!("`{word}` is too much in option `{item}`"));
        }
    }
    Ok(options)
}

fn parse_stamp<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Stamp, String> {
    let mut stamp = Stamp::default();
    while let Some(word) = words.next() {
        match word {
            "val" => stamp.value = Some(number("val", words.next())?),
            "ecr" => stamp.echo = Some(number("ecr", words.next())?),
            _ => return Err(format!("`{word}` in a timestamp option (val N, ecr N)")),
        }
    }
    Ok(stamp)
}

/// The counters in their order: `ECN e0b 1 ceb 0 e1b 1`, or `ECN e1b 1 ceb 0 e0b 1`; the last ones may be left out.
fn parse_acc_ecn<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<AccEcn, String> {
    let (mut names, mut counters) = (Vec::new(), Vec::new());
    while let Some(name) = words.next() {
        names.push(name);
        counters.push(number(name, words.next())?);
    }
    for (ect1_first, order) in [(false, ["e0b", "ceb", "e1b"]), (true, ["e1b", "ceb", "e0b"])] {
        if names.len() <= 3 && names == order[..names.len()] {
            return Ok(AccEcn::new(ect1_first, &counters));
        }
    }
    Err(format!("`{}`: the counters are e0b, ceb, e1b, in this order or from e1b to e0b", names.join(" ")))
}

fn number<T: std::str::FromStr>(what: &str, word: Option<&str>) -> Result<T, String> {
    let word = word.ok_or(format!("`{what}` needs a number"))?;
    word.parse().map_err(|_| format!("`{what} {word}`: not a number that fits"))
}

impl Described {
    /// A real segment, numbered from `iss` (its sender's SYN) and `irs` (the SYN of the side it acknowledges).
    pub fn of(segment: &Segment, iss: Seq, irs: Seq) -> Described {
        let stamp = |t: Timestamps| Stamp { value: Some(t.value), echo: Some(t.echo) };
        let block = |b: &SackBlock| (b.start - irs, b.end - irs);
        Described {
            flags: segment.flags,
            seq: segment.seq - iss,
            len: segment.len,
            ack: segment.flags.contains(Flags::ACK).then(|| segment.ack - irs),
            window: Some(segment.window),
            options: Some(Options {
                mss: segment.mss,
                window_scale: segment.window_scale,
                sack_permitted: segment.sack_permitted,
                timestamps: segment.timestamps.map(stamp),
                sack: segment.sack.as_slice().iter().map(block).collect(),
                acc_ecn: segment.acc_ecn,
            }),
            ecn: segment.ecn,
        }
    }

    /// The real segment this describes; what is left open is zero or absent.
    pub fn build(&self, iss: Seq, irs: Seq) -> Segment {
        let options = self.options.clone().unwrap_or_default();
        let mut sack = SackBlocks::NONE;
        for (start, end) in options.sack {
            sack.push(SackBlock { start: irs + start, end: irs + end });
        }
        let stamp = |t: Stamp| Timestamps { value: t.value.unwrap_or(0), echo: t.echo.unwrap_or(0) };
        let mut segment = Segment {
            seq: iss + self.seq,
            ack: self.ack.map_or(Seq(0), |ack| irs + ack),
            len: self.len,
            window: self.window.unwrap_or(0),
            flags: self.flags,
            ecn: self.ecn,
            mss: options.mss,
            window_scale: options.window_scale,
            sack_permitted: options.sack_permitted,
            timestamps: options.timestamps.map(stamp),
            sack,
            acc_ecn: options.acc_ecn,
            ..Segment::default()
        };
        segment.wire_len = segment.ipv4_len();
        segment
    }

    /// Which parts of `came` differ from this expectation. PSH counts only where it is expected.
    pub fn differences(&self, came: &Described) -> Vec<&'static str> {
        let came_flags = if self.flags.contains(Flags::PSH) { came.flags } else { came.flags - Flags::PSH };
        let parts = [
            ("flags", self.flags == came_flags),
            ("sequence range", (self.seq, self.len) == (came.seq, came.len)),
            ("ack", self.ack == came.ack),
            ("window", self.window.is_none() || self.window == came.window),
            ("options", self.options_match(came)),
            ("ECN codepoint", self.ecn == came.ecn),
        ];
        parts.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
    }

    fn options_match(&self, came: &Described) -> bool {
        let (Some(expected), Some(came)) = (&self.options, &came.options) else { return true };
        let stamps = match (expected.timestamps, came.timestamps) {
            (Some(e), Some(c)) => (e.value.is_none() || e.value == c.value) && (e.echo.is_none() || e.echo == c.echo),
            (e, c) => e.is_none() && c.is_none(),
        };
        stamps && Options { timestamps: None, ..expected.clone() } == Options { timestamps: None, ..came.clone() }
    }
}

impl fmt::Display for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = [(Flags::SYN, "S"), (Flags::FIN, "F"), (Flags::RST, "R"), (Flags::PSH, "P"), (Flags::ACK, ".")];
        for (flag, letter) in letters {
            if self.flags.contains(flag) {
                f.write_str(letter)?;
            }
        }
        write!(f, " {}:{}", self.seq, self.seq.wrapping_add(self.len))?;
        if let Some(ack) = self.ack {
            write!(f, " ack {ack}")?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        if let Some(options) = &self.options {
            write!(f, " {options}")?;
        }
        for (flag, word) in [(Flags::ECE, " ECE"), (Flags::CWR, " CWR"), (Flags::AE, " AE")] {
            if self.flags.contains(flag) {
                f.write_str(word)?;
            }
        }
        f.write_str(match self.ecn {
            Ecn::NotEct => "",
            Ecn::Ect0 => " [ECT0]",
            Ecn::Ect1 => " [ECT1]",
            Ecn::Ce => " [CE]",
        })
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut items = Vec::new();
        items.extend(self.mss.map(|mss| format!("mss {mss}")));
        items.extend(self.window_scale.map(|scale| format!("wscale {scale}")));
        items.extend(self.sack_permitted.then(|| "sackOK".to_owned()));
        items.extend(self.timestamps.map(|stamp| stamp.to_string()));
        if !self.sack.is_empty() {
            let blocks: Vec<_> = self.sack.iter().map(|(start, end)| format!("{start}:{end}")).collect();
            items.push(format!("sack {}", blocks.join(" ")));
        }
        items.extend(self.acc_ecn.map(show_acc_ecn));
        write!(f, "<{}>", items.join(","))
    }
}

fn show_acc_ecn(option: AccEcn) -> String {
    let (e0b, ceb, e1b) = (("e0b", option.ect0()), ("ceb", option.ce()), ("e1b", option.ect1()));
    let order = if option.ect1_first() { [e1b, ceb, e0b] } else { [e0b, ceb, e1b] };
    let counters = order.iter().filter_map(|(name, counter)| counter.map(|counter| format!(" {name} {counter}")));
    format!("ECN{}", counters.collect::<String>())
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TS")?;
        for (name, value) in [("val", self.value), ("ecr", self.echo)] {
            if let Some(value) = value {
                write!(f, " {name} {value}")?;
            }
        }
        Ok(())
    }
}
