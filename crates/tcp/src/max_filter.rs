//! Windowed maximum over the last rounds, in three samples (the kernel's lib/win_minmax.c, after Kathleen Nichols): the
//! maximum, the maximum since it, and the maximum since that one.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sample<T> {
    round: u64,
    value: T,
}

/// Windowed maximum filter. Ages are in rounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct MaxFilter<T> {
    best: [Sample<T>; 3],
}

impl<T: Copy + PartialOrd> MaxFilter<T> {
    /// The maximum.
    pub fn get(&self) -> T {
        self.best[0].value
    }

    /// Processes the sample `value` of this `round`; samples expire after `window` rounds.
    pub fn update(&mut self, window: u64, round: u64, value: T) {
        let new = Sample { round, value };
        let [first, second, third] = &mut self.best;
        if value >= first.value || round - third.round > window {
            self.best = [new; 3];
            return;
        }
        // Each is at most the one before.
        if value >= third.value {
            *third = new;
            if value >= second.value {
                *second = new;
            }
        }
        self.retire(window, new);
    }

    /// Removes expired samples. If one sample fills several places, a newer one replaces it in the lower places, so
    /// that there is a successor when it expires.
    fn retire(&mut self, window: u64, new: Sample<T>) {
        let [first, second, third] = &mut self.best;
        let age = new.round - first.round;
        if age > window {
            let second_is_old = new.round - second.round > window;
            self.best = if second_is_old { [*third, new, new] } else { [*second, *third, new] };
        } else if second.round == first.round && age > window / 4 {
            (*second, *third) = (new, new);
        } else if third.round == second.round && age > window / 2 {
            *third = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds values, one each round from the first one on; returns the filter's output after each.
    fn fed(bws: &[u64]) -> Vec<u64> {
        let mut filter = MaxFilter::default();
        let feed = |(round, &bw): (usize, &u64)| {
            filter.update(10, round as u64, bw);
            filter.get()
        };
        bws.iter().enumerate().map(feed).collect()
    }

    #[test]
    fn a_greater_one_counts_at_once_and_an_old_one_for_ten_rounds() {
        assert_eq!(fed(&[5, 7, 6]), [5, 7, 7]);
        let mut bws = vec![100];
        bws.extend([10; 12]);
        // In round 10 the first is ten rounds old, in round 11 it is past.
        assert_eq!(fed(&bws)[10..], [100, 10, 10]);
    }

    #[test]
    fn the_successor_is_the_greatest_of_what_came_after() {
        // 80 in round 4 is the second best; when 100 is past, it is the best, until it is past in round 15.
        let mut bws = vec![100, 50, 50, 50, 80];
        bws.extend([50; 11]);
        let outputs = fed(&bws);
        assert_eq!((outputs[10], outputs[11], outputs[14], outputs[15]), (100, 80, 80, 50));
    }

    #[test]
    fn a_falling_bandwidth_is_followed_in_quarters_of_the_window() {
        // Second best from round 3 on (more than 10/4), third best from round 6 on (more than 10/2).
        let outputs = fed(&[100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 90, 89, 88, 87, 86]);
        assert_eq!((outputs[10], outputs[11], outputs[13], outputs[14]), (100, 97, 97, 94));
    }

    #[test]
    fn after_a_gap_longer_than_the_window_only_the_new_one_counts() {
        let mut filter = MaxFilter::default();
        filter.update(10, 0, 100);
        filter.update(10, 3, 90);
        filter.update(10, 6, 80);
        filter.update(10, 17, 10);
        assert_eq!(filter.get(), 10);
        // The first and the second are past, the third is not.
        let mut filter = MaxFilter::default();
        filter.update(10, 0, 100);
        filter.update(10, 3, 90);
        filter.update(10, 6, 80);
        filter.update(10, 14, 10);
        assert_eq!((filter.get(), filter.best[1].value), (80, 10));
    }

    #[test]
    fn a_sample_as_old_as_the_window_counts_and_the_second_waits_a_quarter_of_it() {
        let filter = |window, rounds: &[(u64, u64)]| {
            let mut filter = MaxFilter::default();
            rounds.iter().for_each(|&(round, bw)| filter.update(window, round, bw));
            filter
        };
        // The third is ten rounds old, the others are past; then the second is.
        assert_eq!(filter(10, &[(0, 100), (3, 90), (6, 80), (16, 10)]).get(), 80);
        assert_eq!(filter(10, &[(0, 100), (3, 90), (6, 80), (13, 10)]).get(), 90);
        // A quarter of eight rounds is two: more than those must pass.
        let second_best = |rounds: &[(u64, u64)]| filter(8, rounds).best[1].value;
        assert_eq!(second_best(&[(0, 100), (1, 99), (2, 98)]), 100);
        assert_eq!(second_best(&[(0, 100), (1, 99), (2, 98), (3, 97)]), 97);
    }
}
