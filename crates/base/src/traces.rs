//! Traces of a changing quantity in files: CSV of time and value, and traces of Mahimahi.

use std::sync::Arc;

use crate::level::Level;
use crate::{Dur, Time};

/// Bytes of an opportunity to send in a trace of Mahimahi: a packet of the longest length.
const OPPORTUNITY: u64 = 1500;

/// A trace: its file and, once read, its content.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace<T> {
    file: String,
    is_mahimahi: bool,
    sha256: Option<String>,
    highest: Option<T>,
    content: Option<Arc<Content>>,
}

/// Steps of a trace, and the period with which its format repeats it.
#[derive(Clone, Debug, PartialEq)]
struct Content {
    steps: Vec<(Time, u64)>,
    period: Option<Dur>,
}

/// What is wrong with a trace, `problem; remedy`, and the line, from 1, if there is one.
pub type Wrong = (String, Option<usize>);

impl<T: Level> Trace<T> {
    /// A trace in one of the two formats, not yet read.
    pub(crate) fn named(
        csv: Option<String>,
        mahimahi: Option<String>,
        sha256: Option<String>,
        highest: Option<T>,
    ) -> Trace<T> {
        let is_mahimahi = mahimahi.is_some();
        let file = mahimahi.or(csv).unwrap_or_default();
        Trace { file, is_mahimahi, sha256, highest, content: None }
    }

    /// Its file, as the scenario names it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The key that names the file.
    pub fn key(&self) -> &'static str {
        if self.is_mahimahi { "mahimahi" } else { "csv" }
    }

    /// The values of the keys `csv` and `mahimahi`.
    pub(crate) fn files(&self) -> (Option<String>, Option<String>) {
        let file = Some(self.file.clone());
        if self.is_mahimahi { (None, file) } else { (file, None) }
    }

    /// SHA-256 of the file in hexadecimal, once read or if the scenario states it.
    pub fn sha256(&self) -> Option<&str> {
        self.sha256.as_deref()
    }

    /// Its highest value, once read or if the scenario states it.
    pub fn highest(&self) -> Option<T> {
        self.highest
    }

    /// Starts and values in units; a single zero before the file has been read.
    pub(crate) fn steps(&self) -> Vec<(Time, u64)> {
        self.content.as_ref().map_or_else(|| vec![(Time::ZERO, 0)], |content| content.steps.clone())
    }

    /// The period with which its format repeats it.
    pub(crate) fn period(&self) -> Option<Dur> {
        self.content.as_ref().and_then(|content| content.period)
    }

    /// Reads the file's `text`, whose digest is `sha256`.
    ///
    /// # Errors
    /// If the scenario has another digest, or the text is no trace.
    pub fn supply(&mut self, text: &str, sha256: String) -> Result<(), Wrong> {
        if let Some(expected) = self.sha256.as_ref().filter(|expected| **expected != sha256) {
            let message = format!(
                "the file has changed: its SHA-256 is {sha256}, not {expected}; bring the file back, or leave out `sha256`"
            );
            return Err((message, None));
        }
        let content = if self.is_mahimahi { mahimahi(text)? } else { Content { steps: csv::<T>(text)?, period: None } };
        self.highest = content.steps.iter().map(|step| step.1).max().map(T::of_units);
        self.content = Some(Arc::new(content));
        self.sha256 = Some(sha256);
        Ok(())
    }
}

/// Lines with content and their numbers from 1, without comments.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let all = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    all.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// Columns of a CSV file: name, and units (of `Level` or picoseconds) per number.
type Units = &'static [(&'static str, f64)];
const TIMES: Units = &[("time_s", 1e12), ("time_ms", 1e9)];

/// Reads a CSV file with a header of two names, such as `time_s,rate_mbps`.
fn csv<T: Level>(text: &str) -> Result<Vec<(Time, u64)>, Wrong> {
    let mut rows = lines(text);
    let (first, header) = rows.next().unwrap_or((1, ""));
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    let units = |known: Units, name: &str| known.iter().find(|(own, _)| *own == name).map(|(_, units)| *units);
    let found = match names.as_slice() {
        [time, value] => units(TIMES, time).zip(units(T::COLUMNS, value)),
        _ => None,
    };
    let Some((per_time, per_value)) = found else {
        let columns: Vec<&str> = T::COLUMNS.iter().map(|(name, _)| *name).collect();
        let help = format!("write `time_s` or `time_ms`, a comma, and one of `{}`", columns.join("`, `"));
        return Err((format!("the header is not that of a trace; {help}"), Some(first)));
    };
    let mut steps: Vec<(Time, u64)> = Vec::new();
    for (line, row) in rows {
        let wrong = |problem: String| Err((problem, Some(line)));
        let numbers: Vec<Option<f64>> = row.split(',').map(|cell| cell.trim().parse().ok()).collect();
        let &[Some(time), Some(value)] = numbers.as_slice() else {
            return wrong("is not a time and a value; write two numbers with a comma between them".to_owned());
        };
        if !(0.0..=T::MAX_UNITS).contains(&(value * per_value)) {
            return wrong(format!("the value {value} is out of range; {}", T::RANGE));
        }
        if !(0.0..=LONGEST_PS).contains(&(time * per_time)) {
            return wrong(format!("the time {time} is out of range; write times from 0 to 5124 h"));
        }
        let at = Time::from_ps(libm::round(time * per_time) as u64);
        match steps.last() {
            None if at > Time::ZERO => {
                return wrong("the first time is not 0; write the value at the start".to_owned());
            }
            Some((before, _)) if at <= *before => {
                return wrong(format!("the time {time} does not follow the one before; write times in order"));
            }
            _ => steps.push((at, libm::round(value * per_value) as u64)),
        }
    }
    if steps.is_empty() { Err(("has no rows; write times and values".to_owned(), None)) } else { Ok(steps) }
}

/// The longest time of a trace, as of a scenario, in picoseconds.
const LONGEST_PS: f64 = 5124.0 * 3600.0 * 1e12;

/// Reads a trace of Mahimahi: each line has the millisecond, from 1, at which a packet of 1500 bytes can leave; the
/// last one is the period. The rate in each millisecond before such a time is that of its packets.
fn mahimahi(text: &str) -> Result<Content, Wrong> {
    const BPS: u64 = OPPORTUNITY * 8 * 1000;
    let mut counts: Vec<(u64, u64)> = Vec::new();
    for (line, row) in lines(text) {
        let wrong = |problem: String| Err((problem, Some(line)));
        let Ok(ms) = row.parse::<u64>() else {
            return wrong("is not a whole number of milliseconds; write one on each line".to_owned());
        };
        if ms > 24 * 3_600_000 {
            return wrong(format!("{ms} ms is out of range; write at most 24 h"));
        }
        // A time of zero means the first millisecond.
        let ms = ms.max(1);
        match counts.last_mut() {
            Some((last, _)) if *last > ms => {
                return wrong(format!("{ms} ms is before the line above, {last} ms; write times in order"));
            }
            Some((last, count)) if *last == ms => *count += 1,
            _ => counts.push((ms, 1)),
        }
    }
    let Some(&(end, _)) = counts.last() else {
        return Err(("has no lines; write the milliseconds of opportunities to send".to_owned(), None));
    };
    let mut steps = Vec::new();
    let mut put = |ms: u64, bps: u64| {
        if steps.last().is_none_or(|(_, last)| *last != bps) {
            steps.push((Time::ZERO + Dur::from_ms(ms), bps));
        }
    };
    let mut now = 0;
    for (ms, count) in counts {
        if ms - 1 > now {
            put(now, 0);
        }
        put(ms - 1, count * BPS);
        now = ms;
    }
    Ok(Content { steps, period: Some(Dur::from_ms(end)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rate;

    fn ms(x: u64) -> Time {
        Time::ZERO + Dur::from_ms(x)
    }

    #[test]
    fn csv_has_times_and_values_in_the_units_of_its_header() {
        let text = "# a fade\ntime_s, rate_mbps\n0, 50\n10.5, 1.5\n\n20,0\n";
        let steps = csv::<Rate>(text).unwrap();
        assert_eq!(steps, [(ms(0), 50_000_000), (ms(10_500), 1_500_000), (ms(20_000), 0)]);
        assert_eq!(csv::<Dur>("time_ms,delay_ms\n0,20\n").unwrap(), [(ms(0), Dur::from_ms(20).ps())]);
    }

    #[test]
    fn a_wrong_csv_is_refused_with_its_line_and_a_remedy() {
        let error = |text: &str| csv::<Rate>(text).unwrap_err();
        assert!(error("time,rate\n0,1\n").0.contains("`rate_bps`"));
        assert_eq!(error("# a fade\n\ntime,rate\n0,1\n").1, Some(3));
        assert_eq!(error("time_s,rate_bps\n1,5\n").1, Some(2));
        assert_eq!(error("time_s,rate_bps\n0,5\n\n0,6\n").1, Some(4));
        assert_eq!(error("time_s,rate_bps\n0,5\n1,-6\n").1, Some(3));
        assert_eq!(error("time_s,rate_bps\n0,5\n1,nan\n").1, Some(3));
        assert_eq!(error("time_s,rate_bps\n0,5\n1;6\n").1, Some(3));
        assert_eq!(error("time_s,rate_bps\n0,5\n1,1e14\n").1, Some(3));
        assert_eq!(error("time_s,rate_bps\n").1, None);
        assert!(error("").0.contains("header"));
    }

    #[test]
    fn mahimahi_counts_packets_in_each_millisecond() {
        // Two packets in the first millisecond, none in the second and third, one in the fourth: 24, 0 and 12 Mbit/s.
        let Content { steps, period } = mahimahi("1\n1\n4\n").unwrap();
        assert_eq!(steps, [(ms(0), 24_000_000), (ms(1), 0), (ms(3), 12_000_000)]);
        assert_eq!(period, Some(Dur::from_ms(4)));
        // 3 packets of 1500 bytes in 4 ms are 9 Mbit/s on average.
        assert_eq!(crate::Steps::new(steps, period).mean(ms(0), ms(400), u64::MAX), 9e6);
        assert_eq!(mahimahi("2\n").unwrap().steps, [(ms(0), 0), (ms(1), 12_000_000)]);
        for (text, line) in [("1\nx\n", Some(2)), ("5\n4\n", Some(2)), ("", None), ("1.5\n", Some(1))] {
            assert_eq!(mahimahi(text).unwrap_err().1, line);
        }
    }

    #[test]
    fn a_file_with_another_digest_is_refused() {
        let mut trace = Trace::<Rate>::named(None, Some("a.down".to_owned()), None, None);
        assert_eq!(trace.supply("1\n", "12".to_owned()), Ok(()));
        assert_eq!((trace.sha256(), trace.steps().len()), (Some("12"), 1));
        assert!(trace.supply("1\n", "34".to_owned()).unwrap_err().0.contains("has changed"));
    }
}
