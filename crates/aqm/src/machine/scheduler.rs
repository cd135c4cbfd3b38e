//! Schedulers of inner queues.

use std::collections::VecDeque;

use ecnlab_base::{Dur, Rate, Rng, Time};

use crate::contract::shape::Shape;

/// An Ethernet frame, in bytes.
pub(crate) const MTU: u32 = 1514;

/// State of an inner queue as seen by a scheduler.
pub(crate) trait Backlog {
    /// Bytes of the packet that would be next; 1 if not yet known; `None` if there is none.
    fn head_len(&self) -> Option<u32>;
    /// Arrival time of the oldest packet.
    fn head_since(&self) -> Option<Time>;
    /// Whether there is a packet: [`Backlog::head_len`] without the length.
    #[inline]
    fn holds(&self) -> bool {
        self.head_len().is_some()
    }
}

/// Selects an inner queue, identified by its index.
#[derive(Clone, Debug)]
pub(crate) enum Scheduler {
    /// The queue whose head arrived first; among equal ones the first.
    Fifo,
    /// The first that holds a packet.
    Strict,
    /// Round robin.
    Rounds(Rounds),
    /// By a credit per queue.
    Credit(Credit),
    /// For two queues: the one whose head arrived first, with the second's shifted by this time (RFC 9332 §4.2.2,
    /// TS-FIFO).
    TimeShifted(Dur),
    /// A shaping scheduler.
    Shaped(Box<dyn Shape>),
}

impl Scheduler {
    /// Handles an arrival at queue `i`.
    #[inline(always)]
    pub fn arrived(&mut self, i: usize, now: Time) {
        match self {
            Scheduler::Rounds(rounds) => rounds.arrived(i),
            Scheduler::Shaped(shape) => shape.arrived(i, now),
            Scheduler::Fifo | Scheduler::Strict | Scheduler::Credit(_) | Scheduler::TimeShifted(_) => {}
        }
    }

    /// Returns the queue to poll next; `None` if no queue can send now.
    #[inline(always)]
    pub fn next(&mut self, queues: &[impl Backlog], now: Time) -> Option<usize> {
        match self {
            Scheduler::Fifo => {
                let heads = queues.iter().enumerate().filter_map(|(i, queue)| Some((queue.head_since()?, i)));
                heads.min().map(|(_, i)| i)
            }
            Scheduler::Strict => queues.iter().position(Backlog::holds),
            Scheduler::Rounds(rounds) => rounds.next(queues),
            Scheduler::Credit(credit) => credit.next(queues),
            Scheduler::TimeShifted(tshift) => match [0, 1].map(|i| queues[i].head_since()) {
                [Some(first), Some(second)] => Some(usize::from(first > second.saturating_add(*tshift))),
                [first, second] => first.map(|_| 0).or(second.map(|_| 1)),
            },
            Scheduler::Shaped(shape) => shape.next(&|i| queues[i].head_len(), now),
        }
    }

    /// Handles a packet of `len` bytes sent by queue `i`.
    #[inline(always)]
    pub fn sent(&mut self, i: usize, len: u32, queues: &[impl Backlog], now: Time) {
        match self {
            Scheduler::Fifo | Scheduler::Strict | Scheduler::TimeShifted(_) => {}
            Scheduler::Rounds(rounds) => rounds.sent(i, len, queues),
            Scheduler::Credit(credit) => credit.sent(i, len, queues),
            Scheduler::Shaped(shape) => shape.sent(i, len, &|i| queues[i].head_len(), now),
        }
    }

    /// Handles a poll of queue `i` without a packet; its law is at rest or not.
    #[inline(always)]
    pub fn found_empty(&mut self, i: usize, at_rest: bool) {
        match self {
            Scheduler::Rounds(rounds) => rounds.found_empty(i),
            Scheduler::Shaped(shape) => shape.found_empty(i, at_rest),
            Scheduler::Fifo | Scheduler::Strict | Scheduler::Credit(_) | Scheduler::TimeShifted(_) => {}
        }
    }

    /// Handles a poll that found all queues empty.
    pub fn found_all_empty(&mut self) {
        match self {
            Scheduler::Rounds(rounds) => rounds.found_all_empty(),
            Scheduler::Credit(credit) => credit.begin(),
            Scheduler::Fifo | Scheduler::Strict | Scheduler::TimeShifted(_) | Scheduler::Shaped(_) => {}
        }
    }

    /// Time of the next poll, if [`Scheduler::next`] has just returned no queue.
    pub fn ready(&self, queues: &[impl Backlog]) -> Time {
        self.shape().map_or(Time::NEVER, |shape| shape.ready(&|i| queues[i].head_len()))
    }

    /// The shaping scheduler, if it is one.
    pub fn shape(&self) -> Option<&dyn Shape> {
        if let Scheduler::Shaped(shape) = self { Some(&**shape) } else { None }
    }

    /// As [`Scheduler::shape`].
    pub fn shape_mut(&mut self) -> Option<&mut dyn Shape> {
        if let Scheduler::Shaped(shape) = self { Some(&mut **shape) } else { None }
    }

    /// This scheduler in front of a link of this rate.
    pub fn on(mut self, link: Rate, rng: &mut Rng) -> Scheduler {
        if let Some(shape) = self.shape_mut() {
            shape.begin(link, rng);
        }
        self
    }
}

/// Deficit round robin: each queue may send a quantum of bytes per round; unused bytes and debts carry over.
///
/// DRR (Shreedhar & Varghese 1996; Linux's `sch_drr`): a head covered by the deficit leaves; otherwise the queue gets
/// another quantum and moves to the end. DRR++ as in `sch_fq_codel` (RFC 8290 §4.2): a queue with a positive deficit
/// sends and may go into debt; newly active queues are served before all others, for one quantum.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    favours_new: bool,
    quanta: Vec<i64>,
    deficits: Vec<i64>,
    listed: Vec<bool>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
}

impl Rounds {
    /// Rounds with a quantum for each queue; with `favours_new` DRR++.
    pub fn new(quanta: Vec<i64>, favours_new: bool) -> Rounds {
        let n = quanta.len();
        let (new, old) = (VecDeque::new(), VecDeque::new());
        Rounds { favours_new, quanta, deficits: vec![0; n], listed: vec![false; n], new, old }
    }

    fn arrived(&mut self, i: usize) {
        if self.listed[i] {
            return;
        }
        self.listed[i] = true;
        self.deficits[i] = self.quanta[i];
        if self.favours_new { self.new.push_back(i) } else { self.old.push_back(i) }
    }

    fn next(&mut self, queues: &[impl Backlog]) -> Option<usize> {
        loop {
            let i = *self.new.front().or(self.old.front())?;
            let needed = if self.favours_new { 1 } else { queues[i].head_len().unwrap_or_default() };
            if i64::from(needed) <= self.deficits[i] {
                return Some(i);
            }
            self.deficits[i] += self.quanta[i];
            self.take_front();
            self.old.push_back(i);
        }
    }

    fn sent(&mut self, i: usize, len: u32, queues: &[impl Backlog]) {
        self.deficits[i] -= i64::from(len);
        // DRR++ detects this on the next visit: a flow that is new again with each packet would starve the others.
        if !self.favours_new && queues[i].head_len().is_none() {
            self.found_empty(i);
        }
    }

    fn found_empty(&mut self, i: usize) {
        let was_new = !self.new.is_empty();
        self.take_front();
        // RFC 8290 §4.2: a new flow passes through the old ones before it can be new again.
        if was_new && !self.old.is_empty() { self.old.push_back(i) } else { self.listed[i] = false }
    }

    /// Removes all queues, each found empty in turn.
    fn found_all_empty(&mut self) {
        for i in self.new.drain(..).chain(self.old.drain(..)) {
            self.listed[i] = false;
        }
    }

    fn take_front(&mut self) {
        if self.new.pop_front().is_none() {
            self.old.pop_front();
        }
    }
}

/// Weighted round robin by credits: among the queues with packets the one with the highest credit sends, the first of
/// several. Each byte sent adds its own weight to every other waiting queue and subtracts the sum of these from the
/// sender. An empty queue keeps its credit. Credits are reset when the link is free and finds all queues empty.
///
/// For two queues the difference of the credits is twice the single credit of Linux's `sch_dualpi2` (RFC 9332 §4.2.2
/// names the scheduler): plus w1·l when the first sends, minus w0·l when the second does, only while the other waits.
/// `dequeue_packet` resets it when it is called on an empty queue, not when the last packet leaves.
#[derive(Clone, Debug)]
pub(crate) struct Credit {
    weights: Vec<i64>,
    credits: Vec<i64>,
    /// Bytes that each queue counts as having sent at first.
    frame: i64,
}

impl Credit {
    /// Starts with the credits after each queue has sent one packet of `frame` bytes: the queue with the greatest
    /// weight is first.
    pub fn new(weights: Vec<i64>, frame: u32) -> Credit {
        let mut credit = Credit { credits: vec![0; weights.len()], weights, frame: frame.into() };
        credit.begin();
        credit
    }

    /// The weight of each queue.
    #[cfg(test)]
    pub fn weights(&self) -> &[i64] {
        &self.weights
    }

    fn begin(&mut self) {
        let sent = self.frame * self.weights.len() as i64;
        self.credits.iter_mut().zip(&self.weights).for_each(|(credit, weight)| *credit = sent * weight);
    }

    fn next(&mut self, queues: &[impl Backlog]) -> Option<usize> {
        let mut most = None;
        for (i, queue) in queues.iter().enumerate() {
            if queue.holds() && most.is_none_or(|j: usize| self.credits[i] > self.credits[j]) {
                most = Some(i);
            }
        }
        if most.is_none() {
            self.begin();
        }
        most
    }

    fn sent(&mut self, i: usize, len: u32, queues: &[impl Backlog]) {
        for (j, queue) in queues.iter().enumerate() {
            if j != i && queue.holds() {
                let given = self.weights[j] * i64::from(len);
                self.credits[j] += given;
                self.credits[i] -= given;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of these lengths, the next one last.
    struct Packets(Vec<u32>);

    impl Backlog for Packets {
        fn head_len(&self) -> Option<u32> {
            self.0.last().copied()
        }
        fn head_since(&self) -> Option<Time> {
            self.0.last().map(|&len| Time::from_ps(len.into()))
        }
    }

    /// The order in which queues with these packets are served, all of them there from the start.
    fn order(mut scheduler: Scheduler, queues: &[&[u32]]) -> Vec<usize> {
        let mut queues: Vec<Packets> = queues.iter().map(|all| Packets(all.iter().rev().copied().collect())).collect();
        (0..queues.len()).filter(|&i| !queues[i].0.is_empty()).for_each(|i| scheduler.arrived(i, Time::ZERO));
        let mut order = Vec::new();
        while let Some(i) = scheduler.next(&queues, Time::ZERO) {
            match queues[i].0.pop() {
                Some(len) => {
                    order.push(i);
                    scheduler.sent(i, len, &queues, Time::ZERO);
                }
                None => scheduler.found_empty(i, true),
            }
        }
        order
    }

    /// The queue that is served next, of which a packet leaves.
    fn serve(scheduler: &mut Scheduler, queues: &mut [Packets; 2]) -> usize {
        loop {
            let i = scheduler.next(&*queues, Time::ZERO).unwrap();
            match queues[i].0.pop() {
                Some(len) => {
                    scheduler.sent(i, len, &*queues, Time::ZERO);
                    return i;
                }
                None => scheduler.found_empty(i, true),
            }
        }
    }

    fn rounds(quanta: &[i64], favours_new: bool) -> Scheduler {
        Scheduler::Rounds(Rounds::new(quanta.to_vec(), favours_new))
    }

    #[test]
    fn the_first_class_goes_first_or_the_first_packet() {
        assert_eq!(order(Scheduler::Strict, &[&[9], &[1, 1], &[5]]), [0, 1, 1, 2]);
        // The lengths are also the times of arrival here.
        assert_eq!(order(Scheduler::Fifo, &[&[9], &[1, 3], &[5]]), [1, 1, 2, 0]);
    }

    #[test]
    fn the_second_class_waits_for_what_came_up_to_the_shift_later() {
        // RFC 9332 §4.2.2. The lengths are the times of arrival, in picoseconds; a shift of 50. First class 10, 60, 130;
        // second 10, 80. 10 and 60 come before 10 + 50 or with it; 130 is later, and so 10 of the second goes; 130 is
        // 80 + 50. Then 80 is alone.
        let shifted = |ps| Scheduler::TimeShifted(Dur::from_ps(ps));
        assert_eq!(order(shifted(50), &[&[10, 60, 130], &[10, 80]]), [0, 0, 1, 0, 1]);
        assert_eq!(order(shifted(50), &[&[10, 61], &[10]]), [0, 1, 0]);
        // Without a shift it is one FIFO.
        assert_eq!(order(shifted(0), &[&[10, 60, 130], &[10, 80]]), [0, 1, 0, 1, 0]);
    }

    #[test]
    fn drr_sends_what_the_deficit_covers() {
        // Quantum 500. 0: deficit 500, 200 and 300 leave (0 left), it is empty. 1: 750 > 500: 1000; 750 leaves (250
        // left), then 400 > 250: 750. 2: 500 leaves; 500 > 0: 500 in the next round.
        // Order: 0 0 (1 waits) 2 | 1 (2 behind it with 500) 2 | 1.
        assert_eq!(order(rounds(&[500; 3], false), &[&[200, 300], &[750, 400], &[500, 500]]), [0, 0, 2, 1, 2, 1]);
    }

    #[test]
    fn drr_shares_by_quanta() {
        // 300 B a packet, quanta 600 and 300: two of the first for each of the second.
        assert_eq!(order(rounds(&[600, 300], false), &[&[300; 6], &[300; 3]]), [0, 0, 1, 0, 0, 1, 0, 0, 1]);
    }

    #[test]
    fn drr_plus_serves_new_flows_first_and_lets_them_fall_into_debt() {
        // Quantum 1000. 0 is new with 1000: 600 (400 left), 600 (-200): out of turn, 800, old. 1 likewise. 0 again: 600
        // (200 left), 600 (-400): 600, old. 1 has one more.
        assert_eq!(order(rounds(&[1000; 2], true), &[&[600; 4], &[600; 3]]), [0, 0, 1, 1, 0, 0, 1]);
    }

    #[test]
    fn a_sparse_flow_overtakes_but_not_twice_in_a_row() {
        let mut scheduler = rounds(&[1000; 2], true);
        let bulk = || Packets(vec![1000; 9]);
        let mut queues = [bulk(), Packets(vec![])];
        scheduler.arrived(0, Time::ZERO);
        // The bulk flow uses its quantum as a new one, and is old.
        assert_eq!(serve(&mut scheduler, &mut queues), 0);
        assert_eq!(serve(&mut scheduler, &mut queues), 0);
        // A packet of another flow is new and goes before it.
        queues[1].0.push(100);
        scheduler.arrived(1, Time::ZERO);
        assert_eq!(serve(&mut scheduler, &mut queues), 1);
        // Found empty it goes behind the old one; a packet that comes then has to wait for its turn.
        assert_eq!(serve(&mut scheduler, &mut queues), 0);
        queues[1].0.push(100);
        scheduler.arrived(1, Time::ZERO);
        assert_eq!([0; 2].map(|_| serve(&mut scheduler, &mut queues)), [1, 0]);
    }

    #[test]
    fn a_flow_that_was_new_waits_for_the_old_ones() {
        // RFC 8290 §4.2: a new queue that is found empty goes to the end of the old ones. Quantum 2000.
        let mut scheduler = rounds(&[2000; 2], true);
        let mut queues = [Packets(vec![1000; 9]), Packets(vec![])];
        scheduler.arrived(0, Time::ZERO);
        assert_eq!([0; 2].map(|_| serve(&mut scheduler, &mut queues)), [0, 0]);
        queues[1].0.push(100);
        scheduler.arrived(1, Time::ZERO);
        // It goes first, is found empty, and the bulk flow has half of its round left.
        assert_eq!([0; 2].map(|_| serve(&mut scheduler, &mut queues)), [1, 0]);
        queues[1].0.push(100);
        scheduler.arrived(1, Time::ZERO);
        assert_eq!([0; 2].map(|_| serve(&mut scheduler, &mut queues)), [0, 1]);
    }

    #[test]
    fn a_new_flow_has_the_rest_of_its_quantum_until_it_is_found_empty() {
        let mut scheduler = rounds(&[1000; 2], true);
        let mut queues = [Packets(vec![600; 9]), Packets(vec![100])];
        scheduler.arrived(1, Time::ZERO);
        scheduler.arrived(0, Time::ZERO);
        assert_eq!(serve(&mut scheduler, &mut queues), 1);
        // 900 B are left of it, and it was not polled since.
        queues[1].0.push(100);
        scheduler.arrived(1, Time::ZERO);
        assert_eq!([0; 2].map(|_| serve(&mut scheduler, &mut queues)), [1, 0]);
    }

    #[test]
    fn a_flow_is_new_again_once_all_were_found_empty() {
        // Linux's sch_fq_codel: a free link polls, finds each flow of the lists empty and takes it off. Flow 0 has 400
        // of its quantum left and would go first; but flow 1 has come before it came back.
        let mut scheduler = rounds(&[1000; 2], true);
        let mut queues = [Packets(vec![600]), Packets(vec![])];
        scheduler.arrived(0, Time::ZERO);
        assert_eq!(serve(&mut scheduler, &mut queues), 0);
        scheduler.found_all_empty();
        queues[1].0.push(100);
        scheduler.arrived(1, Time::ZERO);
        queues[0].0.push(100);
        scheduler.arrived(0, Time::ZERO);
        assert_eq!([0; 2].map(|_| serve(&mut scheduler, &mut queues)), [1, 0]);
    }

    #[test]
    fn drr_forgets_the_deficit_of_a_queue_that_is_empty() {
        // Shreedhar & Varghese 1996: an empty queue has no deficit. Quantum 500: 300 of the first leave.
        let mut scheduler = rounds(&[500; 2], false);
        let mut queues = [Packets(vec![300]), Packets(vec![500; 9])];
        scheduler.arrived(0, Time::ZERO);
        scheduler.arrived(1, Time::ZERO);
        assert_eq!(serve(&mut scheduler, &mut queues), 0);
        // 400 and 300 come behind the other's 500: 500 cover 400 of them, 700 would cover both.
        queues[0].0.extend([300, 400]);
        scheduler.arrived(0, Time::ZERO);
        assert_eq!([0; 4].map(|_| serve(&mut scheduler, &mut queues)), [1, 0, 1, 0]);
    }

    #[test]
    fn the_credit_shares_by_weights() {
        // Weights 3 and 1, credit 1514·(1-3) = -3028 at first. 1514 B of class 0 cost 1514, of class 1 give 4542 back:
        // -3028, 0 0 0 -> 1514; 1 -> -3028; 0 0 0 ... : three to one.
        let order = order(Scheduler::Credit(Credit::new(vec![3, 1], MTU)), &[&[1514; 9], &[1514; 4]]);
        assert_eq!(order, [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1]);
    }

    #[test]
    fn of_two_the_credits_are_the_one_of_dualpi2() {
        // sch_dualpi2: the first sends while the credit is not positive; l bytes of the first add w1·l, of the second take
        // w0·l, while the other waits; w1 - w0 frames at first, and when it is polled and both are empty.
        let (mut scheduler, mut queues) = (Credit::new(vec![7, 2], MTU), [Packets(vec![]), Packets(vec![])]);
        let begin = i64::from(MTU) * (2 - 7);
        let (mut credit, mut served, mut idle) = (begin, [0; 2], 0);
        for step in 0..3_000_u32 {
            // Lengths of 60 to 1499 B; the first has bursts, and both are empty from time to time.
            queues[(step % 3 / 2) as usize].0.insert(0, 60 + step * 7 % 1_440);
            for _ in 0..step % 2 + 2 * u32::from(step % 50 > 30) {
                let held = [0, 1].map(|i| queues[i].head_len().is_some());
                let expected = match held {
                    [false, false] => None,
                    [true, true] => Some(usize::from(credit > 0)),
                    [first, _] => Some(usize::from(!first)),
                };
                let next = scheduler.next(&queues);
                assert_eq!(next, expected, "step {step}");
                let Some(i) = next else {
                    credit = begin;
                    idle += 1;
                    continue;
                };
                let len = queues[i].0.pop().unwrap();
                scheduler.sent(i, len, &queues);
                served[i] += 1;
                match [0, 1].map(|i| queues[i].head_len().is_some()) {
                    [_, true] if i == 0 => credit += 2 * i64::from(len),
                    [true, _] if i == 1 => credit -= 7 * i64::from(len),
                    _ => {}
                }
            }
        }
        assert!(served[0] > 1_000 && served[1] > 500 && idle > 100, "{served:?} {idle}");
    }

    #[test]
    fn three_share_by_weights() {
        // Weights 3, 2 and 1, in frames: at first 3·(3, 2, 1) = (9, 6, 3). Who sends pays the sum of the others' weights,
        // each of which has its own: 0: (6, 8, 4), 1: (9, 4, 5), 0: (6, 6, 6), 0: (3, 8, 7), 1: (6, 4, 8), 2: (9, 6, 3).
        // The last two of 0 leave when the others are empty.
        let order = order(Scheduler::Credit(Credit::new(vec![3, 2, 1], MTU)), &[&[1514; 8], &[1514; 4], &[1514; 2]]);
        assert_eq!(order, [0, 1, 0, 0, 1, 2, 0, 1, 0, 0, 1, 2, 0, 0]);
    }

    #[test]
    fn who_has_nothing_to_send_keeps_its_credit() {
        // As above from (9, 6, 3), but 2 has no packet: 0 pays 2 and 1 pays 3. 0: (7, 8), 1: (10, 5), 0: (8, 7), 0: (6, 9),
        // 1: (9, 6).
        let mut scheduler = Credit::new(vec![3, 2, 1], MTU);
        let mut queues = [Packets(vec![1514; 20]), Packets(vec![1514; 20]), Packets(vec![])];
        let mut serve = |queues: &mut [Packets; 3]| {
            let i = scheduler.next(queues).unwrap();
            let len = queues[i].0.pop().unwrap();
            scheduler.sent(i, len, queues);
            i
        };
        assert_eq!([0; 5].map(|_| serve(&mut queues)), [0, 1, 0, 0, 1]);
        // 2 comes with the 3 that it had: all is as at first.
        queues[2].0.push(1514);
        assert_eq!([0; 6].map(|_| serve(&mut queues)), [0, 1, 0, 0, 1, 2]);
    }
}
