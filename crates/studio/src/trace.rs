//! Captures that a reader adds to the page: the tables of their analysis.

use std::io::Cursor;

use ecnlab_base::Table;
use ecnlab_trace::tables::{
    Numbered, broken_by, connections, datagrams, directions, interfaces, sums, verdicts, violations,
};
use ecnlab_trace::{Capture, Input, Standard, TraceError, Tracker, analyse_capture};
use serde_json::{Map, Value, json};

/// Bytes of memory that the connections of a capture may use.
const MEMORY: u64 = 1 << 30;
/// Connections with rows in tables, which take about 1.3 kB each. Verdicts and sums are those of all connections.
pub const LISTED: usize = 100_000;
/// Rows of each kind in the series of a connection.
const DRAWN: usize = 4_000;

/// Returns the tables of a capture, and its numbers: `{connections, listed, damage, seconds, totals: {kind: packets}, sums: {column: sum}}`.
/// `damage` is the error that ended the reading, or null.
///
/// # Errors
/// If `bytes` are not the beginning of a capture.
pub fn tables(bytes: Vec<u8>) -> Result<(Vec<Table>, Value), TraceError> {
    let standard = Standard::default();
    let found = analyse_capture(open(bytes)?, Tracker::new(standard).within(MEMORY), |_| true);
    let (count, start) = (found.tracker.len(), found.start());
    let all: Vec<Numbered<'_>> = found.numbered(0, LISTED).collect();
    let broken = all.iter().flat_map(broken_by).collect();
    let sums: Map<String, Value> =
        sums(found.numbered(0, count)).into_iter().map(|(name, sum)| (name.into(), sum.into())).collect();
    let totals: Map<String, Value> =
        found.totals.counts().into_iter().map(|(name, count)| (name.into(), count.into())).collect();
    let about = json!({
        "connections": count,
        "listed": all.len(),
        "damage": found.damage.as_ref().map(problem),
        "seconds": found.totals.times.map_or(0.0, |(first, last)| last.saturating_sub(first) as f64 / 1e9),
        "totals": totals,
        "sums": sums,
    });
    let tables = vec![
        verdicts(found.numbered(0, count)),
        connections(&all, start),
        directions(&all),
        violations(broken, start, standard),
        datagrams(&found, start),
        interfaces(&found),
    ];
    Ok((tables, about))
}

/// Returns the packets of one connection: the table `series`.
///
/// # Errors
/// If `bytes` are not the beginning of a capture.
pub fn series(bytes: Vec<u8>, connection: usize) -> Result<Table, TraceError> {
    Ok(ecnlab_trace::tables::series(open(bytes)?, connection, None, DRAWN).0)
}

/// Returns the sentence for an error.
pub fn problem(error: &TraceError) -> String {
    match error {
        TraceError::Full { packets, connections, .. } => format!(
            "the {connections} connections of the first {packets} packets take more than the memory of a page; the rest was not read. \
             Read it with the command `ecnlab trace`, which has a filter"
        ),
        other => other.to_string(),
    }
}

fn open(bytes: Vec<u8>) -> Result<Capture, TraceError> {
    Capture::new(Input::new(Box::new(Cursor::new(bytes)))?)
}

#[cfg(test)]
mod tests {
    use ecnlab_base::Column;

    use super::{series, tables};

    /// A transfer of Linux with ECN, compressed by gzip.
    const CAPTURE: &[u8] = include_bytes!("../../../tests/data/captures/ecn.pcap.gz");

    #[test]
    fn a_capture_has_its_connection_and_series() {
        let (tables, about) = tables(CAPTURE.to_vec()).unwrap();
        let rows = |name: &str| tables.iter().find(|table| table.name == name).unwrap().rows();
        assert_eq!((rows("connections"), rows("directions")), (1, 2));
        assert_eq!((&about["connections"], &about["damage"]), (&1.into(), &serde_json::Value::Null));
        assert_eq!(about["sums"]["packets"], about["totals"]["tcp"]);
        let packets = series(CAPTURE.to_vec(), 0).unwrap();
        let Some(Column::F64(times)) = packets.column("time_s") else { panic!("no times") };
        assert!(times.is_sorted() && times.len() > 100);
        assert_eq!(series(CAPTURE.to_vec(), 1).unwrap().rows(), 0);
    }

    #[test]
    fn a_capture_is_read_up_to_its_damage_and_other_files_are_refused() {
        let (cut, about) = tables(CAPTURE[..CAPTURE.len() / 2].to_vec()).unwrap();
        assert!(about["damage"].is_string(), "{about}");
        assert_eq!(cut[1].rows(), 1);
        assert!(tables(b"GIF89a".to_vec()).is_err());
    }
}
