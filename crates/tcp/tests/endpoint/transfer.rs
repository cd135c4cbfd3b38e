//! Whatever the path does, every byte arrives in order, once, both ways, and nothing stalls.

use std::sync::Arc;

use super::pair::{Pair, Path};
use ecnlab_base::{Dur, Time};
use ecnlab_tcp::registry::{EcnKind, RecoveryKind};
use ecnlab_tcp::{Config, State, profile, profiles};

const ECNS: [EcnKind; 4] = [EcnKind::Off, EcnKind::Rfc2481, EcnKind::Rfc3168, EcnKind::AccEcn];

fn config(name: &str, change: impl FnOnce(&mut Config)) -> Arc<Config> {
    let mut config = profile(name).unwrap().config.clone();
    change(&mut config);
    config.check().unwrap();
    Arc::new(config)
}

/// Every recovery that can be combined with what else is in the profile.
fn recoveries(name: &str) -> impl Iterator<Item = RecoveryKind> {
    let config = &profile(name).unwrap().config;
    let fits = |recovery: &RecoveryKind| Config { recovery: *recovery, sack: true, ..config.clone() }.check().is_ok();
    RecoveryKind::ALL.iter().copied().filter(fits)
}

/// Sends `bytes` both ways and closes; checks what every transfer must satisfy.
fn transfer(config: &Arc<Config>, iss: [u32; 2], path: Path, bytes: [u64; 2], seed: u64) -> Pair {
    let mut pair = Pair::new(config, config, iss, path, seed);
    for (end, own) in bytes.into_iter().enumerate() {
        pair.write(end, own);
        pair.close(end);
    }
    let mut steps = 0;
    while pair.ends[0].received() < bytes[1] || pair.ends[1].received() < bytes[0] || !both_closed(&pair) {
        assert!(pair.step(), "stalled at {}: {:?}", pair.now, pair.ends);
        steps += 1;
        assert!(steps < 400_000, "no end at {}: {:?}", pair.now, pair.ends);
    }
    for (end, written) in bytes.into_iter().enumerate() {
        let (own, peer) = (&pair.ends[end], &pair.ends[1 - end]);
        assert_eq!(peer.received(), written);
        assert_eq!(own.acked(), written);
        let c = own.counters();
        assert_eq!(c.bytes_sent - c.bytes_retransmitted, written, "each byte is sent once but for retransmissions");
        assert!(peer.counters().duplicate_bytes == 0 || c.bytes_retransmitted > 0 || path.duplicate > 0.0);
        let sent = pair.log.iter().filter(|(_, from, _)| *from == end).count() as u64;
        assert_eq!(c.segments_sent, sent);
    }
    pair
}

/// A side in TIME_WAIT does not know whether its last ACK arrived; the other may still send its FIN again.
fn both_closed(pair: &Pair) -> bool {
    pair.ends.iter().all(|e| e.is_closed())
}

#[test]
fn a_clean_path_delivers_everything_without_retransmission() {
    for profile in profiles() {
        let config = Arc::new(profile.config.clone());
        let pair = transfer(&config, [7, 9], Path::clean(Dur::from_ms(20)), [200_000, 30_000], 1);
        for end in &pair.ends {
            assert_eq!(end.counters().retransmits(), 0, "{}", profile.name);
            assert_eq!(end.counters().timeouts, 0, "{}", profile.name);
        }
    }
}

#[test]
fn losses_reordering_and_duplicates_do_not_show_to_the_application() {
    let bad = Path { delay: Dur::from_ms(10), jitter: Dur::from_ms(4), loss: 0.04, duplicate: 0.02, mark: 0.03 };
    for profile in profiles() {
        for recovery in recoveries(profile.name) {
            // Prague, the law of `l4s`, needs feedback that counts marks.
            for ecn in ECNS.into_iter().filter(|ecn| profile.name != "l4s" || ecn.counts()) {
                for seed in 0..4 {
                    let config = config(profile.name, |c| {
                        c.recovery = recovery;
                        c.ecn = ecn;
                        c.sack |= recovery.needs_sack();
                        c.dsack = c.sack;
                    });
                    // Sequence numbers wrap in the course of the transfer.
                    let iss = [u32::MAX - 50_000, u32::MAX - 3];
                    transfer(&config, iss, bad, [150_000, 40_000], seed);
                }
            }
        }
    }
}

#[test]
fn heavy_loss_only_takes_longer() {
    let terrible = Path { delay: Dur::from_ms(5), jitter: Dur::from_ms(20), loss: 0.3, duplicate: 0.1, mark: 0.2 };
    for recovery in recoveries("modern") {
        for seed in 0..6 {
            let config = config("modern", |c| {
                c.recovery = recovery;
                c.ecn = EcnKind::Rfc3168;
                c.max_timeouts = 1_000;
                c.max_syn_timeouts = 1_000;
            });
            transfer(&config, [1, 2], terrible, [20_000, 20_000], seed);
        }
    }
}

#[test]
fn one_loss_in_a_large_window_is_repaired_without_a_timeout() {
    for name in ["modern", "linux-2.2", "ns-2.35"] {
        for recovery in recoveries(name) {
            let config = config(name, |c| {
                c.recovery = recovery;
                c.receive_buffer = ecnlab_base::Bytes(200_000);
                c.window_scaling = true;
            });
            let mut pair = Pair::new(&config, &config, [1, 2], Path::clean(Dur::from_ms(50)), 1);
            pair.drop_data[0] = vec![40];
            pair.write(0, 300_000);
            pair.close(0);
            while pair.ends[1].received() < 300_000 {
                assert!(pair.step());
            }
            let c = pair.ends[0].counters();
            assert_eq!((c.timeouts, c.fast_recoveries, c.retransmits_fast), (0, 1, 1), "{name} {recovery:?}");
        }
    }
}

#[test]
fn fin_both_ways_ends_in_closed_and_time_wait() {
    let config = Arc::new(profile("modern").unwrap().config.clone());
    let mut pair = Pair::new(&config, &config, [1, 2], Path::clean(Dur::from_ms(10)), 1);
    pair.write(0, 1_000);
    pair.close(0);
    pair.run_until(Time::from_ps(0) + Dur::from_ms(100));
    assert_eq!(pair.ends[0].state(), State::FinWait2);
    assert_eq!(pair.ends[1].state(), State::CloseWait);
    assert!(pair.ends[1].peer_closed());
    pair.close(1);
    pair.run_until(Time::from_ps(0) + Dur::from_ms(200));
    assert_eq!(pair.ends[0].state(), State::TimeWait);
    assert_eq!(pair.ends[1].state(), State::Closed);
}
