//! Capture files.

use std::io::Cursor;

use ecnlab_trace::{Analysis, Capture, End, Input, Standard, Tracker, UdpTunnels, analyse_capture};

/// A capture in the format of its first bytes: read to its end or to where it is damaged, and analysed.
pub fn capture(input: &[u8]) {
    let standard = if input.len().is_multiple_of(2) { Standard::Rfc3168 } else { Standard::Rfc2481 };
    let analysis = Input::new(Box::new(Cursor::new(input.to_owned())))
        .and_then(Capture::new)
        .and_then(|capture| Ok(capture.opening(UdpTunnels::parse("vxlan,geneve")?)))
        .map(|capture| analyse_capture(capture, Tracker::new(standard), |_| true));
    match analysis {
        Ok(analysis) => hold(&analysis),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn hold(analysis: &Analysis) {
    let totals = &analysis.totals;
    let sorted = totals.tcp + totals.udp + totals.icmp + totals.other_ip + totals.other;
    assert!(sorted + totals.cut + totals.malformed + totals.unknown_link <= totals.packets, "{totals:?}");
    assert!(totals.times.is_none_or(|(first, last)| first <= last));
    let mut packets = 0;
    for end in analysis.tracker.connections().flat_map(|connection| connection.into_owned().ends) {
        packets += end.counts.packets;
        hold_of(&end);
    }
    assert_eq!(packets, totals.tcp, "each segment is of one end");
    assert!(analysis.damage.iter().all(|error| !error.to_string().is_empty()));
}

fn hold_of(end: &End) {
    let counts = &end.counts;
    assert!(counts.unique_bytes <= counts.bytes);
    assert!(counts.retransmits <= counts.data_packets && counts.data_packets <= counts.packets);
    assert_eq!(end.ecn.counts.codepoints.iter().sum::<u64>(), counts.packets);
    assert!(end.violations.list().iter().all(|violation| violation.packet >= 1));
    let _ = (end.stream.rtt.quantile(0.5), end.in_order_bytes(), end.stream.flight());
}
