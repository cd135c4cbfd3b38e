//! Writes the JSON schemas into the folder given: `cargo run -p ecnlab-spec --example schema schema`.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args().nth(1).unwrap_or_else(|| "schema".to_owned()));
    for (name, schema) in
        [("scenario", ecnlab_spec::scenario_schema()), ("experiment", ecnlab_spec::experiment_schema())]
    {
        fs::write(folder.join(format!("{name}.schema.json")), format!("{schema:#}\n"))?;
    }
    Ok(())
}
