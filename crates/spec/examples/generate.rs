//! Writes what is generated from the types and profiles: `cargo run -p ecnlab-spec --example generate`.

use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (path, text) in ecnlab_spec::generated() {
        fs::write(root.join(path), text)?;
    }
    Ok(())
}
