//! An input of a fuzz target.

use std::path::PathBuf;

/// One input of a target.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name in the archive, or that of the seed.
    pub name: String,
    /// The archive or the file that it comes from, relative to the repository.
    pub from: PathBuf,
    /// Its content.
    pub bytes: Vec<u8>,
}
