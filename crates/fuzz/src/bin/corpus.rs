//! Writes the inputs of targets as files for libFuzzer: `corpus FOLDER [TARGET ...]`, each to `FOLDER/TARGET/NAME`.

use std::path::Path;
use std::{env, fs};

use ecnlab_fuzz::{TARGETS, Target, corpus, target};

fn main() -> Result<(), String> {
    let mut arguments = env::args().skip(1);
    let folder = arguments.next().ok_or("usage: corpus FOLDER [TARGET ...]")?;
    let named: Vec<String> = arguments.collect();
    let find = |name: &String| target(name).copied().ok_or_else(|| format!("there is no target {name}"));
    let named: Vec<Target> = named.iter().map(find).collect::<Result<_, _>>()?;
    for target in if named.is_empty() { TARGETS } else { &named } {
        write(&Path::new(&folder).join(target.name), target)?;
    }
    Ok(())
}

fn write(folder: &Path, target: &Target) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for input in corpus(target)? {
        let path = folder.join(&input.name);
        fs::write(&path, &input.bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}
