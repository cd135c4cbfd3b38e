//! Applications that read at fixed times.

use crate::common;

use common::{droptail, flow, ftp, number, path, tcp};
use ecnlab_base::{Bytes, Dur};
use ecnlab_engine::{FlowPlan, Output, Plan, Reads, run};
use ecnlab_traffic::{FtpParams, Params};

/// A flow over 10 Mbit/s and 50 ms, whose receiver has a buffer of 64 kB and reads `bytes` every `ms` milliseconds.
fn read(traffic: Params, bytes: u64, ms: u64) -> Output {
    let tcp = tcp("modern", |tcp| tcp.receive_buffer = Bytes(64_000));
    let reads = Some(Reads { bytes, every: Dur::from_ms(ms) });
    let plan = path(&droptail(100.0), "10 Mbps", "50 ms", vec![FlowPlan { reads, ..flow("f", 2, &tcp, traffic) }]);
    run(&Plan { duration: Dur::from_s(20), warmup: Dur::ZERO, ..plan }, 1).expect("a run that balances")
}

#[test]
fn a_reader_sets_the_rate_of_its_flow() {
    // 5000 B every 20 ms are 2 Mbit/s. The first data arrive after 150 ms.
    let out = read(ftp(), 5_000, 20);
    let delivered = number(&out, "flows", "bytes_delivered", 0);
    assert!((4_900_000.0..=5_000_000.0).contains(&delivered), "{delivered}");
    assert_eq!(number(&out, "flows", "timeouts", 0), 0.0);
}

#[test]
fn a_closed_window_is_probed_and_opens_with_the_read() {
    // Each read takes the whole buffer: the reads at 5, 10 and 15 s; that at 20 s ends the run.
    let out = read(ftp(), 1_000_000, 5_000);
    let delivered = number(&out, "flows", "bytes_delivered", 0);
    assert!((180_000.0..=256_000.0).contains(&delivered), "{delivered}");
    assert_eq!(number(&out, "flows", "timeouts", 0), 0.0);
}

#[test]
fn a_transfer_is_complete_when_its_last_byte_is_read() {
    // 30 kB arrive within a second; the third read of 10 kB has the last byte.
    let size = Params::Ftp(FtpParams { size: Some(Bytes(30_000)) });
    let out = read(size, 10_000, 1_500);
    assert_eq!(number(&out, "flows", "finish_s", 0), 4.5);
    assert_eq!(number(&out, "flows", "bytes_delivered", 0), 30_000.0);
    assert_eq!(number(&out, "flows", "exchanges", 0), 1.0);
}
