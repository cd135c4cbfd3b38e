//! Writes what is generated from the types and profiles: `cargo run -p ecnlab-scenario --example generate`.

use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (path, text) in ecnlab_scenario::generated() {
        fs::write(root.join(path), text)?;
    }
    for block in ecnlab_scenario::blocks() {
        let path = root.join(block.page);
        let page = block.put(&fs::read_to_string(&path)?);
        let missing =
            || io::Error::other(format!("{}: write `{}` and `<!-- end -->` once", block.page, block.marker().trim()));
        fs::write(path, page.ok_or_else(missing)?)?;
    }
    Ok(())
}
