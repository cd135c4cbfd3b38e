//! Burst losses: the Markov chain of E. N. Gilbert, "Capacity of a Burst-Noise Channel", Bell System Technical Journal
//! 39, 1960, with losses in both states as in E. O. Elliott (BSTJ 42, 1963).
//!
//! Each packet advances the chain by one step and is then lost with the state's probability. The initial state is drawn
//! from the stationary distribution, so the loss probability is the same from the first packet on: a packet finds the
//! bad state with probability p / (p + r), and a stay in it lasts 1 / r packets on average.

use ecnlab_base::Rng;

use crate::plan::Bursts;

/// The Markov chain of one link.
#[derive(Debug)]
pub struct Chain {
    plan: Bursts,
    bad: bool,
    rng: Rng,
}

impl Chain {
    /// Creates the chain that `plan` describes.
    pub fn new(plan: Bursts, mut rng: Rng) -> Chain {
        let bad = rng.unit() * (plan.p + plan.r) < plan.p;
        Chain { plan, bad, rng }
    }

    /// Returns whether the next packet is lost. Uses two random draws per packet in every state.
    pub fn loses(&mut self) -> bool {
        let step = if self.bad { self.plan.r } else { self.plan.p };
        self.bad ^= self.rng.unit() < step;
        self.rng.unit() < if self.bad { self.plan.bad } else { self.plan.good }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: usize = 400_000;

    fn losses(plan: Bursts) -> Vec<bool> {
        let mut chain = Chain::new(plan, Rng::named(1, "bursts"));
        (0..PACKETS).map(|_| chain.loses()).collect()
    }

    fn share(of: impl Iterator<Item = bool>) -> f64 {
        let (mut yes, mut all) = (0.0, 0.0);
        of.for_each(|x| {
            yes += f64::from(u8::from(x));
            all += 1.0;
        });
        yes / all
    }

    #[test]
    fn losses_have_the_rate_and_the_correlation_of_the_chain() {
        let plan = Bursts { p: 0.01, r: 0.2, good: 0.001, bad: 0.5 };
        let lost = losses(plan);
        // Stationary: bad with probability 0.01 / 0.21 = 1/21; loss (1/21) 0.5 + (20/21) 0.001 = 0.024762.
        // The states of packets k apart correlate by 0.79^k, and so add up to (1 + 0.79) / (1 - 0.79) = 8.52 times the
        // variance of the states' share; five standard errors below are of that.
        let rate = 0.5 / 21.0 + 0.001 * 20.0 / 21.0;
        let states = (1.0 / 21.0) * (20.0 / 21.0) * 0.499_f64.powi(2);
        let variance = rate * (1.0 - rate) - states + 8.52 * states;
        let got = share(lost.iter().copied());
        assert!((got - rate).abs() < 5.0 * (variance / PACKETS as f64).sqrt(), "{got} {rate}");
        // After a loss the state is bad with probability (0.5 / 21) / rate = 0.96154; then it stays bad with 0.8 or
        // comes back from good with 0.01, so the next is lost with 0.5 b + 0.001 (1 - b), b = 0.76962: 0.38504.
        let bad = 0.5 / 21.0 / rate;
        let b = 0.8 * bad + 0.01 * (1.0 - bad);
        let want = 0.5 * b + 0.001 * (1.0 - b);
        let next = share(lost.windows(2).filter(|pair| pair[0]).map(|pair| pair[1]));
        let n = rate * PACKETS as f64;
        assert!((next - want).abs() < 5.0 * (4.0 * want * (1.0 - want) / n).sqrt(), "{next} {want}");
    }

    #[test]
    fn bursts_are_geometric_where_the_bad_state_loses_all() {
        // Gilbert with nothing lost in the good state: runs of losses are stays in the bad state, 1 / r = 4 packets
        // long on average, of which a share of 1 - r goes on; and between them 1 / p = 50.
        let lost = losses(Bursts { p: 0.02, r: 0.25, good: 0.0, bad: 1.0 });
        let mut runs: Vec<usize> = Vec::new();
        lost.windows(2).for_each(|pair| match (pair[0], pair[1]) {
            (false, true) => runs.push(1),
            (true, true) => runs.last_mut().into_iter().for_each(|run| *run += 1),
            _ => {}
        });
        let n = runs.len() as f64;
        // One run begins every 54 packets.
        assert!((n - PACKETS as f64 / 54.0).abs() < 5.0 * n.sqrt(), "{n}");
        let mean = runs.iter().sum::<usize>() as f64 / n;
        // Standard deviation of a geometric length: sqrt(0.75) / 0.25 = 3.46.
        assert!((mean - 4.0).abs() < 5.0 * 3.46 / n.sqrt(), "{mean}");
        let longer = share(runs.iter().map(|&run| run > 4));
        assert!((longer - 0.75_f64.powi(4)).abs() < 5.0 * (0.316 * 0.684 / n).sqrt(), "{longer}");
    }

    #[test]
    fn a_chain_that_never_steps_to_the_bad_state_loses_by_the_good_one_alone() {
        assert!(losses(Bursts { p: 0.0, r: 0.1, good: 0.0, bad: 1.0 }).iter().all(|lost| !lost));
        assert!(losses(Bursts { p: 1.0, r: 0.0, good: 0.0, bad: 1.0 }).iter().all(|lost| *lost));
    }
}
