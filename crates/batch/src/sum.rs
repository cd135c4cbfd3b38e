//! Sums that are rounded once, so that they do not depend on the order of their terms.

/// Returns the sum of `values`, rounded once (Shewchuk 1997, as Python's `math.fsum`); NaN if it is not finite.
pub fn exact_sum(values: impl IntoIterator<Item = f64>) -> f64 {
    // Terms that do not overlap, from the smallest to the largest; together they are the exact sum.
    let mut terms: Vec<f64> = Vec::new();
    for value in values {
        let mut carried = value;
        let mut kept = 0;
        for i in 0..terms.len() {
            let (sum, rest) = two_sum(carried, terms[i]);
            if rest != 0.0 {
                terms[kept] = rest;
                kept += 1;
            }
            carried = sum;
        }
        terms.truncate(kept);
        if carried != 0.0 {
            terms.push(carried);
        }
    }
    let sum = rounded(&terms);
    if sum.is_finite() { sum } else { f64::NAN }
}

/// Returns the rounded sum of two numbers, and what rounding left.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let (large, small) = if a.abs() < b.abs() { (b, a) } else { (a, b) };
    let sum = large + small;
    (sum, small - (sum - large))
}

fn rounded(terms: &[f64]) -> f64 {
    let Some((&largest, smaller)) = terms.split_last() else { return 0.0 };
    let mut sum = largest;
    for (i, &term) in smaller.iter().enumerate().rev() {
        let (next, rest) = two_sum(sum, term);
        sum = next;
        if rest != 0.0 {
            // Exactly half way between two numbers, the terms below decide to which it is rounded.
            let below = i.checked_sub(1).map_or(0.0, |j| smaller[j]);
            let (doubled, tie) = (2.0 * rest, sum + 2.0 * rest);
            return if below * rest > 0.0 && tie - sum == doubled { tie } else { sum };
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::exact_sum;

    #[test]
    fn a_sum_is_rounded_once() {
        assert_eq!(exact_sum([0.1; 10]), 1.0);
        assert_eq!(exact_sum([1e100, 1.0, -1e100]), 1.0);
        assert_eq!(exact_sum([1e16, 1.0, 1e-16]), 10_000_000_000_000_002.0, "above the half");
        assert_eq!(exact_sum([1e16, 1.0, -1e-16]), 1e16, "below the half");
        assert_eq!(exact_sum([1e16, 1.0]), 1e16, "half to even");
        assert_eq!(exact_sum([]), 0.0);
    }

    #[test]
    fn an_overflow_is_no_number() {
        assert!(exact_sum([f64::MAX, f64::MAX]).is_nan());
        assert!(exact_sum([f64::INFINITY, 1.0]).is_nan());
    }
}
