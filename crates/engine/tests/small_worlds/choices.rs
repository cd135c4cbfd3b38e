//! All sequences of choices, one after another: `while choices.next_world() { .. choices.pick(n) .. }`.
//!
//! The first sequence picks 0 everywhere; each further one increments the last choice that has a value left. Later
//! choices may depend on earlier ones, without recursion (TigerBeetle's `exhaustigen`).

/// An odometer whose wheels are the choices made.
#[derive(Debug, Default)]
pub struct Choices {
    /// Value and number of values of each choice of this sequence.
    made: Vec<(usize, usize)>,
    /// Choices already asked for in this sequence.
    asked: usize,
    begun: bool,
}

impl Choices {
    /// Goes on to the next sequence; false after the last one.
    pub fn next_world(&mut self) -> bool {
        if !std::mem::replace(&mut self.begun, true) {
            return true;
        }
        self.asked = 0;
        while let Some((value, values)) = self.made.pop() {
            if value + 1 < values {
                self.made.push((value + 1, values));
                return true;
            }
        }
        false
    }

    /// Returns one of `values` values, from 0.
    pub fn pick(&mut self, values: usize) -> usize {
        if self.asked == self.made.len() {
            self.made.push((0, values));
        }
        self.asked += 1;
        self.made[self.asked - 1].0
    }
}

#[test]
fn every_sequence_comes_once() {
    let (mut choices, mut seen) = (Choices::default(), Vec::new());
    while choices.next_world() {
        let first = choices.pick(3);
        seen.push((first, if first == 1 { choices.pick(2) } else { 0 }));
    }
    assert_eq!(seen, [(0, 0), (1, 0), (1, 1), (2, 0)]);
}
