//! What an endpoint counts is what travelled.

use std::sync::Arc;

use ecnlab_base::{Bytes, Dur, Time};
use ecnlab_tcp::config::Headers;
use ecnlab_tcp::profile;
use ecnlab_tcp::registry::EcnKind;
use ecnlab_wire::{Flags, Segment};

use super::pair::{Pair, Path};

/// Endpoint 0 sends 200,000 bytes and then its FIN, endpoint 1 only its FIN. Some segments are marked and some are lost.
fn marked_transfer() -> Pair {
    let mut config = profile("modern").unwrap().config.clone();
    config.ecn = EcnKind::Rfc3168;
    config.data_headers = Headers::Fixed(Bytes(60));
    config.ack_headers = Headers::Fixed(Bytes(50));
    let config = Arc::new(config);
    let mut pair = Pair::new(&config, &config, [1, 2], Path::clean(Dur::from_ms(50)), 1);
    pair.mark_data[0] = vec![3, 4, 40];
    pair.drop_data[0] = vec![60];
    pair.write(0, 200_000);
    pair.run_until(Time::ZERO + Dur::from_ms(5_000));
    for end in [0, 1] {
        pair.close(end);
        pair.run_until(pair.now + Dur::from_ms(1_000));
    }
    pair
}

#[test]
fn counters_of_sent_segments_are_those_of_the_log() {
    let pair = marked_transfer();
    for (end, endpoint) in pair.ends.iter().enumerate() {
        let sent: Vec<&Segment> =
            pair.log.iter().filter(|(_, from, _)| *from == end).map(|(_, _, segment)| segment).collect();
        let flagged =
            |flag| sent.iter().filter(|s| s.flags.contains(flag) && !s.flags.contains(Flags::SYN)).count() as u64;
        let counters = endpoint.counters();
        assert_eq!(counters.segments_sent, sent.len() as u64);
        assert_eq!(counters.data_segments_sent, sent.iter().filter(|s| s.len > 0).count() as u64);
        assert_eq!(counters.bytes_sent, sent.iter().map(|s| u64::from(s.len)).sum::<u64>());
        assert_eq!((counters.ece_sent, counters.cwr_sent), (flagged(Flags::ECE), flagged(Flags::CWR)));
        let mut bare = sent.iter().filter(|s| s.sack.is_empty());
        assert!(bare.all(|s| s.wire_len == if s.len > 0 { s.len + 60 } else { 50 }));
    }
    let [sender, receiver] = pair.ends.map(|end| end.counters().clone());
    // CWR comes on data, of which the one segment lost was none with CWR.
    assert_eq!((receiver.ce_received, receiver.cwr_received), (3, sender.cwr_sent));
    assert!(sender.cwr_sent > 1 && receiver.ece_sent > 1 && sender.bytes_retransmitted == 1_448);
}
