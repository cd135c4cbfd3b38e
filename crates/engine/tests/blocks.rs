//! Tables handed on while a run goes on are the tables of the run.

use crate::common;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use common::{flow, ftp, path, red, tcp};
use ecnlab_base::Dur;
use ecnlab_engine::capture::{Capture, Interface, Seen, Sink};
use ecnlab_engine::{Blocks, Column, Error, Outlets, Plan, Table, run, run_into};

/// Puts blocks under each other; wants no more than `most`.
struct Gathered {
    tables: BTreeMap<String, Vec<Table>>,
    largest: usize,
    most: usize,
}

impl Gathered {
    fn new(most: usize) -> Gathered {
        Gathered { tables: BTreeMap::new(), largest: 0, most }
    }
}

impl Blocks for Gathered {
    fn take(&mut self, block: Table) -> bool {
        self.largest = self.largest.max(block.rows());
        self.tables.entry(block.name.clone()).or_default().push(block);
        self.tables.values().map(Vec::len).sum::<usize>() < self.most
    }
}

struct Blind;

impl Sink for Blind {
    fn take(&mut self, _seen: &Seen) -> bool {
        true
    }
}

fn plan() -> Plan {
    let host = tcp("modern", |_| ());
    let crr = serde_json::from_str(r#"{"kind": "crr", "request": "100 B", "response": "1 B"}"#).expect("transactions");
    let mut plan = path(
        &red(5.0, 15.0, 0.1),
        "2 Mbps",
        "1 ms",
        vec![flow("f0", 2, &host, ftp()), flow("f1", 2, &host, ftp()), flow("short", 2, &host, crr)],
    );
    plan.duration = Dur::from_s(40);
    plan.warmup = Dur::from_s(1);
    plan.sample = Some(Dur::from_us(500));
    plan.packet_events = true;
    plan
}

fn cell(column: &Column, row: usize) -> String {
    match column {
        Column::Text { codes, names } => names[codes[row] as usize].clone(),
        Column::U64(v) => v[row].to_string(),
        Column::U32(v) => v[row].to_string(),
        Column::F64(v) => v[row].to_bits().to_string(),
        Column::Bool(v) => v[row].to_string(),
    }
}

fn rows(tables: &[Table]) -> Vec<Vec<String>> {
    let of = |table: &Table| {
        (0..table.rows()).map(|row| table.columns.iter().map(|(_, column)| cell(column, row)).collect()).collect()
    };
    tables.iter().flat_map::<Vec<Vec<String>>, _>(of).collect()
}

#[test]
#[ignore = "slow: make slow"]
fn blocks_are_the_table_in_pieces() {
    let plan = plan();
    let whole = run(&plan, 1).expect("a run");
    let tap = Capture {
        name: "c".into(),
        interfaces: vec![Interface { name: "i".into(), out: Some(2), into: None }],
        before_queue: true,
    };
    for captures in [&[][..], &[tap][..]] {
        let (mut gathered, mut blind) = (Gathered::new(usize::MAX), Blind);
        let outlets =
            Outlets { captures: Some((captures, &mut blind)), blocks: Some(&mut gathered), ..Outlets::default() };
        let output = run_into(&plan, 1, &AtomicBool::new(false), outlets).expect("a run");
        assert_eq!(gathered.tables.keys().collect::<Vec<_>>(), ["flow_series", "packets", "queue_series"]);
        assert!(gathered.largest < 70_000, "{} rows were held", gathered.largest);
        for last in &output.tables {
            let mut pieces = gathered.tables.remove(&last.name).unwrap_or_default();
            pieces.push(last.clone());
            let table = whole.table(&last.name).expect("the table");
            assert!(rows(&pieces) == rows(std::slice::from_ref(table)), "{}", last.name);
        }
    }
}

#[test]
fn a_run_stops_when_a_block_is_not_taken() {
    let mut gathered = Gathered::new(2);
    let outlets = Outlets { blocks: Some(&mut gathered), ..Outlets::default() };
    assert_eq!(run_into(&plan(), 1, &AtomicBool::new(false), outlets), Err(Error::Cancelled));
    assert_eq!(gathered.tables.values().map(Vec::len).sum::<usize>(), 2);
}
