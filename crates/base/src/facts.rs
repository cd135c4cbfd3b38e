//! The columns that a law adds to the tables of a run.

/// A column of a table that a law adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its unit, as manifests give it; "" for none.
    pub unit: &'static str,
    /// What it means, in one line.
    pub meaning: &'static str,
    /// Whether it holds fractions although its unit counts things: an average.
    pub fraction: bool,
    /// Whether it can be above 1 although its unit is "ratio": a factor, not a share or a probability.
    pub above_one: bool,
}

impl Column {
    /// A column of whole numbers if its unit counts things, and of shares or probabilities if its unit is "ratio".
    pub const fn new(name: &'static str, unit: &'static str, meaning: &'static str) -> Column {
        Column { name, unit, meaning, fraction: false, above_one: false }
    }
    /// The same column, of fractions.
    #[must_use]
    pub const fn with_fractions(self) -> Column {
        Column { fraction: true, ..self }
    }
    /// The same column, of factors.
    #[must_use]
    pub const fn of_factors(self) -> Column {
        Column { above_one: true, ..self }
    }
}

/// The columns of all lists, each name once, in the order in which they come.
pub fn union(lists: impl IntoIterator<Item = &'static [Column]>) -> Vec<Column> {
    let mut all: Vec<Column> = Vec::new();
    for column in lists.into_iter().flatten() {
        if all.iter().all(|known| known.name != column.name) {
            all.push(*column);
        }
    }
    all
}

/// Whether both are the same text, where a constant is made.
pub const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_column() {
        const A: Column = Column::new("a", "s", "");
        const B: Column = Column::new("b", "s", "");
        assert_eq!(union([&[A, B][..], &[A][..]]), [A, B]);
    }

    #[test]
    fn same_compares_the_whole_text() {
        assert!(same("pie", "pie") && same("", ""));
        assert!(!same("pie", "pi") && !same("pi", "pie") && !same("pie", "pia"));
    }
}
