//! What the kernel's own tests of RED expect (tools/testing/selftests/net/forwarding/sch_red.sh of Linux 7.3), of RED here: a stream that
//! fills a link of 10 Mbit/s, and a backlog that a second stream puts before it. Packets of 1400 B, `probability 1`, `min 30000`,
//! `max 30001`, `burst 38` (which `tc` makes a weight of 1/32), `limit 1M`.

use crate::bench;

use ecnlab_aqm::registry::Params;
use ecnlab_aqm::{Common, Config, DropReason};
use ecnlab_base::Length;
use ecnlab_wire::Ecn;

/// Times are in µs.
type Bench = bench::Bench<1>;

/// A packet of 1400 B at 10 Mbit/s.
const EACH_US: u64 = 1120;

struct Port {
    bench: Bench,
    now: u64,
}

impl Port {
    fn new(ecn: bool) -> Port {
        let keys = "min_th = \"30000 B\"\nmax_th = \"30001 B\"\nmax_p = 1.0\nweight = 0.03125\nabove = \"mark\"";
        let common = Common { ecn, ..Common::with_limit(Length::Bytes(1e6)) };
        let bench = Bench::new(&Config::new(Params::Red(toml::from_str(keys).unwrap()), common));
        Port { bench, now: 0 }
    }
    /// The stream for so many seconds: one arrives, one leaves. The percentage of what left that was marked, as `check_marking` has it.
    fn stream(&mut self, seconds: u64) -> usize {
        let before = self.bench.diary.marked.len();
        let packets = seconds * 1_000_000 / EACH_US;
        for _ in 0..packets {
            self.now += EACH_US;
            self.bench.put_as(self.now, 1, 1400, Ecn::Ect1, 0);
            self.bench.take(self.now);
        }
        100 * (self.bench.diary.marked.len() - before) / packets as usize
    }
    /// `build_backlog`: up to eleven times as many packets as are missing, and a second of the stream. Whether it was reached.
    fn build(&mut self, bytes: u64, ecn: Ecn) -> bool {
        for _ in 0..11 {
            let missing = bytes.saturating_sub(self.bench.queue.bytes()).div_ceil(1400);
            if missing == 0 {
                return true;
            }
            (0..missing).for_each(|_| {
                self.bench.put_as(self.now, 2, 1400, ecn, 0);
            });
            self.stream(1);
        }
        self.bench.queue.bytes() >= bytes
    }
}

const LIMIT: u64 = 30_000;

#[test]
fn ecn_test() {
    let mut port = Port::new(true);
    port.stream(1);
    assert!(port.build(2 * LIMIT / 3, Ecn::NotEct), "a backlog below min");
    assert_eq!(port.stream(5), 0, "no mark below min");
    assert!(port.bench.dropped().is_empty(), "no drop below min");
    assert!(port.build(3 * LIMIT / 2, Ecn::Ect1), "a backlog of capable packets above max");
    assert!(port.stream(5) >= 95, "marks above max");
    assert!(!port.build(2 * LIMIT, Ecn::NotEct), "what is not capable is dropped above max");
    assert!(port.bench.diary.dropped.iter().all(|(_, why)| *why != DropReason::Tail));
}

#[test]
fn red_test() {
    let mut port = Port::new(false);
    assert!(port.build(2 * LIMIT / 3, Ecn::Ect1), "a backlog below min");
    assert_eq!(port.stream(5), 0);
    assert!(!port.build(3 * LIMIT / 2, Ecn::Ect1), "without ECN all is dropped above max");
    assert_eq!(port.stream(5), 0);
    let now = port.now;
    assert!(port.bench.drain(now).iter().all(|packet| packet.ecn == Ecn::Ect1));
}
