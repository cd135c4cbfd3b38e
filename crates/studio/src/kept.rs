//! The tables of a run, kept in memory up to a limit.

use ecnlab_engine::{Blocks, Column, Table};

/// Blocks of the tables that grow, joined.
#[derive(Debug)]
pub struct Kept {
    tables: Vec<Table>,
    left: usize,
    full: bool,
}

impl Kept {
    /// Creates a receiver that keeps at most `bytes` of values.
    pub fn new(bytes: usize) -> Kept {
        Kept { tables: Vec::new(), left: bytes, full: false }
    }

    /// Whether the limit has stopped the run.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Returns the tables of a run's output with the kept rows before theirs.
    pub fn joined(mut self, output: Vec<Table>) -> Vec<Table> {
        output.into_iter().map(|last| self.with(last)).collect()
    }

    fn with(&mut self, last: Table) -> Table {
        match self.tables.iter().position(|kept| kept.name == last.name) {
            Some(place) => {
                let mut kept = self.tables.swap_remove(place);
                append(&mut kept, last);
                kept
            }
            None => last,
        }
    }
}

impl Blocks for Kept {
    fn take(&mut self, block: Table) -> bool {
        let size = block.columns.iter().map(|(_, column)| bytes(column)).sum();
        match self.left.checked_sub(size) {
            Some(left) => self.left = left,
            None => {
                self.full = true;
                return false;
            }
        }
        match self.tables.iter_mut().find(|kept| kept.name == block.name) {
            Some(kept) => append(kept, block),
            None => self.tables.push(block),
        }
        true
    }
}

fn append(kept: &mut Table, more: Table) {
    for ((_, kept), (_, more)) in kept.columns.iter_mut().zip(more.columns) {
        match (kept, more) {
            (Column::U64(kept), Column::U64(more)) => kept.extend(more),
            (Column::U32(kept), Column::U32(more)) => kept.extend(more),
            (Column::F64(kept), Column::F64(more)) => kept.extend(more),
            (Column::Bool(kept), Column::Bool(more)) => kept.extend(more),
            (Column::Text { codes: kept, names }, Column::Text { codes, names: others }) => {
                debug_assert_eq!(*names, others, "blocks of a table have the same names");
                kept.extend(codes);
            }
            _ => debug_assert!(false, "blocks of a table have the same columns"),
        }
    }
}

fn bytes(column: &Column) -> usize {
    let width = match column {
        Column::U64(_) | Column::F64(_) => 8,
        Column::U32(_) | Column::Text { .. } => 4,
        Column::Bool(_) => 1,
    };
    width * column.len()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use ecnlab_engine::{Error, Outlets, run, run_into};

    use super::Kept;

    // 20 Mb/s for 20 s are 33,000 packets, each with three events or more: two blocks.
    const TEXT: &str = "format = 1\nduration = \"20 s\"\nsample = \"100 ms\"\npackets = true\n[flow.f]\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\n\
                        [link.l]\nfrom = \"a\"\nto = \"b\"\ndelay = \"10 ms\"\nrate = \"20 Mbps\"\n";

    #[test]
    fn joined_blocks_are_the_tables_of_a_run_without_blocks() {
        let plan = ecnlab_scenario::parse_scenario("s.toml", TEXT).unwrap().plan(1);
        let mut kept = Kept::new(1 << 30);
        let outlets = Outlets { blocks: Some(&mut kept), ..Outlets::default() };
        let output = run_into(&plan, 1, &AtomicBool::new(false), outlets).unwrap();
        assert!(kept.tables.iter().any(|table| table.name == "packets"), "there is a block");
        // As text, in which NaN equals NaN.
        assert!(format!("{:?}", kept.joined(output.tables)) == format!("{:?}", run(&plan, 1).unwrap().tables));
    }

    #[test]
    fn the_limit_stops_the_run() {
        let plan = ecnlab_scenario::parse_scenario("s.toml", TEXT).unwrap().plan(1);
        let mut kept = Kept::new(1 << 20);
        let outlets = Outlets { blocks: Some(&mut kept), ..Outlets::default() };
        let stopped = run_into(&plan, 1, &AtomicBool::new(false), outlets);
        assert!(matches!(stopped, Err(Error::Cancelled)) && kept.is_full());
    }
}
