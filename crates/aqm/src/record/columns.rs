//! Columns that a law adds to the tables of queues.

use ecnlab_base::Dur;
use ecnlab_base::facts::Column;

/// The columns of one law. Laws that record the same quantity use the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Sampled values: columns of `queue_series`.
    pub values: &'static [Column],
    /// Time averages: columns of `links`.
    pub means: &'static [Column],
}

impl Columns {
    /// Columns of a law without records.
    pub const NONE: Columns = Columns { values: &[], means: &[] };
}

/// A time integral: of a value, or of being in a state. Time is counted, so that shares are exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Integral {
    /// Integral of a value over picoseconds.
    Value(f64),
    /// Picoseconds in a state.
    Time(u64),
}

impl Integral {
    /// Returns the sum of this and the `later` integral of the same column.
    pub fn plus(self, later: Integral) -> Integral {
        match (self, later) {
            (Integral::Time(a), Integral::Time(b)) => Integral::Time(a + b),
            (a, b) => Integral::Value(a.sum() + b.sum()),
        }
    }

    /// The integral as a number.
    pub const fn sum(self) -> f64 {
        match self {
            Integral::Value(sum) => sum,
            Integral::Time(time) => time as f64,
        }
    }
}

/// A value over time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Average {
    /// Integrated over picoseconds.
    sum: f64,
}

impl Average {
    /// Adds `value`, constant for `time`.
    pub fn elapsed(&mut self, value: f64, time: Dur) {
        self.sum += value * time.ps() as f64;
    }
    /// Returns the integral and resets it.
    pub fn cut(&mut self) -> Integral {
        Integral::Value(std::mem::take(&mut self.sum))
    }
}

/// The hooks `values`, `elapsed` and `cut` of a law with the field `average`: its values, of which it averages the first.
macro_rules! averages_first {
    ($self:ident => $averaged:expr $(, $other:expr)*) => {
        fn values(&$self) -> Vec<f64> {
            vec![$averaged $(, $other)*]
        }

        fn elapsed(&mut $self, time: ecnlab_base::Dur) {
            $self.average.elapsed($averaged, time);
        }

        fn cut(&mut $self) -> Vec<crate::Integral> {
            vec![$self.average.cut()]
        }
    };
}
pub(crate) use averages_first;

/// Columns of laws whose state is their signalling probability.
pub const SIGNAL_P: Columns = Columns {
    values: &[Column::new("signal_p", "ratio", "probability with which the law signals a packet")],
    means: &[Column::new("mean_signal_p", "ratio", "time average of the probability of a signal")],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_counted_exactly() {
        // 2^53 + 1 has no double.
        let long = Integral::Time(1 << 53).plus(Integral::Time(1));
        assert_eq!(long, Integral::Time((1 << 53) + 1));
        assert_eq!(Integral::Value(1.5).plus(Integral::Value(2.0)).sum(), 3.5);
    }
}
