//! Distributions as a scenario file writes them: `"10 s"`, `{ exponential = "0.5 s" }`,
//! `{ pareto2 = { mean = "10 s", shape = 2 } }`.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, IntoDeserializer, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Bytes, Dur, Rng};

/// A quantity that is drawn anew on each use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dist<T> {
    /// Always this.
    Constant(T),
    /// Uniform on [from, to).
    Uniform(T, T),
    /// Exponential with this mean.
    Exponential(T),
    /// Pareto: P(X > x) = (scale / x)^shape from scale on, where scale = mean (shape - 1) / shape.
    Pareto(Tail<T>),
    /// Pareto of the second kind (Lomax): P(X > x) = (1 + x / scale)^-shape from 0 on, where
    /// scale = mean (shape - 1).
    Pareto2(Tail<T>),
}

/// A distribution with a tail that falls off as a power.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Tail_{T}")]
pub struct Tail<T> {
    /// The mean.
    pub mean: T,
    /// The power; above 1, without which there is no mean. Up to 2 the variance is infinite.
    pub shape: f64,
}

/// What a distribution can be of.
pub trait Quantity: Copy + PartialOrd + fmt::Display {
    /// What a reader should have written, and an example.
    const WANTED: &'static str;
    /// The quantity that `x` of its units are.
    fn of(x: f64) -> Self;
    /// How many of its units it is.
    fn number(self) -> f64;
    /// Uniform on [from, to), which is not empty.
    fn between(from: Self, to: Self, rng: &mut Rng) -> Self;
}

impl<T: Quantity> Dist<T> {
    /// Draws one value. A constant draws nothing from `rng`.
    pub fn draw(&self, rng: &mut Rng) -> T {
        match *self {
            Dist::Constant(x) => x,
            Dist::Uniform(from, to) if from < to => T::between(from, to, rng),
            Dist::Uniform(from, _) => from,
            Dist::Exponential(mean) => T::of(rng.exponential(mean.number())),
            // With E exponential of mean 1, e^-E is uniform on (0, 1]: both tails by inversion.
            Dist::Pareto(Tail { mean, shape }) => {
                let scale = mean.number() * (shape - 1.0) / shape;
                T::of(scale * libm::exp(rng.exponential(1.0) / shape))
            }
            Dist::Pareto2(Tail { mean, shape }) => {
                let scale = mean.number() * (shape - 1.0);
                T::of(scale * libm::expm1(rng.exponential(1.0) / shape))
            }
        }
    }

    /// The mean.
    pub fn mean(&self) -> T {
        match *self {
            Dist::Constant(x) | Dist::Exponential(x) => x,
            Dist::Uniform(from, to) => T::of((from.number() + to.number()) / 2.0),
            Dist::Pareto(tail) | Dist::Pareto2(tail) => tail.mean,
        }
    }

    /// The largest value it can have; `None` if there is none.
    pub fn max(&self) -> Option<T> {
        match *self {
            Dist::Constant(x) => Some(x),
            Dist::Uniform(from, to) => Some(if from < to { to } else { from }),
            Dist::Exponential(_) | Dist::Pareto(_) | Dist::Pareto2(_) => None,
        }
    }

    /// The smallest value it can have.
    pub fn min(&self) -> T {
        match *self {
            Dist::Constant(x) => x,
            Dist::Uniform(from, _) => from,
            Dist::Exponential(_) | Dist::Pareto2(_) => T::of(0.0),
            Dist::Pareto(Tail { mean, shape }) => T::of(mean.number() * (shape - 1.0) / shape),
        }
    }

    /// Returns why it is invalid; a mistake in the file.
    fn check(self) -> Result<Dist<T>, String> {
        match self {
            Dist::Uniform(from, to) if from > to => Err(format!("{from} is more than {to}; write the smaller first")),
            Dist::Pareto(tail) | Dist::Pareto2(tail) if tail.shape.is_nan() || tail.shape <= 1.0 => {
                Err(format!("with shape {} there is no mean; write a shape above 1", tail.shape))
            }
            possible => Ok(possible),
        }
    }
}

impl Quantity for Dur {
    const WANTED: &'static str = "a time such as \"20 ms\" or { uniform = [\"1 ms\", \"5 ms\"] }";
    fn of(x: f64) -> Dur {
        Dur::from_secs(x)
    }
    fn number(self) -> f64 {
        self.as_secs()
    }
    fn between(from: Dur, to: Dur, rng: &mut Rng) -> Dur {
        from + Dur::from_ps(rng.below((to - from).ps()))
    }
}

impl Quantity for Bytes {
    const WANTED: &'static str =
        "a number of bytes such as \"8 kB\" or a distribution such as { pareto2 = { mean = \"8 kB\", shape = 1.5 } }";
    fn of(x: f64) -> Bytes {
        Bytes(libm::round(x) as u64) // `as` saturates
    }
    fn number(self) -> f64 {
        self.0 as f64
    }
    fn between(from: Bytes, to: Bytes, rng: &mut Rng) -> Bytes {
        Bytes(from.0 + rng.below(to.0 - from.0))
    }
}

/// A count: the caller rounds it by its own rules.
impl Quantity for f64 {
    const WANTED: &'static str = "a number or a distribution such as { pareto2 = { mean = 3, shape = 1.5 } }";
    fn of(x: f64) -> f64 {
        x
    }
    fn number(self) -> f64 {
        self
    }
    fn between(from: f64, to: f64, rng: &mut Rng) -> f64 {
        rng.uniform(from, to)
    }
}

const KINDS: &[&str] = &["uniform", "exponential", "pareto", "pareto2"];

impl<'de, T: Quantity + Deserialize<'de>> Deserialize<'de> for Dist<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Dist<T>, D::Error> {
        d.deserialize_any(DistVisitor(PhantomData))
    }
}

struct DistVisitor<T>(PhantomData<T>);

impl<'de, T: Quantity + Deserialize<'de>> Visitor<'de> for DistVisitor<T> {
    type Value = Dist<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::WANTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Dist<T>, E> {
        T::deserialize(text.into_deserializer()).map(Dist::Constant)
    }

    fn visit_u64<E: de::Error>(self, x: u64) -> Result<Dist<T>, E> {
        let not_one = |_: E| E::invalid_type(Unexpected::Unsigned(x), &self);
        T::deserialize(x.into_deserializer()).map(Dist::Constant).map_err(not_one)
    }

    fn visit_f64<E: de::Error>(self, x: f64) -> Result<Dist<T>, E> {
        let not_one = |_: E| E::invalid_type(Unexpected::Float(x), &self);
        T::deserialize(x.into_deserializer()).map(Dist::Constant).map_err(not_one)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Dist<T>, A::Error> {
        let Some(kind) = map.next_key::<String>()? else { return Err(de::Error::missing_field("uniform")) };
        let dist = match kind.as_str() {
            "uniform" => map.next_value::<[T; 2]>().map(|[from, to]| Dist::Uniform(from, to)),
            "exponential" => map.next_value().map(Dist::Exponential),
            "pareto" => map.next_value().map(Dist::Pareto),
            "pareto2" => map.next_value().map(Dist::Pareto2),
            other => Err(de::Error::unknown_field(other, KINDS)),
        }?;
        match map.next_key::<String>()? {
            Some(second) => {
                Err(de::Error::custom(format!("`{kind}` and `{second}` cannot both hold; write one of them")))
            }
            None => dist.check().map_err(de::Error::custom),
        }
    }
}

impl<T: Serialize> Serialize for Dist<T> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Dist::Constant(x) => x.serialize(s),
            Dist::Uniform(from, to) => s.collect_map([("uniform", [from, to])]),
            Dist::Exponential(mean) => s.collect_map([("exponential", mean)]),
            Dist::Pareto(tail) => s.collect_map([("pareto", tail)]),
            Dist::Pareto2(tail) => s.collect_map([("pareto2", tail)]),
        }
    }
}

impl<T: JsonSchema> JsonSchema for Dist<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Dist_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        let tail = generator.subschema_for::<Tail<T>>();
        let pair = json_schema!({ "type": "array", "items": one, "minItems": 2, "maxItems": 2 });
        let kind = |name: &str, value: &Schema| {
            json_schema!({
                "type": "object",
                "properties": { name: value },
                "required": [name],
                "additionalProperties": false,
            })
        };
        json_schema!({
            "description": "A fixed value, or a distribution from which one is drawn each time",
            "anyOf": [
                one,
                kind("uniform", &pair),
                kind("exponential", &one),
                kind("pareto", &tail),
                kind("pareto2", &tail),
            ],
        })
    }
}

impl<T: Default> Default for Dist<T> {
    fn default() -> Dist<T> {
        Dist::Constant(T::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 200_000;

    fn draws(dist: Dist<f64>) -> Vec<f64> {
        let mut rng = Rng::named(11, &format!("{dist:?}"));
        (0..DRAWS).map(|_| dist.draw(&mut rng)).collect()
    }

    /// Five standard errors of the mean of n draws with standard deviation `sd`.
    fn tolerance(sd: f64) -> f64 {
        5.0 * sd / libm::sqrt(DRAWS as f64)
    }

    fn mean(xs: &[f64]) -> f64 {
        xs.iter().sum::<f64>() / xs.len() as f64
    }

    #[test]
    fn means_and_variances_are_those_of_the_formulas() {
        let pareto = |shape: f64| Dist::Pareto(Tail { mean: 3.0, shape });
        let pareto2 = |shape: f64| Dist::Pareto2(Tail { mean: 3.0, shape });
        // Shape 5, for the fourth moment to exist. Pareto, scale 3 * 4/5 = 2.4: variance
        // 2.4^2 * 5 / (4^2 * 3) = 0.6. Lomax, scale 12: variance 12^2 * 5 / (4^2 * 3) = 15.
        // Fourth central moments over the variance squared: uniform 1.8, exponential 9, and for both
        // Paretos, which differ by a shift and a scale, 3 (s-2)(3 s^2+s+2) / (s (s-3)(s-4)) = 73.8.
        let cases = [
            (Dist::Uniform(1.0, 5.0), 3.0, 16.0 / 12.0, 1.8),
            (Dist::Exponential(3.0), 3.0, 9.0, 9.0),
            (pareto(5.0), 3.0, 0.6, 73.8),
            (pareto2(5.0), 3.0, 15.0, 73.8),
        ];
        for (dist, want_mean, want_variance, kurtosis) in cases {
            let xs = draws(dist);
            let squares: Vec<f64> = xs.iter().map(|x| (x - want_mean) * (x - want_mean)).collect();
            let (got_mean, got_variance) = (mean(&xs), mean(&squares));
            assert!((got_mean - want_mean).abs() < tolerance(libm::sqrt(want_variance)), "{dist:?}: {got_mean}");
            let spread = want_variance * libm::sqrt(kurtosis - 1.0);
            assert!((got_variance - want_variance).abs() < tolerance(spread), "{dist:?}: {got_variance}");
        }
    }

    /// The shares beyond given points: they distinguish tails, and need no moment.
    #[test]
    fn tails_fall_as_they_should() {
        let tail = |mean: f64, shape: f64| Tail { mean, shape };
        let cases = [
            // Table I of Akujobi et al. 10 s, shape 2: scale 10, (1 + 90/10)^-2 = 1/100.
            (Dist::Pareto2(tail(10.0, 2.0)), 90.0, 0.01),
            // 3 objects, shape 1.5: scale 1.5, (1 + 22.5/1.5)^-1.5 = 16^-1.5 = 1/64.
            (Dist::Pareto2(tail(3.0, 1.5)), 22.5, 1.0 / 64.0),
            // Pareto, mean 3, shape 1.5: scale 1, nothing below it; 4^-1.5 = 1/8.
            (Dist::Pareto(tail(3.0, 1.5)), 1.0, 1.0),
            (Dist::Pareto(tail(3.0, 1.5)), 4.0, 1.0 / 8.0),
            // e^-2.
            (Dist::Exponential(0.5), 1.0, 0.135_335),
            (Dist::Uniform(1.0, 5.0), 4.0, 0.25),
        ];
        for (dist, point, want) in cases {
            let beyond = draws(dist).iter().filter(|x| **x >= point).count() as f64 / DRAWS as f64;
            assert!((beyond - want).abs() <= tolerance(libm::sqrt(want * (1.0 - want))), "{dist:?}: {beyond}");
        }
    }

    #[test]
    fn quantities_have_their_units() {
        let mut rng = Rng::named(1, "units");
        assert_eq!(Dist::Constant(Dur::from_ms(5)).draw(&mut rng), Dur::from_ms(5));
        assert_eq!(Dist::Uniform(Bytes(7), Bytes(7)).draw(&mut rng), Bytes(7));
        let times: Vec<Dur> =
            (0..999).map(|_| Dist::Uniform(Dur::from_ms(1), Dur::from_ms(5)).draw(&mut rng)).collect();
        assert!(times.iter().all(|t| (Dur::from_ms(1)..Dur::from_ms(5)).contains(t)));
        let sizes: Vec<u64> = (0..999).map(|_| Dist::Exponential(Bytes(8000)).draw(&mut rng).0).collect();
        let mean = sizes.iter().sum::<u64>() as f64 / 999.0;
        assert!((mean - 8000.0).abs() < 5.0 * 8000.0 / libm::sqrt(999.0), "{mean}");
    }

    #[test]
    fn nothing_is_drawn_below_the_smallest_value() {
        let tail = Tail { mean: 3.0, shape: 1.5 };
        let cases = [(Dist::Constant(3.0), 3.0), (Dist::Uniform(1.0, 5.0), 1.0), (Dist::Exponential(3.0), 0.0)];
        for (dist, least) in cases.into_iter().chain([(Dist::Pareto(tail), 1.0), (Dist::Pareto2(tail), 0.0)]) {
            assert_eq!(dist.min(), least);
            let lowest = draws(dist).into_iter().fold(f64::MAX, f64::min);
            assert!((least..least + 0.01).contains(&lowest), "{dist:?}: {lowest}");
        }
    }

    #[test]
    fn the_largest_value_is_known_where_there_is_one() {
        assert_eq!(Dist::Constant(3.0).max(), Some(3.0));
        assert_eq!(Dist::Uniform(1.0, 5.0).max(), Some(5.0));
        assert_eq!(Dist::Exponential(1.0).max(), None);
    }
}
