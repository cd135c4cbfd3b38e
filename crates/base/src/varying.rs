//! Quantities that change during a run, as a scenario file writes them: `[["0 s", "50 Mbps"], ["10 s", "1 Mbps"]]`,
//! `{ square = ["100 Mbps", "10 Mbps"], every = "40 s" }`, `{ csv = "fade.csv" }`.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::level::Level;
use crate::traces::Trace;
use crate::{Dur, Rng, Steps, Time};

/// Maximum number of steps of a quantity in a run, with repetitions: an hour of milliseconds.
pub const MOST_STEPS: usize = 4_000_000;

/// Steps of a sine per period, unless the file states their length.
const STEPS_OF_SINE: u64 = 100;

/// A quantity that changes over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Varying<T> {
    /// Starts and values; the first start is zero. With a period they repeat.
    Steps(Vec<(Dur, T)>, Option<Dur>),
    /// The first value for the first half of each period, the second one for the second half.
    Square([T; 2], Dur),
    /// A sine between two values, from their mean upwards, with the period and the length of its steps.
    Sine([T; 2], Dur, Dur),
    /// A random walk between two values.
    Walk(Walk<T>),
    /// A trace from a file; with a period it repeats.
    Trace(Trace<T>, Option<Dur>),
}

/// A random walk: after each step the value is multiplied by a factor, whose logarithm is uniform between
/// -log(1 + change) and log(1 + change). It starts at the geometric mean of its bounds and is reflected at them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walk<T> {
    /// Lower and upper bound.
    pub between: [T; 2],
    /// Length of a step.
    pub step: Dur,
    /// Largest relative change upwards in a step, above 0.
    pub change: f64,
}

impl<T: Level> Varying<T> {
    /// Whether `key` describes a change, in a table that may also be of another kind.
    pub fn has_key(key: &str) -> bool {
        KINDS.contains(&key) || ["every", "step", "change", "highest", "sha256"].contains(&key)
    }

    /// The steps of a run of length `duration`; a random walk draws from `rng`.
    pub fn steps(&self, duration: Dur, rng: &mut Rng) -> Steps {
        let at = |&(start, value): &(Dur, T)| (Time::ZERO + start, value.units());
        match self {
            Varying::Steps(steps, every) => Steps::new(steps.iter().map(at).collect(), *every),
            Varying::Square([first, second], every) => {
                Steps::new(vec![at(&(Dur::default(), *first)), at(&(*every / 2, *second))], Some(*every))
            }
            Varying::Sine(between, every, step) => Steps::new(sine(*between, *every, *step), Some(*every)),
            Varying::Walk(walk) => Steps::new(walk.steps(duration, rng), None),
            Varying::Trace(trace, every) => Steps::new(trace.steps(), every.or(trace.period())),
        }
    }

    /// The highest value.
    pub fn max(&self) -> T {
        let higher = |a: T, b: T| if b > a { b } else { a };
        match self {
            Varying::Steps(steps, _) => steps.iter().map(|step| step.1).reduce(higher).unwrap_or(T::of_units(0)),
            Varying::Square([a, b], _) | Varying::Sine([a, b], ..) => higher(*a, *b),
            Varying::Walk(walk) => walk.between[1],
            Varying::Trace(trace, _) => trace.highest().unwrap_or(T::of_units(0)),
        }
    }

    /// Number of steps in a run of length `duration`, with repetitions.
    pub fn count(&self, duration: Dur) -> u64 {
        let each = |count: u64, every: Option<Dur>| {
            count.saturating_mul(every.map_or(1, |every| duration.ps().div_ceil(every.ps().max(1))))
        };
        match self {
            Varying::Steps(steps, every) => each(steps.len() as u64, *every),
            Varying::Square(_, every) => each(2, Some(*every)),
            Varying::Sine(_, every, step) => each(every.ps().div_ceil(step.ps().max(1)), Some(*every)),
            Varying::Walk(walk) => duration.ps().div_ceil(walk.step.ps().max(1)),
            Varying::Trace(trace, every) => each(trace.steps().len() as u64, every.or(trace.period())),
        }
    }

    /// Returns the start of the last step of a trace that is not within its period, and the period.
    pub fn beyond_period(&self) -> Option<(Dur, Dur)> {
        let Varying::Trace(trace, Some(every)) = self else { return None };
        let last = trace.steps().last()?.0.since(Time::ZERO);
        (last >= *every).then_some((last, *every))
    }

    /// The trace, of a quantity that has one.
    pub fn trace(&self) -> Option<&Trace<T>> {
        if let Varying::Trace(trace, _) = self { Some(trace) } else { None }
    }

    /// As [`Varying::trace`].
    pub fn trace_mut(&mut self) -> Option<&mut Trace<T>> {
        if let Varying::Trace(trace, _) = self { Some(trace) } else { None }
    }

    /// Returns the reason if it is impossible; a mistake in the file.
    fn check(self) -> Result<Varying<T>, String> {
        let wrong = |text: &str| Err(text.to_owned());
        match &self {
            Varying::Steps(steps, _) if steps.is_empty() => wrong("has no steps; write at least one"),
            Varying::Steps(steps, _) if !steps[0].0.is_zero() => {
                Err(format!("begins at {}; write \"0 s\" as the first time", steps[0].0))
            }
            Varying::Steps(steps, every) => {
                if let Some(pair) = steps.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
                    return Err(format!("{} does not follow {}; write later times below", pair[1].0, pair[0].0));
                }
                let last = steps[steps.len() - 1].0;
                match every.filter(|every| *every <= last) {
                    Some(every) => {
                        Err(format!("its last step, {last}, is not within `every`, {every}; write a longer time"))
                    }
                    None => Ok(self),
                }
            }
            Varying::Square(_, every) if every.ps() < 2 => wrong("`every` is 0 s; write a longer time"),
            Varying::Sine([low, high], ..) if low >= high => wrong("`sine` has the lower value first; exchange them"),
            Varying::Sine(_, every, step) if step.is_zero() || step > every => {
                Err(format!("`step` is {step}; write a time above 0 s and at most `every`, {every}"))
            }
            Varying::Walk(walk) if walk.between[0] >= walk.between[1] => {
                wrong("`walk` has the lower bound first; exchange them")
            }
            Varying::Walk(walk) if walk.between[0].units() == 0 => {
                wrong("a walk multiplies; write a lower bound above 0")
            }
            Varying::Walk(walk) if walk.step.is_zero() => wrong("`step` is 0 s; write a longer time"),
            Varying::Walk(walk) if !(walk.change > 0.0 && walk.change <= 9.0) => {
                Err(format!("`change` is {}; write a number above 0, at most 9", walk.change))
            }
            _ => Ok(self),
        }
    }
}

/// A period of a sine in steps, each with the value at its middle.
fn sine<T: Level>([low, high]: [T; 2], every: Dur, step: Dur) -> Vec<(Time, u64)> {
    let (low, high) = (low.units() as f64, high.units() as f64);
    let count = every.ps().div_ceil(step.ps());
    let value = |i: u64| {
        let middle = (step * i).as_secs() + step.as_secs() / 2.0;
        let phase = std::f64::consts::TAU * middle / every.as_secs();
        libm::round(f64::midpoint(low, high) + (high - low) / 2.0 * libm::sin(phase)) as u64
    };
    (0..count).map(|i| (Time::ZERO + step * i, value(i))).collect()
}

impl<T: Level> Walk<T> {
    fn steps(&self, duration: Dur, rng: &mut Rng) -> Vec<(Time, u64)> {
        let [low, high] = self.between.map(|bound| libm::log(bound.units() as f64));
        let most = libm::log1p(self.change);
        let mut log = f64::midpoint(low, high);
        let count = duration.ps().div_ceil(self.step.ps()).max(1);
        let mut value = |i: u64| {
            if i > 0 {
                log = reflected(log + rng.uniform(-most, most), low, high);
            }
            (Time::ZERO + self.step * i, libm::round(libm::exp(log)) as u64)
        };
        (0..count).map(&mut value).collect()
    }
}

/// `x`, reflected at the bounds until it is between them.
fn reflected(x: f64, low: f64, high: f64) -> f64 {
    let width = high - low;
    let turn = (x - low).rem_euclid(2.0 * width);
    low + if turn > width { 2.0 * width - turn } else { turn }
}

/// The table of a file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "T: Deserialize<'de>"))]
#[schemars(rename = "Changes_{T}")]
struct Keys<T> {
    /// Pairs of a time and the value from then on; the first time is 0 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<(Dur, T)>>,
    /// Two values, each for half of `every`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    square: Option<[T; 2]>,
    /// Lowest and highest value of a sine with the period `every`, which starts at their mean and rises first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sine: Option<[T; 2]>,
    /// Bounds of a random walk, whose value changes after each `step` by at most the factor 1 + `change`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    walk: Option<[T; 2]>,
    /// A CSV file of times and values; a relative path begins at the folder of the scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    csv: Option<String>,
    /// A trace of Mahimahi: each line has the millisecond of an opportunity to send 1500 bytes. Rates only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mahimahi: Option<String>,
    /// The period after which it repeats; required for `square` and `sine`. Default: none; a trace of Mahimahi repeats
    /// after its last line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    every: Option<Dur>,
    /// Length of a step of `walk` and `sine`; required for `walk`. Default of `sine`: a hundredth of `every`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<Dur>,
    /// Largest relative change upwards in a step of `walk`, such as 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    change: Option<f64>,
    /// Highest value of the trace, filled in where the file is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    highest: Option<T>,
    /// SHA-256 of the trace's file, in hexadecimal. It is filled in where the file is read; where it is given, another
    /// file is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

/// The keys of a table that describe what changes, in the order of [`Keys`].
const KINDS: [&str; 6] = ["steps", "square", "sine", "walk", "csv", "mahimahi"];

impl<T: Level> Keys<T> {
    fn varying(self) -> Result<Varying<T>, String> {
        let given = [
            self.steps.is_some(),
            self.square.is_some(),
            self.sine.is_some(),
            self.walk.is_some(),
            self.csv.is_some(),
            self.mahimahi.is_some(),
        ];
        let kinds: Vec<&str> = KINDS.into_iter().zip(given).filter(|(_, given)| *given).map(|(kind, _)| kind).collect();
        let &[kind] = kinds.as_slice() else {
            let all = KINDS.join("`, `");
            return Err(match kinds.as_slice() {
                [] => format!("nothing states what changes; write one of `{all}`"),
                [a, b, ..] => format!("`{a}` and `{b}` cannot both hold; write one of them"),
                [_] => String::new(),
            });
        };
        self.idle(kind)?;
        let required = |key: &str| format!("`{kind}` needs `{key}`; write both");
        let every = self.every.ok_or_else(|| required("every"));
        let varying = match (self.steps, self.square, self.sine, self.walk) {
            (Some(steps), ..) => Varying::Steps(steps, self.every),
            (_, Some(pair), ..) => Varying::Square(pair, every?),
            (_, _, Some(pair), _) => {
                let every = every?;
                Varying::Sine(pair, every, self.step.unwrap_or(every / STEPS_OF_SINE))
            }
            (_, _, _, Some(between)) => {
                let step = self.step.ok_or_else(|| required("step"))?;
                let change = self.change.ok_or_else(|| required("change"))?;
                Varying::Walk(Walk { between, step, change })
            }
            _ => Varying::Trace(Trace::named(self.csv, self.mahimahi, self.sha256, self.highest), self.every),
        };
        varying.check()
    }

    /// Refuses a key that `kind` does not use.
    fn idle(&self, kind: &str) -> Result<(), String> {
        let uses: &[&str] = match kind {
            "steps" | "square" => &["every"],
            "sine" => &["every", "step"],
            "walk" => &["step", "change"],
            _ => &["every", "highest", "sha256"],
        };
        let given = [
            ("every", self.every.is_some()),
            ("step", self.step.is_some()),
            ("change", self.change.is_some()),
            ("highest", self.highest.is_some()),
            ("sha256", self.sha256.is_some()),
        ];
        match given.into_iter().find(|(key, given)| *given && !uses.contains(key)) {
            Some((key, _)) => Err(format!("`{key}` has no effect on `{kind}`; leave it out")),
            None => Ok(()),
        }
    }

    fn of(varying: &Varying<T>) -> Keys<T> {
        let mut keys = Keys {
            steps: None,
            square: None,
            sine: None,
            walk: None,
            csv: None,
            mahimahi: None,
            every: None,
            step: None,
            change: None,
            highest: None,
            sha256: None,
        };
        match varying {
            Varying::Steps(steps, every) => (keys.steps, keys.every) = (Some(steps.clone()), *every),
            Varying::Square(pair, every) => (keys.square, keys.every) = (Some(*pair), Some(*every)),
            Varying::Sine(pair, every, step) => {
                (keys.sine, keys.every, keys.step) = (Some(*pair), Some(*every), Some(*step));
            }
            Varying::Walk(walk) => {
                (keys.walk, keys.step, keys.change) = (Some(walk.between), Some(walk.step), Some(walk.change));
            }
            Varying::Trace(trace, every) => {
                (keys.csv, keys.mahimahi) = trace.files();
                (keys.highest, keys.sha256, keys.every) = (trace.highest(), trace.sha256().map(str::to_owned), *every);
            }
        }
        keys
    }
}

impl<'de, T: Level + Deserialize<'de>> Deserialize<'de> for Varying<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Varying<T>, D::Error> {
        d.deserialize_any(VaryingVisitor(PhantomData))
    }
}

struct VaryingVisitor<T>(PhantomData<T>);

impl<'de, T: Level + Deserialize<'de>> Visitor<'de> for VaryingVisitor<T> {
    type Value = Varying<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "steps such as {}", T::EXAMPLE)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Varying<T>, A::Error> {
        let steps = Vec::deserialize(SeqAccessDeserializer::new(seq))?;
        Varying::Steps(steps, None).check().map_err(de::Error::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Varying<T>, A::Error> {
        Keys::deserialize(MapAccessDeserializer::new(map))?.varying().map_err(de::Error::custom)
    }
}

impl<T: Level + Serialize> Serialize for Varying<T> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        Keys::of(self).serialize(s)
    }
}

impl<T: Level + JsonSchema> JsonSchema for Varying<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Varying_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let steps = generator.subschema_for::<Vec<(Dur, T)>>();
        let keys = generator.subschema_for::<Keys<T>>();
        json_schema!({ "description": "Changes during a run", "anyOf": [steps, keys] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rate;

    fn ms(x: u64) -> Time {
        Time::ZERO + Dur::from_ms(x)
    }

    fn read(json: &str) -> Result<Varying<Rate>, String> {
        serde_json::from_str(json).map_err(|e| e.to_string())
    }

    fn steps(json: &str, ms: u64) -> Vec<(Time, u64)> {
        let duration = Dur::from_ms(ms);
        read(json).unwrap().steps(duration, &mut Rng::named(1, "x")).until(Time::ZERO + duration)
    }

    #[test]
    fn steps_and_squares_repeat() {
        let pairs = r#"[["0 s", "50 Mbps"], ["10 ms", "1 Mbps"]]"#;
        assert_eq!(steps(pairs, 100), [(ms(0), 50_000_000), (ms(10), 1_000_000)]);
        let again = format!(r#"{{"steps": {pairs}, "every": "15 ms"}}"#);
        assert_eq!(steps(&again, 26).len(), 4);
        let square = r#"{"square": ["100 Mbps", "10 Mbps"], "every": "40 ms"}"#;
        assert_eq!(steps(square, 60), [(ms(0), 100_000_000), (ms(20), 10_000_000), (ms(40), 100_000_000)]);
    }

    #[test]
    fn a_sine_has_the_value_at_the_middle_of_each_step() {
        // Four steps, at 1/8, 3/8, 5/8 and 7/8 of the period: 10 Mbit/s plus and minus 5 / sqrt 2.
        let got = steps(r#"{"sine": ["5 Mbps", "15 Mbps"], "every": "8 ms", "step": "2 ms"}"#, 8);
        let (high, low) = (13_535_534, 6_464_466);
        assert_eq!(got, [(ms(0), high), (ms(2), high), (ms(4), low), (ms(6), low)]);
    }

    #[test]
    fn a_walk_stays_within_its_bounds_and_its_change() {
        let json = r#"{"walk": ["1 Mbps", "4 Mbps"], "step": "1 ms", "change": 0.5}"#;
        let got: Vec<f64> = steps(json, 10_000).iter().map(|step| step.1 as f64).collect();
        assert_eq!((got.len(), got[0]), (10_000, 2e6));
        assert!(got.iter().all(|bps| (1e6..=4e6).contains(bps)));
        assert!(got.windows(2).all(|pair| (1.0 / 1.501..1.501).contains(&(pair[1] / pair[0]))));
        // Uniform in the logarithm in the long run: half of the time below the geometric mean.
        let low = got.iter().filter(|bps| **bps < 2e6).count() as f64 / 10_000.0;
        assert!((low - 0.5).abs() < 0.1, "{low}");
    }

    #[test]
    fn steps_are_counted_with_their_repetitions() {
        let count = |json: &str| read(json).unwrap().count(Dur::from_s(60));
        assert_eq!(count(r#"[["0 s", "5 Mbps"], ["1 s", "6 Mbps"]]"#), 2);
        assert_eq!(count(r#"{"square": ["5 Mbps", "6 Mbps"], "every": "7 s"}"#), 2 * 9);
        assert_eq!(count(r#"{"sine": ["5 Mbps", "6 Mbps"], "every": "7 s"}"#), 100 * 9);
        assert_eq!(count(r#"{"walk": ["5 Mbps", "6 Mbps"], "step": "1 ms", "change": 0.1}"#), 60_000);
        assert_eq!(count(r#"{"square": ["5 Mbps", "6 Mbps"], "every": "1 ns"}"#), 120_000_000_000);
    }

    #[test]
    fn what_cannot_be_is_refused_with_a_remedy() {
        for (json, part) in [
            (r"[]", "at least one"),
            (r#"[["1 s", "5 Mbps"]]"#, "as the first time"),
            (r#"[["0 s", "5 Mbps"], ["0 s", "6 Mbps"]]"#, "does not follow"),
            (r#"{"steps": [["0 s", "5 Mbps"], ["2 s", "6 Mbps"]], "every": "2 s"}"#, "within `every`"),
            (r#"{"square": ["5 Mbps", "6 Mbps"]}"#, "needs `every`"),
            (r#"{"square": ["5 Mbps", "6 Mbps"], "every": "0 s"}"#, "longer"),
            (r#"{"square": ["5 Mbps", "6 Mbps"], "every": "1 s", "step": "1 s"}"#, "`step` has no effect on `square`"),
            (r#"{"sine": ["6 Mbps", "5 Mbps"], "every": "1 s"}"#, "exchange"),
            (r#"{"sine": ["5 Mbps", "6 Mbps"], "every": "1 s", "step": "2 s"}"#, "at most `every`"),
            (r#"{"walk": ["5 Mbps", "6 Mbps"], "step": "1 s"}"#, "needs `change`"),
            (r#"{"walk": ["5 Mbps", "6 Mbps"], "step": "1 s", "change": 0}"#, "above 0"),
            (r#"{"walk": ["5 Mbps", "6 Mbps"], "sine": ["5 Mbps", "6 Mbps"]}"#, "cannot both hold"),
            (r#"{"every": "1 s"}"#, "write one of"),
            (r#"{"jump": 1}"#, "unknown field"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.contains(part), "{json}: {error}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for json in [
            r#"{"steps":[["0 s","5 Mbps"]],"every":"1 s"}"#,
            r#"{"sine":["5 Mbps","6 Mbps"],"every":"1 s","step":"10 ms"}"#,
            r#"{"walk":["5 Mbps","6 Mbps"],"step":"1 s","change":0.5}"#,
            r#"{"csv":"fade.csv","every":"1 s","sha256":"00"}"#,
            r#"{"mahimahi":"lte.down"}"#,
        ] {
            assert_eq!(serde_json::to_string(&read(json).unwrap()).unwrap(), json);
        }
    }
}
