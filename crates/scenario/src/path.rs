//! Path of a value in a document: `link.pipe.drop[2]`.

use std::fmt;

/// One step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Into a table.
    Key(String),
    /// Into an array.
    Index(usize),
}

/// Path from the root of a document to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Path(pub Vec<Part>);

impl Path {
    /// Returns the path through these keys.
    pub fn of(keys: &[&str]) -> Path {
        Path(keys.iter().map(|k| Part::Key((*k).to_owned())).collect())
    }

    /// Parses a dotted path such as `link.pipe.delay`; `None` if a part is empty.
    pub fn parse(text: &str) -> Option<Path> {
        let keys: Vec<&str> = text.split('.').map(str::trim).collect();
        keys.iter().all(|k| !k.is_empty()).then(|| Path::of(&keys))
    }

    /// Returns the path extended by a key.
    pub fn key(&self, key: &str) -> Path {
        self.then(Part::Key(key.to_owned()))
    }

    /// Returns the path extended by an index.
    pub fn index(&self, index: usize) -> Path {
        self.then(Part::Index(index))
    }

    fn then(&self, step: Part) -> Path {
        let mut steps = self.0.clone();
        steps.push(step);
        Path(steps)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Part::Key(key) if i == 0 => write!(f, "{key}")?,
                Part::Key(key) => write!(f, ".{key}")?,
                Part::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
