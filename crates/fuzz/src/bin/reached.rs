//! Prints the coverage marks that inputs of targets reach, one a line: `reached FOLDER [TARGET ...]`. The inputs are the corpus
//! and the files in `FOLDER/TARGET`, if there is such a folder.

use std::path::Path;
use std::{env, fs, io};

use ecnlab_base::coverage;
use ecnlab_fuzz::{TARGETS, Target, corpus, target};

fn main() -> Result<(), String> {
    let mut arguments = env::args().skip(1);
    let folder = arguments.next().ok_or("usage: reached FOLDER [TARGET ...]")?;
    let find = |name: String| target(&name).copied().ok_or_else(|| format!("there is no target {name}"));
    let named: Vec<Target> = arguments.map(find).collect::<Result<_, _>>()?;
    for target in if named.is_empty() { TARGETS } else { &named } {
        corpus(target)?.iter().for_each(|input| (target.run)(&input.bytes));
        let files = Path::new(&folder).join(target.name);
        found(target, &files).map_err(|error| format!("{}: {error}", files.display()))?;
    }
    coverage::reached().into_iter().for_each(|name| println!("{name}"));
    Ok(())
}

/// Runs the files of a folder, if it exists.
fn found(target: &Target, folder: &Path) -> io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        (target.run)(&fs::read(entry?.path())?);
    }
    Ok(())
}
